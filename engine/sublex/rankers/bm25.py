"""BM25, with the variants that engines and papers call by this name.

The variants follow C. Kamphuis et al., Which BM25 do you mean?, ECIR 2020. `plus` and `L` are by Y. Lv and C. Zhai,
CIKM 2011 and SIGIR 2011. `whoosh` is `BM25F` of Whoosh 2.7 (`whoosh/scoring.py`), for a single field.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from sublex.contracts.base import DocStats, Explanation, Statistics, TermStats
from sublex.language.parameters import parameter
from sublex.rankers.explanations import document_frequency, product, term_frequency
from sublex.rankers.weighting_model import Formula, WeightingModel
from sublex.rankers.whoosh_lengths import round_lengths


class Variant(NamedTuple):
    """A variant of BM25: the two factors of its score, each as a function and as a written formula, and its lengths.

    `idf` takes a term's document frequency and the number of documents. `saturation` takes the term frequency, the
    pivot 1 - b + b length / mean length, k1 and delta. The default of delta is 0 in variants that do not use it.
    `length` is a function that rounds document lengths, or None for exact lengths. With the pivot 1, `saturation` takes a
    frequency that is normalised already, such as tfn in BM25F; `field_formula` is its written formula in this case.
    """

    idf: Formula
    idf_formula: str
    saturation: Formula
    saturation_formula: str
    field_formula: str
    delta: float = 0.0
    length: Formula | None = None


def odds(df: Any, n: Any) -> Any:
    """Return Robertson and Spärck Jones's estimate of the odds that a document lacks the term."""
    return (n - df + 0.5) / (df + 0.5)


def saturated(tf: Any, pivot: Any, k1: float, delta: float) -> Any:
    """Return the term frequency, saturated and normalised by length. The result is below 1.

    `pivot` is 1 - b + b length / mean length.
    """
    return tf / (tf + k1 * pivot)


def scaled(tf: Any, pivot: Any, k1: float, delta: float) -> Any:
    """Return the saturated frequency times k1 + 1."""
    return (k1 + 1) * (tf / (tf + k1 * pivot))


def raised(tf: Any, pivot: Any, k1: float, delta: float) -> Any:
    """Return the scaled frequency plus delta. A long document gets the same delta as a short one."""
    return scaled(tf, pivot, k1, delta) + delta


def shifted(tf: Any, pivot: Any, k1: float, delta: float) -> Any:
    """Return the scaled frequency. Delta is added to the normalised frequency before this is saturated."""
    s = tf / pivot + delta
    return (k1 + 1) * s / (s + k1)


SATURATED = saturated, "tf / (tf + k1 (1 - b + b length / mean))", "tfn / (tfn + k1)"
SCALED = scaled, f"(k1 + 1) {SATURATED[1]}", f"(k1 + 1) {SATURATED[2]}"
RAISED = raised, f"{SCALED[1]} + delta", f"{SCALED[2]} + delta"
SHIFTED = (
    shifted,
    "(k1 + 1) (s + delta) / (s + delta + k1), s = tf / (1 - b + b length / mean)",
    "(k1 + 1) (tfn + delta) / (tfn + delta + k1)",
)
# The written formula of `odds`.
ODDS = "(N - df + 0.5) / (df + 0.5)"
VARIANTS = {
    "lucene": Variant(lambda df, n: np.log(1 + odds(df, n)), f"ln(1 + {ODDS})", *SATURATED),
    "robertson": Variant(lambda df, n: np.log(odds(df, n)), f"ln({ODDS})", *SATURATED),
    "terrier": Variant(lambda df, n: np.log2(odds(df, n)), f"log2({ODDS})", *SCALED),
    "pisa": Variant(lambda df, n: np.log(odds(df, n)).clip(1e-6), f"max(ln({ODDS}), 1e-6)", *SCALED),
    "atire": Variant(lambda df, n: np.log(n / df), "ln(N / df)", *SCALED),
    "plus": Variant(lambda df, n: np.log((n + 1) / df), "ln((N + 1) / df)", *RAISED, delta=1.0),
    "L": Variant(lambda df, n: np.log((n + 1) / (df + 0.5)), "ln((N + 1) / (df + 0.5))", *SHIFTED, delta=0.5),
    "whoosh": Variant(lambda df, n: np.log(n / (df + 1)) + 1, "ln(N / (df + 1)) + 1", *SCALED, length=round_lengths),
    "tf": Variant(lambda df, n: 1.0, "1", *SATURATED),
}


@dataclass(frozen=True)
class BM25(WeightingModel):
    """Okapi BM25: an idf times a saturated term frequency.

    S. Robertson and H. Zaragoza, The probabilistic relevance framework: BM25 and beyond, FnTIR 3(4), 2009, eq. 3.15.
    The defaults of k1 and b are those of Lucene and Terrier. TREC's own runs had k3 between 7 and 1000.
    """

    k1: float = parameter(1.2, "Term-frequency saturation: larger values let repetitions count for more.", (0, 1000))
    b: float = parameter(0.75, "Length normalisation: 0 ignores a document's length, 1 applies it in full.", (0, 1))
    variant: str = parameter("lucene", "The variant of the idf and of the saturation.", tuple(VARIANTS))
    k3: float | None = parameter(None, "Saturation of query term frequencies; none without k3.", (0, 1_000_000))
    delta: float | None = parameter(None, "The bonus of any match, in variants plus (1.0) and L (0.5).", (0, 100))

    def __post_init__(self) -> None:
        super().__post_init__()
        if not VARIANTS[self.variant].delta:
            self.refuse("delta", reason=f"with variant={self.variant}")

    def score(self, tf: np.ndarray, doc: DocStats, term: TermStats, collection: Statistics) -> np.ndarray:
        return VARIANTS[self.variant].idf(term.df, collection.docs) * self._saturation(tf, doc, collection)

    def _saturation(self, tf: Any, doc: DocStats, collection: Statistics) -> Any:
        pivot = 1 - self.b + self.b * self._length(doc) / collection.mean_length
        return VARIANTS[self.variant].saturation(tf, pivot, self.k1, self._delta)

    def _length(self, doc: DocStats) -> Any:
        """Return the lengths of documents, rounded if the variant rounds them."""
        rounded = VARIANTS[self.variant].length
        return rounded(doc.length) if rounded else doc.length

    @property
    def _delta(self) -> float:
        return VARIANTS[self.variant].delta if self.delta is None else self.delta

    @property
    def weight(self) -> Callable[..., Any]:  # type: ignore[override]
        """The method that saturates query term frequencies.

        If k3 is None, this is the inherited method, which the engine never calls.
        """
        return super().weight if self.k3 is None else self._saturated_weight

    def _saturated_weight(self, qtf: np.ndarray, term: TermStats, collection: Statistics) -> np.ndarray:
        return query_saturation(qtf, self.k3)  # type: ignore[arg-type]

    def explain(self, tf: float, doc: DocStats, term: TermStats, collection: Statistics) -> Explanation:
        variant, numbers = VARIANTS[self.variant], {"k1": self.k1, "b": self.b}
        numbers |= {"delta": self._delta} if self._delta else {}
        numbers |= {"rounded_length": self._length(doc)} if variant.length else {}
        idf = document_frequency(variant.idf(term.df, collection.docs), term, collection, variant.idf_formula)
        value, formula = self._saturation(tf, doc, collection), variant.saturation_formula
        return product(str(self), idf, term_frequency(value, tf, doc, collection, formula, **numbers))


def query_saturation(qtf: np.ndarray, k3: float) -> np.ndarray:
    """Return (k3 + 1) qtf / (k3 + qtf); negative frequencies keep their sign."""
    # The smallest denominator, 1e-300, avoids 0 / 0 if k3 and qtf are both 0.
    return np.sign(qtf) * (k3 + 1) * np.abs(qtf) / np.maximum(k3 + np.abs(qtf), 1e-300)


RANKERS = (BM25,)
