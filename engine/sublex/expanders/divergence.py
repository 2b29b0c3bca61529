"""Expansion by divergence from randomness: terms that the first documents have more often than chance would give them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sublex.base import Context, Query, Statistics
from sublex.expanders.feedback_documents import FeedbackDocuments, grown
from sublex.parameters import Declared, parameter


@dataclass(frozen=True)
class Divergence(Declared):
    """G. Amati, Probability models for information retrieval based on divergence from randomness, thesis, Glasgow 2003, ch. 6.

    The documents are one bag of words; a term's weight, on a scale, is added to the query's, divided by its greatest. All as Terrier:
    without beta ("parameter-free") the scale is what the heaviest term could weigh if it stood nowhere else, with beta what it weighs.
    """

    docs: int = parameter(3, "how many documents are looked at", (1, 10_000))
    terms: int = parameter(10, "how many terms they give; 0: only the query's own weigh more", (0, 10_000))
    beta: float | None = parameter(None, "the weight of the heaviest new term; not given: as the model says", (0, 1000))
    least: int = parameter(2, "in how many of the documents a term that is not the query's must stand", (1, 10_000))

    def expand(self, query: Query, context: Context) -> Query:
        held = query.weights()
        found = FeedbackDocuments.of(context, context.docs[: self.docs])
        tf, cf, size = found.by_term(found.tfs), context.stats(found.terms).cf, float(found.lengths.sum())
        asked = np.isin(found.terms, np.array(context.numbers([*held]), np.int64))
        weights = self.weight(tf, cf, size, context.collection)
        weights[(found.by_term() < min(self.least, len(found.lengths))) & ~asked] = 0
        if not weights.any():
            return query
        top = int(weights.argmax())
        if self.beta is None:
            weights /= self.weight(tf[[top]], tf[[top]], size, context.collection)
        else:
            weights *= self.beta / weights[top]
        if not self.terms:
            weights[~asked] = 0
        added = found.best(context, weights, max(self.terms, len(held)))
        greatest = max(map(abs, held.values()), default=0.0) or 1.0
        return grown(query, {term: weight / greatest for term, weight in held.items()}, added, type(self).__name__)

    def weight(self, tf: np.ndarray, cf: np.ndarray, size: float, collection: Statistics) -> np.ndarray:
        """How informative terms are that stand tf times among `size` words."""
        raise NotImplementedError


@dataclass(frozen=True)
class Bo1(Divergence):
    """Bose-Einstein statistics: tf log2((1 + p) / p) + log2(1 + p), p = cf / N."""

    def weight(self, tf: np.ndarray, cf: np.ndarray, size: float, collection: Statistics) -> np.ndarray:
        p = cf / collection.docs
        return tf * np.log2((1 + p) / p) + np.log2(1 + p)


@dataclass(frozen=True)
class KL(Divergence):
    """Kullback-Leibler divergence: p log2(p / q), p = tf / size of the documents, q = cf / tokens; 0 where p is below q."""

    def weight(self, tf: np.ndarray, cf: np.ndarray, size: float, collection: Statistics) -> np.ndarray:
        p, q = tf / size, cf / collection.tokens
        return p * np.log2(np.maximum(p / q, 1))


MODELS = (Bo1, KL)
