"""Retrieval: the exact best k documents for weighted queries under a ranker, over all segments of an index."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np

from sublex.base import Ranker, TermStats
from sublex.errors import IndexProblem, InputError, contract
from sublex.index import derived
from sublex.index.segment import Segment
from sublex.index.snapshot import Snapshot
from sublex.retrieval import impact_store, kernels
from sublex.retrieval.hits import Hits
from sublex.retrieval.impacts import Impacts, sound
from sublex.retrieval.term_table import TermTable
from sublex.workers import Workers

# Queries go to the kernel in groups; their results hold at most so many keys.
GROUP, KEYS = 256, 1 << 20
# A query's terms with how often (or how strongly) each is asked for; a plain sequence counts its repetitions.
Weighted = Mapping[str, float] | Iterable[str]


class Searcher:
    """Ranks the documents of one generation of an index by one ranker.

    Its stored impacts are kept under `name` and `code`, which says what version of whose code the ranker is.
    """

    def __init__(
        self, index: Snapshot, ranker: Ranker, name: str = "", term_table: TermTable | None = None, code: str = ""
    ):
        self.index, self.ranker, self.name, self.code = index, ranker, name, code
        self.term_table = term_table or TermTable(index)
        self._generation = index.generation
        self._scratch = threading.local()

    @cached_property
    def impacts(self) -> list[Impacts]:
        """The postings of each segment with impacts."""
        made = []
        for k, segment in enumerate(self.index.segments):
            documents, impacts = (derived.read(path) if self.name else None for path in self._folders(segment))
            kept = (documents, impacts) if documents and impacts else None
            made.append(Impacts(segment, self.ranker, self.term_table.of_segment(k), self.index.statistics, kept))
        return made

    def _folders(self, segment: Segment) -> tuple[Path, Path]:
        return impact_store.documents_folder(self.index, segment), self.folder / segment.name

    @property
    def folder(self) -> Path:
        """Where its impacts are kept, if they are."""
        return impact_store.impacts_folder(self.index, self.name, self.code)

    def store(self) -> None:
        """Keep the impacts on disk, for this generation of the index."""
        for segment, impacts in zip(self.index.segments, self.impacts, strict=True):
            impacts.write(*self._folders(segment))

    @cached_property
    def _weighs(self) -> bool:
        """Whether the ranker weights a query's terms otherwise than they are asked for; if not, it hands back what it was given."""
        asked, some = np.array([1.0, 2.0]), np.ones(2)
        with contract("ranker", self.ranker), np.errstate(all="ignore"):
            return self.ranker.weight(asked, TermStats(some, some), self.index.statistics) is not asked

    def search(self, query: Weighted, k: int = 10) -> Hits:
        """The best k documents for one query."""
        self._ready()
        docs, scores, counts = self._group([query], self._most(k))
        return Hits(self.index, docs[0, : counts[0]], scores[0, : counts[0]])

    def batch(self, queries: Sequence[Weighted], k: int = 1000, workers: int = 1) -> Iterator[Hits]:
        """The same for many, in their order."""
        k = self._most(k)
        size = max(1, min(GROUP, KEYS // k))
        groups = [queries[begin : begin + size] for begin in range(0, len(queries), size)]
        self._ready()
        with Workers(min(workers, len(groups))) as pool:
            for docs, scores, counts in pool.map(lambda group: self._group(group, k), groups):
                for q, n in enumerate(counts.tolist()):
                    yield Hits(self.index, docs[q, :n], scores[q, :n])

    def _ready(self) -> None:
        """Have what threads share, and see that the index is still the one that it was made of."""
        if self.index.generation != self._generation:
            raise IndexProblem(f"{self.index.path} has changed since this searcher was made; ask for a new one.")
        _ = self.impacts, self.term_table.df, self.term_table.ordinals, self.index.docno_ranks

    def _most(self, k: int) -> int:
        """At most so many documents can be found."""
        if k < 1:
            raise InputError(f"k={k} should be at least 1.")
        return max(1, min(k, len(self.index.docs_by_docno)))

    def _group(self, queries: Sequence[Weighted], k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Documents and scores, a row a query, best first, and how many each row has."""
        ends, terms, weights = self._weighted(queries)
        thresholds = np.full(len(queries), kernels.LOWEST)
        found = []
        for segment, ordinals in zip(range(len(self.index.segments)), self.term_table.ordinals, strict=True):
            found.append(self._retrieve(segment, *_of_segment(ordinals, ends, terms, weights), thresholds, k))
        keys = found[0] if len(found) == 1 else np.concatenate(found, axis=1)
        keys.sort(axis=1)
        shape = len(queries), k
        docs, scores, counts = np.empty(shape, np.int32), np.empty(shape, np.float32), np.empty(len(queries), np.int64)
        kernels.unpack(keys, self.index.docs_by_docno, docs, scores, counts)
        return docs, scores, counts

    def _retrieve(
        self, segment: int, ends: np.ndarray, terms: np.ndarray, weights: np.ndarray, thresholds: np.ndarray, k: int
    ) -> np.ndarray:
        impacts = self.impacts[segment]
        impacts.need(terms)
        found = np.empty((len(ends), k), np.uint64)
        base, end = self.index.bases[segment : segment + 2]
        sums, noted, candidates, keys = self._buffers(k)
        kernels.retrieve(
            impacts.docs, impacts.impacts, impacts.starts, impacts.least, impacts.most, impacts.best(k), self.index.docno_ranks[base:end],
            ends, terms, weights, thresholds, sums, noted, candidates, keys, found,
        )  # fmt: skip
        return found

    def _buffers(self, k: int) -> tuple[np.ndarray, ...]:
        """The thread's own scratch for the kernel, which leaves it as it was."""
        mine = self._scratch
        if not hasattr(mine, "sums"):
            mine.sums = np.zeros(kernels.WINDOW)
            mine.noted = np.zeros(kernels.WINDOW, np.uint8)
            mine.candidates = np.empty(kernels.WINDOW, np.int32)
        if getattr(mine, "k", 0) != k:
            mine.k, mine.keys = k, np.empty(max(2 * k, k + 256), np.uint64)
        return mine.sums, mine.noted, mine.candidates, mine.keys

    def scores(self, queries: Sequence[Weighted], docs: Sequence[np.ndarray]) -> list[np.ndarray]:
        """The scores of each query's documents, as retrieval gives them; -inf for those that hold none of its terms."""
        self._ready()
        ends, terms, weights = self._weighted(queries)
        sizes = np.array([len(own) for own in docs], np.int64)
        flat = np.concatenate([np.empty(0, np.int32), *docs]).astype(np.int64)
        order = np.lexsort((flat, np.repeat(np.arange(len(sizes)), sizes)))
        sums = np.empty(len(flat))
        for segment, (impacts, own) in enumerate(zip(self.impacts, self.term_table.ordinals, strict=True)):
            base, end = self.index.bases[segment : segment + 2]
            own_ends, own_terms, own_weights = _of_segment(own, ends, terms, weights)
            impacts.need(own_terms)
            inside = order[(flat[order] >= base) & (flat[order] < end)]
            wanted_ends = np.cumsum(np.bincount(np.repeat(np.arange(len(sizes)), sizes)[inside], minlength=len(sizes)))
            found = np.empty(len(inside))
            wanted = (flat[inside] - base).astype(np.int32)
            kernels.rescore(
                impacts.docs, impacts.impacts, impacts.starts, own_ends, own_terms, own_weights, wanted_ends, wanted, found
            )  # fmt: skip
            sums[inside] = found
        return np.split(sums.astype(np.float32), np.cumsum(sizes)[:-1])

    def terms(self, query: Mapping[str, float]) -> list[tuple[str, int, float]]:
        """The terms of a query that are known, with their numbers and weights, in the order in which they are added up."""
        known = self._known(query, iter(self.term_table.numbers(list(query))))
        names = self.term_table.names(np.array([n for _, n, _ in known], np.int64))
        numbers = (n for _, n, _ in known)
        return list(zip(names, numbers, self._weights(known), strict=True))

    def _weighted(self, queries: Sequence[Weighted]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Ends, term numbers and weights of the queries."""
        counted = [query if isinstance(query, dict) else _counts(query) for query in queries]
        numbers = iter(self.term_table.numbers([term for query in counted for term in query]))
        ends: list[int] = []
        terms: list[int] = []
        weights: list[float] = []
        for query in counted:
            known = self._known(query, numbers)
            terms += [n for _, n, _ in known]
            weights += self._weights(known)
            ends.append(len(terms))
        return np.array(ends, np.int64), np.array(terms, np.int64), np.array(weights, np.float64)

    def _known(self, query: Mapping[str, float], numbers: Iterator[int]) -> list[tuple[float, int, float]]:
        """A query's terms as (df, number, qtf), the rarest first: this order fixes the sums."""
        df = self.term_table.df
        return sorted([(df[n], n, qtf) for qtf, n in zip(query.values(), numbers, strict=False) if n >= 0 and qtf])

    def _weights(self, known: list[tuple[float, int, float]]) -> list[float]:
        """What the impacts of these terms are multiplied by."""
        asked = [qtf for *_, qtf in known]
        if not self._weighs:
            return asked
        stats = TermStats(*(values[[n for _, n, _ in known]] for values in self.term_table.stats))
        with contract("ranker", self.ranker), np.errstate(all="ignore"):
            found = np.asarray(
                self.ranker.weight(np.array(asked, np.float64), stats, self.index.statistics), np.float64
            )
        return sound(found, (len(asked),), self.ranker, "weight").tolist()


def _counts(query: Weighted) -> Mapping[str, float]:
    """Each term once, with how often it is asked for."""
    if isinstance(query, Mapping):
        return query
    if isinstance(query, str):
        raise InputError(
            "A searcher takes terms or a mapping from terms to weights, not a text; index.analyze makes terms."
        )
    counts: dict[str, float] = {}
    for term in query:
        counts[term] = counts.get(term, 0.0) + 1.0
    return counts


def _of_segment(
    ordinals: np.ndarray | None, ends: np.ndarray, terms: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Queries as a segment has their terms; those it lacks are left out."""
    if ordinals is None:
        return ends, terms, weights
    own = ordinals[terms]
    there = own >= 0
    return np.concatenate(([0], np.cumsum(there)))[ends], own[there], weights[there]
