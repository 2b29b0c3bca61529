"""Turn a record with named fields, such as a JSON object or a row of a table, into a document.

Fields are recognised by their names. The id and the text have several known names; the first of them that a record has
is used. The id gives the docno. All fields other than id, title and text are stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from numbers import Integral
from typing import Any, NamedTuple

from sublex.contracts.base import NO_FIELDS, Document, Param, Report
from sublex.errors import InputError
from sublex.tools.strings import NUL_FAULT

ID_ALIASES = ("id", "docid", "docno", "_id", "doc_id")
TEXT_ALIASES = ("contents", "text", "body", "passage", "abstract")
TITLE = "title"

# Floats below this number hold every whole number exactly.
EXACT = 2.0**53

# The names of types of JSON values in messages.
KINDS = {bool: "true or false", int: "a number", float: "a fraction", list: "a list", dict: "an object"}


class FieldNames(NamedTuple):
    """The names by which a reader recognises the id field and the text field, and the name of the title.

    The first name that a record has is used. `renamed` has pairs: the name of a field in the file, and its new name.
    Fields are renamed first of all.
    """

    ids: tuple[str, ...] = ID_ALIASES
    texts: tuple[str, ...] = TEXT_ALIASES
    title: str = TITLE
    renamed: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, id: str | None, text: str | None, rename: str | None = None) -> FieldNames:
        """Return the names to look for.

        `id` and `text` are the user's; None stands for the default names.

        `rename` has new names of fields, as in "year=Publication Year, doi=DOI". Raise InputError for another text.
        """
        ids, texts = ID_ALIASES if id is None else (id,), TEXT_ALIASES if text is None else (text,)
        return cls(ids, texts, renamed=_renamed(rename) if rename is not None else ())

    def new_names(self, names: Iterable[str]) -> list[str]:
        """Return the new name of each field, or its name in the file if it has no new one."""
        new = dict(self.renamed)
        return [new.get(name, name) for name in names]

    def renaming(self, record: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the record with new names. Raise ValueError if two of its fields would then have the same name."""
        if not self.renamed:
            return record
        found = dict(zip(self.new_names(record), record.values(), strict=True))
        if len(found) < len(record):
            old, new = next((old, new) for old, new in self.renamed if old in record and new in record)
            raise ValueError(f"{old} is renamed to {new}, and the record has a field {new}")
        return found

    @property
    def all(self) -> tuple[str, ...]:
        """Return the names of the id, of the text and of the title."""
        return (*self.ids, *self.texts, self.title)


ALIASES = FieldNames()
# The parameters of readers of named fields, as in `jsonl(id=label)`.
PARAMS = (
    Param("id", str, None, help="the field of the id, in place of its usual names"),
    Param("text", str, None, help="the field of the text, in place of its usual names"),
    Param("rename", str, None, help='new names of fields, with commas between several: "year=Publication Year"'),
)
# The parameters of the reader `trec`, as in `trec(title=headline, fields="date,author")`.
ELEMENTS = (
    Param("title", str, None, help="the elements that are the title, with commas between several; by default none"),
    Param("fields", str, None, help="the elements that are stored fields; by default none"),
)


def to_document(record: Mapping[str, Any], report: Report, names: FieldNames = ALIASES) -> Document:
    """Return the record as a document.

    Count in the report which fields became docno, text and title.

    Raise ValueError, with the reason, for a record without a usable id or text.
    """
    record = names.renaming(record)
    id_name = next((name for name in names.ids if name in record), None)
    if id_name is None:
        raise ValueError(f"no id: the record has none of the fields {', '.join(names.ids)}")
    text_name = next((name for name in names.texts if name in record), None)
    if text_name is None and names.title not in record:
        raise ValueError(f"no text: the record has none of the fields {', '.join((*names.texts, names.title))}")
    docno = _docno(id_name, record[id_name])
    text = _string(text_name, record[text_name]) if text_name is not None else ""
    title = _string(names.title, record[names.title]) if names.title in record else ""
    stored = {name: value for name, value in record.items() if name not in (id_name, text_name, names.title)}
    for role, name in (("docno", id_name), ("text", text_name), ("title", names.title)):
        if name is not None and name in record:
            report.count_field(role, name)
    return Document(docno, text, title, stored or NO_FIELDS)


def _renamed(rename: str) -> tuple[tuple[str, str], ...]:
    """Return the pairs of old and new names in a text.

    Raise InputError for any other text, and for a name that occurs twice.
    """
    pairs = [pair.partition("=") for pair in rename.split(",")]
    found = tuple((old.strip(), new.strip()) for new, _, old in pairs)
    if not all(old and new for old, new in found):
        raise InputError(
            f'rename={rename!r} names no fields; write new names and those of the file, as in "year=Publication Year, doi=DOI".'
        )
    for names in zip(*found, strict=True):
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise InputError(f"rename={rename!r} has {twice} twice; rename each field once.")
    return found


def _docno(name: str, value: Any) -> str:
    """Return the value of an id field as a docno.

    Raise ValueError unless it is a whole number or a string that is not empty.
    """
    value = id_value(value)
    if isinstance(value, float) and value.is_integer():
        raise ValueError(f"{name} is {value:g}, a float too large for exact whole numbers; make it a string")
    if not isinstance(value, str):
        raise ValueError(f"{name} is {_kind(value)}, not a string or a whole number")
    if not value.strip():
        raise ValueError(f"{name} is empty")
    if "\0" in value:
        raise ValueError(f"{name} {value!r} {NUL_FAULT}")
    return value


def id_value(value: Any) -> Any:
    """Return an id as text if it is a whole number, such as 1 or 1.0. Return any other value unchanged."""
    is_whole = isinstance(value, Integral) and not isinstance(value, bool)
    is_whole = is_whole or (isinstance(value, float) and value.is_integer() and abs(value) < EXACT)
    return str(int(value)) if is_whole else value


def _string(name: str, value: Any) -> str:
    """Return the value of a text field; null becomes an empty text.

    Raise ValueError for anything else that is not a string.
    """
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ValueError(f"{name} is {_kind(value)}, not a string")
    return value


def _kind(value: Any) -> str:
    """Return the name of the type of `value` for a message."""
    return "null" if value is None else KINDS.get(type(value), f"of type {type(value).__name__}")
