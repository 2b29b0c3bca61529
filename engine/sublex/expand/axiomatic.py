"""Semantic matching by the axiomatic approach: terms that stand where the query's terms stand."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import xxhash

from sublex.base import Context, Query
from sublex.expand.documents import Documents, best, grown
from sublex.rank.model import Declared, parameter


@dataclass(frozen=True)
class Axiomatic(Declared):
    """H. Fang and C. Zhai, Semantic term matching in axiomatic approaches to information retrieval, SIGIR 2006; Anserini's defaults.

    The first r documents and (n - 1) r others chosen by chance are the pool, in which the mutual information of two terms' presence
    is taken; a term's weight is beta times the mean, over the query, of its information relative to the query term's own.
    """

    r: int = parameter(20, "how many documents are looked at", (1, 10_000))
    n: int = parameter(30, "how many times as many the pool has", (1, 1000))
    m: int = parameter(20, "how many terms they give", (1, 10_000))
    beta: float = parameter(0.4, "the weight of new terms", (0, 1000))
    seed: int = parameter(42, "chooses the other documents", (0, 2**32 - 1))
    filter: bool = parameter(True, "whether odd and common terms are left out, as Anserini does")

    @property
    def docs(self) -> int:
        """How many documents are looked at."""
        return self.r

    def expand(self, query: Query, context: Context) -> Query:
        held = query.weights()
        asked = [
            (number, weight)
            for number, weight in zip(context.numbers([*held]), held.values(), strict=True)
            if number >= 0
        ]
        if not len(context.docs) or not asked:
            return query
        pool = self._pool(query, context)
        found = Documents.of(context, pool)
        first = found.where(found.rows < min(self.r, len(context.docs)))
        candidates = np.unique((first.ordinary(context) if self.filter else first).terms)
        total = np.zeros(len(candidates))
        for number, weight in asked:
            rows = found.rows[found.terms == number]
            own = _information(np.array([len(rows)]), np.array([len(rows)]), len(rows), len(pool))[0]
            if own > 0:
                total += weight * self._shared(found, candidates, rows, len(pool)) / own
        terms, weights = best(candidates, self.beta * total / len(asked), self.m)
        added = dict(zip(context.names(terms), weights.tolist(), strict=True))
        return grown(query, held, {term: weight for term, weight in added.items() if term not in held}, "Axiomatic")

    def _pool(self, query: Query, context: Context) -> np.ndarray:
        """The first documents, and others; the same for the same query, whatever was asked before."""
        first = context.docs[: self.r]
        others = np.setdiff1d(context.live, first)
        key = xxhash.xxh3_64_intdigest("\n".join(sorted(query.weights())).encode())
        chance = np.random.Generator(np.random.Philox(key=[self.seed, key]))
        number = min((self.n - 1) * self.r, len(others))
        return np.concatenate([first, np.sort(chance.choice(others, number, replace=False))])

    def _shared(self, found: Documents, candidates: np.ndarray, rows: np.ndarray, size: int) -> np.ndarray:
        """The mutual information of each candidate with the term that stands in these rows of the pool."""
        places = np.searchsorted(candidates, found.terms)
        known = (places < len(candidates)) & (candidates[np.minimum(places, len(candidates) - 1)] == found.terms)
        places, inside = places[known], np.isin(found.rows[known], rows)
        each = np.bincount(places, minlength=len(candidates))
        both = np.bincount(places[inside], minlength=len(candidates))
        return _information(both, each, len(rows), size)


def _information(both: np.ndarray, each: np.ndarray, other: int, size: int) -> np.ndarray:
    """The mutual information of two terms' presence, given in how many of `size` documents each and both stand."""
    total = np.zeros(len(both))
    for joint, one, two in (
        (both, each, other),
        (each - both, each, size - other),
        (other - both, size - each, other),
        (size - each - other + both, size - each, size - other),
    ):
        product = np.maximum(one * np.float64(two), 1e-300)
        total += np.where(joint > 0, joint / size * np.log(np.maximum(joint, 1) * size / product), 0.0)
    return total


MODELS = (Axiomatic,)
