"""Rocchio's formula: a query moved towards relevant documents and away from non-relevant ones."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from sublex.contracts.base import Context, Query
from sublex.expanders.feedback_documents import (
    MAX_SHARE,
    FeedbackDocuments,
    moved,
    normalise,
    other_documents,
    relevant_documents,
)
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

    `negative` needs a ranker before the expander. Without one, the engine retrieves only `docs` documents. With
    judgements, the documents judged relevant and the other judged ones take the places of both groups.
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
        relevant = self._mean(context, relevant_documents(context, self.docs)[0])
        others = self._mean(context, other_documents(context, self.docs, self.negative))
        if not relevant and not others:
            return query
        original = {term: self.alpha * weight for term, weight in normalise(query.weights(), 2).items()}
        towards = {term: self.beta * weight for term, weight in relevant.items()}
        away = {term: self.gamma * weight for term, weight in others.items()}
        return moved(query, original, towards, away, "Rocchio")

    def _mean(self, context: Context, docs: np.ndarray) -> dict[str, float]:
        documents = FeedbackDocuments.read(context, docs).drop_common(context, self.common)
        documents = documents.select_matching(context, TERM_LENGTHS)
        norms = np.sqrt(documents.sum_by_document(documents.tfs**2))
        weights = documents.sum_by_term(documents.tfs / norms[documents.rows])
        return normalise(documents.best_terms(context, weights, self.terms), 2)


EXPANDERS = (Rocchio,)
