"""Columns: typed values of documents, such as years, dates and categories.

`documents_of` says which documents pass a comparison, such as `year >= 2015`; filters, conditions of queries and facets
all call it.
"""

from __future__ import annotations

import calendar
import json
import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import Any, Protocol

import numpy as np

from sublex.contracts.comparisons import RANGES, ColumnTest, Value, number_of, printed_value
from sublex.contracts.operators import Condition
from sublex.errors import InputError
from sublex.tools.messages import cut, nearest

# The types of columns, and the words for their values in messages.
KINDS = {"int": "whole numbers", "float": "numbers", "date": "dates", "text": "texts"}
# A date of ISO 8601: a year, a month, or a day, perhaps with a time and a zone after it.
_TIME = r"(?:[T ]\d\d(?::?\d\d(?::?\d\d(?:[.,]\d+)?)?)? ?(?:Z|[+-]\d\d(?::?\d\d)?)?)?"
_DATE = re.compile(rf"(\d{{4}})(?:-(\d\d)(?:-(\d\d){_TIME})?|(\d\d)(\d\d){_TIME})?", re.ASCII)
# A day whose month has an English name, as in 26-FEB-1987 or 3 March 2015, perhaps with a time and more after it.
_NAMED_DATE = re.compile(r"(\d{1,2})([- /])([a-z]{3,9})\2(\d{4})(?:\s+\d+:\d.*)?", re.ASCII | re.IGNORECASE)
_MONTHS = (
    "",
    *map(str.lower, "January February March April May June July August September October November December".split()),
)
_MONTH_OF = {name: month for month, whole in enumerate(_MONTHS) for name in (whole, whole[:3]) if month} | {"sept": 9}
# The day from which dates count, as a proleptic Gregorian ordinal.
EPOCH = date(1970, 1, 1).toordinal()


@dataclass(frozen=True, eq=False)
class Column:
    """The values of a column in some documents.

    The values of document d are `values[starts[d]:starts[d + 1]]`, ascending and distinct. Without `starts`, each
    document has one value. `values` are int64 for the kind "int", float64 for "float", int32 days since 1970-01-01 for
    "date", and for "text" int32 places in `words`, the distinct texts in ascending order.
    """

    kind: str
    starts: np.ndarray | None
    values: np.ndarray
    words: Sequence[str] = ()

    @property
    def docs(self) -> int:
        """The number of documents."""
        return len(self.values) if self.starts is None else len(self.starts) - 1

    def rows(self, docs: np.ndarray) -> Column:
        """Return the column of these documents, in their order."""
        if self.starts is None:
            return Column(self.kind, None, self.values[docs], self.words)
        begins = self.starts[docs].astype(np.int64)
        starts = np.concatenate([[0], np.cumsum(self.starts[docs + 1] - begins)])
        places = np.repeat(begins - starts[:-1], np.diff(starts)) + np.arange(starts[-1])
        return Column(self.kind, starts, self.values[places], self.words)

    def shown(self, value: Any) -> Value:
        """Return a value as people write it: a number, a date such as "2015-03-01", or a text."""
        if self.kind == "text":
            return str(self.words[int(value)])
        if self.kind == "date":
            return str(np.datetime64(int(value), "D"))
        return int(value) if self.kind == "int" else float(value)

    def values_of(self, doc: int) -> list[Value]:
        """Return the values of a document as people write them."""
        begin, end = (doc, doc + 1) if self.starts is None else self.starts[doc : doc + 2].tolist()
        return [self.shown(value) for value in self.values[begin:end]]

    def counts(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the distinct values, ascending, and the number of documents with each."""
        return np.unique(self.values, return_counts=True)

    def order(self, descending: bool = False) -> np.ndarray:
        """Return the documents in the order of their least values; if `descending`, of their greatest values, greatest first.

        Documents with equal values stay in order. Documents without a value come last.
        """
        if self.starts is None:
            there, keys = np.arange(self.docs), self.values
        else:
            there = np.flatnonzero(np.diff(self.starts))
            keys = self.values[self.starts[there + 1] - 1 if descending else self.starts[there]]
        ranks = np.unique(keys, return_inverse=True)[1]
        found = there[np.argsort(-ranks if descending else ranks, kind="stable")]
        return np.concatenate([found, np.setdiff1d(np.arange(self.docs), there)])


def values_line(name: str, values: Sequence[Value]) -> str:
    """Return the values of a document in a column as one line, such as "year is 2015"; long texts and lists are cut."""
    if not values:
        return f"{name} is missing"
    return f"{name} is {cut(', '.join(map(str, values)))}"


def documents_of(comparison: ColumnTest, column: Column) -> np.ndarray:
    """Return for each document of a column whether it passes a comparison.

    Raise InputError if the comparison has a value that the column cannot have.
    """
    lows, highs = _spans(comparison, column.kind, column.words)
    if len(lows):
        place = np.searchsorted(lows, column.values, side="right") - 1
        passed = (place >= 0) & (column.values <= highs[place])
    else:
        passed = np.zeros(len(column.values), bool)
    if column.starts is None:
        return passed
    before = np.concatenate([[0], np.cumsum(passed)])
    return before[column.starts[1:]] > before[column.starts[:-1]]


def meeting(condition: Condition | ColumnTest, column_of: Callable[[str], Column]) -> np.ndarray:
    """Return for each document whether it meets a condition, all of whose leaves must be comparisons.

    `column_of` returns the column with a name.
    """
    if isinstance(condition, ColumnTest):
        return documents_of(condition, column_of(condition.column))
    parts = [meeting(part, column_of) for part in condition.parts]
    if condition.kind == "not":
        return ~parts[0]
    return np.logical_and.reduce(parts) if condition.kind == "all" else np.logical_or.reduce(parts)


def comparisons_in(condition: Any) -> Iterator[ColumnTest]:
    """Yield the comparisons of a condition, in order, with repetitions."""
    if isinstance(condition, ColumnTest):
        yield condition
    elif isinstance(condition, Condition):
        for part in condition.parts:
            yield from comparisons_in(part)


def without_column(condition: Condition | ColumnTest | None, name: str) -> Condition | ColumnTest | None:
    """Return a condition without the comparisons of one column; None if no other comparison is left.

    A part of the condition is left out if it reads this column alone and is joined to the other parts by "all".
    """
    if condition is None or {each.column for each in comparisons_in(condition)} == {name}:
        return None
    if isinstance(condition, Condition) and condition.kind == "all":
        kept = (without_column(part, name) for part in condition.parts)
        return Condition("all", tuple(part for part in kept if part is not None))
    return condition


class HasColumns(Protocol):
    """The two members of an index that `check` uses: the types of its columns, and the error for an unknown column."""

    @property
    def columns(self) -> Mapping[str, str]: ...

    def need_column(self, name: str) -> None: ...


def check(condition: Any, index: HasColumns) -> None:
    """Raise InputError if a comparison names no column of an index, or has values that the column cannot have."""
    for comparison in comparisons_in(condition):
        index.need_column(comparison.column)
        expect_values(comparison, index.columns[comparison.column])


def typed(value: Value, kind: str) -> Value:
    """Return a value for a column of the type `kind`. For int and float, a text becomes its number."""
    number = number_of(value.strip()) if isinstance(value, str) and kind in ("int", "float") else None
    return value if number is None or math.isinf(number) else number


def expect_values(comparison: ColumnTest, kind: str) -> None:
    """Raise InputError if a column of a type cannot have a value of a comparison."""
    _spans(comparison, kind, ())


def no_column(name: str, columns: Mapping[str, str]) -> str:
    """Return the sentence about a column that an index does not have."""
    if not columns:
        asked = f"--columns {name}:int (or float, date, text)"
        return f"No column {name}: the index has no columns; build it with them, as in sublex index … {asked}."
    hint = nearest(name, columns)
    listed = ", ".join(f"{known} ({kind})" for known, kind in sorted(columns.items()))
    return f"No column {name}; {hint}{'T' if hint else 't'}he columns are {listed}."


# Comparisons as spans: each comparison becomes a list of spans. A value passes if it lies in one of the spans.


def _spans(comparison: ColumnTest, kind: str, words: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return the spans of a comparison: an array with the least value of each span, and one with the greatest value."""
    if comparison.relation == "begins":
        return _beginning(comparison, kind, words)
    relation, values = comparison.relation, [typed(value, kind) for value in comparison.values]
    given = [_ends(value, comparison, kind, words) for value in values]
    type_ = np.dtype({"int": np.int64, "float": np.float64}.get(kind, np.int32))
    most = np.inf if kind == "float" else (1 << (8 * type_.itemsize - 1)) - 1
    least = -np.inf if kind == "float" else -most - 1
    # A value such as "2015" stands for many days, so its least and its greatest day differ.
    (low, high), (second, last) = (given[0], given[-1]) if given else ((most, least), (most, least))
    ends: Any = (low, last) if kind == "date" else values
    if relation in RANGES and ends[0] > ends[1]:
        start, end = map(printed_value, comparison.values)
        raise InputError(
            f"{comparison.column} cannot lie in {start}..{end}, for the greater value comes first; write {end}..{start}."
        )

    def beside(end: Any, step: int) -> Any:
        """Return the value that is next to `end`: above it for a `step` of 1, below it for -1."""
        return float(np.nextafter(end, step * np.inf)) if kind == "float" else end + step

    below, above = beside(low, -1), beside(high, 1)
    spans = {
        "=": [(low, high)], "!=": [(least, below), (above, most)], "<": [(least, below)], "<=": [(least, high)],
        ">": [(above, most)], ">=": [(low, most)], "in": given, "between": [(low, last)], "exists": [(least, most)],
        "> <": [(above, beside(second, -1))], "> <=": [(above, last)], ">= <": [(low, beside(second, -1))],
    }[relation]  # fmt: skip
    kept = sorted(
        (max(low, least), min(high, most)) for low, high in spans if low <= high and low <= most and high >= least
    )
    lows, highs = (np.array([span[end] for span in kept], type_) for end in (0, 1))
    return lows, np.maximum.accumulate(highs)


def _beginning(comparison: ColumnTest, kind: str, words: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return the places of the first and the last word that begin with the value of a comparison, each in an array."""
    begin = comparison.values[0]
    if kind != "text" or not isinstance(begin, str):
        raise InputError(f"{comparison.column} is a column of {KINDS[kind]}, and {begin}* is the beginning of a text.")
    first = bisect_left(words, begin)
    end = bisect_left(words, True, first, key=lambda word: not word.startswith(begin))
    places = np.array([[first], [end - 1]], np.int32)
    return places[0, : first < end], places[1, : first < end]


def _ends(value: Value, comparison: ColumnTest, kind: str, words: Sequence[str]) -> tuple[Any, Any]:
    """Return the least and the greatest value that a written value stands for.

    A column may be unable to have a value, such as 2.5 in a column of whole numbers. Then the least is the next value
    above it, and the greatest the next value below it.
    """
    column = comparison.column
    if kind == "text":
        if not isinstance(value, str):
            raise InputError(
                f'{column} is a column of texts, and {value} is a number; write it in quotes: {column} = "{value}".'
            )
        return bisect_left(words, value), bisect_right(words, value) - 1
    if kind == "date":
        days = days_of(str(value)) if isinstance(value, (str, int)) else None
        if days is None:
            raise InputError(
                f"{column} is a column of dates, and {_shown(value)} is none; write 2015-03-01, 2015-03 or 2015."
            )
        return days
    if isinstance(value, str) or not math.isfinite(value):
        raise InputError(f"{column} is a column of {KINDS[kind]}, and {_shown(value)} is no number.")
    return (value, value) if kind == "float" else (math.ceil(value), math.floor(value))


def _shown(value: Value) -> str:
    text = json.dumps(value, ensure_ascii=False) if isinstance(value, str) else f"{value}"
    return text if len(text) <= 40 else f"{text[:40]}…"


@lru_cache(1 << 16)
def days_of(text: str) -> tuple[int, int] | None:
    """Return the first and the last day that a date means, as days since 1970-01-01; None for a text that is no date.

    `2015-03-01`, `20150301`, `1-MAR-2015` and `1 March 2015` mean a day; a time of day and what follows it are ignored.
    `2015-03` means a month, and `2015` a year.
    """
    if match := _DATE.fullmatch(text.strip()):
        year, month, day = int(match[1]), int(match[2] or match[4] or 0), int(match[3] or match[5] or 0)
    elif (match := _NAMED_DATE.fullmatch(text.strip())) and match[3].lower() in _MONTH_OF and int(match[1]):
        year, month, day = int(match[4]), _MONTH_OF[match[3].lower()], int(match[1])
    else:
        return None
    try:
        first = date(year, month or 1, day or 1)
        last = date(year, month or 12, day or calendar.monthrange(year, month or 12)[1])
    except ValueError:
        return None
    return first.toordinal() - EPOCH, last.toordinal() - EPOCH
