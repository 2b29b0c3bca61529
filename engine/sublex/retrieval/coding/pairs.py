"""Pairs of a term frequency and a class of documents: a ranker gives all postings of one pair the same score.

Documents of one class have equal statistics. A ranker scores each pair once. A term in 100,000 abstracts has about
1,000 pairs. For a ranker with fields, the frequencies in all its fields take the place of the term frequency, and the
documents of one class have equal lengths in all fields.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from sublex.contracts.base import DocStats, FieldStatistics, Ranker, Statistics, TermStats
from sublex.contracts.scores import real
from sublex.errors import PluginError, contract
from sublex.index.segment import Segment
from sublex.rankers.lucene_lengths import round_lengths
from sublex.retrieval.field_frequencies import fields_of

# If there are more classes than MOST_CLASSES, each posting is a pair of its own. Values such as document lengths are
# numbered by a table with a place for every possible value, if no value is above LONGEST.
MOST_CLASSES, LONGEST = 1 << 16, 1 << 24
# The number of pairs that a ranker scores in one call. With this number, its arrays of float64 fit the processor's cache.
PAIRS_PER_CALL = 1 << 15
# The number of places of a table that gives a number to the frequencies of a posting in several fields.
PLACES = 1 << 12
# A formula of a ranker that is computed for each pair: its `score` or its `norm_part`.
Formula = Callable[[Any, DocStats, TermStats, Any], np.ndarray]


class Pairs(NamedTuple):
    """The pairs of some terms.

    Postings of a term share a pair if their term frequencies are equal and their documents are in the same class. A
    posting with a high term frequency has a pair of its own. `ends` has the place where the pairs of each term end.
    `values` has the value of the ranker's formula for each pair, and `live` has the pair's number of postings.
    """

    ends: np.ndarray
    values: np.ndarray
    live: np.ndarray


class Classes(NamedTuple):
    """The class of each document, -1 for a deleted document; the statistics of each class; scratch space to find pairs."""

    of_document: np.ndarray
    stats: DocStats
    seen: np.ndarray


class PairScores:
    """Computes a formula of a ranker for the postings of a segment, once for each pair.

    Documents are in one class if all statistics that the ranker reads are equal for them. The formula gets NaN for a
    statistic that the ranker's `reads` leaves out. `what` names the formula's values in messages. `norm` has the norm
    of each document; it is None for a ranker without a norm. Deleted documents have no pairs, unless `all_documents`
    is true.
    """

    def __init__(
        self, segment: Segment, ranker: Ranker, formula: Formula, what: str, collection: Statistics | FieldStatistics,
        norm: np.ndarray | None = None, all_documents: bool = False,
    ):  # fmt: skip
        self._segment, self._ranker, self._formula, self._what = segment, ranker, formula, what
        self._fields = fields_of(ranker)
        self._collection, self._norm = collection, norm
        self._dead = None if all_documents or not segment.dead.any() else segment.dead
        self._reads = frozenset(getattr(ranker, "reads", DocStats._fields))
        if wrong := self._reads.difference(DocStats._fields):
            raise PluginError(
                f"The ranker {ranker} says that it reads {min(wrong)}; documents have length, unique and norm."
            )

    def of(
        self, counts: np.ndarray, term: TermStats, docs: np.ndarray, tfs: np.ndarray, dtype: np.dtype
    ) -> tuple[Pairs, np.ndarray]:
        """Return the pairs of some terms, and for each posting the number of its pair within its term.

        The number is -1 for a posting in a deleted document. `counts` has the number of postings of each term, and
        `term` the terms' statistics. `docs` and `tfs` have the document and the term frequency of each posting, one
        term after the other; for a ranker with fields, `tfs` has a row for each field. `dtype` is the type of the
        pairs' values.
        """
        from sublex.retrieval.coding import coding_kernels

        rows, examples = tfs, None
        if self._fields:
            tfs, examples = _numbered_rows(rows)
        ends = np.empty(len(counts), np.int64)
        numbers, frequencies, kinds, live = (np.empty(len(docs), np.int32) for _ in range(4))
        classes = self._classes
        coding_kernels.find_pairs(
            counts.astype(np.int64),
            docs,
            tfs,
            classes.of_document,
            classes.seen,
            numbers,
            frequencies,
            kinds,
            live,
            ends,
        )
        n = int(ends[-1]) if len(ends) else 0
        own = frequencies[:n] if examples is None else rows[:, examples[frequencies[:n]]]
        return Pairs(ends, self._values(term, ends, own, kinds[:n], dtype), live[:n]), numbers

    def _values(
        self, term: TermStats, ends: np.ndarray, tfs: np.ndarray, kinds: np.ndarray, dtype: np.dtype
    ) -> np.ndarray:
        """Return the formula's value for each pair. For a ranker with fields, `tfs` has a row for each field."""
        df, cf = (np.repeat(np.maximum(own, 1), np.diff(ends, prepend=0)) for own in term)
        values = np.empty(len(kinds), dtype)
        for begin in range(0, len(kinds), PAIRS_PER_CALL):
            part = slice(begin, begin + PAIRS_PER_CALL)
            own, stats = kinds[part], self._classes.stats
            length = _places(stats.length, own)
            doc = DocStats(length, stats.unique[own], None if stats.norm is None else stats.norm[own])
            with contract("ranker", self._ranker), np.errstate(all="ignore"):
                stats_of_terms = TermStats(df[part], cf[part])
                given = self._formula(self._given(tfs[..., part]), doc, stats_of_terms, self._collection)
                found = real(given).astype(dtype)
            hidden = [name for name in DocStats._fields if name not in self._reads]
            values[part] = checked(found, own.shape, self._ranker, self._what, hidden)
        return values

    def _given(self, tfs: np.ndarray) -> Any:
        """Return frequencies as the ranker gets them: an array, or a mapping from its fields to arrays."""
        given = tfs.astype(np.float64)
        return dict(zip(self._fields, given, strict=True)) if self._fields else given

    @cached_property
    def _classes(self) -> Classes:
        """The classes of documents. Documents of different classes differ in a statistic that the ranker reads."""
        from sublex.retrieval.coding import coding_kernels

        lengths, uniques = self._segment.lengths, self._segment.uniques
        by_norm = self._norm is not None and "norm" in self._reads
        if by_norm:
            of_document, examples = np.arange(len(lengths), dtype=np.int32), np.arange(len(lengths))
        else:
            read = {"length": self._lengths.values(), "unique": (uniques,)}
            of_document, examples = _numbered_together(
                [own for name in read if name in self._reads for own in read[name]], len(lengths)
            )
        known = {
            "length": {field: exact_or_rounded(own[examples], self._ranker) for field, own in self._lengths.items()},
            "unique": {"": uniques[examples].astype(np.float64)},
        }
        for name in known.keys() - self._reads:
            known[name] = {field: np.full(len(examples), np.nan) for field in known[name]}
        stats = DocStats(known["length"] if self._fields else known["length"][""], known["unique"][""])
        if self._norm is not None:
            stats = stats._replace(norm=self._norm if by_norm else np.full(len(examples), np.nan))
        if self._dead is not None:
            of_document = np.where(self._dead, np.int32(-1), of_document)
        few = len(examples) <= MOST_CLASSES and not by_norm
        return Classes(
            of_document, stats, np.full(coding_kernels.FREQUENCIES * len(examples) if few else 0, -1, np.int32)
        )

    @cached_property
    def _lengths(self) -> Mapping[str, np.ndarray]:
        """The lengths of documents in each field of the ranker, by name. A ranker without fields has one entry, named ""."""
        segment = self._segment
        return {field: segment.field_lengths(field) for field in self._fields} or {"": segment.lengths}


def _places(length: Any, places: np.ndarray) -> Any:
    """Return the document lengths at some places. `length` is one array, or a mapping from fields to arrays."""
    if isinstance(length, Mapping):
        return {field: own[places] for field, own in length.items()}
    return length[places]


def _numbered_rows(tfs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Number the distinct columns of `tfs`.

    Return the number of each column, and the place of one column for each number. The number that most columns have is
    0. Columns with the same number are equal. Equal columns may have different numbers if a frequency in them is
    large.
    """
    from sublex.retrieval.coding import coding_kernels

    radix = int(PLACES ** (1 / len(tfs)) + 1e-9)
    numbers, examples = np.empty((2, tfs.shape[1]), np.int32)
    seen = np.full(radix ** len(tfs), -1, np.int32)
    n = coding_kernels.number_rows(np.ascontiguousarray(tfs, np.int32), radix, seen, numbers, examples)
    order = np.argsort(-np.bincount(numbers, minlength=n), kind="stable")
    place = np.empty(n, np.int32)
    place[order] = np.arange(n, dtype=np.int32)
    return place[numbers], examples[:n][order]


def _numbered_together(columns: Sequence[np.ndarray], rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Number the distinct rows of a table, given as columns.

    Return the number of each row, and one row for each number.
    """
    if not columns:
        return np.zeros(rows, np.int32), np.zeros(min(rows, 1), np.int64)
    numbers, examples = _numbered(columns[0])
    for column in columns[1:]:
        own, distinct = _numbered(column)
        together = numbers.astype(np.int64) * len(distinct) + own
        small = len(examples) * len(distinct) <= LONGEST
        numbers, examples = _numbered(together.astype(np.int32) if small else together)
    return numbers, examples


def _numbered(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Number the distinct values. Return the number of each item, and the place of one item for each number."""
    if values.dtype == np.int64 or int(values.max(initial=0)) > LONGEST:
        _, examples, numbers = np.unique(values, return_index=True, return_inverse=True)
        return numbers.astype(np.int32), examples
    examples = np.full(int(values.max(initial=0)) + 1, -1, np.int64)
    examples[values] = np.arange(len(values))
    there = examples >= 0
    return (np.cumsum(there) - 1).astype(np.int32)[values], examples[there]


def exact_or_rounded(lengths: np.ndarray, ranker: Ranker) -> np.ndarray:
    """Return document lengths as float64.

    The lengths are rounded as Lucene stores them if the ranker's `lengths` is "lucene"; otherwise they are exact.
    """
    rounds = getattr(ranker, "lengths", "exact") == "lucene"
    return (round_lengths(lengths.astype(np.int64)) if rounds else lengths).astype(np.float64)


def checked(
    values: np.ndarray, shape: tuple[int, ...], ranker: Ranker, what: str, hidden: Sequence[str] = ()
) -> np.ndarray:
    """Return the values that a ranker computed. Raise PluginError unless they have the shape `shape` and are finite.

    `what` names the values in the message. `hidden` names the statistics of documents that the ranker did not get,
    because its `reads` leaves them out.
    """
    if values.shape != shape or not np.isfinite(values).all():
        wrong = f"shape {values.shape}" if values.shape != shape else f"a {what} that is not a finite number"
        missing = f" Its reads leaves out {' and '.join(hidden)}, which it gets as NaN." if hidden else ""
        raise PluginError(f"The ranker {ranker} gave {wrong}; its results are not used.{missing}")
    return values
