"""Comparisons: which values of a column pass. A comparison is a leaf of a `sublex.contracts.operators.Condition`."""

from __future__ import annotations

import re
from typing import NamedTuple

# How values may be compared. Ranges have two values: both pass with "between", and "> <=" leaves out the first.
RANGES = ("between", "> <", "> <=", ">= <")
RELATIONS = ("=", "!=", "<", "<=", ">", ">=", "in", *RANGES)
Value = str | float | int
# The values of an unquoted word in a printed comparison.
_BARE = re.compile(r"[^\W_](?:(?!\.\.)[\w.:/+-])*")


class Comparison(NamedTuple):
    """Which values of a column pass. `relation` is one of `RELATIONS`; a document passes if one of its values does.

    "in" has any number of values, a range two, and all other relations have one. One value has to lie in a range. A
    document without a value does not pass. A date is a text such as "2015-03-01"; "2015-03" and "2015" mean the whole
    month and year.
    """

    column: str
    relation: str
    values: tuple[Value, ...]

    def __str__(self) -> str:
        """Return the comparison as the query language writes it, such as `year:2015..2020`, or as a filter does."""
        values = [printed_value(value) for value in self.values]
        if self.relation == "between":
            return f"{self.column}:{'..'.join(values)}"
        if self.relation == "in":
            return f"{self.column} in ({', '.join(values)})"
        if self.relation in RANGES:
            after, before = self.relation.split()
            return f"{values[0]} {after.replace('>', '<')} {self.column} {before} {values[1]}"
        if self.relation == "!=":
            return f"{self.column} != {values[0]}"
        return f"{self.column}:{'' if self.relation == '=' else self.relation}{values[0]}"


def printed_value(value: Value) -> str:
    """Return a value as it is written in a comparison. A text that could be read in another way stands in quotes."""
    if not isinstance(value, str):
        return f"{value}"
    return value if _BARE.fullmatch(value) else '"' + re.sub(r'[\\"]', r"\\\g<0>", value) + '"'
