"""The written forms of all terms of an index, in sorted order. So the words with a given prefix are one slice."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from sublex.index.segment import Segment
from sublex.index.snapshot import Snapshot
from sublex.index.spelling import near_beginnings
from sublex.tools.strings import Strings

# In a slice with more words than this, only this number of most frequent words is searched first. The slice of one
# letter may be very large.
FREQUENT = 1 << 16
# From this number of letters on, words with a similar prefix are also offered.
LEAST_LETTERS = 4


class KnownWord(NamedTuple):
    """A word in the form that documents mostly write, and the number of documents with its term."""

    written: str
    df: int


class Vocabulary:
    """The written forms of all terms of a snapshot, in ascending order of their bytes in lower case.

    Building takes a second for a million terms. Only the letters A to Z are put in lower case, which is enough for
    almost all terms.
    """

    def __init__(self, snapshot: Snapshot):
        parts = [_written(segment) for segment in snapshot.segments]
        self._strings = _joined(parts)
        df = np.concatenate([segment.live_df for segment in snapshot.segments]).astype(np.int64)
        small = Strings(_small(self._strings.arena), self._strings.starts, self._strings.sizes)
        order = _order(small)
        order = order[df[order] > 0]
        self._strings, self._small, self._df = self._strings.take(order), small.take(order), df[order]
        self._frequent = np.argsort(-self._df, kind="stable")[:FREQUENT]

    def __len__(self) -> int:
        return len(self._df)

    def beginning(self, prefix: str, number: int) -> list[KnownWord]:
        """Return the words that begin with a prefix in any case, the most frequent first."""
        wanted = _small(np.frombuffer(prefix.encode("utf-8", "replace"), np.uint8)).tobytes()
        # Several segments may write one term in the same way.
        places = self._most_frequent(self._bisect(wanted), self._bisect(wanted + b"\xff"), 4 * number)
        words: dict[str, int] = {}
        for place in places.tolist():
            written = self._strings[place]
            words[written] = words.get(written, 0) + int(self._df[place])
        return [KnownWord(*item) for item in sorted(words.items(), key=lambda item: (-item[1], item[0]))][:number]

    def spelt_alike(self, prefix: str, number: int) -> list[KnownWord]:
        """Return frequent words whose beginning differs from a prefix by one letter: more, less, wrong or swapped.

        The best is first.
        """
        wanted = _small(np.frombuffer(prefix.encode("utf-8", "replace"), np.uint8))
        if len(wanted) < LEAST_LETTERS:
            return []
        words = self._frequent
        near = near_beginnings(self._small.arena, self._small.starts[words], self._small.sizes[words], wanted)
        found = {self._strings[place]: int(self._df[place]) for place in reversed(words[near[: 2 * number]].tolist())}
        return [KnownWord(*item) for item in sorted(found.items(), key=lambda item: -item[1])][:number]

    def _most_frequent(self, begin: int, end: int, number: int) -> np.ndarray:
        """Return the places of the `number` most frequent words from place `begin` up to `end`, in any order."""
        if end - begin > FREQUENT:
            frequent = self._frequent[(self._frequent >= begin) & (self._frequent < end)]
            if len(frequent) >= number:
                return frequent[:number]
        number = min(end - begin, number)
        best = np.argpartition(-self._df[begin:end], number - 1)[:number] if number else np.empty(0, np.int64)
        return begin + best

    def _bisect(self, wanted: bytes) -> int:
        """Return the number of written forms, in lower case, that come before `wanted`."""
        low, high, small = 0, len(self), self._small
        while low < high:
            middle = (low + high) // 2
            start = small.starts[middle]
            if small.arena[start : start + small.sizes[middle]].tobytes() < wanted:
                low = middle + 1
            else:
                high = middle
        return low


def _written(segment: Segment) -> Strings:
    """Return the written form of each term of a segment."""
    arena, starts, sizes = segment.lexicon.written()
    return Strings(arena, starts, sizes)


def _joined(parts: list[Strings]) -> Strings:
    """Return the strings of several `Strings` as one."""
    ends = np.cumsum([0, *(len(part.arena) for part in parts)])
    starts = np.concatenate([part.starts + end for part, end in zip(parts, ends, strict=False)])
    return Strings(np.concatenate([p.arena for p in parts]), starts, np.concatenate([p.sizes for p in parts]))


def _small(arena: np.ndarray) -> np.ndarray:
    """Return bytes with the letters A to Z in lower case."""
    return np.where((arena >= 65) & (arena <= 90), arena + 32, arena).astype(np.uint8)


def _order(strings: Strings) -> np.ndarray:
    """Return the places of strings, in ascending order of the strings' bytes.

    The strings are first sorted by their first 16 bytes. Strings with equal first 16 bytes are then compared in full.
    """
    words = np.zeros((len(strings), 16), np.uint8)
    for column in range(16):
        rows = np.flatnonzero(strings.sizes > column)
        words[rows, column] = strings.arena[strings.starts[rows] + column]
    keys = words.view(">u8").astype(np.uint64)
    order = np.lexsort((keys[:, 1], keys[:, 0]))
    sorted_keys = keys[order]
    same = (sorted_keys[1:] == sorted_keys[:-1]).all(axis=1)
    for begin, end in _runs(same):
        places = order[begin:end]
        order[begin:end] = places[strings.take(places).order()]
    return order


def _runs(same: np.ndarray) -> Iterator[tuple[int, int]]:
    """Yield the begin and the end of each range of places with equal items.

    `same[k]` says whether the items at the places k and k + 1 are equal.
    """
    edges = np.flatnonzero(np.diff(np.concatenate([[0], same.astype(np.int8), [0]])))
    for begin, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        yield begin, end + 1
