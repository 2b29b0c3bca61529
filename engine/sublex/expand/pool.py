"""What expanders share: the terms of some documents as columns, and the query that comes out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from sublex.base import Context, Query, QueryTerm


class Pool(NamedTuple):
    """The terms of documents: the distinct ones, ascending; and for each document that holds a term, both places and the frequency."""

    terms: np.ndarray
    docs: np.ndarray
    places: np.ndarray
    tfs: np.ndarray
    lengths: np.ndarray

    def keep(self, wanted: np.ndarray) -> Pool:
        """Without the terms that are not wanted; lengths stay as they are."""
        held = wanted[self.places]
        places = (np.cumsum(wanted) - 1)[self.places[held]]
        return self._replace(terms=self.terms[wanted], docs=self.docs[held], places=places, tfs=self.tfs[held])

    def first(self, k: int) -> Pool:
        """Each document's k most frequent terms, of equals the first ones."""
        order = np.lexsort((self.places, -self.tfs, self.docs))
        docs = self.docs[order]
        held = order[np.arange(len(docs)) - np.searchsorted(docs, docs) < k]
        return self._replace(docs=self.docs[held], places=self.places[held], tfs=self.tfs[held])

    def by_term(self, values: np.ndarray | None = None) -> np.ndarray:
        """Values added up for each term; without any, its number of documents."""
        return np.bincount(self.places, values, len(self.terms))

    def by_doc(self, values: np.ndarray) -> np.ndarray:
        """Values added up for each document."""
        return np.bincount(self.docs, values, len(self.lengths))


def gather(context: Context, docs: np.ndarray) -> Pool:
    """The terms of these documents."""
    vectors = context.vectors(docs)
    none = np.empty(0, np.int64)
    terms, places = np.unique(np.concatenate([none, *(v.terms for v in vectors)]), return_inverse=True)
    tfs = np.concatenate([none, *(v.tfs for v in vectors)]).astype(np.float64)
    rows = np.repeat(np.arange(len(vectors)), [len(v.terms) for v in vectors])
    return Pool(terms, rows, places, tfs, np.bincount(rows, tfs, len(vectors)))


def spelt(context: Context, terms: np.ndarray, pattern: re.Pattern[str]) -> np.ndarray:
    """Which terms are spelt as the pattern says."""
    match = pattern.fullmatch
    return np.array([match(name) is not None for name in context.names(terms)], bool)


def rare(context: Context, terms: np.ndarray, share: float) -> np.ndarray:
    """Which terms stand in no greater share of the collection's documents."""
    return context.stats(terms).df / context.collection.docs <= share


def best(
    context: Context, pool: Pool, weights: np.ndarray, k: int, merits: np.ndarray | None = None
) -> dict[str, float]:
    """The k terms of greatest merit, which is the weight unless given, where that is above 0; of equals the first ones."""
    merits = weights if merits is None else merits
    order = np.argsort(-merits, kind="stable")[:k]
    order = order[merits[order] > 0]
    return dict(zip(context.names(pool.terms[order]), weights[order].tolist(), strict=True))


def unit(weights: Mapping[str, float], power: int) -> dict[str, float]:
    """Weights divided by their norm: the sum of their absolute values (power 1) or the root of their squares' (2)."""
    most = max(map(abs, weights.values()), default=0.0) or 1.0
    norm = sum(abs(weight / most) ** power for weight in weights.values()) ** (1 / power) or 1.0
    return {term: weight / most / norm for term, weight in weights.items()}


def rewritten(query: Query, kept: Mapping[str, float], added: Mapping[str, float], name: str) -> Query:
    """The query with new weights for its terms, and terms added, heaviest first; a term in both has both origins and the sum."""
    origins: dict[str, dict[str, None]] = {}
    for term, _, origin in query.terms:
        origins.setdefault(term, {})[origin] = None
    for term in added:
        origins.setdefault(term, {})[name] = None
    terms = [
        QueryTerm(term, kept.get(term, 0.0) + added.get(term, 0.0), ", ".join(found)) for term, found in origins.items()
    ]
    return Query(query.text, tuple(sorted(terms, key=lambda t: (-t.weight, t.term))))
