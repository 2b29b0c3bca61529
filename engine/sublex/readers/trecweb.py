"""Read TREC's web collections (WT2g, WT10g, .GOV, GOV2): `<DOC>` elements with DOCNO, DOCHDR and a page of HTML.

Title and text come from the page. The address in DOCHDR becomes the stored field `url`; the rest of DOCHDR is dropped.
"""

from __future__ import annotations

from collections.abc import Iterator

from sublex.contracts.base import NO_FIELDS, Document, Report, Source
from sublex.readers.html import page_text
from sublex.readers.sgml import take_header
from sublex.readers.signatures import signature
from sublex.readers.trec import documents_with_markup


class TrecWeb:
    """The reader `trecweb`: TREC's web collections."""

    def detect(self, path: str, head: bytes) -> bool:
        """Return whether the first `<DOC>` has a DOCNO and a DOCHDR."""
        return signature(head) == "trecweb"

    def read(self, source: Source, report: Report) -> Iterator[Document]:
        """Yield the documents of one file."""
        for docno, text in documents_with_markup(source, report):
            header, page = take_header(text)
            title, text = page_text(page)
            url = header.split(maxsplit=1)[0] if header else ""
            yield Document(docno, text, title, {"url": url} if "://" in url else NO_FIELDS)
