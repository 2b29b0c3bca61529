"""Sharp feedback: the query moved towards the first documents, which count by a power of their scores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sublex.contracts.base import Context, Query
from sublex.expanders.feedback_documents import (
    FeedbackDocuments,
    moved,
    normalise,
    other_documents,
    relevant_documents,
)
from sublex.language.parameters import Declared, parameter

# BM25's parameters within the vectors of documents.
K1, B = 1.2, 0.75


@dataclass(frozen=True)
class Sharp(Declared):
    """The query mixed with a weighted mean of the feedback documents' vectors.

    This is the method of J. Rocchio, Relevance feedback in information retrieval, 1971, with other vectors and weights
    of documents. The vector of a document has BM25's score of each of its terms, scaled to norm 1. A document's weight
    in the mean is its score divided by the best score, to the power of `power`: with a high power, many documents can
    take part, and the first ones decide. With a `power` above 0, the weight of a score of 0 or less is 0. If the best
    score is 0 or less, all documents have the same weight. The `terms` terms of the mean with the highest product of
    weight and idf are scaled to norm 1, and so is the query. The new query is `original` times the query, plus 1 -
    `original` times the mean.

    The terms are chosen by idf too, so that rare terms are preferred. Common terms have long posting lists, which would
    make the new query slow.

    With `vectors=lm` a document's vector has the shares of its terms among its tokens, a language model as RM3 uses it.

    With `negative`, the last `negative` documents of the ranking are negative feedback: `gamma` times the mean of their
    vectors, all with the same weight, is subtracted. A ranker has to stand before the expander and find them. If a query
    has judgements, the documents judged relevant are used in place of the first documents, and the other judged
    documents in place of the last ones, all with the same weight.
    """

    docs: int = parameter(30, "The number of feedback documents.", (1, 10_000))
    terms: int = parameter(100, "The number of expansion terms.", (1, 10_000))
    original: float = parameter(0.35, "The weight of the original query; the feedback's is 1 - original.", (0, 1))
    power: float = parameter(5.0, "The power of a document's score over the best one; 0 counts all alike.", (0, 100))
    vectors: str = parameter("bm25", "The vectors of documents: BM25's scores, or a language model.", ("bm25", "lm"))
    negative: int = parameter(0, "The number of documents, from the last, that count as non-relevant.", (0, 10_000))
    gamma: float = parameter(0.05, "The weight of the non-relevant documents, which is subtracted.", (0, 1000))

    @property
    def first_alone(self) -> bool:
        """Whether the first `docs` documents suffice; the last ones count with `negative`."""
        return not self.negative

    def expand(self, query: Query, context: Context) -> Query:
        docs, scores = relevant_documents(context, self.docs)
        others = other_documents(context, self.docs, self.negative)
        relevant = self._mean(context, docs, self._counts(scores))
        non_relevant = self._mean(context, others, np.ones(len(others))) if len(others) else {}
        if not relevant and not non_relevant:
            return query
        original = {term: self.original * weight for term, weight in normalise(query.weights(), 2).items()}
        towards = {term: (1 - self.original) * weight for term, weight in relevant.items()}
        away = {term: self.gamma * weight for term, weight in non_relevant.items()}
        return moved(query, original, towards, away, "Sharp")

    def _mean(self, context: Context, docs: np.ndarray, counts: np.ndarray) -> dict[str, float]:
        """Return the best terms of the mean of documents, scaled to norm 1. `counts` has the documents' weights."""
        documents = FeedbackDocuments.read(context, docs)
        idf = _idf(documents, context)
        values = _bm25(documents, context, idf) if self.vectors == "bm25" else _shares(documents)
        weights = documents.sum_by_term(counts[documents.rows] * values)
        return normalise(documents.best_terms(context, weights, self.terms, weights * idf), 2)

    def _counts(self, scores: np.ndarray) -> np.ndarray:
        """Return the weight of each document in the mean. The first score is the best one."""
        if not len(scores) or scores[0] <= 0:
            return np.ones(len(scores))
        return np.maximum(scores / scores[0], 0.0) ** self.power


def _idf(documents: FeedbackDocuments, context: Context) -> np.ndarray:
    """Return the idf of each term of the documents, as BM25 has it."""
    df = context.stats(documents.terms).df
    idf: np.ndarray = np.log1p((context.collection.docs - df + 0.5) / (df + 0.5))
    return idf


def _bm25(documents: FeedbackDocuments, context: Context, idf: np.ndarray) -> np.ndarray:
    """Return the entries of the documents' vectors: BM25's scores of terms, each document scaled to norm 1."""
    lengths = documents.lengths * (context.collection.docs / max(context.collection.tokens, 1))
    scores = documents.tfs / (documents.tfs + K1 * (1 - B + B * lengths[documents.rows])) * idf[documents.columns]
    norms = np.sqrt(documents.sum_by_document(scores**2))
    scaled: np.ndarray = scores / norms[documents.rows]
    return scaled


def _shares(documents: FeedbackDocuments) -> np.ndarray:
    shares: np.ndarray = documents.tfs / documents.lengths[documents.rows]
    return shares


EXPANDERS = (Sharp,)
