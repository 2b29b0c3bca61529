"""Read a file of lines with a fixed number of columns past every mistake: its cells, and findings about lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from sublex.analysis.interner import Interner
from sublex.contracts.base import Report
from sublex.lint.findings import ERROR, Finding
from sublex.readers.lines import refuse, utf8_lines, whole_lines
from sublex.readers.signatures import BOM
from sublex.readers.source import FileSource
from sublex.tools.messages import counted
from sublex.tools.strings import Strings
from sublex.trec.run_reader import PIECE

# Names of columns in the header lines of qrels and runs.
HEADINGS = (
    b"qid", b"query", b"query_id", b"query-id", b"queryid", b"topic", b"topic_id", b"docno", b"docid", b"doc_id", b"doc-id",
    b"corpus-id", b"document", b"rank", b"score", b"rel", b"relevance", b"label", b"grade", b"judgment", b"judgement", b"tag",
)  # fmt: skip


class Rows(NamedTuple):
    """The rows with the right number of columns.

    `tables[column]` are the distinct cells of a column, `numbers[column]` the position of each row's cell in them, and `lines`
    the line of each row.
    """

    tables: list[Strings]
    numbers: list[np.ndarray]
    lines: np.ndarray

    def where(self, chosen: np.ndarray) -> Rows:
        """Return some of the rows, chosen by a mask or by positions, with tables of their cells only."""
        columns = [_used(table, column[chosen]) for table, column in zip(self.tables, self.numbers, strict=True)]
        tables, numbers = map(list, zip(*columns, strict=True))
        return Rows(tables, numbers, self.lines[chosen])

    def cell(self, row: int, column: int) -> str:
        """Return the text of a cell."""
        return self.tables[column][int(self.numbers[column][row])]


def read_rows(source: FileSource, width: int, expected: str) -> tuple[Rows, list[Finding]]:
    """Return the rows of `width` columns, and findings about other lines; `expected` names the columns for messages."""
    from sublex.trec import kernels

    tables = [Interner() for _ in range(width)]
    parts: list[list[np.ndarray]] = []
    faults = _LineFaults()
    faults.bom = source.head().startswith(BOM)
    with source.open() as stream:
        for first, raw in whole_lines(stream, PIECE, refuse(source.path)):
            faults.inspect(first, raw)
            buf = np.frombuffer(utf8_lines(raw, source.path, Report()), np.uint8)
            spans, lines, counts = kernels.split(buf, width)
            good = counts == width
            whole = lines + np.int64(first)
            faults.wrong_width.append(np.stack([whole[~good], counts[~good]], axis=1))
            spans = spans[good].astype(np.int64)
            starts, sizes = spans[:, :, 0], spans[:, :, 1] - spans[:, :, 0]
            parts.append([table.add(buf, starts[:, k], sizes[:, k]) for k, table in enumerate(tables)] + [whole[good]])
    columns = [np.concatenate([np.empty(0, np.int32), *(part[k] for part in parts)]) for k in range(width)]
    lines = np.concatenate([np.empty(0, np.int64), *(part[width] for part in parts)])
    rows = Rows([table.strings() for table in tables], columns, lines)
    return rows, list(faults.findings(source.path, width, expected))


def without_header(path: str, rows: Rows, is_data: bool) -> tuple[Rows, list[Finding]]:
    """Return the rows without a first row that names the columns, and a finding about it.

    `is_data` says that the first row has a number in the column of numbers, so that it is not a header.
    """
    if is_data:
        return rows, []
    cells = [rows.cell(0, k) for k in range(len(rows.tables))]
    if not any(cell.lower().encode() in HEADINGS for cell in cells):
        return rows, []
    text = (
        f"The line names the columns ({' '.join(cells)[:80]}): trec_eval reads it as data, as a topic {cells[0][:40]} with the "
        "number 0; remove it."
    )
    return rows.where(np.arange(1, len(rows.lines))), [Finding.at(path, rows.lines[:1], "header", ERROR, text)]


class _LineFaults:
    """The lines with a fault, gathered while reading."""

    def __init__(self) -> None:
        self.bom = False
        self.nul: list[int] = []
        self.encoding: list[int] = []
        # In pieces: a line and its number of columns.
        self.wrong_width: list[np.ndarray] = [np.empty((0, 2), np.int64)]

    def inspect(self, first: int, data: bytes) -> None:
        """Look for NUL bytes and bytes that are not UTF-8 in whole lines; `first` is the number of the first line."""
        if b"\0" in data:
            buf = np.frombuffer(data, np.uint8)
            ends = np.flatnonzero(buf == ord("\n"))
            self.nul += (first + np.unique(np.searchsorted(ends, np.flatnonzero(buf == 0)))).tolist()
        if not _is_utf8(data):
            lines = data.split(b"\n")
            self.encoding += [first + k for k, line in enumerate(lines) if not _is_utf8(line)]

    def findings(self, path: str, width: int, expected: str) -> Iterator[Finding]:
        """Yield the faults as findings."""
        if self.bom:
            yield Finding.at(
                path, [1], "encoding", ERROR,
                "The file begins with a byte order mark: trec_eval takes it for part of the first topic id and does not recognise "
                "that topic; save the file as UTF-8 without a byte order mark.",
            )  # fmt: skip
        if self.nul:
            yield Finding.at(
                path, self.nul, "nul", ERROR,
                "The line has a NUL byte: trec_eval stops reading there, and all lines after it are lost; remove the byte.",
            )  # fmt: skip
        if self.encoding:
            yield Finding.at(
                path, self.encoding, "encoding", ERROR,
                "The line is not UTF-8: Sublex reads it as Latin-1 and trec_eval compares bytes, so an id may match in one and not "
                "in the other; save the file as UTF-8.",
            )  # fmt: skip
        wrong = np.concatenate(self.wrong_width)
        for lines, effect in (
            (wrong[wrong[:, 1] < width], "trec_eval stops at such a line, and Sublex refuses the file"),
            (
                wrong[wrong[:, 1] > width],
                "tools read other cells or stop, and Sublex refuses the file; check for an id with white space",
            ),
        ):
            if len(lines):
                columns = counted(int(lines[0, 1]), "column")
                text = f"{columns} where {width} should be, {expected}: {effect}."
                yield Finding.at(path, lines[:, 0], "columns", ERROR, text)


def _is_utf8(data: bytes) -> bool:
    if data.isascii():
        return True
    try:
        data.decode()
        return True
    except UnicodeDecodeError:
        return False


def _used(table: Strings, column: np.ndarray) -> tuple[Strings, np.ndarray]:
    """Return the strings that the column uses, in their order, and the column renumbered."""
    used = np.zeros(len(table), np.bool_)
    used[column] = True
    if used.all():
        return table, column
    return table.take(np.flatnonzero(used)), (np.cumsum(used, dtype=np.int32) - np.int32(1))[column]
