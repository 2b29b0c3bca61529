"""Fisher vectors on an index: one stored number a document, its norm; scores come from the words through the forward index.

With a power a vector is no sum over words any more; then the vectors themselves are stored, at length 1.
"""

from __future__ import annotations

import numpy as np

from sublex.base import Explanation
from sublex.errors import InputError
from sublex.estimators.gmm import Mixture
from sublex.word_sums import WordSums, counts, sound
from sublex_fisher.model import Fisher, Gammas

# The words that name a Gaussian.
NAMED = 8


class FisherRepresentation(WordSums):
    """Cosines of Fisher vectors; the words' vectors are those of another model, which is fitted first."""

    version = 2
    compared = "Fisher vectors"

    def __init__(
        self,
        k: int = 16,
        words=None,
        idf: bool = False,
        variance: bool = False,
        power: float = 1.0,
        starts: int = 5,
        seed: int = 0,
    ):
        self.words = words
        self.estimator = Fisher(None, k, idf, power, l2=power != 1, variance=variance, starts=starts, seed=seed)

    def depends(self):
        return (self.words,)

    def fit(self, corpus, job):
        model = job.model(self.words)
        vectors = model.word_vectors()
        if vectors is None:
            raise InputError(
                f"{self.words} gives words no vectors; name a model that does, as in fisher(words=lsi(e=50))."
            )
        self.vocabulary = list(model.vocabulary)
        self.estimator.words = vectors
        self.estimator.fit(counts(corpus, self.vocabulary), workers=job.workers, progress=job.progress)

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
        begins, of, values = fitted.gammas
        words, (k, e) = len(self.vocabulary), fitted.mixture.means.shape
        sound(fitted.x.shape == (words, e) and fitted.weights.shape == fitted.counts.shape == (words,))
        sound(fitted.mixture.shares.shape == (k,) and fitted.mixture.variances.shape == (k, e))
        sound(begins.dtype.kind == of.dtype.kind == "i" and begins.shape == (words + 1,) and of.shape == values.shape)
        sound(begins[0] == 0 and begins[-1] == len(of) and (np.diff(begins) >= 0).all())
        sound(not len(of) or 0 <= of.min() <= of.max() < k)

    def describe(self, view):
        theta = self.estimator.mixture.shares
        topics = {
            f"Gaussian {place} ({theta[k]:.0%})": words
            for place, (k, words) in enumerate(self._named(view.surface).items(), 1)
        }
        return {"log-likelihoods of the starts": [round(float(x), 4) for x in self.estimator.likelihoods], **topics}

    def estimate(self, corpus, job):
        # The vectors thrice, and of each word in a block what belongs to which Gaussian.
        vectors = job.model(self.words).word_vectors()
        return 0 if vectors is None else 8 * 4 * vectors.size + 8 * 4 * len(vectors) * self.estimator.k

    def encode_documents(self, inputs):
        if self._sums:
            return super().encode_documents(inputs)
        vectors = self.estimator.transform(inputs)
        return np.hstack([vectors, vectors.any(axis=1, keepdims=True)]).astype(np.float32)

    def valued(self, row):
        asked = self.estimator.transform(row)[0]
        if not self._sums:
            return asked, 1.0
        values = np.zeros(len(self.vocabulary))
        self.estimator.similarities(asked, np.arange(len(values)), values)
        return values * self.estimator.weights, float(np.linalg.norm(asked))

    def score(self, query, view, docs=None):
        if self._sums:
            return super().score(query, view, docs)
        known = np.asarray(view.rows(docs, slice(-1, None)))[:, 0] > 0
        return np.where(known & query[1].any(), view.products(np.append(query[1], 0.0), docs), -np.inf)

    def explain(self, query, view, doc):
        if self._sums:
            return super().explain(query, view, doc)
        k = len(self.estimator.mixture.shares)
        products = (view.rows(np.array([doc]))[0, :-1] * query[1]).reshape(-1, k, self.estimator.x.shape[1])
        values = products.sum(axis=(0, 2))
        parts = tuple(Explanation(float(values[k]), words) for k, words in self._named(view.surface).items())
        return Explanation(
            float(values.sum()), "cosine of the Fisher vectors of query and document, by Gaussians", "sum", parts
        )

    @property
    def _sums(self):
        return self.estimator.power == 1

    def _named(self, surface):
        """The Gaussians, those with the largest shares first, each with its commonest words."""
        names, _ = self.estimator.topics(NAMED)
        order = np.argsort(-self.estimator.mixture.shares, kind="stable").tolist()
        return {k: ", ".join(surface(self.vocabulary[word]) for word in names[k] if word >= 0) for k in order}
