"""The filter stage: keeps some of the hits and drops the others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from sublex.contracts.base import Explanation, Filter
from sublex.contracts.scores import NO_OPINION
from sublex.errors import InputError, PluginError, contract
from sublex.pipeline.stages.stage import Scoring, State, rank_in, scores_in
from sublex.retrieval.feedback import Feedback
from sublex.retrieval.hits import Hits
from sublex.retrieval.term_table import TermTable


class FilterScoring(Scoring):
    """A filter on one state. It drops some hits of the stage before it; the others keep their order and scores."""

    def __init__(self, name: str, filter: Filter, term_table: TermTable, models: Mapping[str, Any], state: State):
        self.name, self.filter, self.term_table, self.models, self.state = name, filter, term_table, models, state

    def find(self, k: int | None = None) -> Hits:
        name, hits = self.name, self.state.hits
        if hits is None:
            raise InputError(
                f"{name} keeps or drops hits, and there are none yet; put a ranker before it, as in BM25 >> {name}."
            )
        with contract("filter", name):
            mask = np.asarray(self.filter.keep(hits.docs, Feedback(hits, self.term_table, self.models)))
        if mask.shape != hits.docs.shape or mask.dtype != bool:
            raise PluginError(
                f"The filter {name} gave {mask.dtype} of shape {mask.shape} for {len(hits):,} documents, not yes or no for each."
            )
        return Hits(hits.snapshot, hits.docs[mask], hits.scores[mask])

    def scores(self, docs: np.ndarray) -> np.ndarray:
        return scores_in(self.find(), docs)

    def explain(self, doc: int) -> Explanation:
        return self._note(bool(rank_in(self.find(), doc)))

    def explain_after(self, before: Scoring, doc: int) -> Explanation:
        """Return the explanation by the scorer before the filter.

        Its evidence says whether the filter keeps the document.
        """
        tree, kept = before.explain(doc), bool(rank_in(self.find(), doc))
        return tree._replace(value=tree.value if kept else float(NO_OPINION), parts=(self._note(kept), *tree.parts))

    def _note(self, kept: bool) -> Explanation:
        return Explanation(float(kept), f"{self.name} {'keeps' if kept else 'does not keep'} it", "evidence")
