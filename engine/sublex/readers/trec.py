"""TREC's SGML: `<DOC>` with a `<DOCNO>`, many to a file.

Every element but DOCNO and DOCHDR becomes text, in the order in which it stands. No element is a title of its own.
"""

from __future__ import annotations

from collections.abc import Iterator

from sublex.base import Document, Report, Source
from sublex.readers.sgml import Records, plain, take_docno, take_header
from sublex.readers.signatures import signature
from sublex.readers.source import decode

UNCLOSED = "<DOC> was never closed and was read up to the next <DOC> or the end"
NO_DOCNO = "<DOC> without a <DOCNO>"


class Trec:
    """Reads TREC text."""

    def detect(self, path: str, head: bytes) -> bool:
        return signature(head) == "trec"

    def read(self, source: Source, report: Report) -> Iterator[Document]:
        for docno, text in marked_up(source, report):
            yield Document(docno, plain(take_header(text)[1]))


def marked_up(source: Source, report: Report) -> Iterator[tuple[str, str]]:
    """The DOCNO of each document and the rest of it, markup included."""
    with source.open() as stream:
        records = Records(stream, "DOC")
        for _, body, closed in records:
            if not closed:
                report.note(f"{source.path}: {UNCLOSED}")
            docno, text = take_docno(decode(body, source.path, report))
            report.line = records.line
            if docno:
                yield docno, text
            else:
                report.malformed(source.path, report.line, NO_DOCNO)
