"""Divergence from randomness: the words that the first documents, taken as one text, hold more often than chance would have it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sublex.base import Context, Query, Statistics
from sublex.expand.pool import Pool, best, gather, rewritten
from sublex.parameters import Component, parameter

# A term that no second document of those looked at holds is taken for accidental, unless the query has it.
DOCUMENTS = 2


@dataclass(frozen=True)
class Divergence(Component):
    """G. Amati, Probability models for information retrieval based on divergence from randomness, thesis, Glasgow 2003, ch. 6.

    All as Terrier has it. Without beta, weights are divided by what the model's best term could have at most.
    """

    docs: int = parameter(3, "how many of the first documents to look at", (1, 1000))
    terms: int = parameter(10, "how many of their terms to take; 0: only weigh the query's own anew", (0, 1000))
    beta: float | None = parameter(None, "the greatest weight added; not given: as the model says", (0, 100))

    def expand(self, query: Query, context: Context) -> Query:
        pool = gather(context, context.docs[: self.docs])
        own = query.weights()
        asked = np.isin(pool.terms, context.numbers(list(own)))
        tf, cf = pool.by_term(pool.tfs), context.stats(pool.terms).cf
        length = float(pool.lengths.sum())
        weights = self.weight(tf, cf, length, context.collection)
        weights[(pool.by_term() < min(DOCUMENTS, len(pool.lengths))) & ~asked] = 0
        if not weights.any():
            return query
        top = int(weights.argmax())
        most = weights[top] if self.beta is not None else self.greatest(tf[top], length, context.collection)
        weights *= (1.0 if self.beta is None else self.beta) / most
        added = best(context, *self._chosen(pool, weights, asked), max(self.terms, len(own)))
        largest = max(map(abs, own.values()), default=0.0) or 1.0
        kept = {term: weight / largest for term, weight in own.items()}
        return rewritten(query, kept, added, type(self).__name__)

    def _chosen(self, pool: Pool, weights: np.ndarray, asked: np.ndarray) -> tuple[Pool, np.ndarray]:
        return (pool, weights) if self.terms else (pool.keep(asked), weights[asked])

    def weight(self, tf: np.ndarray, cf: np.ndarray, length: float, collection: Statistics) -> np.ndarray:
        """What each term tells, in bits."""
        raise NotImplementedError

    def greatest(self, tf: float, length: float, collection: Statistics) -> float:
        """The greatest weight that a term so frequent can have."""
        raise NotImplementedError


@dataclass(frozen=True)
class Bo1(Divergence):
    """Bose-Einstein statistics, a term expected cf / N times."""

    def weight(self, tf: np.ndarray, cf: np.ndarray, length: float, collection: Statistics) -> np.ndarray:
        rate = cf / collection.docs
        return tf * np.log2((1 + rate) / rate) + np.log2(1 + rate)

    def greatest(self, tf: float, length: float, collection: Statistics) -> float:
        return float(self.weight(np.asarray(tf), np.asarray(tf), length, collection))


@dataclass(frozen=True)
class KL(Divergence):
    """Kullback-Leibler divergence of the documents from the collection."""

    def weight(self, tf: np.ndarray, cf: np.ndarray, length: float, collection: Statistics) -> np.ndarray:
        here, everywhere = tf / length, cf / collection.tokens
        return here * np.log2(np.maximum(here / everywhere, 1))

    def greatest(self, tf: float, length: float, collection: Statistics) -> float:
        return float(tf / length * np.log2(collection.tokens / length))


MODELS = (Bo1, KL)
