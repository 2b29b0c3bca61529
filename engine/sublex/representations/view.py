"""An index as a fitted model sees it: the rows of documents, and their terms over the model's vocabulary."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sublex.base import Token
from sublex.errors import PluginError
from sublex.fitted import Of, Rows
from sublex.index.offsets import starts_of
from sublex.index.segment import Segment
from sublex.index.snapshot import Snapshot
from sublex.representations import kernels
from sublex.representations.inputs import ROWS, Vocabulary, recoded
from sublex.representations.rows import stacked

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# Up to so many documents are decoded for themselves; for more, all are, once.
FEW = 2000
LEVELS = 1 << 16
ALL = slice(None)


class Forward(NamedTuple):
    """Decoded document terms: where each document's begin, the terms, the level of the count of each, and the count of each level."""

    starts: np.ndarray
    terms: np.ndarray
    levels: np.ndarray
    counts: np.ndarray


class View:
    """Segments of one generation of an index, whatever becomes of it, with the rows of each."""

    def __init__(self, index: Snapshot, segments: Sequence[Segment], vocabulary: Vocabulary, parts: Sequence[Rows]):
        self.index, self.segments, self.vocabulary, self._parts = index, segments, vocabulary, parts
        self.bases = starts_of(np.array([segment.docs for segment in segments], np.int64))
        self._decoded: dict[int, Forward] = {}
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return int(self.bases[-1])

    def rows(self, docs: np.ndarray | None = None, columns: slice = ALL) -> Rows:
        """The rows of documents, or some columns of them; of all, by document number, without `docs`."""
        parts = self._parts if columns == ALL else [part[:, columns] for part in self._parts]
        if len(parts) == 1:
            return parts[0] if docs is None else parts[0][docs]
        if docs is None:
            return stacked(parts)
        order, found = [], []
        for number, chosen, local in self._by_segment(docs):
            found.append(parts[number][local])
            order.append(chosen)
        if not found:
            return parts[0][:0]
        return stacked(found)[np.argsort(np.concatenate(order), kind="stable")]

    def products(self, vector: np.ndarray, docs: np.ndarray | None = None) -> np.ndarray:
        """The products of documents' dense rows with a vector."""
        asked = np.ascontiguousarray(vector, np.float64)
        sums = np.empty(len(self) if docs is None else len(docs))
        for number, chosen, local in self._by_segment(docs):
            rows, found = self._parts[number], np.empty(len(local))
            if rows.shape[1:] != asked.shape:
                raise PluginError(
                    f"A vector of shape {asked.shape} cannot be multiplied with rows of {rows.shape[1:]}."
                )
            for begin in range(0, len(local), ROWS):
                some = local[begin : begin + ROWS]
                if rows.dtype == np.float16:
                    # What is stored in half is read as singles, a few at a time.
                    kernels.products(rows[some].astype(np.float32), asked, np.arange(len(some)), found[begin:])
                else:
                    kernels.products(rows, asked, some, found[begin:])
            sums[chosen] = found
        return sums

    def dot(self, weights: np.ndarray, docs: np.ndarray | None = None, of: Of | None = None) -> np.ndarray:
        """For each document the sum over its terms of count, or `of` the count, times the term's weight."""
        self.index.need("terms", "are scored by")
        # The place -1 stands for the zero at the end.
        padded = np.append(np.ascontiguousarray(weights, np.float64), 0.0)
        if len(padded) != len(self.vocabulary) + 1:
            raise PluginError(f"{len(padded) - 1:,} weights were given for {len(self.vocabulary):,} terms.")
        sums = np.empty(len(self) if docs is None else len(docs))
        for number, chosen, local in self._by_segment(docs):
            segment, own = self.segments[number], padded[self._places[number]]
            if docs is not None and len(docs) <= FEW and number not in self._decoded:
                counts, terms, tfs = segment.terms_of(local)
                forward, local = _forward(starts_of(counts), terms, tfs), np.arange(len(local))
            else:
                forward = self._forward(number, segment)
            worth = np.asarray(of(forward.counts), np.float64) if of else forward.counts
            found = np.empty(len(local))
            # Numbers without a sign: looking an item up then needs no test for a negative place.
            bare = forward.starts.view(np.uint64), forward.terms.view(np.uint32), forward.levels.view(np.uint32)
            kernels.dot(*bare, worth, own, local.view(np.uint64), found)
            sums[chosen] = found
        return sums

    def terms(self, docs: np.ndarray) -> csr_array:
        """The term counts of documents as sparse rows."""
        from scipy.sparse import csr_array, vstack

        self.index.need("terms", "are explained by")
        order, made = [], []
        for number, chosen, local in self._by_segment(docs):
            found = self.segments[number].terms_of(local)
            made.append(recoded(*found, self._places[number], len(self.vocabulary)))
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
        return [self.vocabulary.of_segment(segment) for segment in self.segments]

    def _forward(self, number: int, segment: Segment) -> Forward:
        """All document terms of a segment."""
        with self._lock:
            if number not in self._decoded:
                self._decoded[number] = _forward(*segment.forward)
            return self._decoded[number]

    def _by_segment(self, docs: np.ndarray | None) -> Iterator[tuple[int, Any, np.ndarray]]:
        """Each segment that has some of the documents: its number, their places, and their numbers within it."""
        if docs is None:
            for number, base in enumerate(self.bases[:-1].tolist()):
                count = self.segments[number].docs
                yield number, slice(base, base + count), np.arange(count)
            return
        if len(docs) and not 0 <= int(docs.min()) <= int(docs.max()) < len(self):
            raise IndexError(f"documents {docs.min()} to {docs.max()} of {len(self)}")
        numbers = np.searchsorted(self.bases, docs, side="right") - 1
        for number in np.unique(numbers).tolist():
            chosen = np.flatnonzero(numbers == number)
            yield number, chosen, (docs[chosen] - self.bases[number]).astype(np.int64)


def _forward(starts: np.ndarray, terms: np.ndarray, tfs: np.ndarray) -> Forward:
    """Document terms with their counts by level; huge counts are few, and no table is made as long as they are."""
    most = int(tfs.max(initial=0))
    if most < LEVELS:
        return Forward(starts, terms, tfs, np.arange(most + 1.0))
    counts, levels = np.unique(tfs, return_inverse=True)
    return Forward(starts, terms, levels.astype(np.int32), counts.astype(np.float64))
