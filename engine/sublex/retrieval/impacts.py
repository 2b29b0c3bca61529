"""Impacts: for each posting of a segment, the score that one ranker gives it. They are computed term by term, on first use."""

from __future__ import annotations

from bisect import bisect_left
from functools import cached_property
from threading import Lock

import numpy as np

from sublex.base import DocStats, Ranker, Statistics, TermStats
from sublex.errors import IndexCorrupt, PluginError, contract
from sublex.index import derived
from sublex.index.directory import Directory
from sublex.index.format import Folder
from sublex.index.offsets import POSTINGS_PER_CALL, spans, starts_of
from sublex.index.segment import Segment
from sublex.rankers.lucene_lengths import round_lengths
from sublex.retrieval.blocks.blocks import Blocks


class Impacts:
    """The postings of one segment as two parallel arrays, `docs` (int32) and `impacts` (float32).

    `need` fills in the terms of a query; the operating system provides memory only for what was filled in. `stored` are folders with the
    decoded documents and the impacts on disk, which are then mapped instead.
    """

    def __init__(
        self,
        segment: Segment,
        ranker: Ranker,
        term: TermStats,
        collection: Statistics,
        stored: tuple[Folder, Folder] | None = None,
    ):
        from sublex.retrieval import kernels

        self.segment, self.ranker, self.term, self.collection = segment, ranker, term, collection
        terms = len(segment.terms)
        self.starts = starts_of(segment.df)
        self._stored = stored = stored if stored and _fit(*stored, int(self.starts[-1]), terms) else None
        self._ready = np.zeros(terms, np.bool_)
        # How often the row of each term was asked for: not at all, once, or more often.
        self._asked = np.zeros(terms, np.uint8)
        self.blocks = Blocks(segment.docs, segment.df)
        self._lock = Lock()
        if stored:
            documents, impacts = stored
            self.docs, self.impacts = documents["docs"].values, impacts["impacts"].values
            self.least, self.most = impacts["least"].all(), impacts["most"].all()
            self.kth = impacts["kth"].all().reshape(len(kernels.LEVELS), terms)
            return
        self.docs = np.empty(int(self.starts[-1]), np.int32)
        self.impacts = np.empty(int(self.starts[-1]), np.float32)
        self.least, self.most = np.empty(terms, np.float32), np.empty(terms, np.float32)
        self.kth = np.full((len(kernels.LEVELS), terms), -np.inf, np.float32)

    def need(self, terms: np.ndarray) -> None:
        """Compute the impacts of these terms, given by ordinal, unless that is done; with stored impacts, verify their checksums."""
        if self._ready[terms].all():
            return
        with self._lock:
            # np.unique would load NumPy's masked arrays, which takes 20 ms.
            missing = np.sort(terms[~self._ready[terms]])
            missing = missing[np.diff(missing, prepend=-1) > 0]
            if self._stored:
                self._verify(missing)
            else:
                for begin, end in spans(self.segment.df[missing], POSTINGS_PER_CALL):
                    self._fill(missing[begin:end])
            self._ready[missing] = True

    def rows(self, terms: np.ndarray) -> np.ndarray:
        """Return the row of each term in the blocks, -1 for a term without one. The impacts of the terms must be there.

        A frequent term gets its row when it is asked for again, since making a row takes longer than one query without it.
        """
        if not (self._asked[terms] == 2).all():
            with self._lock:
                again = np.unique(terms[self._asked[terms] == 1])
                if not self.blocks.add(again, self.starts, self.docs, self.impacts, self.most):
                    raise self._corrupt()
                self._asked[np.unique(terms[self._asked[terms] == 0])] = 1
                self._asked[again] = 2
        return self.blocks.row_of[terms]

    def _verify(self, terms: np.ndarray) -> None:
        """Verify the checksums of stored terms, and that their documents exist."""
        documents, impacts = self._stored  # type: ignore[misc]
        for begin, end in zip(self.starts[terms].tolist(), self.starts[terms + 1].tolist(), strict=True):
            docs = documents["docs"].part(begin, end)
            if len(docs) and not 0 <= docs.min() <= docs.max() < self.segment.docs:
                raise self._corrupt()
            impacts["impacts"].part(begin, end)

    def _corrupt(self) -> IndexCorrupt:
        documents, _ = self._stored  # type: ignore[misc]
        return IndexCorrupt(f"{documents['docs'].path} names a document that does not exist; delete that file.")

    def best(self, k: int) -> np.ndarray:
        """Return for each term a lower bound of its k-th best impact; -inf where none is known."""
        from sublex.retrieval import kernels

        level = bisect_left(kernels.LEVELS, k)
        return self.kth[level] if level < len(kernels.LEVELS) else self._unknown

    @cached_property
    def _unknown(self) -> np.ndarray:
        return np.full(len(self.least), -np.inf, np.float32)

    def write(self, documents: Directory, impacts: Directory) -> None:
        """Compute the impacts of all terms and write them, and the decoded documents, to these folders unless they are there."""
        self.need(np.arange(len(self._ready)))
        if derived.read(documents) is None:
            derived.write(documents, {"docs": self.docs})
        if derived.read(impacts) is None:
            names = ("impacts", "least", "most", "kth")
            derived.write(impacts, {name: getattr(self, name) for name in names})

    def _fill(self, terms: np.ndarray) -> None:
        from sublex.retrieval import kernels

        docs, tfs = self.segment.gather(terms)
        live = np.empty(int(self.segment.df[terms].max(initial=0)), np.float32)
        kernels.place(
            terms, self.starts, docs, self._scored(terms, docs, tfs), self.segment.dead,
            self.docs, self.impacts, self.least, self.most, self.kth, live,
        )  # fmt: skip

    def _scored(self, terms: np.ndarray, docs: np.ndarray, tfs: np.ndarray) -> np.ndarray:
        counts = self.segment.df[terms]
        norm = self.norm[docs] if self.norm is not None else None
        # Terms that only deleted documents contain have statistics of 0; a ranker gets 1 instead and may divide by it.
        df, cf = (np.repeat(np.maximum(values[terms], 1), counts) for values in self.term)
        doc = DocStats(self.length[docs], self.unique[docs], norm)
        with contract("ranker", self.ranker), np.errstate(all="ignore"):
            scores = np.asarray(self.ranker.score(tfs.astype(np.float64), doc, TermStats(df, cf), self.collection))
            impacts = scores.astype(np.float32)
        return checked(impacts, docs.shape, self.ranker, "score")

    # Document statistics for the ranker.

    @cached_property
    def length(self) -> np.ndarray:
        """Document lengths as float64: exact, or rounded as Lucene stores them if the ranker declares that."""
        lengths = self.segment.lengths
        return (
            round_lengths(lengths.astype(np.int64)) if getattr(self.ranker, "lengths", "exact") == "lucene" else lengths
        ).astype(np.float64)

    @cached_property
    def unique(self) -> np.ndarray:
        """The number of distinct terms in each document, as float64."""
        return self.segment.uniques.astype(np.float64)

    @cached_property
    def norm(self) -> np.ndarray | None:
        """The sum of the ranker's `norm_part` over all terms of each document; None when the ranker declares none."""
        part = getattr(self.ranker, "norm_part", None)
        if part is None:
            return None
        norm = np.zeros(self.segment.docs)
        for begin, end in self.segment.spans(POSTINGS_PER_CALL):
            docs, tfs = self.segment.postings(begin, end)
            counts = self.segment.df[begin:end]
            df, cf = (np.repeat(np.maximum(values[begin:end], 1), counts) for values in self.term)
            doc = DocStats(self.length[docs], self.unique[docs])
            with contract("ranker", self.ranker), np.errstate(all="ignore"):
                values = np.asarray(part(tfs.astype(np.float64), doc, TermStats(df, cf), self.collection), np.float64)
            norm += np.bincount(docs, checked(values, docs.shape, self.ranker, "part of a norm"), len(norm))
        return norm


def _fit(documents: Folder, impacts: Folder, postings: int, terms: int) -> bool:
    """Return whether stored documents and impacts have the types and sizes that the segment asks for."""
    from sublex.retrieval import kernels

    try:
        documents.expect("docs", ("<i4",), postings)
        for name, count in (
            ("impacts", postings),
            ("least", terms),
            ("most", terms),
            ("kth", terms * len(kernels.LEVELS)),
        ):
            impacts.expect(name, ("<f4",), count)
    except IndexCorrupt:
        return False
    return True


def checked(values: np.ndarray, shape: tuple[int, ...], ranker: Ranker, what: str) -> np.ndarray:
    """Return the values that a ranker computed. Raise PluginError unless they have this shape and are finite."""
    if values.shape != shape or not np.isfinite(values).all():
        wrong = f"shape {values.shape}" if values.shape != shape else f"a {what} that is not a finite number"
        raise PluginError(f"The ranker {ranker} gave {wrong}; its results are not used.")
    return values
