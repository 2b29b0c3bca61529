"""The documents that Anserini stores in a Lucene index, as documents of Sublex."""

from __future__ import annotations

import json
from typing import Any

from sublex.base import Document


def to_document(docno: str, contents: str | None, raw: str | None) -> tuple[Document, bool]:
    """Return a document from the stored fields `contents` and `raw`, and whether its text is exactly the text that was indexed.

    `raw` is the record as the collection has it: JSON with `contents`, or with `title` and `text`, or any other text. Of other text the
    markup stays in the document, which Anserini leaves out before it indexes.
    """
    record = _record(raw)
    if contents is None and record is not None:
        contents = _text(record.get("contents"))
    if contents is not None:
        return _split(docno, contents, record or {}), True
    if record is not None and _text(record.get("text")) is not None:
        return Document(docno, str(record["text"]), _text(record.get("title")) or ""), True
    return Document(docno, raw or ""), False


def _split(docno: str, contents: str, record: dict[str, Any]) -> Document:
    """Return a document whose title is taken off its contents, if the contents begin with it; else the title is a stored field."""
    title = _text(record.get("title")) or ""
    if title and contents.startswith(f"{title}\n"):
        return Document(docno, contents[len(title) + 1 :], title)
    return Document(docno, contents, fields={"title": title} if title else {})


def _record(raw: str | None) -> dict[str, Any] | None:
    """Return the JSON object that a text is, or None."""
    if not raw or not raw.lstrip().startswith("{"):
        return None
    try:
        record = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None
