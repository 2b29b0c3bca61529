"""The stages of a pipeline at work: each takes queries with what was found for them so far, and gives the same again.

A scorer retrieves when nothing was found yet, and rescores what was; an expander changes the queries and forgets what was found.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sublex.base import Expander, Query
from sublex.errors import InputError
from sublex.normalise import Normaliser, minmax
from sublex.rank.feedback import Feedback
from sublex.rank.hits import Hits
from sublex.rank.search import Searcher

# How many candidates a retrieval keeps for what comes after it, unless % says otherwise.
DEPTH = 1000
NO_OPINION = np.float32(-np.inf)
LARGEST = float(np.finfo(np.float32).max)


class Work(NamedTuple):
    """Queries, and what was found for each; None where nothing was looked for yet."""

    queries: Sequence[Query]
    hits: Sequence[Hits] | None = None


class Stage:
    """A node of the pipeline."""

    def run(self, work: Work, depth: int = DEPTH) -> Work:
        """The work, one stage further; a retrieval keeps `depth` hits."""
        raise NotImplementedError


class Scorer(Stage):
    """A stage that finds or scores documents."""

    def found(self, work: Work, depth: int = DEPTH) -> Sequence[Hits]:
        """The hits for each query."""
        raise NotImplementedError

    def scores(self, work: Work, docs: Sequence[np.ndarray]) -> list[np.ndarray]:
        """What it says of each query's documents; -inf where it has no opinion."""
        return [_look_up(hits, wanted) for hits, wanted in zip(self.found(work), docs, strict=True)]

    def run(self, work: Work, depth: int = DEPTH) -> Work:
        return Work(work.queries, self.found(work, depth))


class Rank(Scorer):
    """A ranker over the postings."""

    def __init__(self, searcher: Searcher):
        self.searcher = searcher

    def found(self, work: Work, depth: int = DEPTH) -> Sequence[Hits]:
        if work.hits is None:
            return list(self.searcher.batch([query.weights() for query in work.queries], depth))
        docs = [hits.docs for hits in work.hits]
        pairs = zip(docs, self.scores(work, docs), strict=True)
        return [Hits.ranked(self.searcher.index, own[s > NO_OPINION], s[s > NO_OPINION]) for own, s in pairs]

    def scores(self, work: Work, docs: Sequence[np.ndarray]) -> list[np.ndarray]:
        return self.searcher.scores([query.weights() for query in work.queries], docs)


class Expand(Stage):
    """An expander; where nothing was found before it, `first` finds what it looks at."""

    def __init__(self, expander: Expander, first: Rank):
        self.expander, self.first = expander, first

    def run(self, work: Work, depth: int = DEPTH) -> Work:
        searcher, hits = self.first.searcher, work.hits
        if hits is None and self.expander.docs:
            hits = self.first.found(work, self.expander.docs)
        if hits is None:
            hits = [Hits.none(searcher.index)] * len(work.queries)
        pairs = zip(work.queries, hits, strict=True)
        return Work([self.expander.expand(query, Feedback(own, searcher.lexicon)) for query, own in pairs])


class Cut(Scorer):
    """The first hits of a scorer."""

    def __init__(self, inner: Scorer, depth: int):
        self.inner, self.depth = inner, depth

    def found(self, work: Work, depth: int = DEPTH) -> Sequence[Hits]:
        return [hits.first(self.depth) for hits in self.inner.found(work, self.depth)]


class Chain(Scorer):
    """Stages before a scorer."""

    def __init__(self, before: Sequence[Stage], last: Scorer):
        self.before, self.last = before, last

    def run(self, work: Work, depth: int = DEPTH) -> Work:
        return self.last.run(self._prepared(work), depth)

    def found(self, work: Work, depth: int = DEPTH) -> Sequence[Hits]:
        return self.last.found(self._prepared(work), depth)

    def scores(self, work: Work, docs: Sequence[np.ndarray]) -> list[np.ndarray]:
        work = self._prepared(work)
        found = self.last.scores(work, docs)
        if work.hits is None:
            return found
        among = (_look_up(hits, wanted) > NO_OPINION for hits, wanted in zip(work.hits, docs, strict=True))
        return [np.where(mask, scores, NO_OPINION) for mask, scores in zip(among, found, strict=True)]

    def _prepared(self, work: Work) -> Work:
        for stage in self.before:
            work = stage.run(work)
        return work


class Normalise(Scorer):
    """A scorer whose scores are brought to a common scale, over exactly the candidates."""

    def __init__(self, normaliser: Normaliser, inner: Scorer):
        self.normaliser, self.inner = normaliser, inner

    def found(self, work: Work, depth: int = DEPTH) -> Sequence[Hits]:
        return [Hits.ranked(hits.index, hits.docs, self.normaliser(hits.scores)) for hits in self.inner.found(work)]

    def scores(self, work: Work, docs: Sequence[np.ndarray]) -> list[np.ndarray]:
        return [self.normaliser(with_opinion(scores)) for scores in self.inner.scores(work, docs)]


class Blend(Scorer):
    """A weighted sum of scorers; the first supplies the candidates. A part that is not normalised explicitly is so by minmax."""

    def __init__(self, parts: Sequence[tuple[float, Scorer]]):
        self.parts = [(w, part if isinstance(part, Normalise) else Normalise(minmax, part)) for w, part in parts]

    def found(self, work: Work, depth: int = DEPTH) -> Sequence[Hits]:
        candidates = self.parts[0][1].found(work)
        docs = [hits.docs for hits in candidates]
        total = self._sum([hits.scores for hits in candidates], work, docs)
        return [Hits.ranked(hits.index, hits.docs, scores) for hits, scores in zip(candidates, total, strict=True)]

    def scores(self, work: Work, docs: Sequence[np.ndarray]) -> list[np.ndarray]:
        return self._sum(self.parts[0][1].scores(work, docs), work, docs)

    def _sum(self, first: Sequence[np.ndarray], work: Work, docs: Sequence[np.ndarray]) -> list[np.ndarray]:
        with np.errstate(over="ignore", invalid="ignore"):
            total = [self.parts[0][0] * scores.astype(np.float64) for scores in first]
            for weight, part in self.parts[1:]:
                more = part.scores(work, docs)
                total = [so_far + weight * scores for so_far, scores in zip(total, more, strict=True)]
        if not all((np.abs(scores) <= LARGEST).all() for scores in total):
            raise InputError("The scores of a blend are too large for float32; use smaller weights.")
        return total


def _look_up(hits: Hits, docs: np.ndarray) -> np.ndarray:
    """The scores that hits give to documents."""
    if not len(hits):
        return np.full(len(docs), NO_OPINION)
    order = np.argsort(hits.docs)
    ascending = hits.docs[order]
    at = np.minimum(np.searchsorted(ascending, docs), len(ascending) - 1)
    return np.where(ascending[at] == docs, hits.scores[order][at], NO_OPINION)


def with_opinion(scores: np.ndarray) -> np.ndarray:
    """No opinion counts as the lowest of the opinions."""
    known = scores[scores > NO_OPINION]
    return np.where(scores > NO_OPINION, scores, known.min() if len(known) else 0)
