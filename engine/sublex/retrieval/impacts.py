"""Impacts: the score that one ranker gives to each posting of a segment. A term's impacts are computed on first use."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from sublex.contracts.base import DocStats, FieldStatistics, Ranker, Statistics, TermStats
from sublex.index import derived
from sublex.index.directory import Directory
from sublex.index.format import ComponentFolder
from sublex.index.offsets import POSTINGS_PER_CALL
from sublex.index.segment import Segment
from sublex.retrieval.coded_lists import CodedLists
from sublex.retrieval.coding.pairs import Pairs, PairScores, exact_or_rounded
from sublex.retrieval.field_frequencies import fields_of, of_words


class Impacts(CodedLists):
    """The coded postings of one segment for one ranker, and the bounds of each term's impacts."""

    def __init__(
        self, segment: Segment, ranker: Ranker, term: TermStats, collection: Statistics | FieldStatistics,
        stored: tuple[ComponentFolder, ComponentFolder] | None = None,
    ):  # fmt: skip
        self.segment, self.ranker, self.term, self.collection = segment, ranker, term, collection
        self.fields = fields_of(ranker)
        super().__init__(segment.df, segment.docs, stored)

    def write(self, documents: Directory, impacts: Directory) -> None:
        """Compute the impacts of all terms, and write documents and impacts to two folders.

        A folder that exists is kept.
        """
        self.compute(np.arange(len(self._state)))
        if derived.read(documents) is None:
            derived.write(documents, self.postings.stored_documents())
        if derived.read(impacts) is None:
            derived.write(impacts, self.postings.stored_impacts() | self.bounds.arrays())

    def fill(self, terms: np.ndarray) -> None:
        """Compute the impacts of terms, given by their ordinals, and write their postings."""
        docs, tfs = self.segment.gather(terms)
        if self.fields:
            tfs = of_words(self.segment, self.fields, terms, tfs)
        pairs, numbers = self._scores.of(self.segment.df[terms], self._stats(terms), docs, tfs, np.dtype(np.float32))
        self.postings.put(terms, docs, numbers, *pairs, self.bounds)

    def release(self) -> None:
        """Free the memory of the segment's uncoded postings."""
        self.segment.release()

    def _stats(self, terms: np.ndarray | slice) -> TermStats:
        """Return the statistics of some terms."""
        return TermStats(self.term.df[terms], self.term.cf[terms])

    def pairs_of(
        self, counts: np.ndarray, term: TermStats, docs: np.ndarray, tfs: np.ndarray
    ) -> tuple[Pairs, np.ndarray]:
        """Return the pairs of terms that are not in the segment's lexicon, such as operators.

        `PairScores.of` describes the arguments and the result.
        """
        with self._lock:
            return self._scores.of(counts, term, docs, tfs, np.dtype(np.float32))

    @cached_property
    def _scores(self) -> PairScores:
        return PairScores(self.segment, self.ranker, self.ranker.score, "score", self.collection, self.norm)

    def document(self, doc: int) -> DocStats:
        """Return the statistics of a document as numbers: the same values that the ranker gets."""
        lengths = {field: self.segment.field_lengths(field) for field in self.fields} or {"": self.segment.lengths}
        known = {field: exact_or_rounded(own[doc : doc + 1], self.ranker)[0] for field, own in lengths.items()}
        length = known if self.fields else known[""]
        norm = None if self.norm is None else self.norm[doc]
        return DocStats(length, np.float64(self.segment.uniques[doc]), norm)  # type: ignore[arg-type]

    @cached_property
    def norm(self) -> np.ndarray | None:
        """For each document, the sum of the ranker's `norm_part` over the document's terms.

        None if the ranker has no `norm_part`.
        """
        part = getattr(self.ranker, "norm_part", None)
        if part is None:
            return None
        parts = PairScores(self.segment, self.ranker, part, "part of a norm", self.collection, all_documents=True)
        norm = np.zeros(self.segment.docs)
        for begin, end in self.segment.spans(POSTINGS_PER_CALL):
            docs, tfs = self.segment.postings(begin, end)
            own = slice(begin, end)
            if self.fields:
                tfs = of_words(self.segment, self.fields, np.arange(begin, end), tfs)
            pairs, numbers = parts.of(self.segment.df[own], self._stats(own), docs, tfs, np.dtype(np.float64))
            begins = np.concatenate(([0], pairs.ends[:-1]))
            values = pairs.values[numbers + np.repeat(begins, self.segment.df[begin:end])]
            norm += np.bincount(docs, values, len(norm))
        return norm
