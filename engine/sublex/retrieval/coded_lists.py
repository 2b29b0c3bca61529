"""Posting lists of one segment in coded form, and the bounds of each list, as the retrieval kernel reads them.

`Impacts` fills them with a ranker's scores, and `WeightLists` with weights that a model gives to documents.
"""

from __future__ import annotations

from threading import Lock

import numpy as np

from sublex.errors import IndexCorrupt
from sublex.index.format import ComponentFolder
from sublex.index.offsets import spans
from sublex.retrieval.blocks import Blocks
from sublex.retrieval.bounds import ImpactBounds
from sublex.retrieval.coding.coded_postings import CodedPostings

# The number of postings that one call fills in. With this number, the arrays fit the processor's cache.
POSTINGS_PER_FILL = 1 << 17
# The states of a term. MISSING: its impacts are not computed yet, or are stored but not verified yet. READY: its impacts
# can be read. ASKED: the term was in one search. SETTLED: the term was in a second search, and has its row in the blocks if
# it is frequent and there is room.
MISSING, READY, ASKED, SETTLED = range(4)


class CodedLists:
    """The coded postings of the terms of one segment, and the bounds of each term's impacts. A subclass defines `fill`.

    `df` has the number of postings of each term, and `documents` is the number of documents. `stored` has two folders
    on disk, with the coded documents and the coded impacts; they are mapped into memory, and nothing is computed.
    Without them, `compute` computes the impacts of terms. `settle` prepares terms for a search.
    """

    def __init__(self, df: np.ndarray, documents: int, stored: tuple[ComponentFolder, ComponentFolder] | None = None):
        self._df = df
        self._state = np.full(len(df), MISSING, np.uint8)
        self.blocks = Blocks(documents, df)
        self._lock = Lock()
        self.postings = CodedPostings(df, documents)
        bounds = self._map(*stored) if stored else None
        self._stored = stored if bounds else None
        self.bounds = bounds or ImpactBounds.unknown(len(df))
        # The largest absolute value of an impact that was computed or stored.
        self.largest = self.bounds.largest(slice(None)) if bounds else 0.0

    @property
    def is_stored(self) -> bool:
        """Whether the lists come from the disk."""
        return self._stored is not None

    def _map(self, documents: ComponentFolder, impacts: ComponentFolder) -> ImpactBounds | None:
        """Map stored postings, and return their bounds. Return None if dtypes or sizes do not fit the segment."""
        try:
            bounds = ImpactBounds.stored(impacts, len(self._df))
            self.postings.map(documents, impacts)
        except IndexCorrupt:
            return None
        return bounds

    @property
    def block_arrays(self) -> tuple[np.ndarray, ...]:
        """The arrays of the blocks that kernels read."""
        return self.blocks.arrays

    def compute(self, terms: np.ndarray) -> None:
        """Compute those impacts of the terms with these ordinals that are missing.

        If impacts are stored, verify the stored postings of these terms instead.
        """
        # `bytes.count` is faster than an array comparison followed by `all`.
        if not self._state[terms].tobytes().count(MISSING):
            return
        with self._lock:
            missing = self._of_state(terms, MISSING)
            if self._stored:
                self.postings.check(missing, *self._stored)
            else:
                for begin, end in spans(self._df[missing], POSTINGS_PER_FILL):
                    self.fill(missing[begin:end])
                self.largest = max(self.largest, self.bounds.largest(missing))
                if int(self._df[missing].sum()) > POSTINGS_PER_FILL:
                    self.release()
            self._state[missing] = READY

    def settle(self, terms: np.ndarray) -> None:
        """Prepare terms for a search: compute missing impacts, and give frequent terms their rows in the blocks.

        A term gets its row at its second search, because filling in the row takes longer than one search without it.
        """
        if self._state[terms].tobytes().count(SETTLED) == len(terms):
            return
        self.compute(terms)
        with self._lock:
            again = self._of_state(terms, ASKED)
            if not self.blocks.add(again, self.postings, self.bounds.most):
                documents, _ = self._stored  # type: ignore[misc]  # Computed postings ascend.
                raise IndexCorrupt(f"{documents['docs'].path} names documents that do not ascend; delete that file.")
            self._state[terms[self._state[terms] == READY]] = ASKED
            self._state[again] = SETTLED

    def _of_state(self, terms: np.ndarray, state: int) -> np.ndarray:
        """Return the distinct terms among `terms` that are in the state `state`, in ascending order."""
        # np.unique would load NumPy's masked arrays first, which takes 20 ms.
        found = np.sort(terms[self._state[terms] == state])
        return found[np.diff(found, prepend=-1) > 0]

    def fill(self, terms: np.ndarray) -> None:
        """Compute the impacts of some terms, and write their postings by `postings.put`.

        The terms are distinct and ascending.
        """
        raise NotImplementedError

    def release(self) -> None:
        """Free the memory of the uncoded postings, now that the coded postings are in memory."""
