"""The representation stage: scores documents by the rows of a fitted representation."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from sublex.contracts.base import Explanation
from sublex.pipeline.stages.stage import Scorer, Scoring, State
from sublex.representations.loaded import LoadedRepresentation
from sublex.retrieval.hits import Hits


class RepresentationStage(Scorer):
    """A fitted representation on a snapshot."""

    def __init__(self, representation: LoadedRepresentation):
        self.representation = representation

    def on(self, state: State) -> Scoring:
        return RepresentationScoring(self, state) if state.hits is None else Scoring(self, state)

    def find(self, state: State, k: int | None = None) -> Hits:
        return self.rescored(state) if state.hits is not None else self.on(state).find(k)

    def scores(self, state: State, docs: np.ndarray) -> np.ndarray:
        return self.representation.scores(self.representation.query(state.query), docs)

    def explain(self, state: State, doc: int) -> Explanation:
        loaded = self.representation
        tree = loaded.explain(loaded.query(state.query), doc)
        evidence = {**tree.evidence, **loaded.inputs.evidence(state.query, loaded.view.surface)}
        return tree._replace(label=f"{loaded.name}: {tree.label}", evidence=evidence)


class RepresentationScoring(Scoring):
    """A representation at work on a query without hits.

    The query is encoded once. If all documents have to be scored, they are scored once, to find the best and to look up others.
    """

    scorer: RepresentationStage

    @cached_property
    def _encoded(self) -> Any:
        return self.scorer.representation.query(self.state.query)

    @cached_property
    def _scores(self) -> np.ndarray:
        """The scores of all documents by number."""
        return self.scorer.representation.scores(self._encoded)

    def find(self, k: int | None = None) -> Hits:
        loaded, most = self.scorer.representation, self.state.depth if k is None else k
        found = loaded.candidates(self._encoded, most)
        best = loaded.best(self._scores, most) if found is None else loaded.best(found[1], most, found[0])
        return Hits.ranked(loaded.snapshot, *best).first(most)

    def scores(self, docs: np.ndarray) -> np.ndarray:
        if "_scores" in vars(self):
            return self._scores[docs]
        return self.scorer.representation.scores(self._encoded, docs)
