"""BM25F: BM25 on fields, which adds up the weighted frequencies of the fields before it saturates the sum.

H. Zaragoza, N. Craswell, M. Taylor, S. Saria and S. Robertson, Microsoft Cambridge at TREC-13: web and HARD tracks,
TREC 2004. Each field has its own normalisation by length. The idf counts whole documents.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sublex.contracts.base import DocStats, Explanation, FieldStatistics, TermStats
from sublex.language.parameters import parameter
from sublex.rankers.bm25 import VARIANTS, query_saturation
from sublex.rankers.explanations import computed, document_frequency, product
from sublex.rankers.field_weighting_model import FieldWeightingModel


@dataclass(frozen=True)
class BM25F(FieldWeightingModel):
    """BM25 on fields: the idf times the saturated sum of w tf / (1 - b + b length / mean) over the fields.

    H. Zaragoza et al., Microsoft Cambridge at TREC-13, TREC 2004. The variants are those of BM25, and so are the
    defaults. With one field that holds all words, the scores are those of BM25.
    """

    normalisation = "b"
    normalisation_formula = "w tf / (1 - b + b length / mean)"

    b: float | tuple[float, ...] = parameter(
        0.75,
        "Length normalisation of each field, as in [0.5, 0.75], or one number for all fields.",
        (0, 1),
        type=object,
    )
    k1: float = parameter(1.2, "Saturation of the sum: larger values let repetitions count for more.", (0, 1000))
    variant: str = parameter("lucene", "The variant of the idf and of the saturation.", tuple(VARIANTS))
    k3: float | None = parameter(None, "Saturation of query term frequencies; none without k3.", (0, 1_000_000))
    delta: float | None = parameter(None, "The bonus of any match, in variants plus (1.0) and L (0.5).", (0, 100))

    def __post_init__(self) -> None:
        super().__post_init__()
        if not VARIANTS[self.variant].delta:
            self.refuse("delta", reason=f"with variant={self.variant}")

    def normalised(self, tf: Any, length: Any, mean: float, number: float) -> Any:
        rounded = VARIANTS[self.variant].length
        return tf / (1 - number + number * (rounded(length) if rounded else length) / mean)

    def score(self, tf: Any, doc: DocStats, term: TermStats, collection: Any) -> np.ndarray:
        return VARIANTS[self.variant].idf(term.df, collection.docs) * self._saturation(tf, doc, collection)

    def _saturation(self, tf: Any, doc: DocStats, collection: FieldStatistics) -> Any:
        """Return the saturated frequency. A term that is in none of the fields gets 0, even in a variant with a delta."""
        variant, frequency = VARIANTS[self.variant], self.frequency(tf, doc, collection)
        there = frequency > 0
        return np.where(there, variant.saturation(np.where(there, frequency, 1.0), 1.0, self.k1, self._delta), 0.0)

    @property
    def _delta(self) -> float:
        return VARIANTS[self.variant].delta if self.delta is None else self.delta

    @property
    def weight(self) -> Callable[..., Any]:  # type: ignore[override]
        """The method that saturates query term frequencies.

        If k3 is None, this is the inherited method, which the engine never calls.
        """
        return super().weight if self.k3 is None else self._saturated_weight

    def _saturated_weight(self, qtf: np.ndarray, term: TermStats, collection: Any) -> np.ndarray:
        return query_saturation(qtf, self.k3)  # type: ignore[arg-type]

    def explain(self, tf: Any, doc: DocStats, term: TermStats, collection: Any) -> Explanation:
        variant = VARIANTS[self.variant]
        idf = document_frequency(variant.idf(term.df, collection.docs), term, collection, variant.idf_formula)
        label = f"saturated frequency (k1 = {self.k1:g}" + (f", delta = {self._delta:g})" if self._delta else ")")
        frequency = self.explained_frequency(tf, doc, collection)
        value = self._saturation(tf, doc, collection)
        return product(str(self), idf, computed(value, label, variant.field_formula, frequency))


RANKERS = (BM25F,)
