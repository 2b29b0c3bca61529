"""The schemas of the JSON files of an index: the manifest, journals, and the entries of derived data and of stores.

A schema is made of Python values: a type stands for a value of that type, a list of one schema for a list of such values, a
dictionary for an object with these members, and `Every` for an object with members of any name. A member whose name ends in `?` may
be absent. Members that a schema does not name are allowed.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from sublex.errors import InputError
from sublex.index.directory import is_plain

# Documents, and postings of one term, are counted in 32 bits; sums of them fit into 53 bits.
MOST_DOCS = 2**31 - 1
MOST = 2**53


class Mismatch(ValueError):
    """A value does not follow its schema. The message names the field and what it should be."""


class Every(NamedTuple):
    """The schema of an object whose members all have one schema; with `named`, their names are those of files or folders."""

    schema: Any
    named: bool = False


class Rule(NamedTuple):
    """The schema of a value of one type that fulfils a condition; `what` describes it in a message."""

    what: str
    type: type
    holds: Callable[[Any], bool]


def _is_expression(text: str) -> bool:
    from sublex.language.parser import parse

    try:
        parse(text)
    except InputError:
        return False
    return True


COUNT = Rule("a whole number", int, lambda value: 0 <= value <= MOST)
DOCS = Rule("a number of documents", int, lambda value: 0 <= value <= MOST_DOCS)
EXPRESSION = Rule("an expression", str, _is_expression)
NAME = Rule("the name of a file or folder within the index", str, is_plain)
WORD = Rule("a short word", str, lambda text: re.fullmatch(r"[A-Za-z0-9._-]{1,200}", text) is not None)
IDENTITY = Rule("32 hexadecimal digits", str, lambda text: re.fullmatch(r"[0-9a-f]{32}", text) is not None)
PART = Rule("text", str, lambda text: text == "text")
FOLDER = {"components": Every(COUNT, named=True), "checksum": NAME}
TOTALS = {"docs": DOCS, "tokens": COUNT, "postings": COUNT}
SEGMENT = TOTALS | {
    "name": NAME, "terms": DOCS, "data": FOLDER, "deleted?": TOTALS | {"name": NAME, "data": FOLDER}, "stated?": bool,
}  # fmt: skip
TOKENS = {"tokens": COUNT, "unknown": COUNT}
ROWS = {"expression": EXPRESSION, "segments": Every({"data": FOLDER}, named=True)}
MODEL = {
    "expression": EXPRESSION, "version": object, "depends": [str], "resources": Every(str), "origin": str, "model": FOLDER,
    "rows": Every(ROWS, named=True), "seen": Every(TOKENS | {"added": TOKENS}),
}  # fmt: skip
# What an attached index says about the foreign index that it mirrors.
ATTACHED = {"backend": WORD, "state": WORD, "id": IDENTITY, "stores": [PART], "options": Every(str)}
MANIFEST = {
    "format": int, "generation": COUNT, "fingerprint": str, "profile": str, "store": [str], "statistics": TOTALS,
    "analyzer": {"settings": {"name": str, "params": Every(object)}, "versions": Every(object)},
    "segments": [SEGMENT], "fitted?": Every(MODEL, named=True),
    "resources?": Every({"file": NAME, "hash": str, "bytes?": COUNT}, named=True),
    "attached?": ATTACHED,
}  # fmt: skip
OUTCOME = {
    "read": COUNT, "indexed": COUNT, "empty": [str], "duplicate": [str], "white_space": [str], "problems": [list],
    "notes": Every(COUNT), "fields": Every(COUNT),
}  # fmt: skip
JOURNAL = {"sources": object, "batches": COUNT, "docs": DOCS, "spills": [SEGMENT], "outcome": OUTCOME}
_KINDS = {int: "a whole number", str: "a text", list: "a list", dict: "an object", bool: "true or false"}


def expect(value: Any, schema: Any, place: str = "") -> None:
    """Raise `Mismatch` unless a value, as JSON gave it, follows a schema. `place` names the value in the message."""
    if isinstance(schema, Rule):
        if type(value) is not schema.type or not schema.holds(value):
            raise Mismatch(f"{place} should be {schema.what}")
    elif isinstance(schema, type):
        if schema is not object and type(value) is not schema:
            raise Mismatch(f"{place} should be {_KINDS[schema]}")
    elif isinstance(schema, list):
        expect(value, list, place)
        for number, item in enumerate(value):
            expect(item, schema[0], f"{place}[{number}]")
    else:
        expect(value, dict, place or "the whole")
        _expect_members(value, schema, f"{place}." if place else "")


def _expect_members(value: dict[str, Any], schema: Any, place: str) -> None:
    if isinstance(schema, Every):
        for name, member in value.items():
            if schema.named:
                expect(name, NAME, f"{place}{name!r}")
            expect(member, schema.schema, f"{place}{name}")
        return
    for name, member in schema.items():
        if not name.endswith("?"):
            if name not in value:
                raise Mismatch(f"{place}{name} is missing")
            expect(value[name], member, f"{place}{name}")
        elif name[:-1] in value:
            expect(value[name[:-1]], member, f"{place}{name[:-1]}")
