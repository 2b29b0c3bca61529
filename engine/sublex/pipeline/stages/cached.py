"""The cached stage: a scorer that remembers its results, so that pipelines which differ only in weights share the work."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import cached_property
from typing import Any

import numpy as np

from sublex.contracts.base import Explanation
from sublex.pipeline.stages.stage import Scorer, Scoring, State
from sublex.retrieval.hits import Hits


class Cache:
    """Results by key, in two generations: a result that was not asked for since the last `turn()` is dropped at the next."""

    def __init__(self) -> None:
        self._now: dict[Hashable, Any] = {}
        self._before: dict[Hashable, Any] = {}

    def get(self, key: Hashable, compute: Callable[[], Any]) -> Any:
        """Return the cached result for a key, or compute and remember it."""
        if key not in self._now:
            self._now[key] = self._before[key] if key in self._before else compute()
        return self._now[key]

    def turn(self) -> None:
        """Begin a new generation."""
        self._before, self._now = self._now, {}


class CachedStage(Scorer):
    """A scorer with a cache for what it finds in the collection. What depends on earlier hits is not cached."""

    def __init__(self, name: str, inner: Scorer, cache: Cache):
        self.name, self.inner, self.cache, self.finds = name, inner, cache, inner.finds

    def on(self, state: State) -> Scoring:
        return CachedScoring(self, state) if state.hits is None else self.inner.on(state)

    def explain(self, state: State, doc: int) -> Explanation:
        return self.inner.explain(state, doc)


class CachedScoring(Scoring):
    """A cached scorer at work on a query without hits. The scorer itself starts to work at the first result that is not cached."""

    scorer: CachedStage

    @cached_property
    def _inner(self) -> Scoring:
        return self.scorer.inner.on(self.state)

    def find(self, k: int | None = None) -> Hits:
        return self.scorer.cache.get((self.scorer.name, self.state, k), lambda: self._inner.find(k))

    def scores(self, docs: np.ndarray) -> np.ndarray:
        return self.scorer.cache.get((self.scorer.name, self.state, docs.tobytes()), lambda: self._inner.scores(docs))
