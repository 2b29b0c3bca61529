"""Word positions: the decoded postings and positions of words that operators asked for, in memory.

The words of one segment lie in arrays that kernels read. When the arrays are full, new ones replace them.
"""

from __future__ import annotations

from threading import Lock

import numpy as np

from sublex.errors import IndexCorrupt, InputError
from sublex.index.offsets import spans, starts_of
from sublex.index.segment import Segment

# The largest numbers of postings and of positions in the arrays of all segments together. A posting takes 16 bytes and a
# position 4 bytes. The words of one operator may need more.
DECODED_POSTINGS, DECODED_POSITIONS = 1 << 24, 1 << 26
# The largest number of positions of the words of one operator in one segment. Places of positions are int32.
POSITIONS_OF_AN_OPERATOR = (1 << 31) - 1
# The largest number of words in the arrays of one segment.
DECODED_WORDS = 1 << 18
# A word has a row of bits if at least one of SPARSEST documents holds it. The row takes at most 12 bytes for a posting.
SPARSEST = 64
# The number of postings that are decoded in one call.
POSTINGS_PER_CALL = 1 << 18


class PositionArrays:
    """The arrays of some words of a segment; `operator_kernels` describes them.

    `add` adds words while there is room. Other threads may read earlier words meanwhile.
    """

    def __init__(self, segment: Segment, words: int, postings: int, positions: int):
        from sublex.retrieval import operator_kernels as kernels

        self._kernels, self._segment = kernels, segment
        # The system provides memory only for the parts that are written.
        self.entries = np.zeros((words, kernels.COLUMNS), np.int64)
        self.docs, self.starts = np.empty(postings, np.int32), np.zeros(postings + 1, np.int32)
        self.positions, self.marks = np.empty(positions, np.int32), np.empty(postings, np.uint64)
        width = -(-segment.docs // 64)
        rows = min(words, postings * SPARSEST // max(segment.docs, 1))
        self.bits, self.ranks = np.zeros((rows, width), np.uint64), np.zeros((rows, width), np.int32)
        # For each term its row in `entries`, plus 1; 0 for a term without a row.
        self._row_of = np.zeros(len(segment.terms), np.int32)
        self._used = self._used_postings = self._used_positions = self._used_bits = 0

    def rows(self, ordinals: np.ndarray) -> np.ndarray:
        """Return the row of each term in `entries`; -1 for a term without a row."""
        return self._row_of[ordinals] - 1

    def has_room(self, ordinals: np.ndarray) -> bool:
        """Return whether there is room for these terms."""
        words, postings, positions = room_for(self._segment, ordinals)
        return (
            self._used + words <= len(self.entries)
            and self._used_postings + postings <= len(self.docs)
            and self._used_positions + positions <= len(self.positions)
        )

    def add(self, ordinals: np.ndarray) -> None:
        """Decode the postings and the positions of terms, for which there must be room."""
        for begin, end in spans(self._segment.df[ordinals], POSTINGS_PER_CALL):
            self._add(ordinals[begin:end])

    def _add(self, ordinals: np.ndarray) -> None:
        docs, tfs = self._segment.gather(ordinals)
        positions = self._segment.gather_positions(ordinals, tfs)
        postings_begin, positions_begin = self._used_postings, self._used_positions
        postings_end, positions_end = postings_begin + len(docs), positions_begin + len(positions)
        counts, kernels = self._segment.df[ordinals].astype(np.int64), self._kernels
        fits = positions_end <= len(self.positions) and kernels.put_words(
            counts, docs, tfs, positions, self._used, postings_begin, positions_begin, self.docs, self.starts, self.positions,
            self.marks, self.entries,
        )  # fmt: skip
        if not fits:
            raise IndexCorrupt(f"The positions of {self._segment.path} do not fit its frequencies; rebuild the index.")
        entries, firsts = self.entries[self._used : self._used + len(ordinals)], starts_of(counts)
        frequent = np.flatnonzero(counts * SPARSEST >= self._segment.docs)
        for word in frequent[: len(self.bits) - self._used_bits].tolist():
            own = docs[firsts[word] : firsts[word] + counts[word]]
            if not kernels.fill_bits(self._used_bits, own, self.bits, self.ranks):
                raise IndexCorrupt(f"{self._segment.path} has postings that do not ascend; rebuild the index.")
            entries[word, kernels.BITS_ROW] = self._used_bits
            self._used_bits += 1
        self._row_of[ordinals] = np.arange(self._used + 1, self._used + 1 + len(ordinals))
        self._used += len(ordinals)
        self._used_postings, self._used_positions = postings_end, positions_end


class WordPositions:
    """The word positions of one segment. Several threads may use it at once.

    `share` is the part of DECODED_POSTINGS and DECODED_POSITIONS that this segment may use.
    """

    def __init__(self, segment: Segment, share: float = 1.0):
        self._segment, self._lock = segment, Lock()
        self._limits = DECODED_WORDS, int(DECODED_POSTINGS * share), int(DECODED_POSITIONS * share)
        self._arrays: PositionArrays | None = None

    def fits(self, ordinals: np.ndarray) -> bool:
        """Return whether these terms together stay within the limits of this segment."""
        return all(need <= limit for need, limit in zip(room_for(self._segment, ordinals), self._limits, strict=True))

    def get(self, ordinals: np.ndarray) -> PositionArrays:
        """Return arrays that hold all of these terms, which must be distinct. Missing terms are decoded first."""
        with self._lock:
            arrays = self._arrays
            missing = ordinals if arrays is None else ordinals[arrays.rows(ordinals) < 0]
            if arrays is None or (len(missing) and not arrays.has_room(missing)):
                missing, arrays = ordinals, self._new(ordinals)
            if len(missing):
                # If the index is damaged, words may be half filled in. No operator may read these arrays then.
                self._arrays = None
                arrays.add(missing)
                self._arrays = arrays
            return arrays

    def _new(self, ordinals: np.ndarray) -> PositionArrays:
        """Return empty arrays with room for at least these terms. Raise InputError if there are too many positions."""
        segment = self._segment
        whole = len(segment.terms), int(segment.df.sum()), int(segment.cf.sum())
        needed = room_for(segment, ordinals)
        if needed[2] > POSITIONS_OF_AN_OPERATOR:
            raise InputError(
                f"The words of an operator, such as a phrase, have {needed[2]:,} positions in a segment of the index; "
                f"the most are {POSITIONS_OF_AN_OPERATOR:,}."
            )
        sizes = (max(min(limit, all), need) for limit, all, need in zip(self._limits, whole, needed, strict=True))
        return PositionArrays(segment, *sizes)


def room_for(segment: Segment, ordinals: np.ndarray) -> tuple[int, int, int]:
    """Return the numbers of words, postings and positions of some terms."""
    return len(ordinals), int(segment.df[ordinals].sum()), int(segment.cf[ordinals].sum())
