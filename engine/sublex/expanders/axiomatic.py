"""Expansion by the axiomatic approach: terms that occur in the same documents as the query's terms."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import xxhash

from sublex.contracts.base import Context, Query
from sublex.expanders.feedback_documents import (
    FeedbackDocuments,
    expanded_query,
    known_terms,
    normalise,
    relevant_documents,
)
from sublex.language.parameters import Declared, parameter

# Anserini's AxiomReranker selects only terms that match this pattern.
LETTERS = re.compile("[a-z]{2,}")
# Weights are rounded to this number of decimals before they are compared, so that rounding errors do not decide the order of
# equal weights.
DECIMALS = 9


@dataclass(frozen=True)
class Axiomatic(Declared):
    """Semantic term matching by the axiomatic approach, with Anserini's defaults.

    H. Fang and C. Zhai, Semantic term matching in axiomatic approaches to information retrieval, SIGIR 2006.

    The pool is the first r documents and (n - 1) r others, drawn at random. Each query term adds a number to the weight of a
    term: its weight in the query, times its idf, times its similarity to the term. A query term's similarity to itself is
    1. Its similarity to another term is beta times the mutual information of the presence of both terms in the documents of
    the pool, divided by the query term's information about itself. A query term that is not among the m selected terms has
    as weight its weight in the query times its idf.
    """

    r: int = parameter(20, "The number of feedback documents.", (1, 10_000))
    n: int = parameter(30, "The size of the pool, as a multiple of r.", (1, 1000))
    m: int = parameter(20, "The number of terms selected, which may be terms of the query.", (1, 10_000))
    beta: float = parameter(0.4, "The weight of expansion terms against terms of the query.", (0, 1000))
    seed: int = parameter(42, "The seed for drawing the other documents of the pool.", (0, 2**32 - 1))
    filter: bool = parameter(True, "Whether to select only terms of two or more letters a-z.")

    @property
    def docs(self) -> int:
        """The number of feedback documents. The engine reads this attribute of expanders."""
        return self.r

    def expand(self, query: Query, context: Context) -> Query:
        original = normalise(query.weights(), 1)
        known, first = known_terms(context, original), relevant_documents(context, self.r)[0]
        if not len(first) or not known:
            return query
        pool = FeedbackDocuments.read(context, self._pool(original, first, context))
        pool = pool.select_matching(context, LETTERS) if self.filter else pool
        idf = np.log((1 + context.collection.docs) / context.stats(np.array([*known.values()])).df)
        query_weights = {term: original[term] * rarity for term, rarity in zip(known, idf.tolist(), strict=True)}
        weights = np.zeros(len(pool.terms))
        for term, number in known.items():
            column = np.flatnonzero(pool.terms == number)
            if len(column) and query_weights[term] > 0:
                weights += query_weights[term] * self._similarity(pool, int(column[0]))
        added = pool.best_terms(context, weights.round(DECIMALS), self.m)
        # Selected query terms are left out: their weight already contains the similarity of the term to itself.
        unselected = {term: weight for term, weight in query_weights.items() if term not in added}
        return expanded_query(query, unselected, added, "Axiomatic")

    def _pool(self, terms: Iterable[str], first: np.ndarray, context: Context) -> np.ndarray:
        """Return the documents of the pool. The random draw depends only on the seed and on the query's terms."""
        live = context.live_docs
        key = xxhash.xxh3_64_intdigest("\n".join(sorted(terms)).encode("utf-8", "surrogatepass"))
        random = np.random.Generator(np.random.Philox(key=np.array([self.seed, key], np.uint64)))
        drawn = live[random.choice(len(live), min(self.n * self.r, len(live)), replace=False)]
        others = drawn[~np.isin(drawn, first)]
        return np.concatenate([first, others[: max(self.n * self.r - len(first), 0)]])

    def _similarity(self, pool: FeedbackDocuments, column: int) -> np.ndarray:
        """Return the similarity of each term to the term of a column: 1 for this term, at most beta for others."""
        holds = np.zeros(len(pool.lengths))
        holds[pool.rows[pool.columns == column]] = 1
        both = pool.sum_by_term(holds[pool.rows])
        information = mutual_information(both, pool.document_counts(), both[column], len(np.unique(pool.rows)))
        itself = information[column]
        similarity = self.beta * information / itself if itself > 0 else np.zeros(len(information))
        similarity[column] = 1
        return similarity


def mutual_information(both: np.ndarray, each: np.ndarray, other: float, size: int) -> np.ndarray:
    """Return the mutual information, in nats, of the presence of each term and the presence of another term.

    `size` is the number of documents. `each` has the number of documents with each term, `other` is the number of documents
    with the other term, and `both` has the number of documents with both terms.
    """
    total = np.zeros(len(both))
    for joint, one, two in (
        (both, each, other),
        (each - both, each, size - other),
        (other - both, size - each, other),
        (size - each - other + both, size - each, size - other),
    ):
        positive = joint > 0
        total[positive] += joint[positive] / size * np.log(joint[positive] * size / (one[positive] * two))
    return total


EXPANDERS = (Axiomatic,)
