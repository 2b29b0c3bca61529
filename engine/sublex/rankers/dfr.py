"""Divergence from randomness (DFR): the surprise at a term's frequency, times the gain of one more occurrence.

G. Amati and C. J. van Rijsbergen, Probabilistic models of information retrieval based on measuring the divergence from
randomness, TOIS 20(4), 2002. Logarithms are to base 2. The default of c and the names are Terrier's.
Letters: tfn is the normalised term frequency, N (here `n`) the number of documents, F the collection frequency cf.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sublex.contracts.base import DocStats, Explanation, Statistics, TermStats
from sublex.language.parameters import parameter
from sublex.rankers.explanations import as_evidence, leaf, product, term_frequency, total
from sublex.rankers.weighting_model import LOG2_E, Formula, WeightingModel

# A basic model is a sum. Each of its summands has a value, a label and a written formula.
Parts = list[tuple[Any, str, str]]


def poisson(tfn: Any, term: TermStats, n: int) -> Parts:
    """Return the summands of P, the Poisson distribution by Stirling's formula.

    `tfn` is the normalised term frequency, and `n` is the number of documents. The summand 1 / (12 tfn) of Stirling's
    formula is left out, because it is huge for tfn near 0.
    """
    rate = term.cf / n
    return [
        (tfn * np.log2(tfn / rate), "frequency compared with chance", "tfn log2(tfn / r), r = cf / N"),
        ((rate - tfn) * LOG2_E, "expected frequency minus observed frequency", "(r - tfn) log2 e"),
        (0.5 * np.log2(2 * np.pi * tfn), "Stirling's correction", "0.5 log2(2 pi tfn)"),
    ]


def binomial(tfn: Any, term: TermStats, n: int) -> Parts:
    """Return the summands of D, the binomial distribution, approximated by the divergence of tfn / cf from 1 / n.

    `tfn` is the normalised term frequency, cf the collection frequency, and `n` the number of documents.
    """
    rest = occurrences_elsewhere(tfn, term)
    ratio = rest * n / (term.cf * max(n - 1, 1))
    elsewhere = "(cf - tfn) log2((cf - tfn) N / (cf (N - 1)))"
    return [
        (tfn * np.log2(tfn * n / term.cf), "frequency here compared with chance", "tfn log2(tfn N / cf)"),
        (rest * np.log2(ratio), "frequency elsewhere compared with chance", elsewhere),
        (0.5 * np.log2(2 * np.pi * tfn * rest / term.cf), "Stirling's correction", "0.5 log2(2 pi tfn (1 - tfn / cf))"),
    ]


def bose_einstein(tfn: Any, term: TermStats, n: int) -> Parts:
    """Return the summands of BE, Bose-Einstein statistics by Stirling's formula.

    Each of the two calls of `stirling` leaves out a summand. The summand -log2 e is the sum of these two.
    """
    ways = n + term.cf - 1
    all_ways = stirling(ways, np.maximum(ways - 1 - tfn, 0.5))
    f = "f(n, m) = (m + 0.5) log2(n / m) + (n - m) log2 n"
    return [
        (-np.log2(max(n - 1, 1)) - LOG2_E, "choice of a document", "-log2(N - 1) - log2 e"),
        (all_ways, "all arrangements of the occurrences", f"f(N + cf - 1, N + cf - tfn - 2), {f}"),
        (
            -stirling(term.cf, occurrences_elsewhere(tfn, term)),
            "arrangements with this frequency",
            f"-f(cf, cf - tfn), {f}",
        ),
    ]


def geometric(tfn: Any, term: TermStats, n: int) -> Parts:
    """Return the summands of G, Bose-Einstein statistics approximated by the geometric distribution."""
    rate = term.cf / n
    return [
        (np.log2(1 + rate), "normalising factor of the distribution", "log2(1 + r), r = cf / N"),
        (tfn * np.log2((1 + rate) / rate), "surprise at the frequency", "tfn log2((1 + r) / r)"),
    ]


def inverse(tfn: Any, term: TermStats, n: int) -> Parts:
    """Return the only summand of In, by the inverse document frequency."""
    return [(tfn * np.log2((n + 1) / (term.df + 0.5)), "rarity, by documents", "tfn log2((N + 1) / (df + 0.5))")]


def inverse_expected(tfn: Any, term: TermStats, n: int) -> Parts:
    """Return the only summand of Ine, by the inverse expected document frequency.

    This frequency is the number of documents that would contain the term if its occurrences were spread at random.
    """
    expected = -n * np.expm1(term.cf * np.log1p(-1 / n)) if n > 1 else 1.0
    formula = "tfn log2((N + 1) / (e + 0.5)), e = N (1 - (1 - 1 / N)^cf)"
    return [(tfn * np.log2((n + 1) / (expected + 0.5)), "rarity, by expected documents", formula)]


def inverse_frequency(tfn: Any, term: TermStats, n: int) -> Parts:
    """Return the only summand of IF, by the inverse collection frequency."""
    return [(tfn * np.log2((n + 1) / (term.cf + 0.5)), "rarity, by occurrences", "tfn log2((N + 1) / (cf + 0.5))")]


def stirling(n: Any, m: Any) -> Any:
    """Return log2(n! / m!) by Stirling's formula, without the summand -(n - m) log2 e.

    Amati and van Rijsbergen call this f(n, m).
    """
    return (m + 0.5) * np.log2(n / m) + (n - m) * np.log2(n)


def occurrences_elsewhere(tfn: Any, term: TermStats) -> Any:
    """Return the number of occurrences in other documents, but at least 0.5.

    Stirling's formula needs a number above 0, but cf - tfn is below 0 if tfn, which is normalised, exceeds cf.
    """
    return np.maximum(term.cf - tfn, 0.5)


# The basic models of randomness, the after-effects (also called first normalisations), and the normalisations of tf.
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
    """Any combination of a basic model, an after-effect and a length normalisation; by default PL2."""

    basic: str = parameter("P", "The basic model of randomness.", tuple(BASIC))
    after: str = parameter("L", "The after-effect: L (Laplace), B (Bernoulli) or none.", tuple(AFTER))
    norm: str = parameter("H2", "The normalisation of the term frequency by document length.", tuple(NORM))
    c: float = parameter(1.0, "Length normalisation: with larger values, length counts for less.", (0.001, 10_000))

    def score(self, tf: np.ndarray, doc: DocStats, term: TermStats, collection: Statistics) -> np.ndarray:
        tfn = self._tfn(tf, doc, collection)
        return AFTER[self.after][0](tfn, term) * sum(part[0] for part in BASIC[self.basic](tfn, term, collection.docs))

    def _tfn(self, tf: Any, doc: DocStats, collection: Statistics) -> Any:
        return NORM[self.norm][0](tf, collection.mean_length / doc.length, self.c)

    def explain(self, tf: float, doc: DocStats, term: TermStats, collection: Statistics) -> Explanation:
        tfn = self._tfn(np.float64(tf), doc, collection)
        gain, formula = AFTER[self.after]
        sums = BASIC[self.basic](tfn, term, collection.docs)
        parts = [leaf(*part, df=term.df, cf=term.cf, N=collection.docs) for part in sums]
        divergence = total("divergence from randomness", *parts) if len(parts) > 1 else parts[0]
        normalised = term_frequency(tfn, tf, doc, collection, NORM[self.norm][1], c=self.c)
        gained = leaf(gain(tfn, term), "gain of one more occurrence", formula)
        return product(str(self), gained, divergence, as_evidence(normalised))


def fixed(choice: str) -> Any:
    """Return a dataclass field with a fixed value for a subclass of DFR, so that it is no parameter of the subclass."""
    return field(default=choice, init=False)


@dataclass(frozen=True)
class PL2(DFR):
    """DFR with Poisson, Laplace, H2.

    The score is (tfn log2(tfn / r) + (r - tfn) log2 e + 0.5 log2(2 pi tfn)) / (tfn + 1), r = cf / N.
    """

    basic: str = fixed("P")
    after: str = fixed("L")
    norm: str = fixed("H2")


@dataclass(frozen=True)
class InL2(DFR):
    """DFR with inverse document frequency, Laplace, H2: tfn log2((N + 1) / (df + 0.5)) / (tfn + 1)."""

    basic: str = fixed("In")
    after: str = fixed("L")
    norm: str = fixed("H2")


@dataclass(frozen=True)
class BB2(DFR):
    """DFR with Bose-Einstein, Bernoulli, H2."""

    basic: str = fixed("BE")
    after: str = fixed("B")
    norm: str = fixed("H2")


@dataclass(frozen=True)
class IneB2(DFR):
    """DFR with inverse expected document frequency, Bernoulli, H2; Terrier's In_expB2."""

    basic: str = fixed("Ine")
    after: str = fixed("B")
    norm: str = fixed("H2")


RANKERS = (DFR, PL2, InL2, BB2, IneB2)
