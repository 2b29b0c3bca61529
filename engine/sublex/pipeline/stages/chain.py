"""The chain stage, which runs several stages in order; and the cut stage, which keeps the first hits of a scorer.

The last stage of a chain is a scorer.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sublex.contracts.base import Explanation
from sublex.contracts.scores import NO_OPINION
from sublex.pipeline.stages.filter import FilterScoring
from sublex.pipeline.stages.stage import Scorer, Scoring, Search, Stage, State
from sublex.rankers.explanations import as_evidence
from sublex.retrieval.hits import Hits


class ChainScoring(Scoring):
    """A chain such as `BM25 >> RM3 >> BM25` for one query: the stages before the last have run, and the last one scores.

    The masks of the state apply to the last scorer. They apply to an earlier stage if all stages after it let masks
    through. A document that the stages did not find gets the score -inf, "no opinion".
    """

    def __init__(self, before: Sequence[Stage], last: Scorer, state: State):
        self.before, self.first, self.states, self.starts = before, state, list[State](), list[State]()
        for place, stage in enumerate(before):
            reached = last.through and all(later.through for later in before[place + 1 :])
            self.starts.append(state._replace(masks=self.first.masks if reached else ()))
            state = stage.run(self.starts[-1], self._wanted(place))
            self.states.append(state)
        self.hits, self.last = state.hits, last.start(state._replace(masks=self.first.masks))
        self.state = self.last.state

    def _wanted(self, place: int) -> int | None:
        """Return the number of hits of a stage that the next stage looks at; None for all."""
        enough = self.before[place + 1].enough if place + 1 < len(self.before) else None
        return None if enough is None else min(enough, self.first.depth)

    def _state(self, place: int) -> State:
        """Return the state after a stage, with all hits of the stage."""
        if self._wanted(place) is None:
            return self.states[place]
        return self.before[place].run(self.starts[place])

    def find(self, k: int | None = None) -> Hits:
        return self.last.find(k)

    @property
    def search_alone(self) -> Search | None:
        return self.last.search_alone

    def scores(self, docs: np.ndarray) -> np.ndarray:
        if self.hits is None:
            return self.last.scores(docs)
        inside = np.isin(docs, self.last.scored(self.hits.docs))
        scores = np.full(len(docs), NO_OPINION)
        scores[inside] = self.last.scores(docs[inside])
        return scores

    def explain(self, doc: int) -> Explanation:
        before = self.before
        if isinstance(self.last, FilterScoring) and before and isinstance(before[-1], Scorer):
            return self.last.explain_after(ChainScoring(before[:-1], before[-1], self.first), doc)
        steps = (stage.trace(self._state(place), doc) for place, stage in enumerate(before))
        tree = self.last.explain(doc)
        if self.hits is not None and doc not in self.last.scored(self.hits.docs):
            label = "not among the documents that the stage before found"
            return Explanation(float(NO_OPINION), label, "evidence", (*steps, as_evidence(tree)))
        return tree._replace(parts=(*steps, *tree.parts))


class CutScoring(Scoring):
    """The scoring of a scorer with a cut, such as `BM25 % 100`, for one query.

    The depth limits only the documents that `find` returns. Documents that another part of a blend found are scored at
    any rank. A depth above the usual one also raises the number of candidates within the scorer. The masks of the state
    apply to the hits after the cut, not to the scorer.
    """

    def __init__(self, inner: Scorer, depth: int, state: State):
        self.depth, self.state = depth, state
        self.inner = inner.start(state._replace(depth=max(state.depth, depth), masks=()))

    def find(self, k: int | None = None) -> Hits:
        return self.state.passing(self.inner.find(self.depth).first(self.depth))

    def scores(self, docs: np.ndarray) -> np.ndarray:
        return self.inner.scores(docs)

    def explain(self, doc: int) -> Explanation:
        return self.inner.explain(doc)
