"""Show a stored document: its docno, title, fields and text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from sublex.errors import UnknownDocument
from sublex.forms.lines import Line, Shown, line, table_lines
from sublex.forms.values import to_json

if TYPE_CHECKING:
    from sublex.contracts.base import Document
    from sublex.pipeline.index import Index


def document(index: Index, docno: str) -> Shown:
    """Return a stored document as Shown. Raise InputError for an unknown docno."""
    if docno not in index:
        raise UnknownDocument(f"No document {docno or repr(docno)} in {index.path}.")
    found = index.document(docno)
    data = {"docno": found.docno, "title": found.title, "text": found.text, "fields": dict(found.fields)}
    return Shown(lambda: _lines(found), lambda: data)


def _lines(found: Document) -> Iterator[Line]:
    fields = [(field, value if isinstance(value, str) else to_json(value)) for field, value in found.fields.items()]
    title = [("title", found.title)] if found.title else []
    yield from table_lines([("docno", found.docno), *title, *fields])
    yield line()
    for paragraph in found.text.split("\n"):
        yield line(paragraph, indent=0)
