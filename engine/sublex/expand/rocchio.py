"""Rocchio's feedback: the query moved towards the first documents and, if asked, away from the last."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from sublex.base import Context, Query
from sublex.expand.pool import best, gather, rare, rewritten, spelt, unit
from sublex.parameters import Component, parameter

TOKEN = re.compile(".{2,20}", re.DOTALL)


@dataclass(frozen=True)
class Rocchio(Component):
    """J. J. Rocchio, Relevance feedback in information retrieval, in: The SMART retrieval system, 1971. All as Anserini has it."""

    docs: int = parameter(10, "how many of the first documents to move towards", (1, 1000))
    terms: int = parameter(10, "how many of their terms to take", (1, 1000))
    alpha: float = parameter(1.0, "the weight of the query", (0, 1000))
    beta: float = parameter(0.75, "the weight of the first documents", (0, 1000))
    gamma: float = parameter(0.15, "the weight of the last documents", (0, 1000))
    negative: int = parameter(0, "how many of the last documents found to move away from", (0, 1000))
    common: float = parameter(0.1, "terms in a greater share of the collection are left out", (0, 1))

    def expand(self, query: Query, context: Context) -> Query:
        towards = self._mean(context, context.docs[: self.docs])
        rest = context.docs[self.docs :]
        away = self._mean(context, rest[len(rest) - min(self.negative, len(rest)) :])
        if not towards and not away:
            return query
        own = query.weights()
        kept = {term: self.alpha * weight for term, weight in unit(own, 2).items()}
        moved = dict.fromkeys([*towards, *away], 0.0)
        for term in moved:
            moved[term] = self.beta * towards.get(term, 0.0) - self.gamma * away.get(term, 0.0)
            # Nothing that the user asked for, or that is new, is pushed below 0.
            moved[term] = max(moved[term], -max(kept.get(term, 0.0), 0.0))
        return rewritten(query, kept, {term: by for term, by in moved.items() if by}, "Rocchio")

    def _mean(self, context: Context, docs: np.ndarray) -> dict[str, float]:
        """The heaviest terms of the mean of documents of length 1, as a vector of length 1."""
        pool = gather(context, docs)
        pool = pool.keep(rare(context, pool.terms, self.common))
        pool = pool.keep(spelt(context, pool.terms, TOKEN))
        norms = np.sqrt(pool.by_doc(pool.tfs**2))
        mean = pool.by_term(pool.tfs / norms[pool.docs]) / max(len(docs), 1)
        return unit(best(context, pool, mean, self.terms), 2)


MODELS = (Rocchio,)
