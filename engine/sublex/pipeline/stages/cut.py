"""The cut stage: the first hits of a scorer."""

from __future__ import annotations

import numpy as np

from sublex.contracts.base import Explanation
from sublex.pipeline.stages.stage import Scorer, Scoring, State
from sublex.retrieval.hits import Hits


class CutStage(Scorer):
    """The first `depth` hits of a scorer. A depth above the usual one also raises the number of candidates within the scorer.

    The depth limits the documents that are found. Documents that another part of a blend found are scored whatever their rank.
    """

    def __init__(self, inner: Scorer, depth: int):
        self.inner, self.depth, self.finds = inner, depth, inner.finds

    def on(self, state: State) -> Scoring:
        return CutScoring(self.inner.on(self._deepened(state)), self.depth)

    def explain(self, state: State, doc: int) -> Explanation:
        return self.inner.explain(self._deepened(state), doc)

    def _deepened(self, state: State) -> State:
        return state._replace(depth=max(state.depth, self.depth))


class CutScoring(Scoring):
    """A cut at work on one state."""

    def __init__(self, inner: Scoring, depth: int):
        self.inner, self.depth = inner, depth

    def find(self, k: int | None = None) -> Hits:
        return self.inner.find(self.depth).first(self.depth)

    def scores(self, docs: np.ndarray) -> np.ndarray:
        return self.inner.scores(docs)
