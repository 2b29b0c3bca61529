"""LSI on an index: one stored number a document, its norm; scores come from the words through the forward index."""

from __future__ import annotations

import numpy as np

from sublex.base import Explanation
from sublex.fitted import Representation
from sublex.models.words import columns, frequent, pairs
from sublex_lsi.model import LSI


class LSIRepresentation(Representation):
    """Cosines of sums of words' vectors."""

    version = 1

    def __init__(self, e: int = 100, weighting: str = "tfidf", min_df: int = 2, seed: int = 0):
        self.estimator, self.min_df = LSI(e, weighting, seed=seed), min_df

    def fit(self, corpus, job):
        kept = frequent(corpus.blocks(), self.min_df)
        terms = corpus.vocabulary
        self.vocabulary = [terms[k] for k in kept.tolist()]

        def blocks():
            done = 0
            for block in columns(corpus.blocks(), kept):
                done += block.shape[0]
                job.progress(done, len(corpus.docs))
                yield block

        self.estimator.fit(blocks, workers=job.workers)

    def save(self, store):
        store.put("vocabulary", list(self.vocabulary))
        for name in ("vectors", "values", "weights"):
            store.put(name, getattr(self.estimator, name))

    def load(self, store):
        self.vocabulary = store.get("vocabulary")
        for name in ("vectors", "values", "weights"):
            setattr(self.estimator, name, store.get(name))

    def describe(self):
        values = self.estimator.values
        return {"dimensions": len(values), "largest singular values": [round(float(v), 3) for v in values[:5]]}

    def estimate(self, corpus):
        # The vectors, the random start and what the power iterations make of it.
        return 8 * 4 * len(corpus.vocabulary) * (self.estimator.e + 10)

    def encode_documents(self, inputs):
        return self.estimator.norms(inputs).astype(np.float32)

    def encode_queries(self, inputs):
        return [self._query(inputs[[k]]) for k in range(inputs.shape[0])]

    def _query(self, row):
        asked = self.estimator.transform(row)[0]
        return row, self.estimator.weights * (self.estimator.vectors @ asked), float(np.linalg.norm(asked))

    def score(self, query, view, docs=None):
        _, values, norm = query
        lengths = norm * np.asarray(view.rows(docs), np.float64)
        sums = view.dot(values, docs)
        return np.divide(sums, lengths, out=np.full(len(sums), -np.inf), where=lengths > 0)

    def explain(self, query, view, doc):
        shares = self.estimator.shares(query[0], view.terms(np.array([doc])))
        parts = pairs(shares, self.vocabulary, view.surface)
        label = "cosine of the vectors of query and document, by pairs of words"
        return Explanation(sum(part.value for part in parts), label, "sum", parts)
