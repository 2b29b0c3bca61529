"""A control for word graphs: expand queries by the words that share more documents with theirs than chance explains, without topics.

`effectiveness.py` loads this plugin to see what `swg` gains from its topics and regressions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from sublex.contracts.base import Context, Param, Query, QueryTerm
from sublex.contracts.fitted import Corpus, Fittable, Job, Store, Stored
from sublex.contracts.hookspecs import Register, hookimpl

sublex_api = 3

# Words in fewer documents, in a larger share of all documents, or with fewer documents in common have no neighbours. `swg` has the same.
MIN_DF, MAX_SHARE = 3, 0.1


class PPMI(Fittable):
    """Expansion by positive pointwise mutual information, log(N · n(v, w) / (n(v) · n(w))), over the documents of a collection.

    A term gets the sum of its values with the query's words, times the words' weights. The largest sum becomes `weight`.
    """

    docs = 0

    def __init__(self, terms: int, weight: float):
        self.terms, self.weight = terms, weight

    def fit(self, corpus: Corpus, job: Job) -> None:
        """Keep which documents each word is in."""
        counts = corpus.matrix()
        df = np.bincount(counts.indices, minlength=counts.shape[1])
        kept = np.flatnonzero((df >= MIN_DF) & (df <= MAX_SHARE * counts.shape[0]))
        self.vocabulary = [corpus.vocabulary[number] for number in kept.tolist()]
        self.documents = csr_array((counts[:, kept] > 0).T.astype(np.float64))

    def save(self, store: Store) -> None:
        store.put("vocabulary", self.vocabulary)
        store.put("documents", self.documents)

    def load(self, store: Stored) -> None:
        self.vocabulary, self.documents = store.get("vocabulary"), store.get("documents")
        self.numbers = {term: number for number, term in enumerate(self.vocabulary)}
        self.df = np.diff(self.documents.indptr)

    def expand(self, query: Query, context: Context) -> Query:
        """Return the query with the terms of the largest sums."""
        weights = {self.numbers[term]: weight for term, weight in query.weights().items() if term in self.numbers}
        if not weights:
            return query
        words = np.array(list(weights))
        shared = (self.documents[words] @ self.documents.T).toarray()
        chance = self.df[words][:, None] * self.df / self.documents.shape[1]
        sums = np.array(list(weights.values())) @ np.where(
            shared >= MIN_DF, np.log(np.maximum(shared / chance, 1)), 0.0
        )
        sums[words] = 0
        best = np.argsort(-sums, kind="stable")[: self.terms]
        added = (
            QueryTerm(self.vocabulary[word], self.weight * float(sums[word] / sums[best[0]]), "ppmi")
            for word in best.tolist()
            if sums[word] > 0
        )
        return Query(query.text, (*query.terms, *added))


def make(**params: Any) -> PPMI:
    """Return the expander by PPMI (K. Church and P. Hanks, Word association norms, 1990)."""
    return PPMI(**params)


@hookimpl
def register_expanders(register: Register) -> None:
    """Register `ppmi`."""
    register("ppmi", make, [Param("terms", int, 10, range=(0, 1000)), Param("weight", float, 0.3, range=(0, 10))])
