"""Relevance models."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sublex.base import Context, Query
from sublex.expand.documents import Documents, best, grown
from sublex.rank.model import Declared, parameter


@dataclass(frozen=True)
class RM3(Declared):
    """N. Abdul-Jaleel et al., UMass at TREC 2004: Novelty and HARD; computed as Anserini's Rm3Reranker does, whose defaults these are.

    The terms of each document, the `terms` heaviest of them, share its weight, which is its score.
    """

    docs: int = parameter(10, "how many documents are looked at", (1, 10_000))
    terms: int = parameter(10, "how many terms they give", (1, 10_000))
    original: float = parameter(0.5, "the weight of the query as it was", (0, 1))
    filter: bool = parameter(True, "whether odd and common terms are left out, as Anserini does")

    def expand(self, query: Query, context: Context) -> Query:
        held = query.weights()
        size = sum(map(abs, held.values()))
        if not len(context.docs) or not size:
            return query
        found = Documents.of(context, context.docs[: self.docs])
        found = (found.ordinary(context) if self.filter else found).heaviest(self.terms)
        scores = context.scores[: self.docs].astype(np.float64)
        scores = scores if (scores > 0).any() else np.ones(len(scores))
        sizes = np.bincount(found.rows, found.tfs, len(scores))
        shares = np.maximum(scores, 0)[found.rows] * found.tfs / sizes[found.rows]
        terms, weights = best(*found.summed(shares), self.terms)
        if not len(terms):
            return query
        weights = (1 - self.original) * weights / weights.sum()
        own = {term: self.original * weight / size for term, weight in held.items()}
        return grown(query, own, dict(zip(context.names(terms), weights.tolist(), strict=True)), "RM3")


MODELS = (RM3,)
