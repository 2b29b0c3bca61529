"""Expansion by divergence from randomness: terms that the first documents have more often than chance would give them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sublex.base import Context, Query, TermStats
from sublex.expand.documents import Documents, best, grown
from sublex.rank.model import Declared, parameter


@dataclass(frozen=True)
class Divergence(Declared):
    """G. Amati, Probabilistic models for information retrieval based on divergence from randomness, thesis, Glasgow 2003, ch. 8.

    The documents are one bag of words; a term's weight, divided by the greatest, is added to the query's, divided by its greatest.
    Terrier's defaults: 3 documents, 10 terms, each in 2 documents at least.
    """

    docs: int = parameter(3, "how many documents are looked at", (1, 10_000))
    terms: int = parameter(10, "how many terms they give", (1, 10_000))
    beta: float = parameter(1.0, "the weight of the heaviest new term", (0, 1000))
    least: int = parameter(2, "in how many of the documents a term must stand", (1, 10_000))

    def weight(self, tf: np.ndarray, size: float, term: TermStats, context: Context) -> np.ndarray:
        """How informative a term is that stands tf times among `size` words."""
        raise NotImplementedError

    def expand(self, query: Query, context: Context) -> Query:
        held = query.weights()
        greatest = max(map(abs, held.values()), default=0.0)
        if not len(context.docs) or not greatest:
            return query
        looked_at = context.docs[: self.docs]
        found = Documents.of(context, looked_at)
        terms, tf = found.summed(found.tfs)
        often = found.summed(np.ones(len(found.terms)))[1] >= min(self.least, len(looked_at))
        terms, tf, size = terms[often], tf[often], float(found.tfs.sum())
        weights = self.weight(tf, size, context.stats(terms), context)
        terms, weights = best(terms, weights, self.terms)
        if not len(terms):
            return query
        own = {term: weight / greatest for term, weight in held.items()}
        added = dict(zip(context.names(terms), (self.beta * weights / weights[0]).tolist(), strict=True))
        return grown(query, own, added, type(self).__name__)


@dataclass(frozen=True)
class Bo1(Divergence):
    """Bose-Einstein statistics: tf log2((1 + p) / p) + log2(1 + p), p = cf / N."""

    def weight(self, tf: np.ndarray, size: float, term: TermStats, context: Context) -> np.ndarray:
        p = term.cf / context.collection.docs
        return tf * np.log2((1 + p) / p) + np.log2(1 + p)


@dataclass(frozen=True)
class KL(Divergence):
    """Kullback-Leibler divergence: p log2(p / q), p = tf / size of the documents, q = cf / tokens; 0 where p is below q."""

    def weight(self, tf: np.ndarray, size: float, term: TermStats, context: Context) -> np.ndarray:
        p, q = tf / size, term.cf / context.collection.tokens
        return np.maximum(p * np.log2(p / q), 0)


MODELS = (Bo1, KL)
