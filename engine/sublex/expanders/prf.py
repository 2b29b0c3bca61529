"""Feedback for BM25: the weights of Robertson and Spärck Jones, the first documents taken for the relevant ones."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from sublex.base import Context, Query
from sublex.expanders.feedback_documents import FeedbackDocuments, grown
from sublex.parameters import Declared, parameter

# As ORDINARY, with a letter somewhere.
WORD = re.compile("(?=.*[a-z])[a-z0-9]{2,20}")
# What a weight is at least, and in how many of the documents a new term must stand.
LEAST, DOCUMENTS = 1e-6, 2


@dataclass(frozen=True)
class BM25PRF(Declared):
    """S. Robertson and K. Spärck Jones, Simple, proven approaches to text retrieval, Cambridge 1994; Anserini's defaults.

    Terms are chosen by their weight times the logarithm of how many of the documents hold them (T. Sakai and S. Robertson, SIGIR 2002).
    The weights hold the idf already, so that the ranker after it is BM25(variant=tf).
    """

    docs: int = parameter(10, "how many documents are looked at", (1, 10_000))
    terms: int = parameter(20, "how many terms they give", (1, 10_000))
    weight: float = parameter(0.2, "the weight of a new term, one of the query having 1", (0, 1000))
    filter: bool = parameter(
        True, "whether only words of 2 to 20 letters a-z and digits are taken, with a letter in them"
    )

    def expand(self, query: Query, context: Context) -> Query:
        found = FeedbackDocuments.of(context, context.docs[: self.docs])
        if not len(found.terms):
            return query
        held = query.weights()
        known = {term: n for term, n in zip(held, context.numbers([*held]), strict=True) if n >= 0}
        numbers = np.array([*known.values()], np.int64)
        inside = dict(zip(found.terms.tolist(), found.by_term().tolist(), strict=True))
        own = self._relevance(np.array([inside.get(n, 0) for n in known.values()], float), numbers, found, context)
        kept = {term: held[term] * max(weight, LEAST) for term, weight in zip(known, own.tolist(), strict=True)}

        new = found.only((found.by_term() >= DOCUMENTS) & ~np.isin(found.terms, numbers))
        new = new.spelt(context, WORD) if self.filter else new
        often = new.by_term().astype(float)
        weights = np.maximum(self.weight * self._relevance(often, new.terms, found, context), LEAST)
        return grown(query, kept, new.best(context, weights, self.terms, weights * np.log(often)), "BM25PRF")

    def _relevance(
        self, often: np.ndarray, terms: np.ndarray, found: FeedbackDocuments, context: Context
    ) -> np.ndarray:
        """The odds of terms in the documents, `often` of which hold them, against those in the others; as a logarithm."""
        df, size = context.stats(terms).df, len(found.lengths)
        others = context.collection.docs - size - df + often
        return np.log((often + 0.5) * (others + 0.5) / ((df - often + 0.5) * (size - often + 0.5)))


MODELS = (BM25PRF,)
