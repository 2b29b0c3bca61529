"""TF-IDF: Robertson's term frequency times an idf, or one of the SMART schemes of `smart.py`."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sublex.contracts.base import DocStats, Explanation, Statistics, TermStats
from sublex.language.parameters import parameter
from sublex.rankers.explanations import document_frequency, product, term_frequency
from sublex.rankers.smart import Scheme
from sublex.rankers.weighting_model import WeightingModel


@dataclass(frozen=True)
class TFIDF(WeightingModel):
    """Terrier's TF_IDF: a saturated term frequency times an idf.

    S. Robertson, TREC-3, 1994 (the frequency); K. Spärck Jones, Journal of Documentation 28(1), 1972 (the idf). With
    `smart`, the scheme replaces this formula.
    """

    k1: float = parameter(1.2, "Term-frequency saturation: larger values let repetitions count for more.", (0, 1000))
    b: float = parameter(0.75, "Length normalisation: 0 ignores a document's length, 1 applies it in full.", (0, 1))
    smart: str = parameter("", "A SMART scheme in place of the formula, documents before queries: lnc.ltc.")
    slope: float = parameter(0.2, "Normalisation u of SMART: the weight of a document's distinct terms.", (0, 1))
    base: float = parameter(math.e, "The base of the logarithms in SMART schemes.", (1.1, 1000))

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.smart:
            Scheme.parse(self.smart, self.slope, self.base)
            self.refuse("k1", "b", reason=f"with smart={self.smart}")
        else:
            self.refuse("slope", "base", reason="without smart")

    def score(self, tf: np.ndarray, doc: DocStats, term: TermStats, collection: Statistics) -> np.ndarray:
        if self.smart:
            return self._scheme.score(tf, doc, term, collection)
        return robertson_frequency(tf, doc, collection, self.k1, self.b) * sparck_jones_idf(term, collection)

    @property
    def reads(self) -> tuple[str, ...]:  # type: ignore[override]
        """The names of the document statistics that the formula reads: the SMART scheme's, or the length alone."""
        return DocStats._fields if self.smart else ("length",)

    @property
    def weight(self) -> Callable[..., Any]:  # type: ignore[override]
        """The method of the SMART scheme that weighs query terms.

        Without a scheme, this is the inherited method, which the engine never calls.
        """
        return self._scheme.weight if self.smart else super().weight

    @property
    def norm_part(self) -> Callable[..., Any] | None:  # type: ignore[override]
        """The method whose results the engine sums over the terms of a document.

        It is None unless the letter of the SMART scheme for the normalisation of documents is c.
        """
        return self._scheme.norm_part if self.smart[2:3] == "c" else None

    def explain(self, tf: float, doc: DocStats, term: TermStats, collection: Statistics) -> Explanation:
        if self.smart:
            return self._scheme.explain(tf, doc, term, collection, str(self))
        formula = "k1 tf / (tf + k1 (1 - b + b length / mean))"
        value = robertson_frequency(tf, doc, collection, self.k1, self.b)
        frequency = term_frequency(value, tf, doc, collection, formula, k1=self.k1, b=self.b)
        idf = document_frequency(sparck_jones_idf(term, collection), term, collection, "log2(N / df + 1)")
        return product(str(self), frequency, idf)

    @property
    def _scheme(self) -> Scheme:
        return Scheme.parse(self.smart, self.slope, self.base)


def robertson_frequency(tf: Any, doc: DocStats, collection: Statistics, k1: float, b: float) -> Any:
    """Return S. Robertson's term frequency: k1 sets the saturation, and b the normalisation by length."""
    return k1 * tf / (tf + k1 * (1 - b + b * doc.length / collection.mean_length))


def sparck_jones_idf(term: TermStats, collection: Statistics) -> Any:
    """Return K. Spärck Jones's inverse document frequency, in bits."""
    return np.log2(collection.docs / term.df + 1)


RANKERS = (TFIDF,)
