"""Divergence from randomness without parameters: DPH, DLH13 and DFRee, all by G. Amati.

Logarithms are to base 2, as in Terrier. These models derive the normalisation by length from the document itself.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from sublex.contracts.base import DocStats, Explanation, Statistics, TermStats
from sublex.rankers.explanations import leaf, product, term_frequency, total
from sublex.rankers.weighting_model import WeightingModel

# The largest relative frequency, as in Terrier. In a document that repeats a single word it would be 1, for which the
# logarithm fails.
MAX_RELATIVE_FREQUENCY = 0.99999


@dataclass(frozen=True)
class Hypergeometric(WeightingModel):
    """The hypergeometric model, times the gain of one more occurrence.

    G. Amati, Frequentist and Bayesian approach to information retrieval, ECIR 2006. A subclass provides the gain that
    multiplies the divergence, as a method and as a formula.
    """

    formula: ClassVar[str]

    def score(self, tf: np.ndarray, doc: DocStats, term: TermStats, collection: Statistics) -> np.ndarray:
        divergence, correction = self._divergence(tf, doc, term, collection)
        return self._gain(tf, doc) * (divergence + correction)

    def _divergence(self, tf: Any, doc: DocStats, term: TermStats, collection: Statistics) -> tuple[Any, Any]:
        divergence = tf * np.log2(tf * collection.mean_length / doc.length * collection.docs / term.cf)
        return divergence, 0.5 * np.log2(2 * np.pi * tf * (1 - relative_frequency(tf, doc)))

    @abstractmethod
    def _gain(self, tf: Any, doc: DocStats) -> Any:
        """Return the factor by which the divergence is multiplied."""

    def explain(self, tf: float, doc: DocStats, term: TermStats, collection: Statistics) -> Explanation:
        divergence, correction = self._divergence(tf, doc, term, collection)
        formula = "tf log2(tf (mean / length) (N / cf))"
        parts = total(
            "divergence from randomness",
            term_frequency(divergence, tf, doc, collection, formula, cf=term.cf, N=collection.docs),
            leaf(correction, "Stirling's correction", "0.5 log2(2 pi tf (1 - tf / length))"),
        )
        return product(str(self), leaf(self._gain(tf, doc), "gain of one more occurrence", self.formula), parts)


def relative_frequency(tf: Any, doc: DocStats) -> Any:
    """Return tf / length, at most `MAX_RELATIVE_FREQUENCY`."""
    return np.minimum(tf / doc.length, MAX_RELATIVE_FREQUENCY)


@dataclass(frozen=True)
class DPH(Hypergeometric):
    """The hypergeometric model times (1 - tf / length)² / (tf + 1), a gain of one more occurrence by Popper's normalisation.

    G. Amati et al., FUB, IASI-CNR and University of Tor Vergata at TREC 2007 Blog Track.
    """

    formula = "(1 - tf / length)^2 / (tf + 1)"

    def _gain(self, tf: Any, doc: DocStats) -> Any:
        return (1 - relative_frequency(tf, doc)) ** 2 / (tf + 1)


@dataclass(frozen=True)
class DLH13(Hypergeometric):
    """The hypergeometric model times 1 / (tf + 0.5), the gain of one more occurrence (Laplace's normalisation).

    C. Macdonald et al., University of Glasgow at TREC 2005.
    """

    formula = "1 / (tf + 0.5)"

    def _gain(self, tf: Any, doc: DocStats) -> Any:
        return 1 / (tf + 0.5)


@dataclass(frozen=True)
class DFRee(WeightingModel):
    """G. Amati's DFR model "free of parameters", as Terrier publishes it.

    With p = tf / length and q = (tf + 1) / (length + 1), the score is tf log2(q / p) times a rise: the rise of the
    divergence from the collection if the term occurs once more in the document. It includes the correction 0.5 log2(q / p).
    """

    def score(self, tf: np.ndarray, doc: DocStats, term: TermStats, collection: Statistics) -> np.ndarray:
        inner, *outer = self._parts(tf, doc, term, collection)
        return inner * sum(outer)

    def _parts(self, tf: Any, doc: DocStats, term: TermStats, collection: Statistics) -> tuple[Any, ...]:
        p, q, rarity = tf / doc.length, (tf + 1) / (doc.length + 1), collection.tokens / term.cf
        step = np.log2(q / p)
        return tf * step, (tf + 1) * np.log2(q * rarity), -tf * np.log2(p * rarity), 0.5 * step

    def explain(self, tf: float, doc: DocStats, term: TermStats, collection: Statistics) -> Explanation:
        inner, after, before, correction = self._parts(tf, doc, term, collection)
        formula, numbers = "(tf + 1) log2(q tokens / cf)", {"cf": term.cf, "tokens": collection.tokens}
        outer = total(
            "divergence from the collection",
            leaf(after, "with one more occurrence", formula, **numbers),
            leaf(before, "minus without it", "-tf log2(p tokens / cf)"),
            leaf(correction, "correction", "0.5 log2(q / p)"),
        )
        formula = "tf log2(q / p), p = tf / length, q = (tf + 1) / (length + 1)"
        return product(str(self), term_frequency(inner, tf, doc, collection, formula), outer)


RANKERS = (DPH, DLH13, DFRee)
