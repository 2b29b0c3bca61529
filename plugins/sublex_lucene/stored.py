"""The documents that Anserini stores in a Lucene index, as documents of Sublex."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from sublex.contracts.base import Document

# The members of a record with the id, the title and the text of a document. All other members become fields.
_IDS = {"id", "_id", "docid"}
_KNOWN = _IDS | {"contents", "title", "text"}


def to_document(docno: str, stored: Mapping[str, str], field: str = "contents") -> tuple[Document, bool]:
    """Return a document made of its stored fields, and whether its text is exactly the text that was indexed in
    `field`.

    The text is the stored field `field`. If this field is not stored, the text comes from the stored field `raw`, the
    record as it is in the collection. The record may be JSON with a member `field`, or with the members `title` and
    `text`. Any other record is used unchanged; it has the markup that Anserini removes before indexing, so the text is
    not exact.
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


def with_fields(docno: str, stored: Mapping[str, str], fields: Sequence[str]) -> tuple[Document, bool]:
    """Return a document made of several stored fields, and whether its texts are exactly those that were indexed.

    The value of a field in `fields` is the stored field of this name, or the member of this name in the record, which
    the stored field `raw` has. The field `title` becomes the title, and the field `text` the text; all others keep
    their names. If no field is stored and the record is not JSON, the record becomes the text, with its markup.
    """
    raw = stored.get("raw", "")
    record = _record(raw)
    if raw and record is None and not any(field in stored for field in fields):
        return Document(docno, raw), False
    values = {name: value for name, value in (record or {}).items() if name not in _IDS}
    values |= {field: stored[field] for field in fields if field in stored}
    title, text = (_text(values.pop(name, None)) or "" if name in fields else "" for name in ("title", "text"))
    return Document(docno, text, title, values), True


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
