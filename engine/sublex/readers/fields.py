"""From a record with named fields to a document, the names taken by alias.

The first id alias that a record has is its docno, the first text alias its text; what is left over is stored.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from sublex.base import NO_FIELDS, Document, Param, Report

ID_ALIASES = ("id", "docid", "docno", "_id", "doc_id")
TEXT_ALIASES = ("contents", "text", "body", "passage", "abstract")
TITLE = "title"

KINDS = {bool: "true or false", int: "a number", float: "a fraction", list: "a list", dict: "an object"}


class Names(NamedTuple):
    """The names that the id and the text go by, the likeliest first."""

    ids: tuple[str, ...] = ID_ALIASES
    texts: tuple[str, ...] = TEXT_ALIASES

    @classmethod
    def of(cls, id: str | None, text: str | None) -> Names:
        """The names given, the aliases in the place of None."""
        return cls(ID_ALIASES if id is None else (id,), TEXT_ALIASES if text is None else (text,))

    @property
    def all(self) -> tuple[str, ...]:
        """Every name, the title's too."""
        return (*self.ids, *self.texts, TITLE)


ALIASES = Names()
# What readers of named fields may be told, as in `jsonl(id=label)`.
PARAMS = (
    Param("id", str, None, help="the id's field, in place of the aliases"),
    Param("text", str, None, help="the text's field, in place of the aliases"),
)


def document(record: Mapping[str, Any], report: Report, names: Names = ALIASES) -> Document:
    """The record as a document; a ValueError says why it is none."""
    id_name = next((name for name in names.ids if name in record), None)
    if id_name is None:
        raise ValueError(f"no id: the record has none of the fields {', '.join(names.ids)}")
    text_name = next((name for name in names.texts if name in record), None)
    if text_name is None and TITLE not in record:
        raise ValueError(f"no text: the record has none of the fields {', '.join((*names.texts, TITLE))}")
    docno = _docno(id_name, record[id_name])
    text = _string(text_name, record[text_name]) if text_name is not None else ""
    title = _string(TITLE, record[TITLE]) if TITLE in record else ""
    stored = {name: value for name, value in record.items() if name not in (id_name, text_name, TITLE)}
    report.count_field("docno", id_name)
    if text_name is not None:
        report.count_field("text", text_name)
    if TITLE in record:
        report.count_field("title", TITLE)
    return Document(docno, text, title, stored or NO_FIELDS)


def _docno(name: str, value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        raise ValueError(f"{name} is {_kind(value)}, not a string or a whole number")
    if not value.strip():
        raise ValueError(f"{name} is empty")
    return value


def _string(name: str, value: Any) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ValueError(f"{name} is {_kind(value)}, not a string")
    return value


def _kind(value: Any) -> str:
    return "null" if value is None else KINDS.get(type(value), f"of type {type(value).__name__}")
