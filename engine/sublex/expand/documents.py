"""The documents that feedback looks at, as one list of (document, term, frequency), and the query that comes of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from sublex.base import Context, Query, QueryTerm

# Terms that Anserini lets pass.
_ORDINARY = re.compile("[a-z0-9]{2,20}")
_COMMON = 0.1


class Documents(NamedTuple):
    """Terms of documents laid end to end; `rows` says which document each is of."""

    rows: np.ndarray
    terms: np.ndarray
    tfs: np.ndarray

    @classmethod
    def of(cls, context: Context, docs: np.ndarray) -> Documents:
        """The terms of these documents."""
        vectors = context.vectors(docs)
        rows = np.repeat(np.arange(len(vectors)), [len(vector.terms) for vector in vectors])
        terms = np.concatenate([np.empty(0, np.int64), *(vector.terms for vector in vectors)])
        tfs = np.concatenate([np.empty(0), *(vector.tfs for vector in vectors)])
        return cls(rows, terms, tfs)

    def where(self, mask: np.ndarray) -> Documents:
        """Some of them."""
        return Documents(*(column[mask] for column in self))

    def ordinary(self, context: Context) -> Documents:
        """Without terms shorter than 2 or longer than 20, with other characters than a-z and 0-9, or in over a tenth of all documents."""
        distinct, places = np.unique(self.terms, return_inverse=True)
        good = context.stats(distinct).df / max(context.collection.docs, 1) <= _COMMON
        good[good] = [bool(_ORDINARY.fullmatch(name)) for name in context.names(distinct[good])]
        return self.where(good[places])

    def heaviest(self, number: int) -> Documents:
        """Of each document, the terms with the highest frequencies; among equals those that come first."""
        order = np.lexsort((self.terms, -self.tfs, self.rows))
        starts = np.searchsorted(self.rows[order], self.rows[order])
        return self.where(np.sort(order[np.arange(len(order)) - starts < number]))

    def summed(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The distinct terms, and for each the sum of its values."""
        distinct, places = np.unique(self.terms, return_inverse=True)
        return distinct, np.bincount(places, values, len(distinct))


def best(terms: np.ndarray, weights: np.ndarray, number: int) -> tuple[np.ndarray, np.ndarray]:
    """The terms with the highest positive weights; among equals those that come first."""
    order = np.lexsort((terms, -weights))[:number]
    order = order[weights[order] > 0]
    return terms[order], weights[order]


def grown(query: Query, own: Mapping[str, float], added: Mapping[str, float], origin: str) -> Query:
    """The query with its own terms' new weights and the added ones; a term that is both has both weights and both origins."""
    origins = {t.term: t.origin for t in query.terms}
    total = {term: own.get(term, 0.0) + added.get(term, 0.0) for term in [*own, *added]}
    terms = []
    for term in sorted(total, key=lambda term: (-total[term], term)):
        names = [origins[term]] if term in own else []
        terms.append(QueryTerm(term, total[term], " + ".join([*names, *([origin] if term in added else [])])))
    return Query(query.text, tuple(terms))
