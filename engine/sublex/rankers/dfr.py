"""Divergence from randomness: how unlikely chance makes a frequency, times the gain of one more occurrence.

G. Amati and C. J. van Rijsbergen, Probabilistic models of information retrieval based on measuring the divergence from
randomness, TOIS 20(4), 2002. Logarithms in bits; c and the names are Terrier's.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sublex.base import DocStats, Explanation, Statistics, TermStats
from sublex.parameters import parameter
from sublex.rankers.weighting_model import LOG2_E, Formula, WeightingModel, frequency, leaf, product, shown, total

# Each part of a basic model: its value, its name, its formula.
Parts = list[tuple[Any, str, str]]


def poisson(tfn: Any, term: TermStats, n: int) -> Parts:
    """Stirling's formula for a Poisson process, without its 1 / (12 tfn), which explodes where tfn is near 0."""
    rate = term.cf / n
    return [
        (tfn * np.log2(tfn / rate), "how far above chance", "tfn log2(tfn / r), r = cf / N"),
        ((rate - tfn) * LOG2_E, "what chance gives less what is found", "(r - tfn) log2 e"),
        (0.5 * np.log2(2 * np.pi * tfn), "Stirling's correction", "0.5 log2(2 pi tfn)"),
    ]


def binomial(tfn: Any, term: TermStats, n: int) -> Parts:
    """The binomial distribution, approximated by the divergence of tfn / F from 1 / N."""
    left = elsewhere(tfn, term)
    rest = left * n / (term.cf * max(n - 1, 1))
    return [
        (tfn * np.log2(tfn * n / term.cf), "how far above chance here", "tfn log2(tfn N / cf)"),
        (left * np.log2(rest), "how far below elsewhere", "(cf - tfn) log2((cf - tfn) N / (cf (N - 1)))"),
        (0.5 * np.log2(2 * np.pi * tfn * left / term.cf), "Stirling's correction", "0.5 log2(2 pi tfn (1 - tfn / cf))"),
    ]


def bose_einstein(tfn: Any, term: TermStats, n: int) -> Parts:
    """Bose-Einstein statistics by Stirling's formula."""
    ways = n + term.cf - 1
    f = "f(n, m) = (m + 0.5) log2(n / m) + (n - m) log2 n"
    return [
        (-np.log2(max(n - 1, 1)) - LOG2_E, "the choice of a document", "-log2(N - 1) - log2 e"),
        (stirling(ways, np.maximum(ways - 1 - tfn, 0.5)), "all arrangements", f"f(N + cf - 1, N + cf - tfn - 2), {f}"),
        (-stirling(term.cf, elsewhere(tfn, term)), "those like this one", f"-f(cf, cf - tfn), {f}"),
    ]


def geometric(tfn: Any, term: TermStats, n: int) -> Parts:
    """Bose-Einstein statistics as a geometric distribution."""
    rate = term.cf / n
    return [
        (np.log2(1 + rate), "that it occurs at all", "log2(1 + r), r = cf / N"),
        (tfn * np.log2((1 + rate) / rate), "that it occurs so often", "tfn log2((1 + r) / r)"),
    ]


def inverse(tfn: Any, term: TermStats, n: int) -> Parts:
    """Inverse document frequency."""
    return [(tfn * np.log2((n + 1) / (term.df + 0.5)), "rarity, by documents", "tfn log2((N + 1) / (df + 0.5))")]


def inverse_expected(tfn: Any, term: TermStats, n: int) -> Parts:
    """Inverse of the document frequency that chance would give to F occurrences."""
    expected = -n * np.expm1(term.cf * np.log1p(-1 / n)) if n > 1 else 1.0
    formula = "tfn log2((N + 1) / (e + 0.5)), e = N (1 - (1 - 1 / N)^cf)"
    return [(tfn * np.log2((n + 1) / (expected + 0.5)), "rarity, by expected documents", formula)]


def inverse_frequency(tfn: Any, term: TermStats, n: int) -> Parts:
    """Inverse collection frequency."""
    return [(tfn * np.log2((n + 1) / (term.cf + 0.5)), "rarity, by occurrences", "tfn log2((N + 1) / (cf + 0.5))")]


def stirling(n: Any, m: Any) -> Any:
    """Amati's f(n, m), for the logarithm of n! / m!."""
    return (m + 0.5) * np.log2(n / m) + (n - m) * np.log2(n)


def elsewhere(tfn: Any, term: TermStats) -> Any:
    """Occurrences in other documents; Stirling's formula needs some, and a normalised frequency may exceed them all."""
    return np.maximum(term.cf - tfn, 0.5)


BASIC: dict[str, Formula] = {
    "P": poisson,
    "D": binomial,
    "BE": bose_einstein,
    "G": geometric,
    "In": inverse,
    "Ine": inverse_expected,
    "IF": inverse_frequency,
}
AFTER: dict[str, tuple[Formula, str]] = {
    "L": (lambda tfn, term: 1 / (tfn + 1), "1 / (tfn + 1)"),
    "B": (lambda tfn, term: (term.cf + 1) / (term.df * (tfn + 1)), "(cf + 1) / (df (tfn + 1))"),
    "none": (lambda tfn, term: 1.0, "1"),
}
NORM: dict[str, tuple[Formula, str]] = {
    "H1": (lambda tf, ratio, c: tf * c * ratio, "tfn = tf c mean / length"),
    "H2": (lambda tf, ratio, c: tf * np.log1p(c * ratio) * LOG2_E, "tfn = tf log2(1 + c mean / length)"),
    "none": (lambda tf, ratio, c: tf, "tfn = tf"),
}


@dataclass(frozen=True)
class DFR(WeightingModel):
    """Any basic model, after-effect and length normalisation together; PL2 unless told otherwise."""

    basic: str = parameter("P", "the basic model of randomness", tuple(BASIC))
    after: str = parameter("L", "the after-effect: Laplace, Bernoulli or none", tuple(AFTER))
    norm: str = parameter("H2", "the normalisation of frequencies by length", tuple(NORM))
    c: float = parameter(1.0, "how little a document's length counts", (0.001, 10_000))

    def score(self, tf: np.ndarray, doc: DocStats, term: TermStats, collection: Statistics) -> np.ndarray:
        tfn = self._tfn(tf, doc, collection)
        return AFTER[self.after][0](tfn, term) * sum(part[0] for part in BASIC[self.basic](tfn, term, collection.docs))

    def explain(self, tf: float, doc: DocStats, term: TermStats, collection: Statistics) -> Explanation:
        tfn = self._tfn(np.float64(tf), doc, collection)
        gain, formula = AFTER[self.after]
        parts = [
            leaf(*part, df=term.df, cf=term.cf, N=collection.docs)
            for part in BASIC[self.basic](tfn, term, collection.docs)
        ]
        chance = total("divergence from randomness", *parts) if len(parts) > 1 else parts[0]
        seen = frequency(tfn, tf, doc, collection, NORM[self.norm][1], c=self.c)
        return product(str(self), leaf(gain(tfn, term), "gain of one more occurrence", formula), chance, shown(seen))

    def _tfn(self, tf: Any, doc: DocStats, collection: Statistics) -> Any:
        return NORM[self.norm][0](tf, collection.mean_length / doc.length, self.c)


def fixed(choice: str) -> Any:
    """A choice that a named model has made."""
    return field(default=choice, init=False)


@dataclass(frozen=True)
class PL2(DFR):
    """Poisson, Laplace: (tfn log2(tfn / r) + (r - tfn) log2 e + 0.5 log2(2 pi tfn)) / (tfn + 1), r = cf / N."""

    basic: str = fixed("P")
    after: str = fixed("L")
    norm: str = fixed("H2")


@dataclass(frozen=True)
class InL2(DFR):
    """Inverse document frequency, Laplace: tfn log2((N + 1) / (df + 0.5)) / (tfn + 1)."""

    basic: str = fixed("In")
    after: str = fixed("L")
    norm: str = fixed("H2")


@dataclass(frozen=True)
class BB2(DFR):
    """Bose-Einstein, Bernoulli."""

    basic: str = fixed("BE")
    after: str = fixed("B")
    norm: str = fixed("H2")


@dataclass(frozen=True)
class IneB2(DFR):
    """Inverse expected document frequency, Bernoulli; Terrier's In_expB2."""

    basic: str = fixed("Ine")
    after: str = fixed("B")
    norm: str = fixed("H2")


MODELS = (DFR, PL2, InL2, BB2, IneB2)
