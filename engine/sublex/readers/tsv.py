"""Read tables: tab-separated values (one record per line, no quoting) and comma-separated values (with quoting).

A header line names the columns. Without a header, two columns are id and text, and three are id, title and text.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator
from typing import BinaryIO

from sublex.base import Document, Report, Source
from sublex.errors import InputError
from sublex.messages import counted
from sublex.readers.fields import ALIASES, ID_ALIASES, TEXT_ALIASES, TITLE, FieldNames, to_document
from sublex.readers.signatures import BOM, signature
from sublex.readers.source import decode, without_compression

# The names of the columns of a table without a header, by how many columns it has.
DEFAULT_COLUMNS = {2: ("id", "text"), 3: ("id", "title", "text")}
ENDINGS = {".tsv": "tsv", ".tab": "tsv", ".csv": "csv"}
# Files with these endings are text, whatever they contain.
TEXT_ENDINGS = (".txt", ".md", ".html", ".htm")
# Bytes of the longest field of a CSV file; the largest limit that the module csv takes.
LONGEST_FIELD = 2**31 - 1

# The number of a row's first line, and its cells.
Row = tuple[int, list[str]]


class Tsv:
    """The reader `tsv`: tab-separated values. `id` and `text` name the columns of the id and of the text."""

    def __init__(self, id: str | None = None, text: str | None = None):
        self.names = FieldNames.of(id, text)

    def detect(self, path: str, head: bytes) -> bool:
        """Return whether the file is a table with tabs, by its name or its content."""
        return _format(path, head) == "tsv"

    def read(self, source: Source, report: Report) -> Iterator[Document]:
        """Yield a document for each row."""
        with source.open() as stream:
            yield from _documents(_tsv_rows(stream, source.path, report), source.path, report, self.names)


class Csv:
    """The reader `csv`: comma-separated values. `id` and `text` name the columns of the id and of the text."""

    def __init__(self, id: str | None = None, text: str | None = None):
        self.names = FieldNames.of(id, text)

    def detect(self, path: str, head: bytes) -> bool:
        """Return whether the file is a table with commas, by its name or its header."""
        return _format(path, head) == "csv"

    def read(self, source: Source, report: Report) -> Iterator[Document]:
        """Yield a document for each row."""
        with source.open() as stream:
            yield from _documents(_csv_rows(stream, source.path, report), source.path, report, self.names)


def _format(path: str, head: bytes) -> str:
    """Return `tsv` or `csv`, by the file's name, its header, or a constant number of tabs; else an empty string."""
    ending = os.path.splitext(without_compression(path))[1].lower()
    if signature(head) or ending in TEXT_ENDINGS or os.path.isdir(path):
        return ""
    if ending in ENDINGS:
        return ENDINGS[ending]
    lines = head.removeprefix(BOM).decode("latin-1").split("\n")
    # The end of the head may cut the last line, so it counts only if it is the only one.
    lines = [line.rstrip("\r") for line in (lines[:-1] or lines) if line.strip()]
    for format, separator in (("tsv", "\t"), ("csv", ",")):
        if lines and _is_header(lines[0].split(separator)):
            return format
    columns = {line.count("\t") + 1 for line in lines}
    return "tsv" if len(columns) == 1 and columns <= DEFAULT_COLUMNS.keys() and b"\0" not in head else ""


def _is_header(names: list[str]) -> bool:
    """Return whether these cells name an id, and a text or a title."""
    known = {_name(name) for name in names}
    return not known.isdisjoint(ID_ALIASES) and not known.isdisjoint((*TEXT_ALIASES, TITLE))


def _name(column: str, known: FieldNames = ALIASES) -> str:
    """Return a column's name without quotes; a name that Sublex knows is put in lower case."""
    name = column.strip().strip('"')
    return name.lower() if name not in known.all and name.lower() in known.all else name


def _documents(rows: Iterator[Row], path: str, report: Report, known: FieldNames) -> Iterator[Document]:
    """Yield a document for each row below the header, or for each row of a table without a header."""
    first = next(rows, None)
    if first is None:
        return
    names = tuple(_name(name, known) for name in first[1])
    if set(names).isdisjoint(known.ids):
        names = _default_columns(names, path, known)
        report.note(f"{path}: no header line, so the columns are {', '.join(names)}")
        yield from _row(first, names, path, report, known)
    for row in rows:
        yield from _row(row, names, path, report, known)


def _default_columns(first: tuple[str, ...], path: str, known: FieldNames) -> tuple[str, ...]:
    """Return the columns of a table without a header; raise InputError if it needs one. `first` is the first row."""
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
    """Yield the row as a document, or report it as malformed."""
    line, values = row
    report.line = line
    try:
        if len(values) != len(names):
            raise ValueError(f"{counted(len(values), 'column')} where {len(names)} were expected")
        yield to_document(dict(zip(names, values, strict=True)), report, known)
    except ValueError as error:
        report.malformed(path, line, str(error))


def _lines(stream: BinaryIO, path: str, report: Report) -> Iterator[str]:
    """Yield the lines of a stream as text, without a byte order mark."""
    first = stream.readline().removeprefix(BOM)
    if first:
        yield decode(first, path, report)
    for line in stream:
        yield decode(line, path, report)


def _tsv_rows(stream: BinaryIO, path: str, report: Report) -> Iterator[Row]:
    """Yield the rows of a tab-separated file; blank lines are skipped."""
    for number, line in enumerate(_lines(stream, path, report), start=1):
        if values := line.rstrip("\r\n"):
            yield number, values.split("\t")


def _csv_rows(stream: BinaryIO, path: str, report: Report) -> Iterator[Row]:
    """Yield the rows of a comma-separated file, and report rows that are not CSV."""
    csv.field_size_limit(LONGEST_FIELD)
    reader = csv.reader(_lines(stream, path, report), strict=True)
    while True:
        number = reader.line_num + 1
        try:
            values = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            report.malformed(path, number, f"not a CSV record ({error})")
            continue
        if values:
            yield number, values
