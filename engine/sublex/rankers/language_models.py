"""Language models: the likelihood of a term in a document, compared with its likelihood in the collection.

Logarithms are natural. A score is a sum over the query terms in the document. Parts of the likelihood that are equal
for all documents are left out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sublex.contracts.base import DocStats, Explanation, Statistics, TermStats
from sublex.language.parameters import parameter
from sublex.rankers.explanations import collection_frequency, computed, leaf, term_frequency, total
from sublex.rankers.weighting_model import WeightingModel

# For each variant, a function that returns the probability p of a term in the collection, and its written formula.
COLLECTION = {
    "lucene": (lambda term, collection: (term.cf + 1) / (collection.tokens + 1), "p = (cf + 1) / (tokens + 1)"),
    "published": (lambda term, collection: term.cf / collection.tokens, "p = cf / tokens"),
}


@dataclass(frozen=True)
class DirichletLM(WeightingModel):
    """The query likelihood, smoothed with a Dirichlet prior.

    C. Zhai and J. Lafferty, A study of smoothing methods for language models applied to information retrieval, TOIS
    22(2), 2004. The defaults of mu and variant are Lucene's. Lucene's scores are at least 0, so a matched term never
    lowers a document's score.
    """

    mu: float = parameter(
        1000.0, "Smoothing: the number of words of the collection mixed into each document.", (0.001, 1_000_000_000)
    )
    variant: str = parameter(
        "lucene", "Lucene's p, with scores of at least 0, or the published form.", tuple(COLLECTION)
    )

    def score(self, tf: np.ndarray, doc: DocStats, term: TermStats, collection: Statistics) -> np.ndarray:
        p, _ = COLLECTION[self.variant]
        value = np.log1p(tf / (self.mu * p(term, collection))) + np.log(self.mu / (doc.length + self.mu))
        return np.maximum(value, 0) if self.variant == "lucene" else value

    def explain(self, tf: float, doc: DocStats, term: TermStats, collection: Statistics) -> Explanation:
        p, formula = COLLECTION[self.variant]
        label = f"frequency: {tf:g} times, and {int(term.cf):,} among the collection's {collection.tokens:,} words"
        numbers = {"tf": tf, "cf": term.cf, "mu": self.mu}
        gain = np.log1p(tf / (self.mu * p(term, collection)))
        matched = leaf(gain, label, f"ln(1 + tf / (mu p)), {formula}", **numbers)
        label, shrunk = f"length: {doc.length:g} words", np.log(self.mu / (doc.length + self.mu))
        length = leaf(shrunk, label, "ln(mu / (length + mu))", length=doc.length)
        value = total(str(self), matched, length)
        if self.variant == "lucene" and value.value < 0:
            return total(str(self), *value.parts, leaf(-value.value, "raised to 0", "max(0, sum)"))
        return value


@dataclass(frozen=True)
class JelinekMercerLM(WeightingModel):
    """The query likelihood, smoothed by mixing in the collection's model with a fixed weight.

    F. Jelinek and R. L. Mercer, 1980, in the form of C. Zhai and J. Lafferty, TOIS 22(2), 2004.
    The defaults are those of Anserini with Lucene.
    """

    lam: float = parameter(0.1, "Smoothing: the share of the collection's model in the mixture.", (0.001, 0.999))
    variant: str = parameter("lucene", "Lucene's p, or the published one.", tuple(COLLECTION))

    def score(self, tf: np.ndarray, doc: DocStats, term: TermStats, collection: Statistics) -> np.ndarray:
        p, _ = COLLECTION[self.variant]
        return np.log1p((1 - self.lam) * (tf / doc.length) / (self.lam * p(term, collection)))

    def explain(self, tf: float, doc: DocStats, term: TermStats, collection: Statistics) -> Explanation:
        formula = f"ln(1 + (1 - lam) (tf / length) / (lam p)), {COLLECTION[self.variant][1]}"
        return explain_mixture(self, formula, tf, doc, term, collection)


@dataclass(frozen=True)
class HiemstraLM(WeightingModel):
    """Hiemstra's language model, with cf in place of his df, as in Terrier.

    D. Hiemstra, Using language models for information retrieval, thesis, Twente, 2001. It equals JelinekMercerLM in
    the published form with 1 - lam. The default is that of section 5.2.3 of the thesis.
    """

    lam: float = parameter(0.15, "The share of the document's model in the mixture.", (0.001, 0.999))

    def score(self, tf: np.ndarray, doc: DocStats, term: TermStats, collection: Statistics) -> np.ndarray:
        return np.log1p(self.lam * tf * collection.tokens / ((1 - self.lam) * term.cf * doc.length))

    def explain(self, tf: float, doc: DocStats, term: TermStats, collection: Statistics) -> Explanation:
        return explain_mixture(self, "ln(1 + lam tf tokens / ((1 - lam) cf length))", tf, doc, term, collection)


def explain_mixture(
    ranker: WeightingModel, formula: str, tf: float, doc: DocStats, term: TermStats, collection: Statistics
) -> Explanation:
    """Return the explanation of a score that mixes the language models of the document and of the collection."""
    inputs = (
        term_frequency(tf / doc.length, tf, doc, collection, "tf / length"),
        collection_frequency(term.cf / collection.tokens, term, collection, "cf / tokens"),
    )
    return computed(ranker.value(tf, doc, term, collection), str(ranker), formula, *inputs)


RANKERS = (DirichletLM, JelinekMercerLM, HiemstraLM)
