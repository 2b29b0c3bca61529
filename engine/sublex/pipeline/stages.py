"""The stages of a pipeline at work: each takes queries with what was found for them so far, and gives the same again.

A scorer retrieves when nothing was found yet, and rescores what was; an expander changes the queries and forgets what was found.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sublex.base import Expander, Query
from sublex.pipeline.engine import Engine
from sublex.pipeline.normalise import Normaliser, minmax
from sublex.rank.feedback import Feedback
from sublex.rank.hits import Hits
from sublex.rank.search import Searcher

# How many candidates a retrieval keeps for what comes after it, unless % says otherwise.
DEPTH = 1000
NO_OPINION = np.float32(-np.inf)


class Work(NamedTuple):
    """Queries, and what was found for each, if anything was looked for yet."""

    queries: Sequence[Query]
    hits: Sequence[Hits] | None = None


class Stage:
    """A node of the pipeline. Scorers give hits; only `scores` of `Expand` is never asked for."""

    def run(self, engine: Engine, work: Work, depth: int = DEPTH) -> Work:
        """The work, one stage further; a retrieval keeps `depth` hits."""
        raise NotImplementedError

    def scores(self, engine: Engine, work: Work, docs: Sequence[np.ndarray]) -> list[np.ndarray]:
        """What this scorer says of each query's documents; -inf where it has no opinion."""
        hits = self.run(engine, work).hits or ()
        return [_look_up(found, wanted) for found, wanted in zip(hits, docs, strict=True)]


class Rank(Stage):
    """A ranker over the postings."""

    def __init__(self, searcher: Searcher):
        self.searcher = searcher

    def run(self, engine: Engine, work: Work, depth: int = DEPTH) -> Work:
        if work.hits is None:
            found = self.searcher.batch([query.weights() for query in work.queries], depth)
            return Work(work.queries, list(found))
        docs = [hits.docs for hits in work.hits]
        scored = zip(docs, self.scores(engine, work, docs), strict=True)
        return Work(work.queries, [engine.ranked(own[s > NO_OPINION], s[s > NO_OPINION]) for own, s in scored])

    def scores(self, engine: Engine, work: Work, docs: Sequence[np.ndarray]) -> list[np.ndarray]:
        return self.searcher.scores([query.weights() for query in work.queries], docs)


class Expand(Stage):
    """An expander; without hits before it, it looks at those of the default ranker."""

    def __init__(self, expander: Expander):
        self.expander = expander

    def run(self, engine: Engine, work: Work, depth: int = DEPTH) -> Work:
        hits = work.hits
        if hits is None:
            hits = Rank(engine.default).run(engine, work, self.expander.docs).hits if self.expander.docs else None
        found = hits or [engine.nothing] * len(work.queries)
        pairs = zip(work.queries, found, strict=True)
        return Work([self.expander.expand(query, Feedback(own, engine.lexicon)) for query, own in pairs])


class Cut(Stage):
    """The first hits of a scorer."""

    def __init__(self, inner: Stage, depth: int):
        self.inner, self.depth = inner, depth

    def run(self, engine: Engine, work: Work, depth: int = DEPTH) -> Work:
        done = self.inner.run(engine, work, self.depth)
        return Work(done.queries, [hits.first(self.depth) for hits in done.hits or ()])


class Chain(Stage):
    """Stages one after the other."""

    def __init__(self, stages: Sequence[Stage]):
        self.stages = stages

    def run(self, engine: Engine, work: Work, depth: int = DEPTH) -> Work:
        for stage in self.stages[:-1]:
            work = stage.run(engine, work)
        return self.stages[-1].run(engine, work, depth)

    def scores(self, engine: Engine, work: Work, docs: Sequence[np.ndarray]) -> list[np.ndarray]:
        for stage in self.stages[:-1]:
            work = stage.run(engine, work)
        found = self.stages[-1].scores(engine, work, docs)
        if work.hits is not None:
            among = (_look_up(hits, wanted) > NO_OPINION for hits, wanted in zip(work.hits, docs, strict=True))
            found = [np.where(mask, scores, NO_OPINION) for mask, scores in zip(among, found, strict=True)]
        return found


class Normalise(Stage):
    """A scorer whose scores are brought to a common scale, over exactly the candidates."""

    def __init__(self, normaliser: Normaliser, inner: Stage):
        self.normaliser, self.inner = normaliser, inner

    def run(self, engine: Engine, work: Work, depth: int = DEPTH) -> Work:
        done = self.inner.run(engine, work)
        return Work(done.queries, [engine.ranked(h.docs, self.normaliser(h.scores)) for h in done.hits or ()])

    def scores(self, engine: Engine, work: Work, docs: Sequence[np.ndarray]) -> list[np.ndarray]:
        return [self.normaliser(_with_opinion(scores)) for scores in self.inner.scores(engine, work, docs)]


class Blend(Stage):
    """A weighted sum of scorers; the first supplies the candidates. Parts that are not normalised explicitly are so by minmax."""

    def __init__(self, parts: Sequence[tuple[float, Stage]]):
        self.parts = [(w, part if isinstance(part, Normalise) else Normalise(minmax, part)) for w, part in parts]

    def run(self, engine: Engine, work: Work, depth: int = DEPTH) -> Work:
        candidates = self.parts[0][1].run(engine, work)
        docs = [hits.docs for hits in candidates.hits or ()]
        total = self._sum([hits.scores for hits in candidates.hits or ()], engine, work, docs)
        return Work(candidates.queries, [engine.ranked(own, s) for own, s in zip(docs, total, strict=True)])

    def scores(self, engine: Engine, work: Work, docs: Sequence[np.ndarray]) -> list[np.ndarray]:
        return self._sum(self.parts[0][1].scores(engine, work, docs), engine, work, docs)

    def _sum(
        self, first: Sequence[np.ndarray], engine: Engine, work: Work, docs: Sequence[np.ndarray]
    ) -> list[np.ndarray]:
        total = [self.parts[0][0] * scores.astype(np.float64) for scores in first]
        for weight, part in self.parts[1:]:
            found = part.scores(engine, work, docs)
            total = [so_far + weight * scores for so_far, scores in zip(total, found, strict=True)]
        return [scores.astype(np.float32) for scores in total]


def _look_up(hits: Hits, docs: np.ndarray) -> np.ndarray:
    """The scores that hits give to documents."""
    order = np.argsort(hits.docs)
    ascending = hits.docs[order]
    at = np.minimum(np.searchsorted(ascending, docs), max(len(ascending) - 1, 0))
    if not len(ascending):
        return np.full(len(docs), NO_OPINION)
    return np.where(ascending[at] == docs, hits.scores[order][at], NO_OPINION)


def _with_opinion(scores: np.ndarray) -> np.ndarray:
    """No opinion counts as the lowest of the opinions."""
    known = scores[scores > NO_OPINION]
    return np.where(scores > NO_OPINION, scores, known.min() if len(known) else 0)
