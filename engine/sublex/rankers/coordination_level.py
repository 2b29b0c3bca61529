"""Coordination level matching: the number of query terms that a document holds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sublex.contracts.base import DocStats, Explanation, Statistics, TermStats
from sublex.rankers.explanations import leaf, total
from sublex.rankers.weighting_model import WeightingModel


@dataclass(frozen=True)
class CoordinateMatch(WeightingModel):
    """A score of 1 for each query term that a document holds.

    C. W. Cleverdon, The Cranfield tests on index language devices, Aslib Proceedings 19(6), 1967. No parameters.
    """

    def score(self, tf: np.ndarray, doc: DocStats, term: TermStats, collection: Statistics) -> np.ndarray:
        return np.ones_like(tf)

    def explain(self, tf: float, doc: DocStats, term: TermStats, collection: Statistics) -> Explanation:
        return total(str(self), leaf(1, "the document contains the word", "1"))


RANKERS = (CoordinateMatch,)
