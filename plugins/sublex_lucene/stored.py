"""The documents that Anserini stores in a Lucene index, as documents of Sublex."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sublex.contracts.base import Document

# Members of a record that hold the id, the title and the text of a document. All other members become fields.
_KNOWN = {"id", "_id", "docid", "contents", "title", "text"}


def to_document(docno: str, stored: Mapping[str, str], field: str = "contents") -> tuple[Document, bool]:
    """Return a document made of its stored fields, and whether its text is exactly the text that was indexed in
    `field`.

    The text is the stored field `field`. If this field is not stored, the text comes from the stored field `raw`, the
    record as it stands in the collection. The record may be JSON with a member `field`, or with the members `title` and
    `text`. A record of any other kind is taken as it is, with the markup that Anserini removes before indexing; the
    text is then not exact.
    """
    raw = stored.get("raw", "")
    record = _record(raw) or {}
    title = _text(record.get("title")) or ""
    fields = {name: value for name, value in record.items() if name not in _KNOWN}
    fields.pop(field, None)
    indexed = stored[field] if field in stored else _text(record.get(field))
    if indexed is not None:
        if title and indexed.startswith(f"{title}\n"):
            return Document(docno, indexed[len(title) + 1 :], title, fields), True
        # A title that was not indexed is not used as the title, because the contents would differ from the indexed
        # text.
        return Document(docno, indexed, "", fields | ({"title": title} if title else {})), True
    text = _text(record.get("text"))
    if text is not None and field == "contents":
        return Document(docno, text, title, fields), True
    return Document(docno, raw), False


def _record(raw: str) -> dict[str, Any] | None:
    """Return the JSON object in a text, or None if the text is not a JSON object."""
    if not raw.lstrip().startswith("{"):
        return None
    try:
        record = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None
