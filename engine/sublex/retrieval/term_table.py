"""The terms of an index under one numbering, whatever the number of its segments, with their statistics."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from sublex.base import TermStats, TermVector
from sublex.index.snapshot import Snapshot

# Terms asked for are remembered, up to so many.
REMEMBERED = 1 << 20


class TermTable:
    """Numbers of terms, their statistics, and their ordinals in each segment."""

    def __init__(self, index: Snapshot):
        self._index = index
        self._known: dict[str, int] = {}
        self._named: dict[int, str] = {}

    def numbers(self, terms: Sequence[str]) -> list[int]:
        """The number of each term, -1 where no live document holds it."""
        known = self._known
        if len(known) > REMEMBERED:
            # A new table: another thread may be reading the old one.
            known = self._known = {}
        if fresh := [term for term in dict.fromkeys(terms) if term not in known]:
            known.update(zip(fresh, self._find(fresh), strict=True))
        return [known[term] for term in terms]

    def _find(self, terms: list[str]) -> list[int]:
        if len(self._index.segments) == 1:
            return [n if n >= 0 and self.stats.df[n] else -1 for n in self._index.segments[0].find_all(terms)]
        return [self._index.corpus.numbers.get(term, -1) for term in terms]

    def names(self, numbers: np.ndarray) -> list[str]:
        """The terms of numbers."""
        named = self._named
        if len(named) > REMEMBERED:
            named = self._named = {}
        for number in numbers.tolist():
            if number not in named:
                named[number] = self._name(number)
        return [named[number] for number in numbers.tolist()]

    def _name(self, number: int) -> str:
        if len(self._index.segments) == 1:
            return self._index.segments[0].terms[number].decode()
        return self._index.corpus.vocabulary[number]

    def vector(self, doc: int) -> TermVector:
        """A document's terms, ascending, and their frequencies."""
        self._index.need("terms", "are what feedback looks at")
        segment, local = self._index.place(doc)
        _, terms, tfs = segment.document_terms(local, local + 1)  # type: ignore[misc]
        if len(self._index.segments) > 1:
            terms = self._index.corpus.ranks[self._index.segments.index(segment)][terms]
        return TermVector(terms, tfs)

    @cached_property
    def stats(self) -> TermStats:
        """Document and collection frequencies of all terms, deleted documents left out."""
        segments = self._index.segments
        if len(segments) == 1:
            return TermStats(segments[0].live_df.astype(np.float64), segments[0].live_cf.astype(np.float64))
        size = len(self._index.corpus.vocabulary)
        df, cf = np.zeros(size), np.zeros(size)
        for segment, numbers in zip(segments, self._index.corpus.ranks, strict=True):
            df += np.bincount(numbers, segment.live_df, size)[:size]
            cf += np.bincount(numbers, segment.live_cf, size)[:size]
        return TermStats(df, cf)

    def of_segment(self, k: int) -> TermStats:
        """The statistics, in all segments, of one segment's terms."""
        if len(self._index.segments) == 1:
            return self.stats
        numbers = self._index.corpus.ranks[k]
        return TermStats(self.stats.df[numbers], self.stats.cf[numbers])

    @cached_property
    def df(self) -> memoryview:
        """Document frequencies, to be read one by one."""
        return memoryview(self.stats.df)

    @cached_property
    def ordinals(self) -> list[np.ndarray | None]:
        """For each segment, the ordinal of each term of the common numbering, -1 where it has none; None where they are the same."""
        segments = self._index.segments
        if len(segments) == 1:
            return [None]
        found: list[np.ndarray | None] = []
        for segment, numbers in zip(segments, self._index.corpus.ranks, strict=True):
            own = np.full(len(self._index.corpus.vocabulary), -1, np.int64)
            live = np.flatnonzero(segment.live_df)
            own[numbers[live]] = live
            found.append(own)
        return found

    def ordinal(self, k: int, number: int) -> int:
        """The ordinal of a term in a segment, -1 where it has none."""
        own = self.ordinals[k]
        return number if own is None else int(own[number])
