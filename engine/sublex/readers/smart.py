"""Read the format of the SMART system, in which Cornell distributed CACM, Cranfield, CISI, MED and other collections.

A line `.I` begins a document and gives its id. `.T` begins the title, `.W` the text, and any other letter a stored field.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import BinaryIO

from sublex.base import NO_FIELDS, Document, Report, Source
from sublex.readers import lines
from sublex.readers.signatures import BOM, signature
from sublex.readers.source import CHUNK, decode

_ID = re.compile(rb"\.I(?:[ \t]+([^\r\n]*))?\r?\n?$")
_FIELD = re.compile(rb"\.([A-Z])[ \t]*\r?\n?$")

# The text of each field, by its letter; those before the first field are under an empty name.
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
                text = {name: decode(data, source.path, report).strip() for name, data in fields.items()}
                if docno:
                    title = " ".join(text.pop("T", "").split())
                    contents = "\n".join(part for part in (text.pop("", ""), text.pop("W", "")) if part)
                    yield Document(decode(docno, source.path, report), contents, title, text or NO_FIELDS)
                elif docno is not None or any(text.values()):
                    reason = ".I without an id" if docno is not None else "text before the first .I"
                    report.malformed(source.path, line, reason)


def _records(stream: BinaryIO) -> Iterator[tuple[int, bytes | None, Fields, int]]:
    """Yield line number, id, fields and bytes of each record; the id is None for the lines before the first record.

    A line is read in parts of CHUNK bytes. The fields of a record above the limit hold no more than its beginning.
    """
    part = bytearray()
    start, docno, fields, size = 1, None, {"": part}, 0
    number, begins = 0, True
    for line in iter(partial(stream.readline, CHUNK), b""):
        if begins:
            number += 1
            line = line.removeprefix(BOM) if number == 1 else line
        is_text = line[:1] != b"." or not begins
        begins = line[-1:] == b"\n"
        if not is_text and (match := _ID.match(line)):
            yield start, docno, fields, size
            start, docno, part, size = number, (match[1] or b"").strip(), bytearray(), 0
            fields = {"": part}
        elif not is_text and (match := _FIELD.match(line)):
            part = fields.setdefault(match[1].decode(), bytearray())
        else:
            size += len(line)
            if size <= lines.LONGEST_RECORD:
                part += line
    yield start, docno, fields, size
