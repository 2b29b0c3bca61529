"""Expansion by divergence from randomness: terms that the feedback documents hold more often than chance predicts.

G. Amati, Probability models for information retrieval based on divergence from randomness, thesis, Glasgow, 2003.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sublex.contracts.base import Context, Query, Statistics
from sublex.contracts.operators import Operator
from sublex.expanders.feedback_documents import TRUST, FeedbackDocuments, expanded_query, relevant_documents
from sublex.language.parameters import Declared, parameter


@dataclass(frozen=True)
class Divergence(Declared):
    """The base of expanders by divergence from randomness, computed as in Terrier.

    G. Amati, Probability models for information retrieval based on divergence from randomness, thesis, Glasgow 2003,
    chapter 6.

    The feedback documents are taken as one bag of words, and `weight` gives each of its terms a weight. These weights
    are scaled. With beta, the heaviest term gets the weight beta. Without beta ("parameter-free"), the weights are
    divided by the weight that the heaviest term would have if it occurred in the feedback documents alone. With
    `trust`, the scaled weights are multiplied by `FeedbackDocuments.coverage` to the power of `trust`. The query's weights
    are divided by the largest one. Then the scaled weights of the selected terms are added to the query's weights.
    """

    docs: int = parameter(3, "The number of feedback documents.", (1, 10_000))
    terms: int = parameter(10, "The number of terms to weight; 0 weights only those of the query.", (0, 10_000))
    beta: float | None = parameter(None, "The weight of the heaviest term; without it, parameter-free.", (0, 1000))
    least: int = parameter(
        2,
        "The least number of feedback documents that hold an added term; if there are fewer documents, all.",
        (1, 10_000),
    )
    trust: float = parameter(0.0, TRUST, (0, 10))

    def expand(self, query: Query, context: Context) -> Query:
        original = query.weights()
        words = sum(not isinstance(term, Operator) for term in original)
        documents = FeedbackDocuments.read(context, relevant_documents(context, self.docs)[0])
        tf, cf = documents.sum_by_term(documents.tfs), context.stats(documents.terms).cf
        size = float(documents.lengths.sum())
        in_query = np.isin(documents.terms, np.array(context.numbers([*original]), np.int64))
        weights = self.weight(tf, cf, size, context.collection)
        weights[(documents.document_counts() < min(self.least, len(documents.lengths))) & ~in_query] = 0
        if not weights.any():
            return query
        top = int(weights.argmax())
        if self.beta is None:
            weights /= self.weight(tf[[top]], tf[[top]], size, context.collection)
        else:
            weights *= self.beta / weights[top]
        weights *= documents.trusted(context, query, self.trust)
        if not self.terms:
            weights[~in_query] = 0
        added = documents.best_terms(context, weights, max(self.terms, words))
        largest = max(map(abs, original.values()), default=0.0) or 1.0
        scaled = {term: weight / largest for term, weight in original.items()}
        return expanded_query(query, scaled, added, type(self).__name__)

    def weight(self, tf: np.ndarray, cf: np.ndarray, size: float, collection: Statistics) -> np.ndarray:
        """Return the weights of terms that occur tf times in the feedback documents and cf times in the collection.

        The feedback documents have `size` tokens in all.
        """
        raise NotImplementedError


@dataclass(frozen=True)
class Bo1(Divergence):
    """Bose-Einstein statistics: tf log2((1 + p) / p) + log2(1 + p), p = cf / N."""

    def weight(self, tf: np.ndarray, cf: np.ndarray, size: float, collection: Statistics) -> np.ndarray:
        p = cf / collection.docs
        return tf * np.log2((1 + p) / p) + np.log2(1 + p)


@dataclass(frozen=True)
class KL(Divergence):
    """Kullback-Leibler divergence: p log2(p / q), p = tf / size, q = cf / tokens; 0 where p < q."""

    def weight(self, tf: np.ndarray, cf: np.ndarray, size: float, collection: Statistics) -> np.ndarray:
        p, q = tf / size, cf / collection.tokens
        return p * np.log2(np.maximum(p / q, 1))


EXPANDERS = (Bo1, KL)
