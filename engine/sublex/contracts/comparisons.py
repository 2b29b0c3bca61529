"""Comparisons, such as `year >= 2015`, test values of a column. They are leaves of `sublex.contracts.operators.Condition`s."""

from __future__ import annotations

import math
import numbers
import re
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, NamedTuple

from sublex.errors import InputError
from sublex.tools.arguments import shown
from sublex.tools.messages import counted

# The relations of comparisons. A range has two values, its ends: both ends pass with "between", and only the second one
# with "> <=". "exists" has no value: any value of a document passes. "begins" lets texts pass that begin with the value.
RANGES = ("between", "> <", "> <=", ">= <")
RELATIONS = ("=", "!=", "<", "<=", ">", ">=", "in", "begins", "exists", *RANGES)
Value = str | float | int
# The texts that a printed comparison shows without quotes.
_BARE = re.compile(r"[^\W_](?:(?!\.\.)[\w.:/+-])*")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


class _Compared(NamedTuple):
    column: str
    relation: str
    values: tuple[Value, ...]


class ColumnTest(_Compared):
    """A comparison: a column, a relation of `RELATIONS`, and values. A document passes if one of its own values passes.

    "in" has any number of values, a range has two, "exists" has none, and all other relations have one. A document passes a
    range if a single value of it lies between both ends. A document without a value does not pass. A date is a text such
    as "2015-03-01"; "2015-03" and "2015" mean the whole month and year. Raise InputError for parts that make no
    comparison.
    """

    __slots__ = ()

    def __new__(cls, column: str, relation: str, values: Iterable[Value]) -> ColumnTest:
        if not isinstance(column, str) or not isinstance(relation, str) or relation not in RELATIONS:
            raise InputError(
                f"{shown(column)} {shown(relation)} is no comparison; give the name of a column and one of {', '.join(RELATIONS)}."
            )
        if isinstance(values, str) or not isinstance(values, Iterable):
            raise InputError(f"The values of a comparison are {shown(values)}; give a list.")
        found = tuple(map(_value, values))
        if relation != "in" and len(found) != (2 if relation in RANGES else relation != "exists"):
            raise InputError(f"{column} {relation} with {counted(len(found), 'value')} is no comparison.")
        return super().__new__(cls, column, relation, found)

    def __str__(self) -> str:
        """Return the comparison as the query language writes it, such as `year:2015..2020`."""
        values = [printed_value(value) for value in self.values]
        if self.relation == "between":
            return f"{self.column}:{'..'.join(values)}"
        if self.relation == "in":
            return f"{self.column}:({' OR '.join(values)})"
        if self.relation in RANGES:
            first, last = self.relation.split()
            brackets = "[" if first == ">=" else "{", "]" if last == "<=" else "}"
            return f"{self.column}:{brackets[0]}{' TO '.join(values)}{brackets[1]}"
        if self.relation in ("begins", "exists"):
            return f"{self.column}:{''.join(values)}*"
        return f"{self.column}:{'' if self.relation == '=' else self.relation}{values[0]}"


def _value(value: Any) -> Value:
    """Return a value as a text, an int or a float.

    Raise InputError for a value of another type, and for a whole number that is too large for a float.
    """
    if isinstance(value, str):
        return value
    with suppress(OverflowError):
        if isinstance(value, numbers.Real):
            as_float = float(value)
            return int(value) if isinstance(value, numbers.Integral) else as_float
    raise InputError(f"{shown(value)} is no value of a column; give a text, or a number below 1e308.")


def printed_value(value: Value) -> str:
    """Return a value as it is written in a comparison. A text that could be read in another way stands in quotes."""
    if not isinstance(value, str):
        return f"{value}"
    return value if _BARE.fullmatch(value) else '"' + re.sub(r'[\\"]', r"\\\g<0>", value) + '"'


def number_of(text: str) -> int | float | None:
    """Return the number in a text; infinity if the number is too large for a float, and None if the text is no number."""
    if not _NUMBER.fullmatch(text):
        return None
    if math.isinf(number := float(text)):
        return number
    return int(text) if text.lstrip("+-").isdecimal() else number
