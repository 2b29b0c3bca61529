"""Ids, judgements and runs, with the file and the lines from which they come. Findings name these.

If another module read the object, line numbers are unknown and all lines are 0.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from sublex.tools.strings import Strings
from sublex.trec.columns import Columns

_NEVER = np.iinfo(np.int64).max


class Ids(NamedTuple):
    """The distinct ids of a file and the first line of each."""

    strings: Strings
    file: str
    lines: np.ndarray

    @classmethod
    def without_lines(cls, ids: Iterable[str], file: str) -> Ids:
        """Return ids that have no line numbers."""
        strings = Strings.of(ids)
        return cls(strings, file, np.zeros(len(strings), np.int64))

    def by_line(self, places: np.ndarray) -> np.ndarray:
        """Return positions of ids, sorted by the lines of the ids."""
        return places[np.argsort(self.lines[places], kind="stable")]


class Located(NamedTuple):
    """Judgements or a run (`columns`), the name of the file, and the line of each row."""

    columns: Any
    file: str
    lines: np.ndarray

    def qids(self) -> Ids:
        """Return the topic ids."""
        columns: Columns = self.columns
        lines = _first_lines(columns.topic_of_rows(), self.lines, len(columns.qids))
        return Ids(Strings.of(columns.qids), self.file, lines)

    def docnos(self) -> Ids:
        """Return the docnos."""
        columns: Columns = self.columns
        return Ids(columns.docnos, self.file, _first_lines(columns.docs, self.lines, len(columns.docnos)))


def locate(columns: Any) -> Located:
    """Return judgements or a run with the name of the file and with lines. Lines are 0 unless lint has read the file."""
    if isinstance(columns, Located):
        return columns
    name = getattr(columns, "path", "") or getattr(columns, "tag", "") or type(columns).__name__.lower()
    return Located(columns, name, np.zeros(len(columns.docs), np.int64))


def _first_lines(numbers: np.ndarray, lines: np.ndarray, count: int) -> np.ndarray:
    """Return for each number from 0 to `count` - 1 the first line that has it, or 0 if no line has it."""
    if not lines.any():
        return np.zeros(count, np.int64)
    first = np.full(count, _NEVER)
    np.minimum.at(first, numbers, lines)
    return np.where(first == _NEVER, 0, first)
