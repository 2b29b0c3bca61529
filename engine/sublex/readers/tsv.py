"""Read tables of tab-separated values (one record per line, no quoting) or comma-separated values (with quoting).

A header line names the columns. Without a header, two columns are id and text, and three are id, title and text.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator
from functools import partial
from typing import BinaryIO

from sublex.contracts.base import Document, Report, Source
from sublex.errors import InputError
from sublex.readers import lines
from sublex.readers.fields import ALIASES, ID_ALIASES, TEXT_ALIASES, TITLE, FieldNames, to_document
from sublex.readers.signatures import BOM, signature
from sublex.readers.source import decode, without_compression
from sublex.tools.messages import counted

# The names of the columns of a table without a header, by the number of its columns.
DEFAULT_COLUMNS = {2: ("id", "text"), 3: ("id", "title", "text")}
ENDINGS = {".tsv": "tsv", ".tab": "tsv", ".csv": "csv"}
# Files with these endings are text, even if their content looks like a table.
TEXT_ENDINGS = (".txt", ".md", ".html", ".htm")
# The largest limit that the module csv accepts. LONGEST_RECORD, which is lower, limits the rows.
LONGEST_FIELD = 2**31 - 1

# The number of a row's first line, and its cells.
Row = tuple[int, list[str]]


class Tsv:
    """The reader `tsv`: tab-separated values. `id` and `text` name the columns of the id and of the text; `rename` renames columns."""

    _form = "tsv"

    def __init__(self, id: str | None = None, text: str | None = None, rename: str | None = None):
        self.names = FieldNames.of(id, text, rename)

    def detect(self, path: str, head: bytes) -> bool:
        """Return whether the file is a table of this form, by its name or its content."""
        return _format(path, head) == self._form

    def read(self, source: Source, report: Report) -> Iterator[Document]:
        """Yield a document for each row."""
        with source.open() as stream:
            yield from _documents(self._rows(stream, source.path, report), source.path, report, self.names)

    def _rows(self, stream: BinaryIO, path: str, report: Report) -> Iterator[Row]:
        """Yield the rows of a tab-separated file; blank lines are skipped."""
        for number, line in lines.numbered_lines(stream, partial(report.malformed, path)):
            if values := decode(line, path, report).rstrip("\r\n"):
                yield number, values.split("\t")


class Csv(Tsv):
    """The reader `csv`: comma-separated values. Its parameters are those of `tsv`."""

    _form = "csv"

    def _rows(self, stream: BinaryIO, path: str, report: Report) -> Iterator[Row]:
        """Yield the rows of a comma-separated file, and report rows that are not CSV."""
        for number, values, fault in csv_rows(stream, path, report):
            if fault:
                report.malformed(path, number, f"not a CSV record ({fault})")
            else:
                yield number, values


def _format(path: str, head: bytes) -> str:
    """Return `tsv`, `csv` or an empty string.

    The format is recognised by the file's name, its header, or an equal number of tabs on all lines.
    """
    ending = os.path.splitext(without_compression(path))[1].lower()
    if signature(head) or ending in TEXT_ENDINGS or os.path.isdir(path):
        return ""
    if ending in ENDINGS:
        return ENDINGS[ending]
    text = head.removeprefix(BOM).decode("latin-1").split("\n")
    # The last line of the head may be cut, so it is left out if there are others.
    text = [line.rstrip("\r") for line in (text[:-1] or text) if line.strip()]
    for format, separator in (("tsv", "\t"), ("csv", ",")):
        if text and _is_header(text[0].split(separator)):
            return format
    columns = {line.count("\t") + 1 for line in text}
    return "tsv" if len(columns) == 1 and columns <= DEFAULT_COLUMNS.keys() and b"\0" not in head else ""


def _is_header(names: list[str]) -> bool:
    """Return whether these cells name an id, and a text or a title."""
    known = {_name(name) for name in names}
    return not known.isdisjoint(ID_ALIASES) and not known.isdisjoint((*TEXT_ALIASES, TITLE))


def _name(column: str, known: FieldNames = ALIASES) -> str:
    """Return a column's name without quotes, and in lower case if Sublex knows the name."""
    name = column.strip().strip('"')
    return name.lower() if name not in known.all and name.lower() in known.all else name


def _documents(rows: Iterator[Row], path: str, report: Report, known: FieldNames) -> Iterator[Document]:
    """Yield a document for each row below the header, or for each row of a table without a header."""
    first = next(rows, None)
    if first is None:
        return
    names = tuple(_name(name, known) for name in first[1])
    if set(known.new_names(names)).isdisjoint(known.ids):
        names = _default_columns(names, path, known)
        report.note(f"{path}: no header line, so the columns are {', '.join(names)}")
        yield from _row(first, names, path, report, known)
    for row in rows:
        yield from _row(row, names, path, report, known)


def _default_columns(first: tuple[str, ...], path: str, known: FieldNames) -> tuple[str, ...]:
    """Return the names of the columns of a table without a header, by the number of cells in `first`, its first row.

    Raise InputError for another number than two or three, and if the row looks like a header without an id.
    """
    if known != ALIASES or not set(first).isdisjoint((*TEXT_ALIASES, TITLE)):
        raise InputError(
            f"The header of {path} ({', '.join(first)[:200]}) names no id: "
            f"call its column one of {', '.join(known.ids)}, or name the column, as in --reader 'tsv(id=NAME)'."
        )
    if len(first) not in DEFAULT_COLUMNS:
        raise InputError(
            f"{path} has {len(first)} columns and no header line: "
            f"add a line that names the id ({', '.join(ID_ALIASES)}) and the text ({', '.join(TEXT_ALIASES)})."
        )
    return DEFAULT_COLUMNS[len(first)]


def _row(row: Row, names: tuple[str, ...], path: str, report: Report, known: FieldNames) -> Iterator[Document]:
    """Yield the row as a document, or report it as malformed.

    `names` are the columns, and `known` the fields with a role.
    """
    line, values = row
    report.line = line
    try:
        if len(values) != len(names):
            raise ValueError(f"{counted(len(values), 'column')} where {len(names)} were expected")
        yield to_document(dict(zip(names, values, strict=True)), report, known)
    except ValueError as error:
        report.malformed(path, line, str(error))


def csv_rows(stream: BinaryIO, path: str, report: Report) -> Iterator[tuple[int, list[str], str]]:
    """For each row that is not blank, yield the number of its first line, its cells and its fault.

    A row that is not CSV, or that is longer than the limit of a record, has a fault and no cells. Reading continues
    with the next line.
    """
    csv.field_size_limit(LONGEST_FIELD)
    rows = _RowLines(stream, path, report)
    reader = csv.reader(rows, strict=True)
    while True:
        first, rows.size = rows.number + 1, 0
        try:
            values = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield first, [], str(error)
            continue
        if values:
            yield first, values, ""


class _RowLines:
    """An iterator over the lines of a stream, as text. It raises `csv.Error` for a row that is longer than a record may be.

    `number` counts the lines. `size` counts the bytes since it was set to 0.
    """

    def __init__(self, stream: BinaryIO, path: str, report: Report):
        self._stream, self._path, self._report = stream, path, report
        self.number = self.size = 0

    def __iter__(self) -> _RowLines:
        return self

    def __next__(self) -> str:
        line = self._stream.readline(lines.LONGEST_RECORD - self.size + 1)
        if not line:
            raise StopIteration
        self.number += 1
        self.size += len(line)
        if self.size > lines.LONGEST_RECORD:
            if not line.endswith(b"\n"):
                lines.skip_line(self._stream)
            raise csv.Error(lines.too_long("a row"))
        return decode(line.removeprefix(BOM) if self.number == 1 else line, self._path, self._report)
