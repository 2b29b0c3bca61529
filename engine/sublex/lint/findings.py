"""What a check finds: where, by which rule, and one sentence that says what it leads to."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sublex.strings import Strings
from sublex.trec.columns import Columns

ERROR, NOTE = "error", "note"
# So many further lines are named.
LISTED = 4
# And so many characters of an id.
SHOWN = 60


class Finding(NamedTuple):
    """What one rule found in a file: its first line (0 where lines do not count), how often, and some further lines.

    An `error` changes or prevents figures; a `note` is worth knowing.
    """

    file: str
    line: int
    rule: str
    severity: str
    text: str
    times: int = 1
    more: tuple[int, ...] = ()


def finding(file: str, lines: Any, rule: str, severity: str, text: str, times: int | None = None) -> Finding:
    """A finding about these lines, of which the text describes the first."""
    listed = [int(line) for line in lines[: LISTED + 1]]
    more = tuple(line for line in listed[1:] if line)
    return Finding(file, listed[0] if listed else 0, rule, severity, text, len(lines) if times is None else times, more)


class Ids(NamedTuple):
    """The different ids of a file, and the first line of each."""

    strings: Strings
    file: str
    lines: np.ndarray

    def first(self, places: np.ndarray) -> np.ndarray:
        """These places in the order of their lines."""
        return places[np.argsort(self.lines[places], kind="stable")]


class Placed(NamedTuple):
    """Judgements or a run, the name of its file, and the line of each row."""

    columns: Any
    file: str
    lines: np.ndarray

    def qids(self) -> Ids:
        """The topics."""
        columns: Columns = self.columns
        return Ids(Strings.of(columns.qids), self.file, _first(self._topics(), self.lines, len(columns.qids)))

    def docnos(self) -> Ids:
        """The documents."""
        columns: Columns = self.columns
        return Ids(columns.docnos, self.file, _first(columns.docs, self.lines, len(columns.docnos)))

    def _topics(self) -> np.ndarray:
        return np.repeat(np.arange(len(self.columns.qids)), np.diff(self.columns.offsets))


def _first(numbers: np.ndarray, lines: np.ndarray, count: int) -> np.ndarray:
    """The lowest line of each number."""
    if not lines.any():
        return np.zeros(count, np.int64)
    found = np.full(count, np.iinfo(np.int64).max)
    np.minimum.at(found, numbers, lines)
    return np.where(found == np.iinfo(np.int64).max, 0, found)


def placed(columns: Any) -> Placed:
    """The same with a name and no line numbers, where it has none yet."""
    if isinstance(columns, Placed):
        return columns
    name = getattr(columns, "path", "") or getattr(columns, "tag", "") or type(columns).__name__.lower()
    return Placed(columns, name, np.zeros(len(columns.docs), np.int64))


def shown(text: str) -> str:
    """An id as a message shows it: not too long, and visible."""
    text = text if len(text) <= SHOWN else f"{text[:SHOWN]}…"
    return text if text and text.isprintable() and " " not in text else repr(text)


def sentence(text: str) -> str:
    """A remark with a capital and a full stop."""
    first = text.split(" ")[0]
    capital = text[:1].upper() if first.isalpha() else text[:1]
    return f"{capital}{text[1:].removesuffix('.')}."


def some(texts: Any, most: int = 3) -> str:
    """The first of several ids."""
    first = ", ".join(shown(text) for text in texts[:most])
    return f"{first}, …" if len(texts) > most else first


def counted(number: int, thing: str) -> str:
    """A number with its noun: 1 topic, 1,000 topics."""
    return f"{number:,} {thing}{'s' * (number != 1)}"
