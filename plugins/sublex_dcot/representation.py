"""dCoT on an index: a document's row is h of its last layer, less that of an empty document, at length 1."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array, vstack

from sublex.base import Explanation
from sublex.fitted import Representation
from sublex.models.words import columns, frequent
from sublex_dcot.model import DCoT

# The prototypes that an explanation names, and the words of the document that it names for each.
PROTOTYPES, WORDS = 10, 5


class DCoTRepresentation(Representation):
    """Cosines of what query and document evoke."""

    version = 1

    def __init__(
        self, r: int = 500, layers: int = 1, p: float = 0.9, log: bool = False, min_df: int = 2, max_df: float = 0.1
    ):
        self.estimator, self.max_df = DCoT(r, layers, p, log, min_df), max_df

    def fit(self, corpus, job):
        # Words that are everywhere would be the first prototypes, and everything evokes them.
        kept = frequent(corpus.blocks(), self.estimator.min_df, self.max_df)
        terms = corpus.vocabulary
        self.vocabulary = [terms[k] for k in kept.tolist()]
        matrix = csr_array(vstack(list(columns(corpus.blocks(), kept))))
        self.estimator.fit(matrix, workers=job.workers, progress=job.progress)

    def save(self, store):
        fitted = self.estimator
        store.put("vocabulary", list(self.vocabulary))
        store.put("words", fitted.words_)
        store.put("steps", np.asarray(fitted.steps_))
        for layer, W in enumerate(fitted.W_):
            store.put(f"W{layer}", W)

    def load(self, store):
        fitted = self.estimator
        self.vocabulary = store.get("vocabulary")
        fitted.columns_, fitted.words_, fitted.steps_ = len(self.vocabulary), store.get("words"), store.get("steps")
        fitted.place_ = np.full(fitted.columns_, -1, np.int32)
        fitted.place_[fitted.words_] = np.arange(len(fitted.words_))
        fitted.W_ = [store.get(f"W{layer}") for layer in range(fitted.layers)]

    def describe(self):
        first = [self.vocabulary[word] for word in self.estimator.prototypes_[:10].tolist()]
        return {"prototypes": len(self.estimator.prototypes_), "the most frequent": first}

    def estimate(self, corpus):
        counts = 16 * int(corpus.lengths.sum())
        return counts + 4 * len(corpus.vocabulary) * self.estimator.r + 8 * 6 * len(corpus.vocabulary) * 64

    def encode_documents(self, inputs):
        return _directions(self._above(inputs))

    def encode_queries(self, inputs):
        # What is not wanted evokes the opposite: counts, which the model reads, are never negative.
        rows = self._above(inputs.maximum(0)) - self._above((-inputs).maximum(0))
        return list(_directions(rows))

    def score(self, query, view, docs=None):
        rows = view.rows(docs)
        # What evokes nothing has no direction.
        return np.where((rows != 0).any(axis=1) & query.any(), rows @ query, -np.inf)

    def explain(self, query, view, doc):
        row = np.asarray(view.rows(np.array([doc])), np.float64)[0]
        products = row * query.astype(np.float64)
        order = np.argsort(-np.abs(products), kind="stable")
        raised = {
            one.prototype: one for one in self.estimator.explain(view.terms(np.array([doc])), len(row), WORDS, layer=1)
        }
        prototypes = self.estimator.prototypes_
        parts = [
            self._prototype(int(prototypes[k]), float(products[k]), raised, view) for k in order[:PROTOTYPES].tolist()
        ]
        rest = order[PROTOTYPES:]
        if len(rest):
            parts.append(Explanation(float(products[rest].sum()), f"{len(rest):,} other prototypes"))
        return Explanation(
            float(products.sum()), "cosine of what query and document evoke, by prototypes", "sum", tuple(parts)
        )

    def _prototype(self, word, value, raised, view):
        """What a prototype adds, and the words of the document that raised it in the first layer."""
        shares = raised[word].shares if word in raised else ()
        told = {view.surface(self.vocabulary[share.word]): round(share.share, 4) for share in shares if share.share > 0}
        return Explanation(value, view.surface(self.vocabulary[word]), evidence={"raised by": told} if told else {})

    def _above(self, inputs):
        return (self.estimator.transform(inputs) - self.estimator.empty_)[:, -self.estimator.W_[-1].shape[1] :]


def _directions(rows):
    """Rows of length 1, or of zeros."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
