"""Tables: tab-separated values (one line a record, no quoting) and comma-separated values (with quoting).

A header line gives the fields their names. Without one, two columns are id and text, three are id, title and text.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator
from typing import BinaryIO

from sublex.base import Document, Report, Source
from sublex.errors import InputError
from sublex.messages import counted
from sublex.readers.fields import ALIASES, ID_ALIASES, TEXT_ALIASES, TITLE, Names, document
from sublex.readers.signatures import BOM, signature
from sublex.readers.source import decode, without_compression

HEADERLESS = {2: ("id", "text"), 3: ("id", "title", "text")}
ENDINGS = {".tsv": "tsv", ".tab": "tsv", ".csv": "csv"}
OTHERS = (".txt", ".md", ".html", ".htm")
LONGEST_FIELD = 2**31 - 1

Row = tuple[int, list[str]]


class Tsv:
    """Reads tab-separated values."""

    def __init__(self, id: str | None = None, text: str | None = None):
        self.names = Names.of(id, text)

    def detect(self, path: str, head: bytes) -> bool:
        return _format(path, head) == "tsv"

    def read(self, source: Source, report: Report) -> Iterator[Document]:
        with source.open() as stream:
            yield from _documents(_tsv_rows(stream, source.path, report), source.path, report, self.names)


class Csv:
    """Reads comma-separated values."""

    def __init__(self, id: str | None = None, text: str | None = None):
        self.names = Names.of(id, text)

    def detect(self, path: str, head: bytes) -> bool:
        return _format(path, head) == "csv"

    def read(self, source: Source, report: Report) -> Iterator[Document]:
        with source.open() as stream:
            yield from _documents(_csv_rows(stream, source.path, report), source.path, report, self.names)


def _format(path: str, head: bytes) -> str:
    """`tsv` or `csv` by the file's name, else by what a header or the run of columns shows; else empty."""
    ending = os.path.splitext(without_compression(path))[1].lower()
    if signature(head) or ending in OTHERS or os.path.isdir(path):
        return ""
    if ending in ENDINGS:
        return ENDINGS[ending]
    lines = head.removeprefix(BOM).decode("latin-1").split("\n")
    # The last line may be cut by the end of the head; it counts only where it is the only one.
    lines = [line.rstrip("\r") for line in (lines[:-1] or lines) if line.strip()]
    for format, separator in (("tsv", "\t"), ("csv", ",")):
        if lines and _is_header(lines[0].split(separator)):
            return format
    columns = {line.count("\t") + 1 for line in lines}
    return "tsv" if len(columns) == 1 and columns <= HEADERLESS.keys() and b"\0" not in head else ""


def _is_header(names: list[str]) -> bool:
    known = {_name(name) for name in names}
    return not known.isdisjoint(ID_ALIASES) and not known.isdisjoint((*TEXT_ALIASES, TITLE))


def _name(column: str, known: Names = ALIASES) -> str:
    """A column's name; the known ones in lower case, whatever case the file has them in."""
    name = column.strip().strip('"')
    return name.lower() if name not in known.all and name.lower() in known.all else name


def _documents(rows: Iterator[Row], path: str, report: Report, known: Names) -> Iterator[Document]:
    first = next(rows, None)
    if first is None:
        return
    names = tuple(_name(name, known) for name in first[1])
    if set(names).isdisjoint(known.ids):
        names = _headerless(names, path, known)
        report.note(f"{path}: no header line, so the columns are {', '.join(names)}")
        yield from _row(first, names, path, report, known)
    for row in rows:
        yield from _row(row, names, path, report, known)


def _headerless(first: tuple[str, ...], path: str, known: Names) -> tuple[str, ...]:
    if known != ALIASES or not set(first).isdisjoint((*TEXT_ALIASES, TITLE)):
        raise InputError(
            f"The header of {path} ({', '.join(first)[:200]}) names no id: "
            f"call its column one of {', '.join(known.ids)}, or say which it is, as in --reader 'tsv(id=NAME)'."
        )
    if len(first) not in HEADERLESS:
        raise InputError(
            f"{path} has {len(first)} columns and no header line: "
            f"add one that names the id ({', '.join(ID_ALIASES)}) and the text ({', '.join(TEXT_ALIASES)})."
        )
    return HEADERLESS[len(first)]


def _row(row: Row, names: tuple[str, ...], path: str, report: Report, known: Names) -> Iterator[Document]:
    line, values = row
    report.line = line
    try:
        if len(values) != len(names):
            raise ValueError(f"{counted(len(values), 'column')} where {len(names)} were expected")
        yield document(dict(zip(names, values, strict=True)), report, known)
    except ValueError as error:
        report.malformed(path, line, str(error))


def _lines(stream: BinaryIO, path: str, report: Report) -> Iterator[str]:
    first = stream.readline().removeprefix(BOM)
    if first:
        yield decode(first, path, report)
    for line in stream:
        yield decode(line, path, report)


def _tsv_rows(stream: BinaryIO, path: str, report: Report) -> Iterator[Row]:
    for number, line in enumerate(_lines(stream, path, report), start=1):
        if values := line.rstrip("\r\n"):
            yield number, values.split("\t")


def _csv_rows(stream: BinaryIO, path: str, report: Report) -> Iterator[Row]:
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
