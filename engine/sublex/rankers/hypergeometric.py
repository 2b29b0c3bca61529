"""Divergence from randomness without parameters: models by G. Amati that take all they need from the document itself.

Logarithms in bits, as in Terrier.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from sublex.base import DocStats, Explanation, Statistics, TermStats
from sublex.rankers.weighting_model import WeightingModel, frequency, leaf, product, total

# A document of one word only has relative frequency 1, where logarithms fail; this is what Terrier takes for 1.
NEARLY = 0.99999


@dataclass(frozen=True)
class Hypergeometric(WeightingModel):
    """G. Amati, Frequentist and Bayesian approach to information retrieval, ECIR 2006: the hypergeometric model, normalised."""

    formula: ClassVar[str]

    def score(self, tf: np.ndarray, doc: DocStats, term: TermStats, collection: Statistics) -> np.ndarray:
        above, correction = self._divergence(tf, doc, term, collection)
        return self._gain(tf, doc) * (above + correction)

    def explain(self, tf: float, doc: DocStats, term: TermStats, collection: Statistics) -> Explanation:
        above, correction = self._divergence(tf, doc, term, collection)
        formula = "tf log2(tf (mean / length) (N / cf))"
        divergence = total(
            "divergence from randomness",
            frequency(above, tf, doc, collection, formula, cf=term.cf, N=collection.docs),
            leaf(correction, "Stirling's correction", "0.5 log2(2 pi tf (1 - tf / length))"),
        )
        return product(str(self), leaf(self._gain(tf, doc), "gain of one more occurrence", self.formula), divergence)

    @abstractmethod
    def _gain(self, tf: Any, doc: DocStats) -> Any:
        """What the divergence is multiplied by."""

    def _divergence(self, tf: Any, doc: DocStats, term: TermStats, collection: Statistics) -> tuple[Any, Any]:
        above = tf * np.log2(tf * collection.mean_length / doc.length * collection.docs / term.cf)
        return above, 0.5 * np.log2(2 * np.pi * tf * (1 - relative(tf, doc)))


def relative(tf: Any, doc: DocStats) -> Any:
    """The share of a document's words that are this one."""
    return np.minimum(tf / doc.length, NEARLY)


@dataclass(frozen=True)
class DPH(Hypergeometric):
    """With Popper's normalisation: G. Amati et al., FUB, IASI-CNR and University of Tor Vergata at TREC 2007 Blog Track."""

    formula = "(1 - tf / length)^2 / (tf + 1)"

    def _gain(self, tf: Any, doc: DocStats) -> Any:
        return (1 - relative(tf, doc)) ** 2 / (tf + 1)


@dataclass(frozen=True)
class DLH13(Hypergeometric):
    """With Laplace's: C. Macdonald et al., University of Glasgow at TREC 2005."""

    formula = "1 / (tf + 0.5)"

    def _gain(self, tf: Any, doc: DocStats) -> Any:
        return 1 / (tf + 0.5)


@dataclass(frozen=True)
class DFRee(WeightingModel):
    """G. Amati's model free of parameters, as Terrier publishes it: the bits that one more occurrence costs.

    They are counted in the document by itself, and in the document as a sample of the collection; the score is their product.
    """

    def score(self, tf: np.ndarray, doc: DocStats, term: TermStats, collection: Statistics) -> np.ndarray:
        gain, *costs = self._parts(tf, doc, term, collection)
        return gain * sum(costs)

    def _parts(self, tf: Any, doc: DocStats, term: TermStats, collection: Statistics) -> tuple[Any, ...]:
        prior, posterior = tf / doc.length, (tf + 1) / (doc.length + 1)
        rarity = collection.tokens / term.cf
        step = np.log2(posterior / prior)
        return tf * step, (tf + 1) * np.log2(posterior * rarity), -tf * np.log2(prior * rarity), 0.5 * step

    def explain(self, tf: float, doc: DocStats, term: TermStats, collection: Statistics) -> Explanation:
        gain, after, before, correction = self._parts(tf, doc, term, collection)
        return product(
            str(self),
            frequency(gain, tf, doc, collection, "tf log2(q / p), p = tf / length, q = (tf + 1) / (length + 1)"),
            total(
                "divergence from the collection",
                leaf(
                    after,
                    "with one more occurrence",
                    "(tf + 1) log2(q tokens / cf)",
                    cf=term.cf,
                    tokens=collection.tokens,
                ),
                leaf(before, "less that without", "-tf log2(p tokens / cf)"),
                leaf(correction, "correction", "0.5 log2(q / p)"),
            ),
        )


MODELS = (DPH, DLH13, DFRee)
