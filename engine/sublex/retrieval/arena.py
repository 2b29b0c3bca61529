"""The arena of a searcher: the coded postings of the words and operators of queries that contain operators, in memory.

A query without operators is answered from `Impacts`, whose arrays have a place for each word of the lexicon and may be
mapped from files. Operators are in no lexicon, and every query may bring new ones. So the words and operators of a
query with operators get places, called slots, in other arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock

import numpy as np

from sublex.contracts.base import TermStats
from sublex.index.offsets import spans
from sublex.retrieval.bounds import ImpactBounds
from sublex.retrieval.coded_lists import POSTINGS_PER_FILL
from sublex.retrieval.coding.coded_postings import CodedPostings
from sublex.retrieval.field_frequencies import of_operators
from sublex.retrieval.impacts import Impacts
from sublex.retrieval.operators import OperatorCache
from sublex.retrieval.term_table import TermTable

# The largest number of slots, and of postings in all segments together. A posting takes at most 10 bytes. For a
# query whose terms alone have more postings than that, the arena grows.
ARENA_SLOTS, ARENA_POSTINGS = 1 << 16, 1 << 24


class SlotArrays:
    """The coded postings of all slots in one segment, with the bounds of their impacts.

    To kernels, it looks like `Impacts`, with slots in place of ordinals. A slot has no postings if the segment lacks
    the term.
    """

    def __init__(self, impacts: Impacts, slots: int, postings: int):
        self.impacts = impacts
        self.postings = CodedPostings(np.zeros(slots, np.int64), impacts.segment.docs, postings)
        self.bounds = ImpactBounds.unknown(slots)
        # The largest absolute value of an impact.
        self.largest = 0.0
        # The ordinal of each slot's word, and the word's row in the blocks of `impacts`; -1 if there is none.
        self._ordinal_of, self._row_of = np.full(slots, -1, np.int64), np.full(slots, -1, np.int32)

    @property
    def block_arrays(self) -> tuple[np.ndarray, ...]:
        """The arrays of `Blocks`, with the row of each slot.

        A word has the row that it has in `impacts`; operators have none.
        """
        return *self.impacts.block_arrays[:3], self._row_of

    def compute(self, slots: np.ndarray) -> None:
        """Do nothing, because a term gets its slot only with its impacts."""

    def settle(self, slots: np.ndarray) -> None:
        """Prepare these slots for a search: call `Impacts.settle` for the slots that hold words."""
        words = slots[self._ordinal_of[slots] >= 0]
        ordinals = self._ordinal_of[words]
        self.impacts.settle(ordinals)
        self._row_of[words] = self.impacts.blocks.row_of[ordinals]

    def add_words(self, slots: np.ndarray, ordinals: np.ndarray) -> None:
        """Write the postings of words, given by their ordinals, to these slots. Missing impacts are computed first."""
        self.impacts.compute(ordinals)
        self.postings.copy(slots, self.impacts.postings, ordinals)
        self.bounds.copy(slots, self.impacts.bounds, ordinals)
        self._ordinal_of[slots] = ordinals
        self.largest = max(self.largest, self.bounds.largest(slots))

    def add_operators(
        self, slots: np.ndarray, counts: np.ndarray, stats: TermStats, docs: np.ndarray, tfs: np.ndarray
    ) -> None:
        """Compute the impacts of operators, and write their postings to these slots.

        `counts` has the number of postings of each operator, and `stats` the operators' statistics. `docs` and `tfs`
        have the document and the frequency of each posting, one operator after the other. For a ranker with fields,
        `tfs` has a row for each field.
        """
        begin = 0
        for first, last in spans(counts, POSTINGS_PER_FILL):
            own, end = slice(first, last), begin + int(counts[first:last].sum())
            self.postings.set_counts(slots[own], counts[own])
            term = TermStats(stats.df[own], stats.cf[own])
            pairs, numbers = self.impacts.pairs_of(counts[own], term, docs[begin:end], tfs[..., begin:end])
            self.postings.put(slots[own], docs[begin:end], numbers, *pairs, self.bounds)
            begin = end
        self.largest = max(self.largest, self.bounds.largest(slots))


class Slots:
    """Slots for terms, numbered in the order of their first use.

    `slot_of` has the slot of each term, by the term's number. `segments` has the arrays of each segment. Slots are
    added, but never removed, so other threads may read existing slots while new ones are added.
    """

    def __init__(self, impacts: Sequence[Impacts], slots: int, postings: Sequence[int]):
        self.slot_of: dict[int, int] = {}
        self._room, self._left = slots, list(postings)
        self.segments = [SlotArrays(own, slots, room) for own, room in zip(impacts, postings, strict=True)]

    def has_room(self, terms: int, postings: Sequence[int]) -> bool:
        """Return whether this number of further terms fits. `postings` has their number of postings in each segment."""
        return len(self.slot_of) + terms <= self._room and all(
            need <= left for need, left in zip(postings, self._left, strict=True)
        )

    def add(self, numbers: np.ndarray, postings: Sequence[int], table: TermTable, known: OperatorCache) -> None:
        """Give slots to terms, for which there must be room.

        `numbers` has the numbers of the terms in `table`, and `postings` their number of postings in each segment.
        `known` has the operators among them.
        """
        slots = np.arange(len(self.slot_of), len(self.slot_of) + len(numbers))
        of_words = numbers < table.words
        operators = numbers[~of_words]
        for k, arrays in enumerate(self.segments):
            if of_words.any():
                ordinals, own = in_segment(table, k, numbers[of_words], slots[of_words])
                arrays.add_words(own, ordinals)
            if len(operators):
                docs, tfs, counts = known.postings(operators, k)
                there = counts > 0
                stats, fields = known.stats(operators[there]), arrays.impacts.fields
                if fields:
                    asked = [known.operator(number) for number in operators.tolist()]
                    tfs = of_operators(table, k, fields, asked, counts, docs)
                arrays.add_operators(slots[~of_words][there], counts[there], stats, docs, tfs)
            self._left[k] -= postings[k]
        self.slot_of.update(zip(numbers.tolist(), slots.tolist(), strict=True))


class Arena:
    """The slots of one searcher.

    When they are full, new, empty slots replace them; a running search keeps the old ones.
    """

    def __init__(self, impacts: Sequence[Impacts], table: TermTable):
        self._impacts, self._table, self._lock = impacts, table, Lock()
        self._slots = self._none = Slots(impacts, 0, [0] * len(impacts))

    def slots(self, numbers: np.ndarray, known: OperatorCache, alone: bool) -> tuple[Slots, np.ndarray] | None:
        """Return a `Slots` that holds all of these terms, and the slot of each term.

        The terms are given by their numbers, and `known` has the operators among them. `alone` says that they belong
        to a single query; then the slots grow as needed. Otherwise, return None if the terms exceed the limits of an
        arena.
        """
        terms, slots = numbers.tolist(), self._slots
        try:
            slot_of = slots.slot_of
            return slots, np.array([slot_of[n] for n in terms], np.int64)
        except KeyError:
            pass
        with self._lock:
            slots = self._slots
            missing = np.array([n for n in dict.fromkeys(terms) if n not in slots.slot_of], np.int64)
            needed = self._needed(missing, known)
            if not slots.has_room(len(missing), needed):
                missing = np.array(list(dict.fromkeys(terms)), np.int64)
                needed = self._needed(missing, known)
                number = len(self._impacts)
                if not alone and (number * len(missing) > ARENA_SLOTS or sum(needed) > ARENA_POSTINGS):
                    return None
                most = max(ARENA_SLOTS // number, len(missing))
                slots = Slots(self._impacts, most, [max(ARENA_POSTINGS // number, need) for need in needed])
            try:
                slots.add(missing, needed, self._table, known)
            except BaseException:
                # If a ranker fails, these slots are half filled, and no search may use them.
                self._slots = self._none
                raise
            self._slots = slots
        return slots, np.array([slots.slot_of[n] for n in terms], np.int64)

    def _needed(self, numbers: np.ndarray, known: OperatorCache) -> list[int]:
        """Return, for each segment, the total number of postings of these terms, with those of deleted documents."""
        words, operators = numbers[numbers < self._table.words], numbers[numbers >= self._table.words]
        return [
            int(own.segment.df[in_segment(self._table, k, words, words)[0]].sum()) + known.count(operators, k)
            for k, own in enumerate(self._impacts)
        ]


def in_segment(table: TermTable, k: int, numbers: np.ndarray, slots: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the ordinals and the slots of those words that segment k has. Word x has numbers[x] and slots[x]."""
    ordinals = table.ordinals[k]
    if ordinals is None:
        return numbers, slots
    own = ordinals[numbers]
    return own[own >= 0], slots[own >= 0]
