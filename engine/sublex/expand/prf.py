"""Feedback for BM25: Robertson and Spärck Jones's weights, the first documents taken for the relevant ones."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from sublex.base import Context, Query
from sublex.expand.pool import best, gather, rewritten, spelt
from sublex.parameters import Component, parameter

WORD = re.compile("(?=.*[a-z])[a-z0-9]{2,20}")
# What a weight is at least, and in how many of the first documents a new term must stand.
LEAST, DOCUMENTS = 1e-6, 2


@dataclass(frozen=True)
class BM25PRF(Component):
    """S. Robertson and K. Spärck Jones, Simple, proven approaches to text retrieval, 1994; T. Sakai and S. Robertson, SIGIR 2002.

    Defaults as Anserini. Its weights hold the idf already: the ranker after it should be `BM25(variant=tf)`.
    """

    docs: int = parameter(10, "how many of the first documents to look at", (1, 1000))
    terms: int = parameter(20, "how many of their terms to take", (1, 1000))
    weight: float = parameter(0.2, "the weight of a new term beside one of the query", (0, 100))

    def expand(self, query: Query, context: Context) -> Query:
        docs = context.docs[: self.docs]
        pool = gather(context, docs)
        if not len(pool.terms):
            return query
        own = query.weights()
        numbers = np.array(context.numbers(list(own)), np.int64)
        held = dict(zip(pool.terms.tolist(), pool.by_term().tolist(), strict=True))
        found = np.array([held.get(number, 0) for number in numbers.tolist()], np.float64)
        df = np.where(numbers >= 0, context.stats(np.maximum(numbers, 0)).df, 0)
        relevance = np.maximum(self._relevance(found, df, len(docs), context), LEAST)
        kept = {term: own[term] * weight for term, weight in zip(own, relevance.tolist(), strict=True)}

        pool = pool.keep((pool.by_term() >= DOCUMENTS) & ~np.isin(pool.terms, numbers))
        pool = pool.keep(spelt(context, pool.terms, WORD))
        found = pool.by_term().astype(np.float64)
        relevance = self._relevance(found, context.stats(pool.terms).df, len(docs), context)
        weights = np.maximum(self.weight * relevance, LEAST)
        return rewritten(query, kept, best(context, pool, weights, self.terms, weights * np.log(found)), "BM25PRF")

    def _relevance(self, found: np.ndarray, df: np.ndarray, docs: int, context: Context) -> np.ndarray:
        """The odds of a term in the first documents against those in the others, as a logarithm."""
        others = context.collection.docs - docs
        return np.log((found + 0.5) * (others - df + found + 0.5) / ((df - found + 0.5) * (docs - found + 0.5)))


MODELS = (BM25PRF,)
