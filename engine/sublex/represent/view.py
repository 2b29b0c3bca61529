"""An index as a fitted model sees it: the rows of documents, and their terms over the model's vocabulary."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from sublex.base import Token
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

    def rows(self, docs: np.ndarray | None = None) -> Rows:
        """The rows of documents; of all, by document number, without `docs`."""
        if len(self._parts) == 1:
            return self._parts[0] if docs is None else self._parts[0][docs]
        if docs is None:
            return stacked(self._parts)
        order, found = [], []
        for number, chosen, local in self._by_segment(docs):
            found.append(self._parts[number][local])
            order.append(chosen)
        if not found:
            return self._parts[0][:0]
        return stacked(found)[np.argsort(np.concatenate(order), kind="stable")]

    def products(self, vector: np.ndarray, docs: np.ndarray | None = None) -> np.ndarray:
        """The products of documents' dense rows with a vector."""
        asked = np.ascontiguousarray(vector, np.float64)
        sums = np.empty(int(self.index.bases[-1]) if docs is None else len(docs))
        for number, chosen, local in self._by_segment(docs):
            found = np.empty(len(local))
            kernels.products(self._parts[number], asked, local, found)
            sums[chosen] = found
        return sums

    def dot(self, weights: np.ndarray, docs: np.ndarray | None = None, of: Of | None = None) -> np.ndarray:
        """For each document the sum over its terms of count, or `of` the count, times the term's weight."""
        self.index.need("terms", "are scored by")
        # The place -1 stands for the zero at the end.
        padded = np.append(np.ascontiguousarray(weights, np.float64), 0.0)
        sums = np.empty(int(self.index.bases[-1]) if docs is None else len(docs))
        for number, chosen, local in self._by_segment(docs):
            segment, own = self.index.segments[number], padded[self._places[number]]
            if docs is not None and len(docs) <= FEW and number not in self._decoded:
                counts, terms, tfs = segment.terms_of(local)
                starts, most, local = np.append(0, np.cumsum(counts)), tfs.max(initial=0), np.arange(len(local))
            else:
                starts, terms, tfs, most = self._forward(number, segment)
            counts_of = np.arange(most + 1.0)
            worth = np.asarray(of(counts_of), np.float64) if of else counts_of
            found = np.empty(len(local))
            # Numbers without a sign: looking an item up then needs no test for a negative place.
            bare = starts.view(np.uint64), terms.view(np.uint32), tfs.view(np.uint32)
            kernels.dot(*bare, worth, own, local.view(np.uint64), found)
            sums[chosen] = found
        return sums

    def terms(self, docs: np.ndarray) -> csr_array:
        """The term counts of documents as sparse rows."""
        from scipy.sparse import csr_array, vstack

        self.index.need("terms", "are explained by")
        order, made = [], []
        for number, chosen, local in self._by_segment(docs):
            made.append(
                recoded(*self.index.segments[number].terms_of(local), self._places[number], len(self.vocabulary))
            )
            order.append(chosen)
        if not made:
            return csr_array((0, len(self.vocabulary)))
        return csr_array(vstack(made))[np.argsort(np.concatenate(order), kind="stable")]

    def sequence(self, doc: int) -> list[Token]:
        """A document's words in order, stop words included."""
        return self.index.corpus.sequence(doc)

    def surface(self, term: str) -> str:
        """The commonest raw form of a term."""
        return self.index.corpus.surface(term)

    @cached_property
    def _places(self) -> list[np.ndarray]:
        """The model's number of each term of each segment, -1 where it has none."""
        return [self.vocabulary.of_segment(segment) for segment in self.index.segments]

    @cached_property
    def _decoded(self) -> dict[int, tuple[np.ndarray, np.ndarray, np.ndarray, int]]:
        return {}

    def _forward(self, number: int, segment: Segment) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
        """All document terms of a segment, and the largest count."""
        with self._lock:
            if number not in self._decoded:
                starts, terms, tfs = segment.forward
                self._decoded[number] = starts, terms, tfs, int(tfs.max(initial=0))
            return self._decoded[number]

    def _by_segment(self, docs: np.ndarray | None) -> Iterator[tuple[int, Any, np.ndarray]]:
        """Each segment that has some of the documents: its number, their places, and their numbers within it."""
        if docs is None:
            for number, base in enumerate(self.index.bases[:-1].tolist()):
                count = self.index.segments[number].docs
                yield number, slice(base, base + count), np.arange(count)
            return
        numbers = np.searchsorted(self.index.bases, docs, side="right") - 1
        for number in np.unique(numbers).tolist():
            chosen = np.flatnonzero(numbers == number)
            yield number, chosen, (docs[chosen] - self.index.bases[number]).astype(np.int64)
