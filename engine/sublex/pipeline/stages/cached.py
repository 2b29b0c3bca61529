"""The cached stage: a scorer that keeps its results. Pipelines that differ only in weights share them."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import cached_property
from typing import Any

import numpy as np

from sublex.pipeline.stages.stage import Scorer, Scoring, State
from sublex.retrieval.hits import Hits


class Cache:
    """Results by key, in two generations. `turn()` drops the results that were not used since the previous `turn()`."""

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


class CachedScoring(Scoring):
    """A cached scorer on a state without hits. The scorer itself starts only when a result is not in the cache."""

    def __init__(self, name: str, inner: Scorer, cache: Cache, state: State):
        self.name, self.inner, self.cache, self.state = name, inner, cache, state
        # The key needs no mask of allowed documents: the query's condition decides the mask. A mask in the key would
        # stay in memory.
        self._key = state._replace(allowed=None)

    @cached_property
    def _started(self) -> Scoring:
        return self.inner.start(self.state)

    def find(self, k: int | None = None) -> Hits:
        return self.cache.get((self.name, self._key, k), lambda: self._started.find(k))

    def scores(self, docs: np.ndarray) -> np.ndarray:
        return self.cache.get((self.name, self._key, docs.tobytes()), lambda: self._started.scores(docs))


def cached(name: str, inner: Scorer, cache: Cache) -> Scorer:
    """Return a scorer that caches its results for states without hits.

    Results for states with hits depend on these hits, so they are not cached.
    """

    def start(state: State) -> Scoring:
        return CachedScoring(name, inner, cache, state) if state.hits is None else inner.start(state)

    return Scorer(start, inner.finds, inner.through)
