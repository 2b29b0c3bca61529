"""The cached stage: a scorer that remembers its results, so that pipelines which differ only in weights share the work."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from sublex.base import Explanation
from sublex.pipeline.stages.stage import Scorer, State
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
        self.name, self.inner, self.cache = name, inner, cache

    def find(self, state: State, k: int | None = None) -> Hits:
        if state.hits is not None:
            return self.inner.find(state, k)
        return self.cache.get((self.name, state, k), lambda: self.inner.find(state, k))

    def scores(self, state: State, docs: np.ndarray) -> np.ndarray:
        if state.hits is not None:
            return self.inner.scores(state, docs)
        return self.cache.get((self.name, state, docs.tobytes()), lambda: self.inner.scores(state, docs))

    def explain(self, state: State, doc: int) -> Explanation:
        return self.inner.explain(state, doc)
