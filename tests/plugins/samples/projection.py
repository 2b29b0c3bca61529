"""A test plugin with a representation: random indexing, where each term has a random direction and a document is their sum."""

from __future__ import annotations

import numpy as np

from sublex.contracts.base import Explanation, Param
from sublex.contracts.fitted import Representation
from sublex.contracts.hookspecs import hookimpl

sublex_api = 3

PARAMS = [
    Param("r", int, 64, stage="fit", range=(1, 4096), help="how many directions"),
    Param("seed", int, 0, stage="fit", range=(0, 2**31), help="of the random numbers"),
    Param("power", float, 1.0, range=(0, 9), help="nothing yet"),
]


class Projection(Representation):
    """Cosines of sums of random directions (M. Sahlgren, An introduction to random indexing, 2005)."""

    def __init__(self, r: int, seed: int, power: float):
        self.r, self.seed, self.power = r, seed, power

    def fit(self, corpus, job):
        self.vocabulary = corpus.vocabulary
        random = np.random.Generator(np.random.Philox(self.seed))
        self.vectors = random.standard_normal((len(self.vocabulary), self.r)).astype(np.float32)
        job.progress(1, 1)

    def save(self, store):
        store.put("vocabulary", self.vocabulary)
        store.put("vectors", self.vectors)

    def load(self, store):
        self.vocabulary, self.vectors = store.get("vocabulary"), store.get("vectors")

    def describe(self, view):
        return {"directions": self.r, "terms": len(self.vocabulary)}

    def estimate(self, corpus, job):
        return 4 * self.r * len(corpus.vocabulary)

    def encode_documents(self, inputs):
        return (inputs @ self.vectors.astype(np.float64)).astype(np.float32)

    def encode_queries(self, inputs):
        return [(row, row @ self.vectors.astype(np.float64)) for row in inputs.toarray()]

    def score(self, query, view, docs=None):
        rows = np.asarray(view.rows(docs), np.float64)
        lengths = np.sqrt((rows**2).sum(1) * (query[1] ** 2).sum())
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(lengths > 0, view.products(query[1], docs) / lengths, -np.inf)

    def explain(self, query, view, doc):
        terms = view.terms(np.array([doc]))
        row = np.asarray(view.rows(np.array([doc])), np.float64)[0]
        length = np.sqrt((row**2).sum() * (query[1] ** 2).sum())
        parts = [
            Explanation(float(tf * (self.vectors[term].astype(np.float64) @ query[1]) / length), view.surface(self.vocabulary[term]))
            for term, tf in zip(terms.indices, terms.data, strict=True)
        ]  # fmt: skip
        return Explanation(sum(part.value for part in parts), "cosine of random directions", "sum", tuple(parts))


@hookimpl
def register_representations(register):
    register("projection", Projection, PARAMS)
