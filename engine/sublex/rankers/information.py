"""Information-based models: how surprising a word's frequency is, where frequencies come in bursts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from sublex.base import DocStats, Explanation, Statistics, TermStats
from sublex.parameters import parameter
from sublex.rankers.weighting_model import LOG2_E, WeightingModel, frequency, of_parts, rarity


@dataclass(frozen=True)
class Information(WeightingModel):
    """S. Clinchant and É. Gaussier, Information-based models for ad hoc IR, SIGIR 2010: -log2 P(X >= tfn).

    The distribution's parameter is r = df / N. Logarithms in bits and c = 1, as in Terrier's LGD.
    """

    c: float = parameter(1.0, "how little a document's length counts", (0.001, 10_000))

    formula: ClassVar[str]

    def tfn(self, tf: Any, doc: DocStats, collection: Statistics) -> Any:
        """The frequency as it would be in a document of mean length."""
        return tf * np.log1p(self.c * collection.mean_length / doc.length) * LOG2_E

    def explain(self, tf: float, doc: DocStats, term: TermStats, collection: Statistics) -> Explanation:
        tfn = self.tfn(tf, doc, collection)
        parts = (
            frequency(tfn, tf, doc, collection, "tfn = tf log2(1 + c mean / length)", c=self.c),
            rarity(term.df / collection.docs, term, collection, "r = df / N"),
        )
        return of_parts(self.value(tf, doc, term, collection), str(self), self.formula, *parts)


@dataclass(frozen=True)
class LGD(Information):
    """The log-logistic distribution."""

    formula = "-log2(r / (r + tfn))"

    def score(self, tf: np.ndarray, doc: DocStats, term: TermStats, collection: Statistics) -> np.ndarray:
        r = term.df / collection.docs
        return np.log1p(self.tfn(tf, doc, collection) / r) * LOG2_E


@dataclass(frozen=True)
class SPL(Information):
    """The smoothed power law. A word in every document has r = 1, and there the limit log2(tfn + 1)."""

    formula = "-log2((r^(tfn / (tfn + 1)) - r) / (1 - r))"

    def score(self, tf: np.ndarray, doc: DocStats, term: TermStats, collection: Statistics) -> np.ndarray:
        r = term.df / collection.docs
        left = 1 / (self.tfn(tf, doc, collection) + 1)
        # r^(1 - left) - r = r (r^-left - 1), without the cancellation.
        above = r * np.expm1(-left * np.log(r)) / np.where(r < 1, 1 - r, 1)
        return -np.log2(np.where(r < 1, above, left))


MODELS = (LGD, SPL)
