"""Information-based models: the surprise at a term's frequency, under distributions with bursts of occurrences.

S. Clinchant and E. Gaussier, Information-based models for ad hoc IR, SIGIR 2010.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from sublex.contracts.base import DocStats, Explanation, Statistics, TermStats
from sublex.language.parameters import parameter
from sublex.rankers.explanations import computed, document_frequency, term_frequency
from sublex.rankers.weighting_model import LOG2_E, WeightingModel


@dataclass(frozen=True)
class InformationBased(WeightingModel):
    """The information -log2 P(X >= tfn), for a distribution that a subclass provides.

    S. Clinchant and É. Gaussier, Information-based models for ad hoc IR, SIGIR 2010.
    The parameter of the distribution is r = df / N. Logarithms to base 2 and c = 1 are those of Terrier's LGD.
    """

    c: float = parameter(1.0, "Length normalisation: with larger values, length counts for less.", (0.001, 10_000))

    formula: ClassVar[str]

    def tfn(self, tf: Any, doc: DocStats, collection: Statistics) -> Any:
        """Return the term frequency, normalised to a document of mean length."""
        return tf * np.log1p(self.c * collection.mean_length / doc.length) * LOG2_E

    def explain(self, tf: float, doc: DocStats, term: TermStats, collection: Statistics) -> Explanation:
        tfn = self.tfn(tf, doc, collection)
        inputs = (
            term_frequency(tfn, tf, doc, collection, "tfn = tf log2(1 + c mean / length)", c=self.c),
            document_frequency(term.df / collection.docs, term, collection, "r = df / N"),
        )
        return computed(self.value(tf, doc, term, collection), str(self), self.formula, *inputs)


@dataclass(frozen=True)
class LGD(InformationBased):
    """The information-based model of the log-logistic distribution."""

    formula = "-log2(r / (r + tfn))"

    def score(self, tf: np.ndarray, doc: DocStats, term: TermStats, collection: Statistics) -> np.ndarray:
        r = term.df / collection.docs
        return np.log1p(self.tfn(tf, doc, collection) / r) * LOG2_E


@dataclass(frozen=True)
class SPL(InformationBased):
    """The information-based model of the smoothed power law.

    For a term in every document r is 1; its score is the limit log2(tfn + 1).
    """

    formula = "-log2((r^(tfn / (tfn + 1)) - r) / (1 - r))"

    def score(self, tf: np.ndarray, doc: DocStats, term: TermStats, collection: Statistics) -> np.ndarray:
        r = term.df / collection.docs
        x = 1 / (self.tfn(tf, doc, collection) + 1)
        # expm1 computes r^-x - 1 without cancellation, since r^(1 - x) - r = r (r^-x - 1).
        p = r * np.expm1(-x * np.log(r)) / np.where(r < 1, 1 - r, 1)
        return -np.log2(np.where(r < 1, p, x))


RANKERS = (LGD, SPL)
