"""Relevance models: the words of the first documents, weighted by how well these match."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from sublex.base import Context, Query
from sublex.expand.pool import Pool, best, gather, rare, rewritten, spelt, unit
from sublex.parameters import Component, parameter

WORD = re.compile("[a-z0-9]{2,20}")


@dataclass(frozen=True)
class RM3(Component):
    """N. Abdul-Jaleel et al., UMass at TREC 2004: novelty and HARD, after V. Lavrenko and W. B. Croft, SIGIR 2001.

    Defaults and details as Anserini; `variant=terrier` estimates as Terrier's, whose defaults are 3 documents and an original of 0.6.
    """

    docs: int = parameter(10, "how many of the first documents to look at", (1, 1000))
    terms: int = parameter(10, "how many of their terms to take", (1, 1000))
    original: float = parameter(0.5, "the share of the query as it was", (0, 1))
    common: float = parameter(0.1, "terms in a greater share of the collection are left out", (0, 1))
    variant: str = parameter("anserini", "whose estimate", ("anserini", "terrier"))

    def expand(self, query: Query, context: Context) -> Query:
        pool = gather(context, context.docs[: self.docs])
        scores = context.scores[: self.docs].astype(np.float64)
        estimate = self._terrier if self.variant == "terrier" else self._anserini
        model = unit(best(context, *estimate(pool, scores, context), self.terms), 1)
        if not model:
            return query
        kept = {term: self.original * weight for term, weight in unit(query.weights(), 1).items()}
        added = {term: (1 - self.original) * weight for term, weight in model.items() if self.original < 1}
        return rewritten(query, kept, added, "RM3")

    def _anserini(self, pool: Pool, scores: np.ndarray, context: Context) -> tuple[Pool, np.ndarray]:
        """Plain words only; each document is its most frequent terms, and counts by its score."""
        pool = pool.keep(rare(context, pool.terms, self.common))
        pool = pool.keep(spelt(context, pool.terms, WORD)).first(self.terms)
        # Where a score is not above 0, scores are no weights: the documents count alike.
        weights = scores if len(scores) and scores.min() > 0 else np.ones(len(scores))
        return pool, pool.by_term(pool.tfs / pool.by_doc(pool.tfs)[pool.docs] * weights[pool.docs])

    def _terrier(self, pool: Pool, scores: np.ndarray, context: Context) -> tuple[Pool, np.ndarray]:
        """Terms of two documents or more; all of a document counts, by the exponential of its score."""
        df = context.stats(pool.terms).df
        pool = pool.keep((df >= 2) & (df < int(self.common * context.collection.docs)))
        weights = np.exp(scores - scores.max(initial=-np.inf))
        return pool, pool.by_term(pool.tfs / pool.lengths[pool.docs] * weights[pool.docs])


MODELS = (RM3,)
