"""Random indexing: every term has a random direction, and a document is the sum of its terms'."""

import numpy as np

from sublex.base import Explanation
from sublex.fitted import Representation


class Model(Representation):
    """Cosines of sums of random directions. Raise `version` when fitting comes to give something else."""

    version = 1

    def __init__(self, r=128, seed=0):
        self.r, self.seed = r, seed

    def fit(self, corpus, job):
        self.vocabulary = corpus.vocabulary
        random = np.random.Generator(np.random.Philox(self.seed))
        self.vectors = random.standard_normal((len(self.vocabulary), self.r))
        job.progress(1, 1)

    def save(self, store):
        store.put("vocabulary", self.vocabulary)
        store.put("vectors", self.vectors)

    def load(self, store):
        self.vocabulary, self.vectors = store.get("vocabulary"), store.get("vectors")

    def describe(self, view):
        return {"directions": self.r}

    def estimate(self, corpus, job):
        return 8 * self.r * len(corpus.vocabulary)

    def encode_documents(self, inputs):
        rows = inputs @ self.vectors
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        return np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)

    def encode_queries(self, inputs):
        return list(self.encode_documents(inputs))

    def score(self, query, view, docs=None):
        if not query.any():
            return np.full(len(view) if docs is None else len(docs), -np.inf)
        return view.products(query, docs)

    def explain(self, query, view, doc):
        terms = view.terms(np.array([doc]))
        length = np.linalg.norm(terms @ self.vectors)
        parts = tuple(
            Explanation(float(count * (self.vectors[term] @ query) / length), view.surface(self.vocabulary[term]))
            for term, count in zip(terms.indices, terms.data, strict=True)
        )
        return Explanation(sum(part.value for part in parts), "cosine of random directions, by words", "sum", parts)
