"""Read JSON arrays of objects, `[{…}, {…}]`.

Each object is a document, with the same fields as in JSON lines.

The file is read as a stream. This module counts brackets outside strings to find the end of an element, and Python's
own `json` then reads the element. So the elements after a malformed one are still found.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO

from sublex.contracts.base import Document, Report, Source
from sublex.errors import InputError
from sublex.readers import lines
from sublex.readers.fields import FieldNames
from sublex.readers.jsonl import document_of
from sublex.readers.signatures import BOM, signature
from sublex.readers.source import CHUNK

# Matches a whole string, or a character that ends or nests elements. It also matches the opening quotation mark of a
# string whose end is not read yet.
_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[\]{},"]', re.DOTALL)
_DEEPER = {b"[": 1, b"{": 1, b"]": -1, b"}": -1}


class JsonArray:
    """The reader `json`: arrays of objects. Its parameters are those of `jsonl`."""

    def __init__(self, id: str | None = None, text: str | None = None, rename: str | None = None):
        self.names = FieldNames.of(id, text, rename)

    def detect(self, path: str, head: bytes) -> bool:
        """Return whether the file begins with an opening bracket and an opening brace."""
        return signature(head) == "json"

    def read(self, source: Source, report: Report) -> Iterator[Document]:
        """Yield the documents one by one."""
        with source.open() as stream:
            for line, element in elements(stream, source.path):
                report.line = line
                document = document_of(element, source.path, line, report, self.names)
                if document:
                    yield document


def elements(stream: BinaryIO, path: str) -> Iterator[tuple[int, bytes]]:
    """Yield (number of the first line, bytes) for each element of a JSON array.

    Raise InputError if the file holds no array, if the array has no end, if other text follows the array, or if an
    element is longer than LONGEST_RECORD.
    """
    text = stream.read(CHUNK).removeprefix(BOM)
    begin = re.match(rb"\s*\[", text)
    if begin is None:
        raise InputError(f"{path} holds no JSON array; expected is [{{…}}, {{…}}].")
    # The element begins at `start`, on line `line`. The tokens before `at` have been processed.
    start = at = begin.end()
    line, depth = 1 + text.count(b"\n", 0, start), 0
    while True:
        for token in _TOKEN.finditer(text, at):
            mark = token[0]
            if mark == b'"':
                at = token.start()
                break
            at = token.end()
            if depth == 0 and mark in (b",", b"]"):
                element = text[start : token.start()]
                blank = len(element) - len(element.lstrip())
                if element.strip() or mark == b",":
                    yield line + element.count(b"\n", 0, blank), element.strip()
                if mark == b"]":
                    if (text[at:] + stream.read(CHUNK)).strip():
                        raise InputError(f"{path}: text follows the end of the array; keep one array in a file.")
                    return
                line, start = line + element.count(b"\n"), at
            depth = max(0, depth + _DEEPER.get(mark, 0))
        else:
            at = len(text)
        text, at, start = text[start:], at - start, 0
        # Each read doubles the text, so the time for a long string is proportional to its length.
        more = stream.read(max(CHUNK, len(text)))
        if not more:
            raise InputError(f"{path} is cut short: its array has no closing bracket.")
        text += more
        if len(text) > lines.LONGEST_RECORD:
            begin = re.match(rb"\s*", text)
            line += text.count(b"\n", 0, begin.end() if begin else 0)
            raise InputError(f"{path}:{line}: {lines.too_long('an element')}.")
