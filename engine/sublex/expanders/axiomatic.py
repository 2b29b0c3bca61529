"""Semantic matching by the axiomatic approach: terms that stand where the query's terms stand."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import xxhash

from sublex.base import Context, Query
from sublex.expanders.feedback_documents import FeedbackDocuments, grown, unit
from sublex.parameters import Declared, parameter

LETTERS = re.compile("[a-z]{2,}")
# Weights that differ by less differ by rounding.
DECIMALS = 9


@dataclass(frozen=True)
class Axiomatic(Declared):
    """H. Fang and C. Zhai, Semantic term matching in axiomatic approaches to information retrieval, SIGIR 2006; Anserini's defaults.

    The first r documents and (n - 1) r others chosen by chance are the pool, in which the mutual information of two terms' presence
    is taken. A query term weighs its idf; it adds to another that, times beta, times their information relative to its own.
    """

    r: int = parameter(20, "how many documents are looked at", (1, 10_000))
    n: int = parameter(30, "how many times as many the pool has", (1, 1000))
    m: int = parameter(20, "how many terms it gives, the query's own counted", (1, 10_000))
    beta: float = parameter(0.4, "the weight of new terms", (0, 1000))
    seed: int = parameter(42, "chooses the other documents", (0, 2**32 - 1))
    filter: bool = parameter(True, "whether only words of two or more letters a-z are taken")

    @property
    def docs(self) -> int:
        """How many documents are looked at."""
        return self.r

    def expand(self, query: Query, context: Context) -> Query:
        asked = unit(query.weights(), 1)
        known = {term: n for term, n in zip(asked, context.numbers([*asked]), strict=True) if n >= 0}
        if not len(context.docs) or not known:
            return query
        found = FeedbackDocuments.of(context, self._pool(asked, context))
        found = found.spelt(context, LETTERS) if self.filter else found
        idf = np.log((1 + context.collection.docs) / context.stats(np.array([*known.values()])).df)
        own = {term: asked[term] * rarity for term, rarity in zip(known, idf.tolist(), strict=True)}
        weights = np.zeros(len(found.terms))
        for term, number in known.items():
            at = np.flatnonzero(found.terms == number)
            if len(at) and own[term] > 0:
                weights += own[term] * self._similarity(found, int(at[0]))
        added = found.best(context, weights.round(DECIMALS), self.m)
        return grown(query, {t: weight for t, weight in own.items() if t not in added}, added, "Axiomatic")

    def _pool(self, asked: Iterable[str], context: Context) -> np.ndarray:
        """The first documents, and others; the same for the same words, whatever was asked before."""
        first, live = context.docs[: self.r], context.live
        key = xxhash.xxh3_64_intdigest("\n".join(sorted(asked)).encode("utf-8", "surrogatepass"))
        chance = np.random.Generator(np.random.Philox(key=np.array([self.seed, key], np.uint64)))
        drawn = live[chance.choice(len(live), min(self.n * self.r, len(live)), replace=False)]
        others = drawn[~np.isin(drawn, first)]
        return np.concatenate([first, others[: max(self.n * self.r - len(first), 0)]])

    def _similarity(self, found: FeedbackDocuments, at: int) -> np.ndarray:
        """How alike each term is to the one at a place: 1 to itself, beta at most to another."""
        inside = np.zeros(len(found.lengths))
        inside[found.rows[found.places == at]] = 1
        both = found.by_term(inside[found.rows])
        shared = _information(both, found.by_term(), both[at], len(np.unique(found.rows)))
        alike = self.beta * shared / shared[at] if shared[at] > 0 else np.zeros(len(shared))
        alike[at] = 1
        return alike


def _information(both: np.ndarray, each: np.ndarray, other: float, size: int) -> np.ndarray:
    """The mutual information of two terms' presence, given in how many of `size` documents each and both stand."""
    total = np.zeros(len(both))
    for joint, one, two in (
        (both, each, other),
        (each - both, each, size - other),
        (other - both, size - each, other),
        (size - each - other + both, size - each, size - other),
    ):
        known = joint > 0
        total[known] += joint[known] / size * np.log(joint[known] * size / (one[known] * two))
    return total


MODELS = (Axiomatic,)
