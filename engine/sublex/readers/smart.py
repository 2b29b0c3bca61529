"""Read the format of the SMART system, in which Cornell distributed CACM, Cranfield, CISI, MED and other collections.

A line `.I` begins a document and gives its id. `.T` begins the title, `.W` the text, and any other letter a stored field.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from typing import BinaryIO

from sublex.contracts.base import NO_FIELDS, Document, Report, Source
from sublex.readers import lines
from sublex.readers.signatures import signature
from sublex.readers.source import CHUNK, decode

# A line `.I` with its id, or a line with the letter of a field.
_MARK = re.compile(rb"\n\.(?:I(?:[ \t]+([^\r\n]*))?|([A-Z])[ \t]*)\r?(?=\n|\Z)")

# The text of each field, by its letter. Text before the first field has the key "".
Fields = dict[str, bytearray]


class Smart:
    """The reader `smart`: files of the SMART system."""

    def detect(self, path: str, head: bytes) -> bool:
        """Return whether the file begins with a line `.I` and a field."""
        return signature(head) == "smart"

    def read(self, source: Source, report: Report) -> Iterator[Document]:
        """Yield the documents of one file."""
        with source.open() as stream:
            for line, docno, fields, size in _records(stream):
                report.line = line
                if size > lines.LONGEST_RECORD:
                    report.malformed(source.path, line, lines.too_long("a document"))
                    continue
                text = {name: decode(part, source.path, report).strip() for name, part in fields.items()}
                if docno:
                    title = " ".join(text.pop("T", "").split())
                    contents = "\n".join(part for part in (text.pop("", ""), text.pop("W", "")) if part)
                    yield Document(decode(docno, source.path, report), contents, title, text or NO_FIELDS)
                elif docno is not None or any(text.values()):
                    reason = ".I without an id" if docno is not None else "text before the first .I"
                    report.malformed(source.path, line, reason)


def _records(stream: BinaryIO) -> Iterator[tuple[int, bytes | None, Fields, int]]:
    """Yield the line number, the id, the fields and the size in bytes of each record.

    The id is None for the lines before the first record. The fields of a record above the limit are not complete.
    """
    start, docno, part, size = 1, None, bytearray(), 0
    fields, long = {"": part}, list[int]()
    for line, piece in lines.whole_lines(stream, CHUNK, lambda number, reason: long.append(number)):
        size += len(long) * (lines.LONGEST_RECORD + 1)
        long.clear()
        # Every mark begins with a newline. So a newline is put before the first line.
        text, at, counted = b"\n" + piece, 1, 1
        for mark in chain(_MARK.finditer(text), (None,)):
            end = mark.start() + 1 if mark else len(text)
            size += end - at
            if size <= lines.LONGEST_RECORD:
                part += text[at:end]
            if mark is None:
                break
            at = mark.end() + 1
            if mark[2]:
                part = fields.setdefault(mark[2].decode(), bytearray())
                continue
            yield start, docno, fields, size
            line, counted = line + text.count(b"\n", counted, end), end
            start, docno, part, size = line, (mark[1] or b"").strip(), bytearray(), 0
            fields = {"": part}
    yield start, docno, fields, size + len(long) * (lines.LONGEST_RECORD + 1)
