"""The documents that feedback looks at, as columns of (document, term, frequency), and the query that comes of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from sublex.base import Context, Query, QueryTerm

# Words as Anserini lets them pass, and the greatest share of the collection they may stand in.
ORDINARY = re.compile("[a-z0-9]{2,20}")
COMMON = 0.1


class FeedbackDocuments(NamedTuple):
    """The distinct terms, ascending; for each document that holds a term its row, the term's place and its frequency; and all lengths."""

    terms: np.ndarray
    rows: np.ndarray
    places: np.ndarray
    tfs: np.ndarray
    lengths: np.ndarray

    @classmethod
    def of(cls, context: Context, docs: np.ndarray) -> FeedbackDocuments:
        """The terms of these documents."""
        vectors = context.vectors(docs)
        nothing = np.empty(0, np.int64)
        terms, places = np.unique(np.concatenate([nothing, *(v.terms for v in vectors)]), return_inverse=True)
        tfs = np.concatenate([nothing, *(v.tfs for v in vectors)]).astype(np.float64)
        rows = np.repeat(np.arange(len(vectors)), [len(v.terms) for v in vectors])
        return cls(terms, rows, places, tfs, np.bincount(rows, tfs, len(vectors)))

    def only(self, wanted: np.ndarray) -> FeedbackDocuments:
        """Without the terms that are not wanted; lengths stay as they are."""
        held = wanted[self.places]
        places = (np.cumsum(wanted) - 1)[self.places[held]]
        return FeedbackDocuments(self.terms[wanted], self.rows[held], places, self.tfs[held], self.lengths)

    def spelt(self, context: Context, pattern: re.Pattern[str]) -> FeedbackDocuments:
        """Only terms that are spelt as the pattern says."""
        return self.only(np.array([bool(pattern.fullmatch(name)) for name in context.names(self.terms)], bool))

    def uncommon(self, context: Context, share: float) -> FeedbackDocuments:
        """Only terms that stand in no greater share of the collection's documents."""
        return self.only(context.stats(self.terms).df / max(context.collection.docs, 1) <= share)

    def heaviest(self, number: int) -> FeedbackDocuments:
        """Of each document, the terms with the highest frequencies; among equals those that come first."""
        order = np.lexsort((self.places, -self.tfs, self.rows))
        rows = self.rows[order]
        held = order[np.arange(len(rows)) - np.searchsorted(rows, rows) < number]
        return self._replace(rows=self.rows[held], places=self.places[held], tfs=self.tfs[held])

    def by_term(self, values: np.ndarray | None = None) -> np.ndarray:
        """For each term the sum of its values; without any, in how many of the documents it stands."""
        return np.bincount(self.places, values, len(self.terms))

    def by_row(self, values: np.ndarray) -> np.ndarray:
        """For each document the sum of its values."""
        return np.bincount(self.rows, values, len(self.lengths))

    def best(
        self, context: Context, weights: np.ndarray, number: int, merits: np.ndarray | None = None
    ) -> dict[str, float]:
        """The terms with the highest merits, if above 0, and their weights, which are the merits unless given; among equals the first."""
        merits = weights if merits is None else merits
        order = np.argsort(-merits, kind="stable")[:number]
        order = order[merits[order] > 0]
        return dict(zip(context.names(self.terms[order]), weights[order].tolist(), strict=True))


def unit(weights: Mapping[str, float], power: int) -> dict[str, float]:
    """Weights divided by their norm: the sum of their absolute values (power 1) or the root of that of their squares (2)."""
    most = max(map(abs, weights.values()), default=0.0) or 1.0
    norm = sum(abs(weight / most) ** power for weight in weights.values()) ** (1 / power) or 1.0
    return {term: weight / most / norm for term, weight in weights.items()}


def grown(query: Query, own: Mapping[str, float], added: Mapping[str, float], origin: str) -> Query:
    """The query with its own terms' new weights and the added ones; a term that is both has both weights and both origins."""
    origins: dict[str, list[str]] = {}
    for term, _, source in [*query.terms, *((term, 0.0, origin) for term in added)]:
        known = origins.setdefault(term, [])
        if source not in known:
            known.append(source)
    total = {term: own.get(term, 0.0) + added.get(term, 0.0) for term in origins}
    terms = [QueryTerm(term, total[term], " + ".join(origins[term])) for term in total]
    return Query(query.text, tuple(sorted(terms, key=lambda found: (-found.weight, found.term))))
