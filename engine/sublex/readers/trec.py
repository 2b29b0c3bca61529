"""Read TREC's SGML: `<DOC>` elements with a `<DOCNO>`, many per file.

All elements but DOCNO and DOCHDR become text, in their order. None is the title.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from sublex.contracts.base import Document, Report, Source
from sublex.readers.sgml import Records, take_docno, take_header, without_markup
from sublex.readers.signatures import signature
from sublex.readers.source import decode

UNCLOSED = "<DOC> was never closed and was read up to the next <DOC> or the end"
NO_DOCNO = "<DOC> without a <DOCNO>"


class Trec:
    """The reader `trec`: documents in TREC's SGML, `<DOC>` elements with a `<DOCNO>`."""

    def detect(self, path: str, head: bytes) -> bool:
        """Return whether the first `<DOC>` has a DOCNO and no DOCHDR."""
        return signature(head) == "trec"

    def read(self, source: Source, report: Report) -> Iterator[Document]:
        """Yield the documents of one file."""
        for docno, text in documents_with_markup(source, report):
            yield Document(docno, without_markup(take_header(text)[1]))


def documents_with_markup(source: Source, report: Report) -> Iterator[tuple[str, str]]:
    """Yield the DOCNO and the remaining content, with its markup, of each `<DOC>` in a file."""
    with source.open() as stream:
        records = Records(stream, "DOC", partial(report.malformed, source.path))
        for _, body, closed in records:
            if not closed:
                report.note(f"{source.path}: {UNCLOSED}")
            docno, text = take_docno(decode(body, source.path, report))
            report.line = records.line
            if docno:
                yield docno, text
            else:
                report.malformed(source.path, report.line, NO_DOCNO)
