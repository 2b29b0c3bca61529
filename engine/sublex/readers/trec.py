"""Read TREC's SGML: files with many `<DOC>` elements, each with a `<DOCNO>`.

All elements except DOCNO and DOCHDR become text, in their order. The user may name elements that become the title or
stored fields instead.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from sublex.contracts.base import Document, Report, Source
from sublex.contracts.fields import field_names
from sublex.readers.sgml import Records, take_docno, take_elements, take_header, without_markup
from sublex.readers.signatures import signature
from sublex.readers.source import decode

UNCLOSED = "<DOC> was never closed and was read up to the next <DOC> or the end"
NO_DOCNO = "<DOC> without a <DOCNO>"


class Trec:
    """The reader `trec`: documents in TREC's SGML, `<DOC>` elements with a `<DOCNO>`.

    `title` names the elements that become the title, and `fields` the elements that become stored fields. Names are
    separated by commas.
    """

    def __init__(self, title: str | None = None, fields: str | None = None):
        self.titles = field_names(title) if title else ()
        self.fields = field_names(fields) if fields else ()

    def detect(self, path: str, head: bytes) -> bool:
        """Return whether the first `<DOC>` has a DOCNO and no DOCHDR."""
        return signature(head) == "trec"

    def read(self, source: Source, report: Report) -> Iterator[Document]:
        """Yield the documents of one file."""
        for docno, text in documents_with_markup(source, report):
            text = take_header(text)[1]
            if not (self.titles or self.fields):
                yield Document(docno, without_markup(text))
                continue
            taken, text = take_elements(text, dict.fromkeys([*self.titles, *self.fields]))
            title = " ".join(word for name in self.titles for value in taken.get(name, ()) for word in value.split())
            fields = {name: _value(taken[name]) for name in self.fields if name in taken}
            yield Document(docno, without_markup(text), title, fields)


def _value(texts: list[str]) -> str | list[str]:
    """Return the value of a stored field whose element occurs once or several times."""
    return texts[0] if len(texts) == 1 else texts


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
