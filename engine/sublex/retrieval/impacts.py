"""What each posting of a segment adds to a document's score under one ranker, computed for the terms that are asked for."""

from __future__ import annotations

from bisect import bisect_left
from functools import cached_property
from pathlib import Path
from threading import Lock

import numpy as np

from sublex.base import DocStats, Ranker, Statistics, TermStats
from sublex.errors import PluginError, contract
from sublex.index import derived
from sublex.index.format import Folder
from sublex.index.offsets import spans, starts_of
from sublex.index.segment import Segment
from sublex.rankers.lengths import lucene
from sublex.retrieval import kernels

# So many postings are scored at a time.
SPAN = 1 << 20


class Impacts:
    """A segment's postings with impacts, decoded side by side; memory is used for the terms asked for."""

    def __init__(
        self,
        segment: Segment,
        ranker: Ranker,
        term: TermStats,
        collection: Statistics,
        kept: tuple[Folder, Folder] | None = None,
    ):
        self.segment, self.ranker, self.term, self.collection = segment, ranker, term, collection
        self._kept = kept
        terms = len(segment.terms)
        self.starts = starts_of(segment.df)
        self._ready = np.zeros(terms, np.bool_)
        self._lock = Lock()
        if kept:
            documents, impacts = kept
            self.docs, self.impacts = documents["docs"].values, impacts["impacts"].values
            self.least, self.most = impacts["least"].all(), impacts["most"].all()
            self.kth = impacts["kth"].all().reshape(len(kernels.LEVELS), terms)
            return
        self.docs = np.empty(int(self.starts[-1]), np.int32)
        self.impacts = np.empty(int(self.starts[-1]), np.float32)
        self.least, self.most = np.empty(terms, np.float32), np.empty(terms, np.float32)
        self.kth = np.full((len(kernels.LEVELS), terms), -np.inf, np.float32)

    def need(self, terms: np.ndarray) -> None:
        """Have the impacts of these terms."""
        if self._ready[terms].all():
            return
        with self._lock:
            missing = np.unique(terms[~self._ready[terms]])
            if self._kept:
                for begin, end in zip(self.starts[missing].tolist(), self.starts[missing + 1].tolist(), strict=True):
                    self._kept[0]["docs"].part(begin, end)
                    self._kept[1]["impacts"].part(begin, end)
            else:
                for begin, end in spans(self.segment.df[missing], SPAN):
                    self._fill(missing[begin:end])
            self._ready[missing] = True

    def best(self, k: int) -> np.ndarray:
        """For each term an impact that its k best postings reach; -inf where none is known."""
        level = bisect_left(kernels.LEVELS, k)
        return self.kth[level] if level < len(kernels.LEVELS) else self._unknown

    @cached_property
    def _unknown(self) -> np.ndarray:
        return np.full(len(self.least), -np.inf, np.float32)

    def write(self, documents: Path, impacts: Path) -> None:
        """Store everything."""
        self.need(np.arange(len(self._ready)))
        if derived.read(documents) is None:
            derived.write(documents, {"docs": self.docs})
        if derived.read(impacts) is None:
            names = ("impacts", "least", "most", "kth")
            derived.write(impacts, {name: getattr(self, name) for name in names})

    def _fill(self, terms: np.ndarray) -> None:
        docs, tfs = self.segment.gather(terms)
        kernels.place(
            terms, self.starts, docs, self._scored(terms, docs, tfs), self.segment.dead,
            self.docs, self.impacts, self.least, self.most, self.kth,
        )  # fmt: skip

    def _scored(self, terms: np.ndarray, docs: np.ndarray, tfs: np.ndarray) -> np.ndarray:
        counts = self.segment.df[terms]
        norm = self.norm[docs] if self.norm is not None else None
        # The statistics of terms that only deleted documents hold are 0, which no ranker need bear.
        df, cf = (np.repeat(np.maximum(values[terms], 1), counts) for values in self.term)
        doc = DocStats(self.length[docs], self.unique[docs], norm)
        with contract("ranker", self.ranker), np.errstate(all="ignore"):
            found = np.asarray(self.ranker.score(tfs.astype(np.float64), doc, TermStats(df, cf), self.collection))
            impacts = found.astype(np.float32)
        return sound(impacts, docs.shape, self.ranker, "score")

    # What the ranker sees of documents.

    @cached_property
    def length(self) -> np.ndarray:
        """Document lengths, as the ranker wants them."""
        lengths = self.segment.lengths
        return (
            lucene(lengths.astype(np.int64)) if getattr(self.ranker, "lengths", "exact") == "lucene" else lengths
        ).astype(np.float64)

    @cached_property
    def unique(self) -> np.ndarray:
        """Numbers of distinct terms."""
        return self.segment.uniques.astype(np.float64)

    @cached_property
    def norm(self) -> np.ndarray | None:
        """The sum of the ranker's `norm_part` over each document's terms, where it has one."""
        part = getattr(self.ranker, "norm_part", None)
        if part is None:
            return None
        norm = np.zeros(self.segment.docs)
        for begin, end in self.segment.spans(SPAN):
            docs, tfs = self.segment.postings(begin, end)
            counts = self.segment.df[begin:end]
            df, cf = (np.repeat(np.maximum(values[begin:end], 1), counts) for values in self.term)
            doc = DocStats(self.length[docs], self.unique[docs])
            with contract("ranker", self.ranker), np.errstate(all="ignore"):
                found = np.asarray(part(tfs.astype(np.float64), doc, TermStats(df, cf), self.collection), np.float64)
            norm += np.bincount(docs, sound(found, docs.shape, self.ranker, "part of a norm"), len(norm))
        return norm


def sound(found: np.ndarray, shape: tuple[int, ...], ranker: Ranker, what: str) -> np.ndarray:
    """What a ranker gave, which must be a finite number for each thing asked about."""
    if found.shape != shape or not np.isfinite(found).all():
        wrong = f"shape {found.shape}" if found.shape != shape else f"a {what} that is not a finite number"
        raise PluginError(f"The ranker {ranker} gave {wrong}; nothing was done by it.")
    return found
