"""Pairs: postings of a term that a ranker cannot tell apart, because their frequencies and their documents' statistics are equal.

A ranker scores each pair of a frequency and a class of documents once. A term in 100,000 abstracts has some thousand pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from sublex.contracts.base import DocStats, Ranker, Statistics, TermStats
from sublex.errors import PluginError, contract
from sublex.index.segment import Segment
from sublex.rankers.lucene_lengths import round_lengths

# The most classes for which pairs are looked for, and the greatest length for which a table of all lengths is made.
MOST_CLASSES, LONGEST = 1 << 16, 1 << 24
# Pairs that a ranker scores in one call: its arrays of float64 then fit the processor's cache.
PAIRS_PER_CALL = 1 << 15
# A ranker's `score` or `norm_part`.
Formula = Callable[[np.ndarray, DocStats, TermStats, Statistics], np.ndarray]


class Pairs(NamedTuple):
    """The pairs of some terms: where those of each term end, the formula's value and the number of postings of each pair."""

    ends: np.ndarray
    values: np.ndarray
    live: np.ndarray


class Classes(NamedTuple):
    """The class of each document, -1 for a deleted one; the statistics of each class; and places to look for pairs."""

    of_document: np.ndarray
    stats: DocStats
    seen: np.ndarray


class Watched(DocStats):
    """Statistics of documents that note which of them are read: `asked` has the names."""

    asked: set[str]

    def _read(self, name: str, place: int) -> Any:
        self.asked.add(name)
        return tuple.__getitem__(self, place)

    # A named tuple has these as descriptors of its own.
    length = property(lambda self: self._read("length", 0))  # type: ignore[assignment]
    unique = property(lambda self: self._read("unique", 1))  # type: ignore[assignment]
    norm = property(lambda self: self._read("norm", 2))  # type: ignore[assignment]

    def __getitem__(self, place: Any) -> Any:
        self.asked.update(self._fields)
        return tuple.__getitem__(self, place)

    def _replace(self, **changes: Any) -> DocStats:  # type: ignore[override]
        return DocStats(*self)._replace(**changes)

    def __iter__(self) -> Iterator[Any]:
        self.asked.update(self._fields)
        return tuple.__iter__(self)


class PairScores:
    """Computes a formula of a ranker for the postings of a segment, once for each pair.

    Documents with the same length are one class, until the formula reads another statistic of documents. `norm` is None for rankers
    without one. Deleted documents have no pairs, unless `all_documents` asks for them.
    """

    def __init__(
        self, segment: Segment, ranker: Ranker, formula: Formula, what: str, term: TermStats, collection: Statistics,
        norm: np.ndarray | None = None, all_documents: bool = False,
    ):  # fmt: skip
        self._segment, self._ranker, self._formula, self._what = segment, ranker, formula, what
        self._term, self._collection, self._norm = term, collection, norm
        self._dead = None if all_documents or not segment.dead.any() else segment.dead
        self._read = {"length"} if norm is None else {"length", "unique", "norm"}
        self._classes: Classes | None = None

    def of(self, terms: np.ndarray, docs: np.ndarray, tfs: np.ndarray, dtype: np.dtype) -> tuple[Pairs, np.ndarray]:
        """Return the pairs of terms, with values of this type, and for each posting its pair among those of its term, or -1."""
        from sublex.retrieval.coding import coding_kernels

        counts, ends = self._segment.df[terms].astype(np.int64), np.empty(len(terms), np.int64)
        numbers, frequencies, kinds, live = (np.empty(len(docs), np.int32) for _ in range(4))
        while True:
            classes = self._classes = self._classes or self._classified()
            coding_kernels.find_pairs(
                counts, docs, tfs, classes.of_document, classes.seen, numbers, frequencies, kinds, live, ends
            )
            n = int(ends[-1]) if len(ends) else 0
            values = self._values(terms, ends, frequencies[:n], kinds[:n], classes.stats, dtype)
            if values is not None:
                return Pairs(ends, values, live[:n]), numbers
            self._classes = None

    def _values(
        self, terms: np.ndarray, ends: np.ndarray, tfs: np.ndarray, kinds: np.ndarray, stats: DocStats, dtype: np.dtype
    ) -> np.ndarray | None:
        """Return the formula's value for each pair.

        Return None if the formula read a statistic in which documents of one class differ, such as the number of distinct terms.
        """
        df, cf = (np.repeat(np.maximum(own[terms], 1), np.diff(ends, prepend=0)) for own in self._term)
        values, asked = np.empty(len(tfs), dtype), set[str]()
        for begin in range(0, len(tfs), PAIRS_PER_CALL):
            part = slice(begin, begin + PAIRS_PER_CALL)
            own = kinds[part]
            norm = None if stats.norm is None else stats.norm[own]
            doc = Watched(stats.length[own], stats.unique[own], norm)
            doc.asked = asked
            with contract("ranker", self._ranker), np.errstate(all="ignore"):
                given = self._formula(
                    tfs[part].astype(np.float64), doc, TermStats(df[part], cf[part]), self._collection
                )
                found = np.asarray(given).astype(dtype)
            if not asked <= self._read:
                self._read |= asked
                return None
            values[part] = checked(found, tfs[part].shape, self._ranker, self._what)
        return values

    def _classified(self) -> Classes:
        """Return the classes of documents that differ in the statistics that the formula reads."""
        from sublex.retrieval.coding import coding_kernels

        lengths, uniques = self._segment.lengths, self._segment.uniques
        if self._norm is not None:
            of_document, examples = np.arange(len(lengths), dtype=np.int32), np.arange(len(lengths))
        elif "unique" in self._read:
            of_document, examples = _numbered(lengths.astype(np.int64) << 32 | uniques)
        else:
            of_document, examples = _numbered(lengths)
        stats = DocStats(
            exact_or_rounded(lengths[examples], self._ranker), uniques[examples].astype(np.float64), self._norm
        )
        if self._dead is not None:
            of_document = np.where(self._dead, np.int32(-1), of_document)
        few = len(stats.length) <= MOST_CLASSES and self._norm is None
        return Classes(
            of_document, stats, np.full(coding_kernels.FREQUENCIES * len(stats.length) if few else 0, -1, np.int32)
        )


def _numbered(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return for each value its place among the distinct values, and for each of these the place of one that equals it."""
    if values.dtype == np.int64 or int(values.max(initial=0)) > LONGEST:
        _, examples, numbers = np.unique(values, return_index=True, return_inverse=True)
        return numbers.astype(np.int32), examples
    examples = np.full(int(values.max(initial=0)) + 1, -1, np.int64)
    examples[values] = np.arange(len(values))
    there = examples >= 0
    return (np.cumsum(there) - 1).astype(np.int32)[values], examples[there]


def exact_or_rounded(lengths: np.ndarray, ranker: Ranker) -> np.ndarray:
    """Return document lengths as float64: exact, or rounded as Lucene stores them if the ranker declares that."""
    rounds = getattr(ranker, "lengths", "exact") == "lucene"
    return (round_lengths(lengths.astype(np.int64)) if rounds else lengths).astype(np.float64)


def checked(values: np.ndarray, shape: tuple[int, ...], ranker: Ranker, what: str) -> np.ndarray:
    """Return the values that a ranker computed. Raise PluginError unless they have this shape and are finite."""
    if values.shape != shape or not np.isfinite(values).all():
        wrong = f"shape {values.shape}" if values.shape != shape else f"a {what} that is not a finite number"
        raise PluginError(f"The ranker {ranker} gave {wrong}; its results are not used.")
    return values
