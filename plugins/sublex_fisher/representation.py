"""Fisher vectors on an index: one stored number a document, its norm; scores come from the words through the forward index."""

from __future__ import annotations

import numpy as np

from sublex.base import Explanation
from sublex.errors import InputError
from sublex.fitted import Representation
from sublex.models.gmm import Mixture
from sublex.models.words import pairs
from sublex_fisher.model import Fisher, Gammas

# The words that name a Gaussian on the card.
NAMED = 8


class FisherRepresentation(Representation):
    """Cosines of Fisher vectors; the words' vectors are those of another model, which is fitted first."""

    version = 1

    def __init__(self, k: int = 16, words=None, idf: bool = False, starts: int = 5, seed: int = 0):
        self.words = words
        self.estimator = Fisher(None, k, idf, starts=starts, seed=seed)

    def depends(self):
        return (self.words,)

    def fit(self, corpus, job):
        model = job.model(self.words)
        vectors = getattr(getattr(model, "estimator", None), "vectors", None)
        if vectors is None:
            raise InputError(
                f"{self.words} gives words no vectors; name a model that does, as in fisher(words=lsi(e=50))."
            )
        self.vocabulary = list(model.vocabulary)
        numbers = {term: number for number, term in enumerate(corpus.vocabulary)}
        kept = np.array([numbers.get(term, -1) for term in self.vocabulary])

        def blocks():
            done = 0
            for block in corpus.blocks():
                done += block.shape[0]
                job.progress(done, len(corpus.docs))
                yield _columns(block, kept)

        self.estimator.words = vectors
        self.estimator.fit(blocks, workers=job.workers)

    def save(self, store):
        fitted = self.estimator
        store.put("vocabulary", self.vocabulary)
        for name in ("x", "weights", "counts", "likelihoods"):
            store.put(name, np.asarray(getattr(fitted, name)))
        for name, values in zip(fitted.mixture._fields, fitted.mixture, strict=True):
            store.put(f"mixture_{name}", np.asarray(values))
        for name, values in zip(fitted.gammas._fields, fitted.gammas, strict=True):
            store.put(f"gammas_{name}", values)

    def load(self, store):
        fitted = self.estimator
        self.vocabulary = store.get("vocabulary")
        for name in ("x", "weights", "counts", "likelihoods"):
            setattr(fitted, name, store.get(name))
        fitted.mixture = Mixture(*(store.get(f"mixture_{name}") for name in Mixture._fields))
        fitted.gammas = Gammas(*(store.get(f"gammas_{name}") for name in Gammas._fields))

    def describe(self):
        names, _ = self.estimator.topics(NAMED)
        theta = self.estimator.mixture.shares
        order = np.argsort(-theta, kind="stable")
        topics = {
            f"Gaussian {place} ({theta[k]:.0%})": ", ".join(self.vocabulary[word] for word in names[k] if word >= 0)
            for place, k in enumerate(order.tolist(), 1)
        }
        return {"log-likelihoods of the starts": [round(float(x), 4) for x in self.estimator.likelihoods], **topics}

    def estimate(self, corpus):
        return 8 * len(corpus.vocabulary) * 4 * 100

    def encode_documents(self, inputs):
        return self.estimator.norms(inputs).astype(np.float32)

    def encode_queries(self, inputs):
        return [self._query(inputs[[k]]) for k in range(inputs.shape[0])]

    def _query(self, row):
        asked = self.estimator._vector(row)
        values = np.zeros(len(self.vocabulary))
        self.estimator._similar_to(asked)(np.arange(len(values)), values)
        return row, values * self.estimator.weights, float(np.linalg.norm(asked))

    def score(self, query, view, docs=None):
        _, values, norm = query
        lengths = norm * np.asarray(view.rows(docs), np.float64)
        sums = view.dot(values, docs)
        return np.divide(sums, lengths, out=np.full(len(sums), -np.inf), where=lengths > 0)

    def explain(self, query, view, doc):
        shares = self.estimator.shares(query[0], view.terms(np.array([doc])))
        parts = pairs(shares, self.vocabulary, view.surface)
        label = "cosine of the Fisher vectors of query and document, by pairs of words"
        return Explanation(sum(part.value for part in parts), label, "sum", parts)


def _columns(block, kept):
    """These columns, empty where there is none."""
    from scipy.sparse import csr_array, hstack

    padded = csr_array(hstack([block, csr_array((block.shape[0], 1), dtype=block.dtype)], format="csr"))
    return csr_array(padded[:, kept])
