"""Rocchio's formula."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sublex.base import Context, Query
from sublex.expand.documents import Documents, best, grown
from sublex.rank.model import Declared, parameter


@dataclass(frozen=True)
class Rocchio(Declared):
    """J. Rocchio, Relevance feedback in information retrieval, 1971; vectors as Anserini's RocchioReranker has them, and its defaults.

    alpha times the query, plus beta times the mean of the first documents, less gamma times that of the last ones; all of length 1.
    """

    docs: int = parameter(10, "how many documents are looked at", (1, 10_000))
    terms: int = parameter(10, "how many terms they give", (1, 10_000))
    alpha: float = parameter(1.0, "the weight of the query as it was", (0, 1000))
    beta: float = parameter(0.75, "the weight of the documents", (0, 1000))
    gamma: float = parameter(0.15, "what is taken away for the last documents found", (0, 1000))
    negative: int = parameter(0, "how many of the last documents found count as not relevant", (0, 10_000))
    filter: bool = parameter(True, "whether odd and common terms are left out, as Anserini does")

    def expand(self, query: Query, context: Context) -> Query:
        held = query.weights()
        length = float(np.sqrt(sum(weight * weight for weight in held.values())))
        if not len(context.docs) or not length:
            return query
        terms, weights = best(*self._mean(context, context.docs[: self.docs]), self.terms)
        added = dict(zip(context.names(terms), (self.beta * weights).tolist(), strict=True))
        rest = context.docs[self.docs :][-self.negative :] if self.negative else context.docs[:0]
        if len(rest):
            worse, means = self._mean(context, rest)
            for term, mean in zip(context.names(worse), means.tolist(), strict=True):
                if term in added:
                    added[term] -= self.gamma * mean
        own = {term: self.alpha * weight / length for term, weight in held.items()}
        return grown(query, own, {term: weight for term, weight in added.items() if weight > 0}, "Rocchio")

    def _mean(self, context: Context, docs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        found = Documents.of(context, docs)
        found = (found.ordinary(context) if self.filter else found).heaviest(self.terms)
        lengths = np.sqrt(np.bincount(found.rows, found.tfs * found.tfs, len(docs)))
        return found.summed(found.tfs / lengths[found.rows] / len(docs))


MODELS = (Rocchio,)
