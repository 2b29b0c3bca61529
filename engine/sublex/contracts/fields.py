"""The fields of documents whose text is searched: their names, their order, and the text of a field's value.

A *content field* is a part of the indexed text: the title, the text, and each further field that a build names. A *named
field* is a field that a build names: the index keeps frequencies and lengths in this field, and queries can ask for it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from sublex.errors import InputError
from sublex.tools.arguments import shown

# The pattern of names: letters, digits and underscores of any script, dots and hyphens. A digit, a dot or a hyphen cannot be the
# first character.
_NAME, LONGEST_NAME = re.compile(r"[^\W\d][\w.-]*"), 200
TITLE, TEXT = "title", "text"


def content_fields(named: Iterable[str]) -> tuple[str, ...]:
    """Return the content fields of an index with these named fields, in the order of a document's contents."""
    return (TITLE, TEXT, *other_fields(named))


def other_fields(named: Iterable[str]) -> tuple[str, ...]:
    """Return the fields among `named` that are neither the title nor the text."""
    return tuple(name for name in named if name not in (TITLE, TEXT))


def text_of(value: Any) -> str:
    """Return the text of a field's value, which must be a value that JSON can hold.

    A text stays as it is, and a number becomes its text. A list becomes the texts of its items, joined by newlines; an
    object becomes the texts of its values, joined by newlines. Null becomes the empty text.
    """
    found, left = [], [value]
    while left:
        item = left.pop()
        if isinstance(item, Mapping):
            left += reversed(list(item.values()))
        elif isinstance(item, (list, tuple)):
            left += reversed(item)
        elif isinstance(item, str):
            found.append(item)
        elif item is not None:
            found.append(json.dumps(item))
    return "\n".join(filter(None, found))


def contents_of(title: str, text: str) -> str:
    """Return the contents of a document without other fields: title, newline and text; without a title, the text."""
    return f"{title}\n{text}" if title else text


def other_texts(fields: Mapping[str, Any], names: Sequence[str]) -> list[str]:
    """Return the text that each of the fields `names` adds to the contents: an empty line, and the text of the field.

    A field without text adds nothing. An empty line is a break, so no phrase goes from one field into the next.
    """
    texts = (text_of(fields.get(name)) for name in names)
    return [f"\n\n{text}" if text else "" for text in texts]


def field_names(given: str | Iterable[str]) -> tuple[str, ...]:
    """Return the names of fields that a user gives, in a text such as "title,text" or in an iterable, which may be empty.

    Raise InputError for a name that no field can have, and for one that is there twice.
    """
    names = [name.strip() for name in given.split(",") if given] if isinstance(given, str) else given
    if not isinstance(names, Iterable) or isinstance(names, (bytes, Mapping)):
        raise InputError(f'The fields are {shown(given)}; give their names, such as "title,text".')
    found: list[str] = []
    for name in names:
        expect_name(name, "field", found)
        found.append(name)
    return tuple(found)


def several_fields(given: str | None) -> tuple[str, ...]:
    """Return the names of fields in a text such as "title,text"; an empty tuple for None, and for the name of a single field."""
    return field_names(given) if given and "," in given else ()


def is_name(text: str) -> bool:
    """Return whether a field or a column can have this name."""
    return len(text) <= LONGEST_NAME and _NAME.fullmatch(text) is not None


def expect_name(name: Any, kind: str, known: Collection[str]) -> None:
    """Raise InputError if a field or column cannot have a name, or if `known` has the name already.

    `kind` is "field" or "column", for the message.
    """
    if not isinstance(name, str) or not is_name(name):
        raise InputError(
            f"{shown(name)} is no name of a {kind}; a name begins with a letter and has letters, digits, _, - and dots, "
            f"at most {LONGEST_NAME} in all; to use a field of another name, rename it in the documents, or by a reader of "
            'named fields, as in csv(rename="year=Publication Year").'
        )
    if name in known:
        raise InputError(f"The {kind} {name} is named twice; name it once.")
