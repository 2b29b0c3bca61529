"""Rocchio's formula: a query moved towards relevant documents and away from non-relevant ones."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from sublex.contracts.base import Context, Query
from sublex.expanders.feedback_documents import MAX_SHARE, FeedbackDocuments, expanded_query, normalise
from sublex.language.parameters import Declared, parameter

# Anserini's RocchioReranker selects only terms of these lengths.
TERM_LENGTHS = re.compile(".{2,20}", re.DOTALL)


@dataclass(frozen=True)
class Rocchio(Declared):
    """Rocchio's relevance feedback, with the vectors and defaults of Anserini's RocchioReranker.

    J. Rocchio, Relevance feedback in information retrieval, 1971. The new query is alpha times the query, plus beta
    times the mean of the first `docs` documents, minus gamma times the mean of the last `negative` documents after
    them. Document vectors and the query are scaled to norm 1. Each mean keeps its `terms` heaviest terms, and is then
    scaled to norm 1.

    `negative` needs a ranker before the expander. Without one, the engine retrieves only `docs` documents.
    """

    docs: int = parameter(10, "The number of feedback documents that count as relevant.", (1, 10_000))
    terms: int = parameter(10, "The number of terms taken from each mean.", (1, 10_000))
    alpha: float = parameter(1.0, "The weight of the original query.", (0, 1000))
    beta: float = parameter(0.75, "The weight of the relevant documents.", (0, 1000))
    gamma: float = parameter(0.15, "The weight of the non-relevant documents, which is subtracted.", (0, 1000))
    negative: int = parameter(0, "The number of documents, from the last, that count as non-relevant.", (0, 10_000))
    common: float = parameter(
        MAX_SHARE, "Terms that more than this share of all documents hold are not selected.", (0, 1)
    )

    def expand(self, query: Query, context: Context) -> Query:
        rest = context.docs[self.docs :]
        relevant = self._mean(context, context.docs[: self.docs])
        non_relevant = self._mean(context, rest[max(len(rest) - self.negative, 0) :])
        if not relevant and not non_relevant:
            return query
        original = {term: self.alpha * weight for term, weight in normalise(query.weights(), 2).items()}
        moves = {}
        for term in [*relevant, *non_relevant]:
            move = self.beta * relevant.get(term, 0.0) - self.gamma * non_relevant.get(term, 0.0)
            # A move makes no weight negative. A weight that was negative before is not moved further down.
            moves[term] = max(move, -max(original.get(term, 0.0), 0.0))
        return expanded_query(query, original, {term: move for term, move in moves.items() if move}, "Rocchio")

    def _mean(self, context: Context, docs: np.ndarray) -> dict[str, float]:
        documents = FeedbackDocuments.read(context, docs).drop_common(context, self.common)
        documents = documents.select_matching(context, TERM_LENGTHS)
        norms = np.sqrt(documents.sum_by_document(documents.tfs**2))
        weights = documents.sum_by_term(documents.tfs / norms[documents.rows])
        return normalise(documents.best_terms(context, weights, self.terms), 2)


EXPANDERS = (Rocchio,)
