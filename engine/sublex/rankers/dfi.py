"""Divergence from independence (DFI): the excess of a term's frequency over the frequency expected by length."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sublex.contracts.base import DocStats, Explanation, Statistics, TermStats
from sublex.language.parameters import parameter
from sublex.rankers.explanations import leaf, total
from sublex.rankers.weighting_model import WeightingModel

# The measures of divergence by name: each as a function of tf and the expected frequency e, and as a written formula.
MEASURES = {
    "standardized": (lambda tf, e: (tf - e) / np.sqrt(e), "(tf - e) / sqrt(e)"),
    "saturated": (lambda tf, e: (tf - e) / e, "(tf - e) / e"),
    "chisquared": (lambda tf, e: (tf - e) ** 2 / e, "(tf - e)^2 / e"),
}


@dataclass(frozen=True)
class DFI(WeightingModel):
    """Divergence from independence.

    İ. Kocabaş, B. T. Dinçer and B. Karaoğlan, A nonparametric term weighting method for information retrieval based on
    measuring the divergence from independence, Information Retrieval 17(2), 2014.

    A term that is no more frequent than expected scores 0. The default measure is that of Terrier's DFIZ.
    """

    measure: str = parameter("standardized", "The measure of divergence from the expected frequency.", tuple(MEASURES))

    def score(self, tf: np.ndarray, doc: DocStats, term: TermStats, collection: Statistics) -> np.ndarray:
        e = self._expected(doc, term, collection)
        return np.log2(1 + MEASURES[self.measure][0](np.maximum(tf, e), e))

    def _expected(self, doc: DocStats, term: TermStats, collection: Statistics) -> Any:
        return term.cf * doc.length / collection.tokens

    def explain(self, tf: float, doc: DocStats, term: TermStats, collection: Statistics) -> Explanation:
        e = float(self._expected(doc, term, collection))
        label = f"frequency: {tf:g}, with {e:.4g} expected in {doc.length:g} words"
        formula = f"log2(1 + {MEASURES[self.measure][1]}), e = cf length / tokens; 0 where tf <= e"
        numbers = {"tf": tf, "length": doc.length, "cf": term.cf, "tokens": collection.tokens}
        return total(str(self), leaf(self.value(tf, doc, term, collection), label, formula, **numbers))


RANKERS = (DFI,)
