"""Read the format of the SMART system, in which Cornell distributed CACM, Cranfield, CISI, MED and other collections.

A line `.I` begins a document and gives its id. `.T` begins the title, `.W` the text, and any other letter a stored field.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sublex.base import NO_FIELDS, Document, Report, Source
from sublex.readers.signatures import BOM, signature
from sublex.readers.source import decode

_ID = re.compile(rb"\.I(?:[ \t]+([^\r\n]*))?\r?\n?$")
_FIELD = re.compile(rb"\.([A-Z])[ \t]*\r?\n?$")

# The lines of each field, by its letter; those before the first field are under an empty name.
Fields = dict[str, list[bytes]]


class Smart:
    """The reader `smart`: files of the SMART system."""

    def detect(self, path: str, head: bytes) -> bool:
        """Return whether the file begins with a line `.I` and a field."""
        return signature(head) == "smart"

    def read(self, source: Source, report: Report) -> Iterator[Document]:
        """Yield the documents of one file."""
        with source.open() as stream:
            for line, docno, fields in _records(stream):
                report.line = line
                text = {name: decode(b"".join(parts), source.path, report).strip() for name, parts in fields.items()}
                if docno:
                    title = " ".join(text.pop("T", "").split())
                    contents = "\n".join(part for part in (text.pop("", ""), text.pop("W", "")) if part)
                    yield Document(decode(docno, source.path, report), contents, title, text or NO_FIELDS)
                elif docno is not None or any(text.values()):
                    reason = ".I without an id" if docno is not None else "text before the first .I"
                    report.malformed(source.path, line, reason)


def _records(stream: Iterator[bytes]) -> Iterator[tuple[int, bytes | None, Fields]]:
    """Yield line number, id and fields of each record; the id is None for the lines before the first record."""
    part: list[bytes] = []
    start, docno, fields = 1, None, {"": part}
    for number, line in enumerate(stream, start=1):
        if number == 1:
            line = line.removeprefix(BOM)
        if line[:1] != b".":
            part.append(line)
        elif match := _ID.match(line):
            yield start, docno, fields
            start, docno, part = number, (match[1] or b"").strip(), []
            fields = {"": part}
        elif match := _FIELD.match(line):
            part = fields.setdefault(match[1].decode(), [])
        else:
            part.append(line)
    yield start, docno, fields
