"""The finder stage: a Python function finds documents for a query, and scores them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cached_property, partial
from hashlib import blake2b

import numpy as np

from sublex.contracts.base import Explanation
from sublex.contracts.scores import NO_OPINION
from sublex.errors import PluginError, contract, warn
from sublex.index.snapshot import Snapshot
from sublex.language.finders import Finder
from sublex.language.given_scores import finite_scores
from sublex.language.python_parts import called
from sublex.pipeline.stages.cached import Cache
from sublex.pipeline.stages.found import found_by
from sublex.pipeline.stages.stage import Scorer, Scoring, State, rank_in, scores_in
from sublex.retrieval.hits import Hits
from sublex.tools.messages import counted
from sublex.trec.ids import id_text

# The results of finders in the present search of this thread. The key is the finder's number and the query's text.
_FOUND: ContextVar[dict[tuple[int, str], Hits] | None] = ContextVar("found", default=None)


@contextmanager
def one_search() -> Iterator[None]:
    """Within this block, call a finder at most once for each query."""
    token = _FOUND.set({}) if _FOUND.get() is None else None
    try:
        yield
    finally:
        if token is not None:
            _FOUND.reset(token)


class FinderScoring(Scoring):
    """A finder applied to one `State`. Its hits are all documents that it finds for the query. Others get no score.

    `find_all` returns these hits for the text of a query.
    """

    def __init__(self, finder: Finder, find_all: Callable[[str], Hits], state: State):
        self.finder, self._find_all, self.state = finder, find_all, state

    @cached_property
    def found(self) -> Hits:
        """All documents that the function found, best first."""
        return self._find_all(self.state.query.text)

    def search(self, k: int) -> Hits:
        return self.found.first(k)

    def scores(self, docs: np.ndarray) -> np.ndarray:
        return scores_in(self.found, docs)

    def explain(self, doc: int) -> Explanation:
        rank, number = rank_in(self.found, doc), len(self.found)
        if not rank:
            label = f"{self.finder}: not among the {counted(number, 'document')} that the Python function found"
            return Explanation(float(NO_OPINION), label)
        label = f"{self.finder}: the score that the Python function gave"
        return Explanation(float(self.found.scores[rank - 1]), label, evidence={"rank": rank, "found": number})


class _FoundDocuments:
    """The documents of one snapshot that a finder finds. Each docno is looked up once."""

    def __init__(self, finder: Finder, snapshot: Snapshot, cache: Cache | None):
        self.finder, self.snapshot, self.cache = finder, snapshot, cache
        self._places: dict[str, int] = {}

    def find_all(self, query: str) -> Hits:
        """Return all documents of the index that the function finds for a query, best first."""
        if self.cache is not None:
            return self.cache.get((self.finder.key, query), partial(self._hits, query))
        kept, key = _FOUND.get(), (self.finder.number, query)
        if kept is None:
            return self._hits(query)
        if key not in kept:
            kept[key] = self._hits(query)
        return kept[key]

    def _hits(self, query: str) -> Hits:
        docnos, scores = self._scored(query)
        docs = np.array([self._place(docno) for docno in docnos], np.int64)
        there = docs >= 0
        self._warn_of_strangers(query, docnos, there)
        kept = there & (scores > NO_OPINION)
        return Hits.ranked(self.snapshot, docs[kept].astype(np.int32), scores[kept])

    def _scored(self, query: str) -> tuple[list[str], np.ndarray]:
        """Return the docnos and scores for a query, from the cache if it has them, and otherwise from the function."""
        finder = self.finder
        if finder.cache is None:
            return self._called(query)
        # This module imports SQLite, so it is imported only for a function with a cache.
        from sublex.pipeline.stages.score_cache import FoundCache

        finder.refuse_changed()
        cache = FoundCache(finder.cache, finder.name)
        key = blake2b(
            "\0".join([finder.name, finder.state, query]).encode("utf-8", "surrogatepass"), digest_size=16
        ).digest()
        known = cache.get(key)
        if known is None:
            known = self._called(query)
            cache.put(key, *known)
        return known

    def _called(self, query: str) -> tuple[list[str], np.ndarray]:
        """Call the function, and return the docnos and scores that it gives."""
        finder = self.finder
        with finder.call() as thing, contract(finder.kind, called(finder, query)):
            pairs = found_by(f"The finder {called(finder, query)}", thing(query))
        docnos = [id_text(docno, "document") for docno, _ in pairs]
        if len(set(docnos)) < len(docnos):
            ((twice, _),) = Counter(docnos).most_common(1)
            raise PluginError(f"The finder {finder.name} found {twice} twice; give each document one score.")
        return docnos, finite_scores(finder, [score for _, score in pairs], docnos)

    def _place(self, docno: str) -> int:
        """Return the number of a live document; -1 for a docno that no live document has."""
        place = self._places.get(docno)
        if place is None:
            doc = self.snapshot.doc(docno)
            place = self._places[docno] = -1 if doc is None else doc
        return place

    def _warn_of_strangers(self, query: str, docnos: list[str], there: np.ndarray) -> None:
        """Warn if the function found documents, and the index knows that it never had any of them.

        There is at most one warning for a finder and an index. There is none after the finder found a document of the
        index, because it may find deleted documents later.
        """
        path = str(self.snapshot.path)
        with self.finder.lock:
            if not docnos or path in self.finder.known_in:
                return
            if not there.any() and self._ever_had(docnos):
                return
            self.finder.known_in.add(path)
        if not there.any():
            warn(
                [
                    f"The finder {self.finder.name} found {counted(len(docnos), 'document')} for {query[:60]!r}, such as "
                    f"{docnos[0]}, and {path} has none of them; let it return docnos of this index."
                ]
            )

    def _ever_had(self, docnos: list[str]) -> bool:
        """Return whether the index had one of the documents, as far as it knows."""
        return any(segment.ever_had(docno) for docno in docnos for segment in self.snapshot.segments)


def finder_scorer(finder: Finder, snapshot: Snapshot, cache: Cache | None) -> Scorer:
    """Return the scorer of a finder. Expressions that are composed with the same cache share the documents found."""
    return Scorer(partial(FinderScoring, finder, _FoundDocuments(finder, snapshot, cache).find_all))
