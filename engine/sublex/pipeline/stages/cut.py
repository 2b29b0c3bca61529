"""The cut stage: the first hits of a scorer."""

from __future__ import annotations

from sublex.base import Explanation
from sublex.pipeline.stages.stage import Scorer, State
from sublex.retrieval.hits import Hits


class CutStage(Scorer):
    """The first `depth` hits of a scorer. A depth above the usual one also raises the number of candidates within the scorer."""

    def __init__(self, inner: Scorer, depth: int):
        self.inner, self.depth = inner, depth

    def find(self, state: State, k: int | None = None) -> Hits:
        return self.inner.find(self._deepened(state), self.depth).first(self.depth)

    def explain(self, state: State, doc: int) -> Explanation:
        return self.inner.explain(self._deepened(state), doc)

    def _deepened(self, state: State) -> State:
        return state._replace(depth=max(state.depth, self.depth))
