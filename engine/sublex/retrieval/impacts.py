"""Impacts: the score that one ranker gives to each posting of a segment. A term's impacts are computed on first use."""

from __future__ import annotations

from functools import cached_property
from threading import Lock

import numpy as np

from sublex.contracts.base import DocStats, FieldStatistics, Ranker, Statistics, TermStats
from sublex.errors import IndexCorrupt
from sublex.index import derived
from sublex.index.directory import Directory
from sublex.index.format import Folder
from sublex.index.offsets import POSTINGS_PER_CALL, spans
from sublex.index.segment import Segment
from sublex.retrieval.blocks import Blocks
from sublex.retrieval.bounds import Bounds
from sublex.retrieval.coding.coded_postings import CodedPostings
from sublex.retrieval.coding.pairs import Pairs, PairScores, exact_or_rounded
from sublex.retrieval.field_frequencies import fields_of, of_words

# The number of postings whose impacts are computed in one call, chosen so that the arrays fit the processor's cache.
POSTINGS_PER_FILL = 1 << 17
# The states of a term. MISSING: its impacts are not computed yet; stored impacts are not verified yet. READY: its
# impacts can be read. ASKED: the term was in one search since then. SETTLED: the term was in a second search, and has
# its row in the blocks if it is frequent and there is room.
MISSING, READY, ASKED, SETTLED = range(4)


class Impacts:
    """The coded postings of one segment for one ranker, and the bounds of each term's impacts.

    `compute` computes the impacts of terms, and `settle` prepares terms for a search. `stored` has two folders on disk,
    with coded documents and coded impacts. If they exist, they are mapped into memory and nothing is computed.
    """

    def __init__(
        self, segment: Segment, ranker: Ranker, term: TermStats, collection: Statistics | FieldStatistics,
        stored: tuple[Folder, Folder] | None = None,
    ):  # fmt: skip
        self.segment, self.ranker, self.term, self.collection = segment, ranker, term, collection
        self.fields = fields_of(ranker)
        self._state = np.full(len(segment.terms), MISSING, np.uint8)
        self.blocks = Blocks(segment.docs, segment.df)
        self._lock = Lock()
        self.postings = CodedPostings(segment.df, segment.docs)
        bounds = self._map(*stored) if stored else None
        self._stored = stored if bounds else None
        self.bounds = bounds or Bounds.unknown(len(segment.terms))
        # The largest size of an impact that was computed or stored.
        self.largest = self.bounds.largest(slice(None)) if bounds else 0.0

    def _map(self, documents: Folder, impacts: Folder) -> Bounds | None:
        """Use stored postings, and return their bounds. Return None if types or sizes are not those of the segment."""
        try:
            bounds = Bounds.stored(impacts, len(self.segment.terms))
            self.postings.map(documents, impacts)
        except IndexCorrupt:
            return None
        return bounds

    @property
    def block_arrays(self) -> tuple[np.ndarray, ...]:
        """The arrays of the blocks that kernels read."""
        return self.blocks.arrays

    def compute(self, terms: np.ndarray) -> None:
        """Compute the missing impacts of the terms with these ordinals.

        If impacts are stored, verify their checksums instead.
        """
        # `bytes.count` is faster than an array comparison followed by `all`.
        if not self._state[terms].tobytes().count(MISSING):
            return
        with self._lock:
            missing = self._of_state(terms, MISSING)
            if self._stored:
                self.postings.check(missing, *self._stored)
            else:
                for begin, end in spans(self.segment.df[missing], POSTINGS_PER_FILL):
                    self._fill(missing[begin:end])
                self.largest = max(self.largest, self.bounds.largest(missing))
                if int(self.segment.df[missing].sum()) > POSTINGS_PER_FILL:
                    # The coded postings are in memory now, so the segment's uncoded postings are not needed there.
                    self.segment.release()
            self._state[missing] = READY

    def settle(self, terms: np.ndarray) -> None:
        """Compute the impacts of terms before a search, and fill in the rows of frequent terms in the blocks.

        The row of a term is filled in at the second search for the term, because filling in a row takes longer than one
        search without the row.
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
        """Return the distinct terms whose state is `state`, in ascending order."""
        # np.unique would load NumPy's masked arrays first, which takes 20 ms.
        found = np.sort(terms[self._state[terms] == state])
        return found[np.diff(found, prepend=-1) > 0]

    def write(self, documents: Directory, impacts: Directory) -> None:
        """Compute the impacts of all terms, and write documents and impacts to two folders, which must be new."""
        self.compute(np.arange(len(self._state)))
        if derived.read(documents) is None:
            derived.write(documents, self.postings.stored_documents())
        if derived.read(impacts) is None:
            derived.write(impacts, self.postings.stored_impacts() | self.bounds.arrays())

    def _fill(self, terms: np.ndarray) -> None:
        """Compute the impacts of some terms."""
        docs, tfs = self.segment.gather(terms)
        if self.fields:
            tfs = of_words(self.segment, self.fields, terms, tfs)
        pairs, numbers = self._scores.of(self.segment.df[terms], self._stats(terms), docs, tfs, np.dtype(np.float32))
        self.postings.put(terms, docs, numbers, *pairs, self.bounds)

    def _stats(self, terms: np.ndarray | slice) -> TermStats:
        """Return the statistics of some terms."""
        return TermStats(self.term.df[terms], self.term.cf[terms])

    def pairs_of(
        self, counts: np.ndarray, term: TermStats, docs: np.ndarray, tfs: np.ndarray
    ) -> tuple[Pairs, np.ndarray]:
        """Return the pairs of terms that the segment does not hold, such as operators; `PairScores.of` describes them.

        For a ranker with fields, `tfs` has a row for each field.
        """
        with self._lock:
            return self._scores.of(counts, term, docs, tfs, np.dtype(np.float32))

    @cached_property
    def _scores(self) -> PairScores:
        return PairScores(self.segment, self.ranker, self.ranker.score, "score", self.collection, self.norm)

    def document(self, doc: int) -> DocStats:
        """Return the statistics of a document as numbers, with the values that the ranker gets."""
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
