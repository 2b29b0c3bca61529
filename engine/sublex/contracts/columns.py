"""Columns: typed values of the documents, such as years or categories, which filters, facets and sorting read.

This module says what a column is, and how texts that users and documents give become its values. It reads no files.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import date
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from sublex.errors import InputError
from sublex.tools.arguments import shown
from sublex.tools.strings import Strings

# The types of columns, each with the type of its values in memory. Dates are days since 1970-01-01. Texts are numbers of words.
KINDS = {"int": np.int64, "float": np.float64, "date": np.int32, "text": np.int32}
# What the values of each type are called in messages.
VALUES = {"int": "whole numbers", "float": "numbers", "date": "dates", "text": "texts or numbers"}
DEFAULT_KIND = "text"
# Characters that the name of a column may have.
NAME_LETTERS = 200
# The ordinal of 1970-01-01 in Python's calendar, and the first and last day that a date may be, of the years 1 and 9999.
EPOCH = date(1970, 1, 1).toordinal()
FIRST_DAY, LAST_DAY = 1 - EPOCH, date.max.toordinal() - EPOCH
_NAME = re.compile(r"[^\W\d][\w.-]*")
# A date of ISO 8601, perhaps without its day or month, perhaps with a time and a zone after it.
_TIME = r"(?:[T ]\d\d(?::?\d\d(?::?\d\d(?:[.,]\d+)?)?)? ?(?:Z|[+-]\d\d(?::?\d\d)?)?)?"
_DATE = re.compile(rf"(\d{{4}})(?:-(\d\d)(?:-(\d\d){_TIME})?|(\d\d)(\d\d){_TIME})?", re.ASCII)


class Column(NamedTuple):
    """The values of documents in one column.

    Document d has the values `values[starts[d]:starts[d + 1]]`, distinct and ascending; none is missing. If `starts` is
    None, each document has exactly one value. `values` has the type that `KINDS` gives for `kind`. The values of a column
    of texts are the places of the texts in `words`, which are distinct and ascend by their bytes; in other columns,
    `words` is empty.
    """

    kind: str
    starts: np.ndarray | None
    values: np.ndarray
    words: Strings

    @property
    def docs(self) -> int:
        """The number of documents."""
        return len(self.values if self.starts is None else self.starts[1:])

    @property
    def counts(self) -> np.ndarray:
        """The number of values of each document."""
        return np.ones(len(self.values), np.int64) if self.starts is None else np.diff(self.starts)

    def take(self, docs: np.ndarray) -> Column:
        """Return the values of the documents `docs`, in this order."""
        if self.starts is None:
            return self._replace(values=self.values[docs])
        counts = self.counts[docs]
        starts = np.zeros(len(docs) + 1, np.int64)
        np.cumsum(counts, out=starts[1:])
        places = np.repeat(self.starts[docs] - starts[:-1], counts) + np.arange(starts[-1])
        return self._replace(starts=starts, values=self.values[places])

    def objects(self) -> list[Any]:
        """Return all values, end to end, as Python's: numbers, dates or texts."""
        if self.kind == "text":
            words = self.words.tolist()
            return [words[code] for code in self.values.tolist()]
        values = self.values.tolist()
        return [date.fromordinal(day + EPOCH) for day in values] if self.kind == "date" else values


def is_column_name(name: str) -> bool:
    """Return whether a column may have this name: letters, digits, and the signs _, - and ., not first a digit or sign."""
    return len(name) <= NAME_LETTERS and _NAME.fullmatch(name) is not None


def columns_of(given: str | Mapping[str, str] | Iterable[str] | None) -> dict[str, str]:
    """Return the types of columns by their names, as users give them: "year:int,category", a list, or a mapping.

    Raise `InputError` for what is no column.
    """
    if given is None:
        return {}
    if isinstance(given, Mapping):
        if any(name in ("id", "text", "title") and kind not in KINDS for name, kind in given.items()):
            raise InputError(
                "columns= names typed columns of the index, such as 'year:int'; "
                f"say by roles={dict(given)!r} which fields hold the id, the text and the title."
            )
        pairs = list(given.items())
    elif isinstance(given, Iterable):
        items = given.split(",") if isinstance(given, str) else list(given)
        pairs = []
        for item in items:
            if not isinstance(item, str):
                raise InputError(f"A column is {shown(item)}; give a name and a type, such as 'year:int'.")
            if item.strip():
                name, colon, kind = item.partition(":")
                pairs.append((name.strip(), kind.strip() if colon else DEFAULT_KIND))
    else:
        raise InputError(f"The columns are {shown(given)}; give names and types, such as 'year:int,category'.")
    columns: dict[str, str] = {}
    for name, kind in pairs:
        if not isinstance(name, str) or not is_column_name(name):
            raise InputError(
                f"No column can be called {shown(name)}; its name is that of a stored field, and has letters, digits "
                "and the signs _ - . after a first letter."
            )
        if kind not in KINDS:
            raise InputError(f"The column {name} has the type {shown(kind)}; the types are {', '.join(KINDS)}.")
        if name in columns:
            raise InputError(f"The column {name} is named twice; name it once.")
        columns[name] = kind
    return columns


@lru_cache(1 << 16)
def days_of(text: str) -> tuple[int, int] | None:
    """Return the first and the last day that a date of ISO 8601 means, as days since 1970-01-01; None if it is no date.

    `2015` means a year, `2015-03` a month, `2015-03-14` or `20150314` a day. A time and a zone may follow a day, and
    are left out: the day is the one that is written.
    """
    match = _DATE.fullmatch(text.strip())
    if not match:
        return None
    year, month, day = int(match[1]), int(match[2] or match[4] or 0), int(match[3] or match[5] or 0)
    try:
        first = date(year, month or 1, day or 1)
        if day:
            last = first
        elif month:
            last = date(year, month, 31 if month == 12 else (date(year, month + 1, 1) - date.resolution).day)
        else:
            last = date(year, 12, 31)
    except ValueError:
        return None
    return first.toordinal() - EPOCH, last.toordinal() - EPOCH


def date_text(day: int) -> str:
    """Return a day since 1970-01-01 as text, such as 2015-03-14."""
    return date.fromordinal(int(day) + EPOCH).isoformat()
