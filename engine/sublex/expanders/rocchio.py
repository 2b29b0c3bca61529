"""Rocchio's formula."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from sublex.base import Context, Query
from sublex.expanders.feedback_documents import COMMON, FeedbackDocuments, grown, unit
from sublex.parameters import Declared, parameter

SIZES = re.compile(".{2,20}", re.DOTALL)


@dataclass(frozen=True)
class Rocchio(Declared):
    """J. Rocchio, Relevance feedback in information retrieval, 1971; vectors as Anserini's RocchioReranker has them, and its defaults.

    alpha times the query, plus beta times the mean of the first documents, less gamma times that of the last ones. FeedbackDocuments are of
    length 1; so are the query and, cut to `terms` terms, the means.
    """

    docs: int = parameter(10, "how many documents are looked at", (1, 10_000))
    terms: int = parameter(10, "how many terms they give", (1, 10_000))
    alpha: float = parameter(1.0, "the weight of the query as it was", (0, 1000))
    beta: float = parameter(0.75, "the weight of the documents", (0, 1000))
    gamma: float = parameter(0.15, "what is taken away for the last documents found", (0, 1000))
    negative: int = parameter(0, "how many of the last documents found count as not relevant", (0, 10_000))
    common: float = parameter(COMMON, "terms in a greater share of all documents are left out", (0, 1))

    def expand(self, query: Query, context: Context) -> Query:
        rest = context.docs[self.docs :]
        towards = self._mean(context, context.docs[: self.docs])
        away = self._mean(context, rest[max(len(rest) - self.negative, 0) :])
        if not towards and not away:
            return query
        own = {term: self.alpha * weight for term, weight in unit(query.weights(), 2).items()}
        added = {}
        for term in [*towards, *away]:
            move = self.beta * towards.get(term, 0.0) - self.gamma * away.get(term, 0.0)
            # Nothing is pushed below 0.
            added[term] = max(move, -max(own.get(term, 0.0), 0.0))
        return grown(query, own, {term: move for term, move in added.items() if move}, "Rocchio")

    def _mean(self, context: Context, docs: np.ndarray) -> dict[str, float]:
        found = FeedbackDocuments.of(context, docs).uncommon(context, self.common).spelt(context, SIZES)
        lengths = np.sqrt(found.by_row(found.tfs**2))
        return unit(found.best(context, found.by_term(found.tfs / lengths[found.rows]), self.terms), 2)


MODELS = (Rocchio,)
