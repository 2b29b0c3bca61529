"""The searcher: finds the best k documents of a snapshot for weighted query terms by one ranker.

The result is exact.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from sublex.contracts.base import LARGEST_SCORE, Ranker, TermStats
from sublex.contracts.operators import Operator
from sublex.contracts.scores import SURE_WEIGHT, TOO_LARGE, expect_no_loss, expect_weights, real
from sublex.errors import InputError, contract
from sublex.index import derived
from sublex.index.directory import Directory
from sublex.index.segment import Segment
from sublex.index.snapshot import Snapshot
from sublex.retrieval import impact_store
from sublex.retrieval.arena import Arena, SlotArrays, Slots
from sublex.retrieval.coding.pairs import checked
from sublex.retrieval.field_frequencies import field_postings, fields_of, statistics_for
from sublex.retrieval.hits import Hits
from sublex.retrieval.impacts import Impacts
from sublex.retrieval.operators import OperatorCache
from sublex.retrieval.scratch import Scratch
from sublex.retrieval.shares import TURNS, Ask, best_of_parts
from sublex.retrieval.term_table import TermTable
from sublex.tools.copies import Uncopied
from sublex.tools.workers import Workers

# The largest number of queries in one call of the kernel, and of keys of results.
GROUP, KEYS = 256, 1 << 20
# The kernel's `choices`: HITS, ADDED, BLOCKS and DOCUMENTS, which `retrieval_kernels` describes. With these values the
# kernel was fastest in measurements on abstracts (100,000 to 3,000,000), sentences and paragraphs.
CHOICES = np.array([400, 16, 128, 20])
# `retrieve` gets this as `passing` if there is no filter, so that all documents pass.
ALL = np.empty(0, np.uint8)
# To guess a threshold, a search under a filter looks at a depth: SPARE times the depth at which k documents pass, if
# documents pass at random.
SPARE = 1.2
# The most operators of one query.
OPERATORS_OF_A_QUERY = 1 << 12
# A query: a mapping from terms to weights, or a sequence of terms, where a term's weight is the number of its
# repetitions. The terms of a term space are numbers.
Terms = Mapping[str, float] | Mapping[int, float] | Iterable[str]


class WeightedTerms(NamedTuple):
    """The terms of some queries: the place where each query ends, the numbers of the terms, and their weights.

    `total` is the sum of the absolute weights, and `least` the smallest absolute weight. If there are operators among the
    terms, `slots` has slots for all terms, and the numbers are the numbers of slots.
    """

    ends: np.ndarray
    terms: np.ndarray
    weights: np.ndarray
    total: float
    least: float
    slots: Slots | None

    def of_segment(self, ordinals: np.ndarray | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the queries for one segment: the place where each query ends, ordinals of the terms, and weights.

        Terms that the segment lacks are left out. Without `ordinals`, the terms are returned unchanged.
        """
        if ordinals is None:
            return self.ends, self.terms, self.weights
        own = ordinals[self.terms]
        there = own >= 0
        return np.concatenate(([0], np.cumsum(there)))[self.ends], own[there], self.weights[there]


class Among(NamedTuple):
    """The documents that pass a filter. A query finds the best of them.

    `answers` has 2 for each document of the snapshot that passes, and a smaller number for the others. `number` is an upper
    limit of the number of documents that pass. If only a few documents pass, `few` has their numbers, ascending, and the
    query's terms are looked up for each of them; otherwise `few` is None.
    """

    answers: np.ndarray
    number: int
    few: np.ndarray | None

    def depth(self, k: int) -> int:
        """Return a depth of the ranking of all documents at which k documents pass, if documents pass at random."""
        return int(SPARE * k * len(self.answers) / max(1, self.number)) + k


class Searcher(Uncopied):
    """Ranks the documents of one snapshot by one ranker. Several threads may use a searcher at once.

    Raise InputError if the index lacks a field of the ranker.

    `name` is the ranker's printed form. `code` names the package that contains the ranker, with its version.
    `name` and `code` identify the ranker's stored impacts. Without a name, no stored impacts are used.
    """

    def __init__(
        self, snapshot: Snapshot, ranker: Ranker, name: str = "", term_table: TermTable | None = None, code: str = ""
    ):
        self.snapshot, self.ranker, self.name, self.code = snapshot, ranker, name, code
        self.term_table = term_table or TermTable(snapshot)
        # The statistics of the collection that the ranker gets.
        self.collection = statistics_for(ranker, snapshot)
        # Whether the ranker is an object that the user gave, so that its name cannot make it again.
        self.given = False
        self.origin: tuple[Any, ...]

    def __reduce__(self) -> tuple[Any, ...]:
        return self.origin

    @cached_property
    def impacts(self) -> list[Impacts]:
        """The impacts of each segment's postings, read from disk or computed when they are needed."""
        impacts = []
        for k, segment in enumerate(self.snapshot.segments):
            folders = [derived.read(path) if self.name else None for path in self._folders(segment)]
            stored = (folders[0], folders[1]) if folders[0] and folders[1] else None
            impacts.append(Impacts(segment, self.ranker, self.term_table.of_segment(k), self.collection, stored))
        return impacts

    def _folders(self, segment: Segment) -> tuple[Directory, Directory]:
        return impact_store.documents_folder(self.snapshot, segment), self.folder / segment.name

    @property
    def folder(self) -> Directory:
        """The folder for this ranker's stored impacts. It need not exist."""
        return impact_store.impacts_folder(self.snapshot, self.name, self.code)

    def store(self) -> None:
        """Compute the impacts of all postings and write them to disk, unless they are on disk already."""
        for segment, impacts in zip(self.snapshot.segments, self.impacts, strict=True):
            impacts.write(*self._folders(segment))

    @cached_property
    def _weighs(self) -> bool:
        """Whether the ranker defines `weight` itself. The inherited `weight` returns the query term frequencies unchanged."""
        with contract("ranker", self.ranker):
            return getattr(self.ranker.weight, "__func__", None) is not Ranker.weight

    def search(self, query: Terms, k: int = 10, among: Among | None = None) -> Hits:
        """Return the best k documents for one query. With `among`, return only documents that pass a filter."""
        self._prepare()
        docs, scores, counts = self._group([query], self._at_most(k), among)
        return Hits(self.snapshot, docs[0, : counts[0]], scores[0, : counts[0]])

    def batch(self, queries: Sequence[Terms], k: int = 1000, workers: int = 1) -> Iterator[Hits]:
        """Yield the best k documents for each query, in the order of the queries."""
        k = self._at_most(k)
        size = max(1, min(GROUP, KEYS // k))
        groups = [queries[begin : begin + size] for begin in range(0, len(queries), size)]
        self._prepare()
        with Workers(min(workers, len(groups))) as pool:
            for docs, scores, counts in pool.map(lambda group: self._group(group, k), groups):
                for q, n in enumerate(counts.tolist()):
                    yield Hits(self.snapshot, docs[q, :n], scores[q, :n])

    @cached_property
    def _kernels(self) -> tuple[ModuleType, ModuleType, ModuleType]:
        # These modules import Numba, which takes long, so they are imported at the first search.
        from sublex.retrieval import key_kernels, rescoring_kernels, retrieval_kernels

        return retrieval_kernels, key_kernels, rescoring_kernels

    def _prepare(self) -> None:
        """Compute the arrays that threads share, before the threads start."""
        _ = self._docno_ranks, self.term_table.df
        if not self._by_shards:
            _ = self.impacts, self.scratch, self.term_table.ordinals

    @cached_property
    def _by_shards(self) -> bool:
        """Whether processes of shards find documents for this ranker. They know rankers by their names alone.

        A ranker with norms needs the statistics of all terms, and one with fields those of fields; this process has them.
        """
        if self.snapshot.launched is None or type(self) is not Searcher or self.given or not self.name:
            return False
        return getattr(self.ranker, "norm_part", None) is None and not fields_of(self.ranker)

    def _keys_of_shards(self, asked: WeightedTerms, k: int) -> np.ndarray | None:
        """Return a row of keys for each query, from the processes of the shards; None if this process must search itself."""
        if asked.slots:
            return None
        return self.snapshot.launched.keys(self, asked.ends, asked.terms, asked.weights, k, asked.total)

    def _at_most(self, k: int) -> int:
        """Return k or the number of documents, whichever is smaller."""
        if k < 1:
            raise InputError(f"k={k} should be at least 1.")
        return max(1, min(k, len(self.snapshot.docs_by_docno)))

    def _group(
        self, queries: Sequence[Terms], k: int, among: Among | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return documents and scores, best first, with a row for each query, and the number of hits in each row."""
        asked = self._weighted(queries)
        if asked is None:
            half = len(queries) // 2
            parts = self._group(queries[:half], k), self._group(queries[half:], k)
            docs, scores, counts = (np.concatenate(both) for both in zip(*parts, strict=True))
            return docs, scores, counts
        thresholds, found = np.empty(len(queries)), []
        kernels, key_kernels, _ = self._kernels
        # This takes a quarter of the time of np.full.
        thresholds.fill(kernels.LOWEST)
        keys = self._keys_of_shards(asked, k) if self._by_shards and not among else None
        if keys is None:
            segments = list(self._in_segments(asked))
            if len(segments) > 1 and k >= TURNS and not among:
                keys = self._by_shares(segments, k)
            else:
                for segment, queried in enumerate(segments):
                    found.append(self._retrieve(segment, *queried, thresholds, k, among))
                keys = found[0] if len(found) == 1 else np.concatenate(found, axis=1)
            self._expect_finite(asked)
        keys.sort(axis=1)
        shape = len(queries), k
        docs, scores, counts = np.empty(shape, np.int32), np.empty(shape, np.float32), np.empty(len(queries), np.int64)
        key_kernels.unpack(keys, self.snapshot.docs_by_docno, docs, scores, counts)
        if asked.least < SURE_WEIGHT:
            for row, number, own in zip(scores, counts.tolist(), np.split(asked.weights, asked.ends[:-1]), strict=True):
                expect_no_loss(row[:number], own.tolist())
        return docs, scores, counts

    def _by_shares(
        self, segments: Sequence[tuple[Impacts | SlotArrays, np.ndarray, np.ndarray, np.ndarray]], k: int
    ) -> np.ndarray:
        """Return a row of keys for each query. Each segment is asked for its share of k first, as `shares` describes."""
        for arrays, _, terms, _ in segments:
            arrays.settle(terms)

        def answer(asks: Sequence[Ask]) -> list[np.ndarray]:
            found = []
            for part, own_k, places, given in asks:
                arrays, ends, terms, weights = segments[part]
                if places is not None:
                    ends, terms, weights = some_queries(places, ends, terms, weights)
                kth, ranks = arrays.bounds.best(own_k), self._docno_ranks[part]
                found.append(best_keys(arrays, ranks, ends, terms, weights, given.copy(), own_k, self.scratch, kth))
            return found

        best = best_of_parts(answer, np.diff(self.snapshot.bases).tolist(), k, len(segments[0][1]))
        assert best is not None
        return best[0]

    def _in_segments(
        self, asked: WeightedTerms
    ) -> Iterator[tuple[Impacts | SlotArrays, np.ndarray, np.ndarray, np.ndarray]]:
        """Yield the arrays of each segment, and the three results of `WeightedTerms.of_segment` for the segment.

        The terms are the places in these arrays.
        """
        if asked.slots:
            for arrays in asked.slots.segments:
                yield arrays, *asked.of_segment(None)
        else:
            for impacts, ordinals in zip(self.impacts, self.term_table.ordinals, strict=True):
                yield impacts, *asked.of_segment(ordinals)

    @cached_property
    def _arena(self) -> Arena:
        return Arena(self.impacts, self.term_table)

    def _expect_finite(self, asked: WeightedTerms) -> None:
        """Raise InputError if a sum of impacts times weights may be too large for float32.

        The largest of all impacts is tried first. If it does not prove that all sums are small enough, the bound of each query
        is computed: the sum of each term's weight times the largest impact of the term.
        """
        arrays_of_segments = asked.slots.segments if asked.slots else self.impacts
        if asked.total * max([arrays.largest for arrays in arrays_of_segments]) <= LARGEST_SCORE:
            return
        for arrays, ends, own, factors in self._in_segments(asked):
            arrays.compute(own)
            least, most = arrays.bounds.least, arrays.bounds.most
            sizes = np.maximum(np.abs(least[own]), np.abs(most[own])).astype(np.float64)
            sizes[least[own] > most[own]] = 0
            if any(part.sum() > LARGEST_SCORE for part in np.split(np.abs(factors) * sizes, ends[:-1])):
                raise InputError(TOO_LARGE)

    def _retrieve(
        self, segment: int, arrays: Impacts | SlotArrays, ends: np.ndarray, terms: np.ndarray, weights: np.ndarray,
        thresholds: np.ndarray, k: int, among: Among | None,
    ) -> np.ndarray:  # fmt: skip
        """Return a row for each query: the keys of the best k documents of a segment, unsorted, then zeros."""
        arrays.settle(terms)
        passing, bounds = ALL, arrays.bounds
        if among:
            passing = among.answers[slice(*self.snapshot.bases[segment : segment + 2])]
            if among.few is not None:
                return self._of_few(segment, arrays, terms, weights, k, passing, among.few)
        kth = bounds.near(among.depth(k)) if among else bounds.best(k)
        return best_keys(
            arrays, self._docno_ranks[segment], ends, terms, weights, thresholds, k, self.scratch, kth, passing
        )

    def _of_few(
        self, segment: int, arrays: Impacts | SlotArrays, terms: np.ndarray, weights: np.ndarray, k: int,
        passing: np.ndarray, few: np.ndarray,
    ) -> np.ndarray:  # fmt: skip
        """Return the best of a few documents for one query. The documents are looked up in the posting lists."""
        wanted = few
        if len(self.impacts) > 1:
            begin, end = np.searchsorted(few, self.snapshot.bases[segment : segment + 2])
            wanted = few[begin:end] - np.int32(self.snapshot.bases[segment])
        found = np.empty((1, k), np.uint64)
        sums, keys = np.empty(len(wanted) + 1), np.empty(len(wanted) + 1, np.uint64)
        bits, ranks, _, row_of = arrays.block_arrays
        self._kernels[2].best_of(
            *arrays.postings.arrays, self._docno_ranks[segment], bits, ranks, row_of, passing, terms, weights, wanted, sums,
            keys, found,
        )  # fmt: skip
        return found

    @cached_property
    def _docno_ranks(self) -> list[np.ndarray]:
        """The ranks of the docnos of each segment's documents."""
        bases = self.snapshot.bases
        return [self.snapshot.docno_ranks[base:end] for base, end in zip(bases, bases[1:], strict=False)]

    @cached_property
    def scratch(self) -> Scratch:
        """The scratch space of the kernels."""
        # `Scratch` is made at the first search, because its module imports Numba.
        return Scratch()

    def scores(self, query: Terms, docs: np.ndarray) -> np.ndarray:
        """Return the scores that retrieval gives to documents for a query; -inf for a document without a query term."""
        from sublex.retrieval.rescoring_kernels import rescore

        self._prepare()
        asked = self._weighted([query])
        assert asked
        order, sums = np.argsort(docs), np.empty(len(docs))
        for segment, (arrays, ends, terms, weights) in enumerate(self._in_segments(asked)):
            base, end = self.snapshot.bases[segment : segment + 2]
            arrays.compute(terms)
            inside = order[(docs[order] >= base) & (docs[order] < end)]
            found, wanted = np.empty(len(inside)), (docs[inside] - base).astype(np.int32)
            rescore(*arrays.postings.arrays, ends, terms, weights, np.array([len(inside)]), wanted, found)
            sums[inside] = found
        self._expect_finite(asked)
        if asked.least < SURE_WEIGHT:
            expect_no_loss(sums, asked.weights.tolist())
        return sums.astype(np.float32)

    def terms(self, query: Mapping[str, float]) -> list[tuple[str, TermStats, float]]:
        """Return each query term in the index, its statistics and its weight, in the order in which impacts are added up."""
        numbers, operators = self.term_table.find(query) or ([], None)
        names = {number: name for number, name in zip(numbers, query, strict=True) if number >= 0}
        known = self._known(query, numbers, operators)
        stats = self._stats(known, operators)
        each, weights = map(TermStats, stats.df, stats.cf), self._weights(known, operators)
        return [(names[n], own, weight) for (_, n, _), own, weight in zip(known, each, weights, strict=True)]

    def frequency(self, term: str, doc: int, tf: int) -> Any:
        """Return the frequency of a term in a document, as the ranker's `explain` gets it. The document holds the term.

        It is `tf`, the frequency in the whole document. For a ranker with fields, it is a mapping from fields to frequencies.
        """
        fields = fields_of(self.ranker)
        if not fields:
            return tf
        segment, local = self.snapshot.place(doc)
        k = self.snapshot.segments.index(segment)
        docs, tfs = field_postings(self.term_table, k, fields, term)
        return dict(zip(fields, tfs[:, np.searchsorted(docs, local)].tolist(), strict=True))

    def _weighted(self, queries: Sequence[Terms]) -> WeightedTerms | None:
        """Return the terms of all queries. Raise InputError for a weight that is too large or too small for float32.

        Return None if the operators or terms of several queries have too many postings to be kept together.
        """
        counted = [query if isinstance(query, dict) else _counts(query) for query in queries]
        terms = [term for query in counted for term in query]
        if len(terms) > OPERATORS_OF_A_QUERY:
            _expect_few_operators(counted)
        found = self.term_table.find(terms, len(queries) == 1)
        if found is None:
            return None
        numbers, operators = found
        known: list[tuple[float, int, float]] = []
        ends: list[int] = []
        weights: list[float] = []
        begin = 0
        for query in counted:
            own = self._known(query, numbers[begin : begin + len(query)], operators)
            begin += len(query)
            known += own
            ends.append(len(known))
            if self._weighs:
                weights += self._weights(own, operators)
        weights = weights or [qtf for *_, qtf in known]
        sizes = [*map(abs, weights)]
        total, least = sum(sizes), min(sizes, default=1.0)
        if not (total <= LARGEST_SCORE and least >= SURE_WEIGHT):
            expect_weights(weights)
        own_numbers, slots = np.array([n for _, n, _ in known], np.int64), None
        if operators:
            given = self._arena.slots(own_numbers, operators, len(queries) == 1)
            if given is None:
                return None
            slots, own_numbers = given
        return WeightedTerms(np.array(ends, np.int64), own_numbers, np.array(weights, np.float64), total, least, slots)

    def _known(
        self, query: Mapping[str, float], numbers: list[int], operators: OperatorCache | None
    ) -> list[tuple[float, int, float]]:
        """Return (df, number, qtf) of each query term in the index, rarest first. Terms of equal df are in the order of their bytes.

        Impacts are added up in this order. The order decides how sums are rounded.
        """
        df = self.term_table.df
        if operators is None:
            # Words are numbered in the order of their bytes.
            return sorted([(df[n], n, qtf) for n, qtf in zip(numbers, query.values(), strict=True) if n >= 0 and qtf])
        words = self.term_table.words
        found = [
            (df[n] if n < words else operators.df_of(n), str.__str__(term), n, qtf)
            for (term, qtf), n in zip(query.items(), numbers, strict=True)
            if n >= 0 and qtf
        ]
        if len(found) > 1:
            found.sort()
        return [(df, n, qtf) for df, _, n, qtf in found]

    def _stats(self, known: list[tuple[float, int, float]], operators: OperatorCache | None) -> TermStats:
        """Return the statistics of the terms of `known`."""
        numbers = np.array([n for _, n, _ in known], np.int64)
        return self.term_table.stats_of(numbers, (operators,) if operators else ())

    def _weights(self, known: list[tuple[float, int, float]], operators: OperatorCache | None) -> list[float]:
        """Return for each term of `known` the factor by which the term's impacts are multiplied."""
        asked = [qtf for *_, qtf in known]
        if not self._weighs:
            return asked
        stats = self._stats(known, operators)
        with contract("ranker", self.ranker), np.errstate(all="ignore"):
            given = self.ranker.weight(np.array(asked, np.float64), stats, self.collection)
            weights = real(given).astype(np.float64)
        return checked(weights, (len(asked),), self.ranker, "weight").tolist()


def best_keys(
    arrays: Impacts | SlotArrays, docno_ranks: np.ndarray, ends: np.ndarray, terms: np.ndarray, weights: np.ndarray,
    thresholds: np.ndarray, k: int, scratch: Scratch, kth: np.ndarray, passing: np.ndarray = ALL,
) -> np.ndarray:  # fmt: skip
    """Return a row for each query: the keys of the best k documents of a segment, unsorted, then zeros.

    The impacts of the terms must be settled. `docno_ranks` has the rank of each document's docno. `kth` has for each term an
    impact that k of its postings reach. `thresholds` has for each query a score that k documents of all segments reach; it
    rises to the score of the k-th best document. Only documents that pass `passing` are found.
    """
    from sublex.retrieval import retrieval_kernels

    found, bounds = np.empty((len(ends), k), np.uint64), arrays.bounds
    retrieval_kernels.retrieve(
        *arrays.postings.arrays, docno_ranks, bounds.least, bounds.most, passing, kth, *arrays.block_arrays,
        ends, terms, weights, thresholds, CHOICES, *scratch.arrays(len(terms), k), found,
    )  # fmt: skip
    return found


def some_queries(
    places: np.ndarray, ends: np.ndarray, terms: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the queries at some places: the place where each query ends, its terms and its weights."""
    begins = np.concatenate(([0], ends))[places]
    counts = ends[places] - begins
    own_ends = np.cumsum(counts)
    inside = np.repeat(begins - (own_ends - counts), counts) + np.arange(int(counts.sum()))
    return own_ends, terms[inside], weights[inside]


def _counts(query: Terms) -> Mapping[Any, float]:
    """Return the weight of each distinct term of a query."""
    if isinstance(query, Mapping):
        return query
    if isinstance(query, str):
        raise InputError(
            "A searcher takes terms or a mapping from terms to weights, not a text; index.analyze makes terms."
        )
    terms = list(query)
    counts = dict.fromkeys(terms, 1.0)
    # Most queries repeat no term.
    return counts if len(counts) == len(terms) else {term: float(n) for term, n in Counter(terms).items()}


def _expect_few_operators(queries: Sequence[Mapping[str, float]]) -> None:
    """Raise InputError if a query has too many operators."""
    for query in queries:
        number = sum(isinstance(term, Operator) for term in query)
        if number > OPERATORS_OF_A_QUERY:
            raise InputError(
                f"A query has {number:,} operators, such as phrases; the most are {OPERATORS_OF_A_QUERY:,}."
            )
