"""The representation stage: scores documents by the rows of a fitted representation."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from sublex.contracts.base import Explanation
from sublex.contracts.scores import NO_OPINION
from sublex.pipeline.stages.ranker import ScoringOnce, search_among
from sublex.pipeline.stages.stage import Search, State
from sublex.representations.loaded import LoadedRepresentation
from sublex.retrieval.hits import Hits


class RepresentationScoring(ScoringOnce):
    """A fitted representation applied to one `State`. It encodes the query once, and scores documents at most once."""

    def __init__(self, representation: LoadedRepresentation, state: State):
        self.representation, self.state = representation, state

    @cached_property
    def _encoded(self) -> Any:
        return self.representation.query(self.state.query)

    @cached_property
    def _weights(self) -> dict[int, float]:
        """The weights of the query by columns, for a representation whose scores are sums."""
        return self.representation.weights(self._encoded)

    @cached_property
    def _scores(self) -> np.ndarray:
        """The scores of all documents; the index is the document number."""
        return self.representation.scores(self._encoded)

    @property
    def search_alone(self) -> Search | None:
        loaded, state = self.representation, self.state
        if not loaded.sums or state.hits is not None or state.binding:
            return None
        return Search(loaded.searcher, self._weights)

    def search(self, k: int) -> Hits:
        loaded = self.representation
        if loaded.sums:
            return loaded.searcher.search(self._weights, k)
        # Under masks, a search is repeated with a greater depth until enough documents pass. So it must be exhaustive.
        found = loaded.find_by_sketches(self._encoded, k, bool(self.state.binding))
        best = loaded.best(self._scores, k) if found is None else loaded.best(found[1], k, found[0])
        return Hits.ranked(loaded.snapshot, *best).first(k)

    def search_passing(self, k: int) -> Hits:
        found = None
        if self.representation.sums:
            found = search_among(self.representation.searcher, self._weights, self.state.binding, k)
        return super().search_passing(k) if found is None else found

    def scores(self, docs: np.ndarray) -> np.ndarray:
        return self._scores[docs] if "_scores" in vars(self) else super().scores(docs)

    def computed(self, docs: np.ndarray) -> np.ndarray:
        return self.representation.scores(self._encoded, docs)

    def explain(self, doc: int) -> Explanation:
        loaded, query = self.representation, self.state.query
        tree, left = loaded.explain(self._encoded, doc), loaded.left_out(query)
        unknown = {"not in the model": left} if left else {}
        document = loaded.snapshot.shown(doc) if tree.value > NO_OPINION else None
        sentence = loaded.sentence_of(query, self._encoded, document) if document is not None else {}
        evidence = {**tree.evidence, **loaded.inputs.evidence(query), **unknown, **sentence}
        return tree._replace(label=f"{loaded.name}: {tree.label}", evidence=evidence)
