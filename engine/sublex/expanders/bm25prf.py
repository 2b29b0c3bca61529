"""Pseudo-relevance feedback for BM25: relevance weights with the first documents in place of judged ones."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from sublex.contracts.base import Context, Query
from sublex.contracts.operators import Operator
from sublex.expanders.feedback_documents import FeedbackDocuments, expanded_query, known_terms, relevant_documents
from sublex.language.parameters import Declared, parameter

# The pattern of terms that can be added. It is Anserini's pattern, but a term must also have at least one letter.
WORD = re.compile("(?=.*[a-z])[a-z0-9]{2,20}")
# The least weight of a term, and the least number of feedback documents that contain an added term.
MIN_WEIGHT, MIN_DOCUMENTS = 1e-6, 2


@dataclass(frozen=True)
class BM25PRF(Declared):
    """Query terms and new terms with relevance weights, by Anserini's defaults.

    S. Robertson and K. Spärck Jones, Simple, proven approaches to text retrieval, Cambridge 1994.
    A query term's weight is multiplied by its relevance weight. New terms are those that at least two feedback
    documents hold. They are selected by relevance weight times the logarithm of the number of feedback documents that
    hold them (T. Sakai and S. Robertson, SIGIR 2002), and get their relevance weight times `weight`. Relevance weights
    contain the idf, so the ranker after this expander is BM25(variant=tf).
    """

    docs: int = parameter(10, "The number of feedback documents.", (1, 10_000))
    terms: int = parameter(20, "The number of expansion terms.", (1, 10_000))
    weight: float = parameter(0.2, "The factor of an added term's weight; terms of the query have 1.", (0, 1000))
    filter: bool = parameter(True, "Whether to add only terms of 2 to 20 letters a-z and digits, with a letter.")

    def expand(self, query: Query, context: Context) -> Query:
        docs = relevant_documents(context, self.docs)[0]
        documents = FeedbackDocuments.read(context, docs)
        if not len(documents.terms):
            return query
        original = query.weights()
        known = known_terms(context, original)
        numbers, size = np.array([*known.values()], np.int64), len(documents.lengths)
        counts = dict(zip(documents.terms.tolist(), documents.document_counts().tolist(), strict=True))
        # `documents` has words only, so operators are counted here.
        counts |= {n: (context.frequencies(t, docs) > 0).sum() for t, n in known.items() if isinstance(t, Operator)}
        r = np.array([counts.get(n, 0) for n in known.values()], float)
        relevance = relevance_weights(r, size, numbers, context).tolist()
        reweighted = {term: original[term] * max(w, MIN_WEIGHT) for term, w in zip(known, relevance, strict=True)}

        new = documents.select((documents.document_counts() >= MIN_DOCUMENTS) & ~np.isin(documents.terms, numbers))
        new = new.select_matching(context, WORD) if self.filter else new
        r = new.document_counts().astype(float)
        weights = np.maximum(self.weight * relevance_weights(r, size, new.terms, context), MIN_WEIGHT)
        added = new.best_terms(context, weights, self.terms, weights * np.log(r))
        return expanded_query(query, reweighted, added, "BM25PRF")


def relevance_weights(r: np.ndarray, size: int, terms: np.ndarray, context: Context) -> np.ndarray:
    """Return Robertson and Spärck Jones's relevance weights of terms.

    There are `size` feedback documents. `r` has, for each term, the number of those that contain the term. The weight is
    log(a / b): a is the odds that a feedback document contains the term, and b the odds that another document contains it.
    """
    df = context.stats(terms).df
    others_without = context.collection.docs - size - df + r
    return np.log((r + 0.5) * (others_without + 0.5) / ((df - r + 0.5) * (size - r + 0.5)))


EXPANDERS = (BM25PRF,)
