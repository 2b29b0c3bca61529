"""The stages of a pipeline at work: each takes a query with what was found for it so far, and gives the same again.

A scorer retrieves when nothing was found yet, and rescores what was; an expander changes the query and forgets what was found.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np

from sublex.base import Expander, Filter, Query
from sublex.errors import InputError, PluginError, contract
from sublex.representations.loaded import LoadedRepresentation
from sublex.retrieval.feedback import Feedback
from sublex.retrieval.hits import Hits
from sublex.retrieval.searcher import Searcher
from sublex.retrieval.term_table import TermTable
from sublex.scores import NO_OPINION, Normaliser, minmax, with_opinion

# How many candidates a retrieval keeps for what comes after it, unless % says otherwise.
DEPTH = 1000
LARGEST = float(np.finfo(np.float32).max)


class Work(NamedTuple):
    """A query, what was found for it (None where nothing was looked for yet), and how many candidates are kept on the way."""

    query: Query
    hits: Hits | None = None
    depth: int = DEPTH


class Stage:
    """A node of the pipeline."""

    def run(self, work: Work, k: int | None = None) -> Work:
        """The work, one stage further; a retrieval keeps `k` hits, or else as many as the work says."""
        raise NotImplementedError


class Scorer(Stage):
    """A stage that finds or scores documents."""

    def found(self, work: Work, k: int | None = None) -> Hits:
        """The hits for the query."""
        raise NotImplementedError

    def scores(self, work: Work, docs: np.ndarray) -> np.ndarray:
        """What it says of documents; -inf where it has no opinion."""
        return _look_up(self.found(work), docs)

    def run(self, work: Work, k: int | None = None) -> Work:
        return work._replace(hits=self.found(work, k))


class Rank(Scorer):
    """A ranker over the postings."""

    def __init__(self, searcher: Searcher):
        self.searcher = searcher

    def found(self, work: Work, k: int | None = None) -> Hits:
        if work.hits is None:
            return self.searcher.search(work.query.weights(), work.depth if k is None else k)
        docs = work.hits.docs
        scores = self.scores(work, docs)
        known = scores > NO_OPINION
        return Hits.ranked(self.searcher.index, docs[known], scores[known])

    def scores(self, work: Work, docs: np.ndarray) -> np.ndarray:
        return self.searcher.scores([work.query.weights()], [docs])[0]


class Represent(Scorer):
    """A fitted representation: it finds documents by their rows, or rescores those found."""

    def __init__(self, side: LoadedRepresentation):
        self.side = side

    def found(self, work: Work, k: int | None = None) -> Hits:
        index = self.side.index
        if work.hits is None:
            depth = work.depth if k is None else k
            return Hits.ranked(index, *self.side.best(self.side.query(work.query), depth)).first(depth)
        scores = self.scores(work, work.hits.docs)
        known = scores > NO_OPINION
        return Hits.ranked(index, work.hits.docs[known], scores[known])

    def scores(self, work: Work, docs: np.ndarray) -> np.ndarray:
        return self.side.scores(self.side.query(work.query), docs)


class Expand(Stage):
    """An expander; where nothing was found before it, `first` finds what it looks at."""

    def __init__(self, name: str, expander: Expander, first: Rank):
        self.name, self.expander, self.first = name, expander, first
        docs = getattr(expander, "docs", None)
        if not isinstance(docs, int) or docs < 0:
            raise PluginError(
                f"The expander {name} says that it looks at {docs} documents; docs has to be a whole number."
            )

    def run(self, work: Work, k: int | None = None) -> Work:
        searcher, hits = self.first.searcher, work.hits
        if hits is None and self.expander.docs:
            hits = self.first.found(work, self.expander.docs)
        if hits is None:
            hits = Hits.none(searcher.index)
        with contract("expander", self.name):
            query = self.expander.expand(work.query, Feedback(hits, searcher.term_table))
            sound = np.isfinite([term.weight for term in query.terms]).all()
        if not sound:
            raise PluginError(f"The expander {self.name} gave a weight that is not a finite number.")
        return work._replace(query=query, hits=None)


class Keep(Scorer):
    """A filter: some of what was found before it, in the same order."""

    def __init__(self, name: str, filter: Filter, term_table: TermTable):
        self.name, self.filter, self.term_table = name, filter, term_table

    def found(self, work: Work, k: int | None = None) -> Hits:
        hits = work.hits
        if hits is None:
            raise InputError(
                f"{self.name} keeps or drops what was found; put a ranker before it, as in BM25 >> {self.name}."
            )
        with contract("filter", self.name):
            mask = np.asarray(self.filter.keep(hits.docs, Feedback(hits, self.term_table)))
        if mask.shape != hits.docs.shape or mask.dtype != bool:
            raise PluginError(
                f"The filter {self.name} gave {mask.dtype} of shape {mask.shape} for {len(hits):,} documents, not yes or no for each."
            )
        return Hits(hits.index, hits.docs[mask], hits.scores[mask])


class Cut(Scorer):
    """The first hits of a scorer; where they are more than usual, so are the candidates within it."""

    def __init__(self, inner: Scorer, depth: int):
        self.inner, self.depth = inner, depth

    def found(self, work: Work, k: int | None = None) -> Hits:
        return self.inner.found(self.deep(work), self.depth).first(self.depth)

    def deep(self, work: Work) -> Work:
        """The work as the inner scorer gets it."""
        return work._replace(depth=max(work.depth, self.depth))


class Chain(Scorer):
    """Stages before a scorer."""

    def __init__(self, before: Sequence[Stage], last: Scorer):
        self.before, self.last = before, last

    def run(self, work: Work, k: int | None = None) -> Work:
        return self.last.run(self._prepared(work), k)

    def found(self, work: Work, k: int | None = None) -> Hits:
        return self.last.found(self._prepared(work), k)

    def scores(self, work: Work, docs: np.ndarray) -> np.ndarray:
        work = self._prepared(work)
        found = self.last.scores(work, docs)
        if work.hits is None:
            return found
        return np.where(_look_up(work.hits, docs) > NO_OPINION, found, NO_OPINION)

    def _prepared(self, work: Work) -> Work:
        for stage in self.before:
            work = stage.run(work)
        return work


class Normalise(Scorer):
    """A scorer whose scores are brought to a common scale, over exactly the candidates."""

    def __init__(self, normaliser: Normaliser, inner: Scorer):
        self.normaliser, self.inner = normaliser, inner

    def found(self, work: Work, k: int | None = None) -> Hits:
        hits = self.inner.found(work)
        return Hits.ranked(hits.index, hits.docs, self.normaliser(hits.scores))

    def scores(self, work: Work, docs: np.ndarray) -> np.ndarray:
        return self.normaliser(with_opinion(self.inner.scores(work, docs)))


class Memo:
    """What was computed since the last turn but one."""

    def __init__(self) -> None:
        self._now: dict[Hashable, Any] = {}
        self._before: dict[Hashable, Any] = {}

    def get(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """What was made for the key, now or before."""
        if key not in self._now:
            self._now[key] = self._before[key] if key in self._before else make()
        return self._now[key]

    def turn(self) -> None:
        """Let go of what nothing has asked for since the last turn."""
        self._before, self._now = self._now, {}


class Remembered(Scorer):
    """A scorer that computes nothing twice: blends that differ in weights share their parts."""

    def __init__(self, name: str, inner: Scorer, memo: Memo):
        self.name, self.inner, self.memo = name, inner, memo

    def found(self, work: Work, k: int | None = None) -> Hits:
        if work.hits is not None:
            return self.inner.found(work, k)
        return self.memo.get((self.name, work, k), lambda: self.inner.found(work, k))

    def scores(self, work: Work, docs: np.ndarray) -> np.ndarray:
        if work.hits is not None:
            return self.inner.scores(work, docs)
        return self.memo.get((self.name, work, docs.tobytes()), lambda: self.inner.scores(work, docs))


class Blend(Scorer):
    """A weighted sum of scorers; the first supplies the candidates. A part that is not normalised explicitly is so by minmax."""

    def __init__(self, parts: Sequence[tuple[float, Scorer]]):
        self.parts = [(w, part if isinstance(part, Normalise) else Normalise(minmax, part)) for w, part in parts]

    def found(self, work: Work, k: int | None = None) -> Hits:
        candidates = self.parts[0][1].found(work)
        return Hits.ranked(candidates.index, candidates.docs, self._sum(candidates.scores, work, candidates.docs))

    def scores(self, work: Work, docs: np.ndarray) -> np.ndarray:
        return self._sum(self.parts[0][1].scores(work, docs), work, docs)

    def _sum(self, first: np.ndarray, work: Work, docs: np.ndarray) -> np.ndarray:
        scores = [first.astype(np.float64), *(part.scores(work, docs) for _, part in self.parts[1:])]
        with np.errstate(all="ignore"):
            total = sum(weight * own for (weight, _), own in zip(self.parts, scores, strict=True))
        if not (np.abs(total) <= LARGEST).all():
            raise InputError("The scores of a blend are too large for float32; use smaller weights.")
        return np.asarray(total)


def _look_up(hits: Hits, docs: np.ndarray) -> np.ndarray:
    """The scores that hits give to documents."""
    if not len(hits):
        return np.full(len(docs), NO_OPINION)
    order = np.argsort(hits.docs)
    ascending = hits.docs[order]
    at = np.minimum(np.searchsorted(ascending, docs), len(ascending) - 1)
    return np.where(ascending[at] == docs, hits.scores[order][at], NO_OPINION)
