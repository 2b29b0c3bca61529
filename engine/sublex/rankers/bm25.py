"""BM25, in the variants that engines and papers mean by its name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from sublex.base import DocStats, Explanation, Statistics, TermStats
from sublex.parameters import parameter
from sublex.rankers.weighting_model import Formula, WeightingModel, frequency, product, rarity


class Variant(NamedTuple):
    """An idf, whether the frequency is multiplied by k1 + 1, and the delta of the variant's paper."""

    idf: Formula
    formula: str
    gain: bool = True
    delta: float = 0.0


def odds(df: Any, docs: Any) -> Any:
    """Documents without the term to documents with it, as Robertson and Spärck Jones estimate them."""
    return (docs - df + 0.5) / (df + 0.5)


VARIANTS = {
    "lucene": Variant(lambda df, n: np.log(1 + odds(df, n)), "ln(1 + (N - df + 0.5) / (df + 0.5))", gain=False),
    "robertson": Variant(lambda df, n: np.log(odds(df, n)), "ln((N - df + 0.5) / (df + 0.5))", gain=False),
    "terrier": Variant(lambda df, n: np.log2(odds(df, n)), "log2((N - df + 0.5) / (df + 0.5))"),
    "pisa": Variant(lambda df, n: np.log(odds(df, n)).clip(1e-6), "max(ln((N - df + 0.5) / (df + 0.5)), 1e-6)"),
    "atire": Variant(lambda df, n: np.log(n / df), "ln(N / df)"),
    "plus": Variant(lambda df, n: np.log((n + 1) / df), "ln((N + 1) / df)", delta=1.0),
    "L": Variant(lambda df, n: np.log((n + 1) / (df + 0.5)), "ln((N + 1) / (df + 0.5))", delta=0.5),
    "tf": Variant(lambda df, n: 1.0, "1", gain=False),
}
BARE = "tf / (tf + k1 (1 - b + b length / mean))"
FORMULAS = {name: f"(k1 + 1) {BARE}" if variant.gain else BARE for name, variant in VARIANTS.items()} | {
    "plus": f"(k1 + 1) {BARE} + delta",
    "L": "(k1 + 1) (s + delta) / (s + delta + k1), s = tf / (1 - b + b length / mean)",
}


@dataclass(frozen=True)
class BM25(WeightingModel):
    """S. Robertson and H. Zaragoza, The probabilistic relevance framework: BM25 and beyond, FnTIR 3(4), 2009, eq. 3.15.

    The variants are those of C. Kamphuis et al., Which BM25 do you mean?, ECIR 2020; plus and L are by Y. Lv and C. Zhai, CIKM 2011
    and SIGIR 2011. k1, b as Terrier and Lucene have them; TREC's own runs had k3 between 7 and 1000.
    """

    k1: float = parameter(1.2, "how slowly repetitions saturate", (0, 1000))
    b: float = parameter(0.75, "how much a document's length counts", (0, 1))
    variant: str = parameter("lucene", "whose idf and form", tuple(VARIANTS))
    k3: float | None = parameter(None, "how slowly repetitions in the query saturate; not given: never", (0, 1_000_000))
    delta: float | None = parameter(None, "what any match is sure of, in variants plus (1.0) and L (0.5)", (0, 100))

    def __post_init__(self) -> None:
        super().__post_init__()
        if not VARIANTS[self.variant].delta:
            self.refuse("delta", beside=f"to variant={self.variant}")

    def score(self, tf: np.ndarray, doc: DocStats, term: TermStats, collection: Statistics) -> np.ndarray:
        return self._idf(term, collection) * self._saturated(tf, doc, collection)

    def _idf(self, term: TermStats, collection: Statistics) -> Any:
        return VARIANTS[self.variant].idf(term.df, collection.docs)

    @property
    def _delta(self) -> float:
        return VARIANTS[self.variant].delta if self.delta is None else self.delta

    def _saturated(self, tf: Any, doc: DocStats, collection: Statistics) -> Any:
        gain = self.k1 + 1 if VARIANTS[self.variant].gain else 1.0
        pivoted = 1 - self.b + self.b * doc.length / collection.mean_length
        if self.variant == "L":
            return gain * (tf / pivoted + self._delta) / (tf / pivoted + self._delta + self.k1)
        return gain * (tf / (tf + self.k1 * pivoted)) + self._delta

    def weight(self, qtf: np.ndarray, term: TermStats, collection: Statistics) -> np.ndarray:
        if self.k3 is None:
            return qtf
        return np.sign(qtf) * (self.k3 + 1) * np.abs(qtf) / np.maximum(self.k3 + np.abs(qtf), 1e-300)

    def explain(self, tf: float, doc: DocStats, term: TermStats, collection: Statistics) -> Explanation:
        idf = rarity(self._idf(term, collection), term, collection, VARIANTS[self.variant].formula)
        saturated = self._saturated(tf, doc, collection)
        numbers = {"k1": self.k1, "b": self.b} | ({"delta": self._delta} if self._delta else {})
        return product(str(self), idf, frequency(saturated, tf, doc, collection, FORMULAS[self.variant], **numbers))


MODELS = (BM25,)
