"""Lines of columns, read on past every mistake: their cells, and what is wrong with the lines themselves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from sublex.analysis.interner import Interner
from sublex.base import Report
from sublex.lint.findings import ERROR, Finding, counted, finding
from sublex.readers.signatures import BOM
from sublex.readers.source import FileSource, utf8_lines, whole_lines
from sublex.strings import Strings
from sublex.trec.run_reader import PIECE

# What a header calls the columns of qrels and runs.
HEADINGS = (
    b"qid", b"query", b"query_id", b"query-id", b"queryid", b"topic", b"topic_id", b"docno", b"docid", b"doc_id", b"doc-id",
    b"corpus-id", b"document", b"rank", b"score", b"rel", b"relevance", b"label", b"grade", b"judgment", b"judgement", b"tag",
)  # fmt: skip


class Rows(NamedTuple):
    """The rows that have the right number of columns: for each column its different cells, and each row's place in them."""

    tables: list[Strings]
    numbers: list[np.ndarray]
    lines: np.ndarray

    def where(self, kept: np.ndarray) -> Rows:
        """Some of the rows, and only their cells."""
        columns = [_used(table, column[kept]) for table, column in zip(self.tables, self.numbers, strict=True)]
        tables, numbers = map(list, zip(*columns, strict=True))
        return Rows(tables, numbers, self.lines[kept])

    def cell(self, row: int, column: int) -> str:
        """The text of a cell."""
        return self.tables[column][int(self.numbers[column][row])]


def _used(table: Strings, column: np.ndarray) -> tuple[Strings, np.ndarray]:
    """The strings that a column holds, in their order, and the column in their numbers."""
    used = np.zeros(len(table), np.bool_)
    used[column] = True
    if used.all():
        return table, column
    return table.take(np.flatnonzero(used)), (np.cumsum(used, dtype=np.int32) - np.int32(1))[column]


class _Faults:
    """The lines that have something wrong, gathered while reading."""

    def __init__(self) -> None:
        self.nul: list[int] = []
        self.encoding: list[int] = []
        self.short: list[np.ndarray] = [np.empty((0, 2), np.int64)]
        self.bom = False

    def look(self, first: int, data: bytes) -> None:
        """At whole lines, the first of which has this number."""
        if b"\0" in data:
            buf = np.frombuffer(data, np.uint8)
            ends = np.flatnonzero(buf == ord("\n"))
            self.nul += (first + np.unique(np.searchsorted(ends, np.flatnonzero(buf == 0)))).tolist()
        if not data.isascii() and not _is_utf8(data):
            lines = data.split(b"\n")
            self.encoding += [first + k for k, line in enumerate(lines) if not line.isascii() and not _is_utf8(line)]


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
        return True
    except UnicodeDecodeError:
        return False


def read_rows(source: FileSource, width: int, expected: str) -> tuple[Rows, list[Finding]]:
    """The rows of so many columns, and what is wrong with the others; `expected` says what they should be."""
    from sublex.trec import kernels

    tables = [Interner() for _ in range(width)]
    parts: list[list[np.ndarray]] = []
    faults = _Faults()
    faults.bom = source.head().startswith(BOM)
    with source.open() as stream:
        for first, raw in whole_lines(stream, source.path, PIECE):
            faults.look(first, raw)
            buf = np.frombuffer(utf8_lines(raw, source.path, Report()), np.uint8)
            spans, lines, counts = kernels.split(buf, width)
            good = counts == width
            whole = lines + np.int64(first)
            faults.short.append(np.stack([whole[~good], counts[~good]], axis=1))
            spans = spans[good].astype(np.int64)
            starts, sizes = spans[:, :, 0], spans[:, :, 1] - spans[:, :, 0]
            parts.append([table.add(buf, starts[:, k], sizes[:, k]) for k, table in enumerate(tables)] + [whole[good]])
    columns = [np.concatenate([np.empty(0, np.int32), *(part[k] for part in parts)]) for k in range(width)]
    lines = np.concatenate([np.empty(0, np.int64), *(part[width] for part in parts)])
    rows = Rows([table.strings() for table in tables], columns, lines)
    return rows, list(_said(source.path, faults, width, expected))


def _said(path: str, faults: _Faults, width: int, expected: str) -> Iterator[Finding]:
    if faults.bom:
        yield finding(
            path, [1], "encoding", ERROR,
            "A byte order mark begins the file: trec_eval takes it for part of the first topic id, which then is unknown; save the "
            "file as UTF-8 without one.",
        )  # fmt: skip
    if faults.nul:
        yield finding(
            path, faults.nul, "nul", ERROR,
            "A NUL byte stands in the line: trec_eval ends reading there, and all lines after it are lost; remove it.",
        )  # fmt: skip
    if faults.encoding:
        yield finding(
            path, faults.encoding, "encoding", ERROR,
            "The line is not UTF-8 and Sublex reads it as Latin-1, while trec_eval compares bytes, so its ids may meet in one and "
            "not in the other; save the file as UTF-8.",
        )  # fmt: skip
    wrong = np.concatenate(faults.short)
    few, many = wrong[wrong[:, 1] < width], wrong[wrong[:, 1] > width]
    for part, leads in (
        (few, "trec_eval stops at such a line, and Sublex refuses the file"),
        (many, "tools read different cells or stop (is there an id with white space?), and Sublex refuses the file"),
    ):
        if len(part):
            columns = counted(int(part[0, 1]), "column")
            yield finding(
                path, part[:, 0], "columns", ERROR, f"{columns} where {width} should be, {expected}: {leads}."
            )


def without_header(path: str, rows: Rows, is_data: bool) -> tuple[Rows, list[Finding]]:
    """The rows without a first one that names the columns; `is_data` says that it has a number where one belongs."""
    if is_data:
        return rows, []
    cells = [rows.cell(0, k) for k in range(len(rows.tables))]
    if not any(cell.lower().encode() in HEADINGS for cell in cells):
        return rows, []
    text = (
        f"The line names the columns ({' '.join(cells)[:80]}): trec_eval reads it as data, with a topic {cells[0][:40]} and the "
        "number 0; remove it."
    )
    return rows.where(np.arange(1, len(rows.lines))), [finding(path, rows.lines[:1], "header", ERROR, text)]
