"""TREC's web collections: `<DOC>` with DOCNO, DOCHDR and a page of HTML (WT2g, WT10g, .GOV, GOV2).

The page gives title and text; of DOCHDR only the address is kept, as a stored field.
"""

from __future__ import annotations

from collections.abc import Iterator

from sublex.base import NO_FIELDS, Document, Report, Source
from sublex.readers.html import page_text
from sublex.readers.sgml import take_header
from sublex.readers.signatures import signature
from sublex.readers.trec import marked_up


class TrecWeb:
    """Reads TREC web documents."""

    def detect(self, path: str, head: bytes) -> bool:
        return signature(head) == "trecweb"

    def read(self, source: Source, report: Report) -> Iterator[Document]:
        for docno, text in marked_up(source, report):
            header, page = take_header(text)
            title, text = page_text(page)
            url = header.split(maxsplit=1)[0] if header else ""
            yield Document(docno, text, title, {"url": url} if "://" in url else NO_FIELDS)
