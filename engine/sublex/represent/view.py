"""An index as a fitted model sees it: the rows of documents, and their terms over the model's vocabulary."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from sublex.fitted import Of, Rows
from sublex.index.index import Index
from sublex.index.segment import Segment
from sublex.represent import kernels
from sublex.represent.inputs import Vocabulary, recoded
from sublex.represent.rows import stacked

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# Up to so many documents are decoded for themselves; for more, all are, once.
FEW = 2000


class View:
    """One generation of an index; `parts` are the rows of its segments."""

    def __init__(self, index: Index, vocabulary: Vocabulary, parts: Sequence[Rows]):
        self.index, self.vocabulary, self._parts = index, vocabulary, parts
        self._lock = threading.Lock()
        self._of: dict[tuple[str, Of], np.ndarray] = {}

    @cached_property
    def _rows(self) -> Rows:
        return stacked(self._parts)

    def rows(self, docs: np.ndarray | None = None) -> Rows:
        """The rows of documents; of all, by document number, without `docs`."""
        return self._rows if docs is None else self._rows[docs]

    @cached_property
    def _places(self) -> list[np.ndarray]:
        """The model's number of each term of each segment, -1 where it has none."""
        return [self.vocabulary.of_segment(segment) for segment in self.index.segments]

    def dot(self, weights: np.ndarray, docs: np.ndarray | None = None, of: Of | None = None) -> np.ndarray:
        """For each document the sum over its terms of count, or `of` the counts, times the term's weight."""
        self.index.need("terms", "are scored by")
        # The place -1 stands for the zero at the end.
        padded = np.append(np.ascontiguousarray(weights, np.float64), 0.0)
        own = [padded[places] for places in self._places]
        if docs is None:
            sums = np.empty(int(self.index.bases[-1]))
            for segment, base, values in zip(self.index.segments, self.index.bases.tolist(), own, strict=False):
                kernels.dot_all(*self._forward(segment, of), values, sums[base : base + segment.docs])
            return sums
        sums = np.empty(len(docs))
        for number, segment, chosen in self._by_segment(docs):
            local = docs[chosen] - self.index.bases[number]
            if len(docs) <= FEW and "forward" not in segment.__dict__:
                counts, terms, tfs = segment.terms_of(local)
                starts = np.concatenate([[0], np.cumsum(counts)])
                found = np.empty(len(local))
                kernels.dot_all(starts, terms, of(tfs) if of else tfs, own[number], found)
            else:
                found = np.empty(len(local))
                kernels.dot_some(*self._forward(segment, of), own[number], local.astype(np.int64), found)
            sums[chosen] = found
        return sums

    def terms(self, docs: np.ndarray) -> csr_array:
        """The term counts of documents as sparse rows."""
        from scipy.sparse import csr_array, vstack

        self.index.need("terms", "are explained by")
        order, made = [], []
        for number, segment, chosen in self._by_segment(docs):
            found = segment.terms_of(docs[chosen] - self.index.bases[number])
            made.append(recoded(*found, self._places[number], len(self.vocabulary)))
            order.append(chosen)
        if not made:
            return csr_array((0, len(self.vocabulary)))
        return csr_array(vstack(made))[np.argsort(np.concatenate(order), kind="stable")]

    def surface(self, term: str) -> str:
        """The commonest raw form of a term."""
        return self.index.corpus.surface(term)

    def _forward(self, segment: Segment, of: Of | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        with self._lock:
            starts, terms, tfs = segment.forward
            if of and (segment.name, of) not in self._of:
                self._of[segment.name, of] = of(tfs)
            return starts, terms, self._of[segment.name, of] if of else tfs

    def _by_segment(self, docs: np.ndarray) -> Iterator[tuple[int, Segment, np.ndarray]]:
        """Each segment that has some of the documents: its number, itself, and their places."""
        numbers = np.searchsorted(self.index.bases, docs, side="right") - 1
        for number in np.unique(numbers).tolist():
            yield number, self.index.segments[number], np.flatnonzero(numbers == number)
