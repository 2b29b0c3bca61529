"""The representation stage: scores documents by the rows of a fitted representation."""

from __future__ import annotations

import numpy as np

from sublex.base import Explanation, Query
from sublex.pipeline.stages.stage import Source, State
from sublex.representations.loaded import LoadedRepresentation
from sublex.retrieval.hits import Hits


class RepresentationStage(Source):
    """A fitted representation on a snapshot."""

    def __init__(self, representation: LoadedRepresentation):
        self.representation = representation

    def retrieve(self, query: Query, k: int) -> Hits:
        encoded = self.representation.query(query)
        return Hits.ranked(self.representation.snapshot, *self.representation.best(encoded, k)).first(k)

    def scores(self, state: State, docs: np.ndarray) -> np.ndarray:
        return self.representation.scores(self.representation.query(state.query), docs)

    def explain(self, state: State, doc: int) -> Explanation:
        loaded = self.representation
        tree = loaded.explain(loaded.query(state.query), doc)
        evidence = {**tree.evidence, **loaded.inputs.evidence(state.query, loaded.view.surface)}
        return tree._replace(label=f"{loaded.name}: {tree.label}", evidence=evidence)
