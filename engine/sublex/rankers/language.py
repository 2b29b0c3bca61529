"""Language models: how much likelier a document makes a word than the collection does. Natural logarithms.

Each is the form that sums over the words a document holds; what is the same for every document is left out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sublex.base import DocStats, Explanation, Statistics, TermStats
from sublex.parameters import parameter
from sublex.rankers.weighting_model import WeightingModel, commonness, frequency, leaf, of_parts, total

COLLECTION = {
    "lucene": (lambda term, collection: (term.cf + 1) / (collection.tokens + 1), "p = (cf + 1) / (tokens + 1)"),
    "published": (lambda term, collection: term.cf / collection.tokens, "p = cf / tokens"),
}


@dataclass(frozen=True)
class DirichletLM(WeightingModel):
    """C. Zhai and J. Lafferty, A study of smoothing methods for language models applied to information retrieval, TOIS 22(2), 2004.

    mu and the default variant are Lucene's, whose floor of 0 keeps a word that is found from counting against a document.
    """

    mu: float = parameter(
        1000.0, "how many words of the collection are mixed into each document", (0.001, 1_000_000_000)
    )
    variant: str = parameter(
        "lucene", "Lucene's probabilities and floor of 0, or the published form", tuple(COLLECTION)
    )

    def score(self, tf: np.ndarray, doc: DocStats, term: TermStats, collection: Statistics) -> np.ndarray:
        p, _ = COLLECTION[self.variant]
        value = np.log1p(tf / (self.mu * p(term, collection))) + np.log(self.mu / (doc.length + self.mu))
        return np.maximum(value, 0) if self.variant == "lucene" else value

    def explain(self, tf: float, doc: DocStats, term: TermStats, collection: Statistics) -> Explanation:
        p, formula = COLLECTION[self.variant]
        label = f"frequency: {tf:g} times, and {int(term.cf):,} among the collection's {collection.tokens:,} words"
        formula = f"ln(1 + tf / (mu p)), {formula}"
        found = leaf(np.log1p(tf / (self.mu * p(term, collection))), label, formula, tf=tf, cf=term.cf, mu=self.mu)
        label = f"length: {doc.length:g} words"
        length = leaf(np.log(self.mu / (doc.length + self.mu)), label, "ln(mu / (length + mu))", length=doc.length)
        value = total(str(self), found, length)
        if self.variant == "lucene" and value.value < 0:
            return total(str(self), *value.parts, leaf(-value.value, "raised to 0", "max(0, sum)"))
        return value


@dataclass(frozen=True)
class JelinekMercerLM(WeightingModel):
    """F. Jelinek and R. L. Mercer, 1980, as C. Zhai and J. Lafferty, TOIS 22(2), 2004, give it. Defaults are Lucene's in Anserini."""

    lam: float = parameter(0.1, "the collection's share in the mixture", (0.001, 0.999))
    variant: str = parameter("lucene", "Lucene's probabilities or the published ones", tuple(COLLECTION))

    def score(self, tf: np.ndarray, doc: DocStats, term: TermStats, collection: Statistics) -> np.ndarray:
        p, _ = COLLECTION[self.variant]
        return np.log1p((1 - self.lam) * (tf / doc.length) / (self.lam * p(term, collection)))

    def explain(self, tf: float, doc: DocStats, term: TermStats, collection: Statistics) -> Explanation:
        formula = f"ln(1 + (1 - lam) (tf / length) / (lam p)), {COLLECTION[self.variant][1]}"
        return mixture(self, formula, tf, doc, term, collection)


@dataclass(frozen=True)
class HiemstraLM(WeightingModel):
    """D. Hiemstra, Using language models for information retrieval, thesis, Twente, 2001, with cf for his df, as in Terrier.

    It is JelinekMercerLM with 1 - lam, published form; the default is section 5.2.3's.
    """

    lam: float = parameter(0.15, "the document's share in the mixture", (0.001, 0.999))

    def score(self, tf: np.ndarray, doc: DocStats, term: TermStats, collection: Statistics) -> np.ndarray:
        return np.log1p(self.lam * tf * collection.tokens / ((1 - self.lam) * term.cf * doc.length))

    def explain(self, tf: float, doc: DocStats, term: TermStats, collection: Statistics) -> Explanation:
        return mixture(self, "ln(1 + lam tf tokens / ((1 - lam) cf length))", tf, doc, term, collection)


def mixture(
    model: JelinekMercerLM | HiemstraLM,
    formula: str,
    tf: float,
    doc: DocStats,
    term: TermStats,
    collection: Statistics,
) -> Explanation:
    """The explanation of a document and the collection mixed in fixed shares."""
    parts = (
        frequency(tf / doc.length, tf, doc, collection, "tf / length"),
        commonness(term.cf / collection.tokens, term, collection, "cf / tokens"),
    )
    return of_parts(model.value(tf, doc, term, collection), str(model), formula, *parts)


MODELS = (DirichletLM, JelinekMercerLM, HiemstraLM)
