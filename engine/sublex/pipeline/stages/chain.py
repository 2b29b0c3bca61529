"""The chain stage: stages one after the other, the last of them a scorer."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sublex.contracts.base import Explanation
from sublex.contracts.scores import NO_OPINION
from sublex.pipeline.stages.filter import FilterStage
from sublex.pipeline.stages.stage import Scorer, Scoring, Stage, State, rank_in
from sublex.retrieval.hits import Hits


class WithinHits(Scoring):
    """A scorer at work on hits. It has no opinion on other documents."""

    def __init__(self, inner: Scoring, hits: Hits):
        self.inner, self.hits = inner, hits

    def find(self, k: int | None = None) -> Hits:
        return self.inner.find(k)

    def scores(self, docs: np.ndarray) -> np.ndarray:
        inside = np.isin(docs, self.hits.docs)
        scores = np.full(len(docs), NO_OPINION)
        scores[inside] = self.inner.scores(docs[inside])
        return scores


class ChainStage(Scorer):
    """Stages before a scorer."""

    def __init__(self, before: Sequence[Stage], last: Scorer):
        self.before, self.last = before, last
        self.finds = (*before, last)[0].finds

    def run(self, state: State, k: int | None = None) -> State:
        return self.last.run(self._before(state), k)

    def on(self, state: State) -> Scoring:
        state = self._before(state)
        scoring = self.last.on(state)
        return scoring if state.hits is None else WithinHits(scoring, state.hits)

    def _before(self, state: State) -> State:
        """Return the state before the last stage."""
        for stage in self.before:
            state = stage.run(state)
        return state

    def explain(self, state: State, doc: int) -> Explanation:
        if isinstance(self.last, FilterStage) and self.before and isinstance(self.before[-1], Scorer):
            return self.last.explain_after(ChainStage(self.before[:-1], self.before[-1]), state, doc)
        steps = []
        for stage in self.before:
            state = stage.run(state)
            steps.append(stage.trace(state, doc))
        tree = self.last.explain(state, doc)
        if state.hits is not None and not rank_in(state.hits, doc):
            label = "not among the documents that the stage before found"
            return Explanation(float(NO_OPINION), label, "evidence", (*steps, tree._replace(kind="evidence")))
        return tree._replace(parts=(*steps, *tree.parts))
