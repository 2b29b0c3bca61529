"""Axiomatic expansion: words that tell much about the query's words, in the first documents and others drawn at random."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import xxhash

from sublex.base import Context, Query
from sublex.expand.pool import Pool, best, gather, rewritten, spelt, unit
from sublex.parameters import Component, parameter

WORD = re.compile("[a-z]{2,}")
# Less than this is rounding.
LEAST = 1e-8


@dataclass(frozen=True)
class Axiomatic(Component):
    """H. Fang and C. Zhai, Semantic term matching in axiomatic approaches to information retrieval, SIGIR 2006.

    Defaults as Anserini (R = 20, N = 30, M = 20). The drawing depends on seed and query, not on what was asked before.
    """

    docs: int = parameter(20, "how many of the first documents to look at", (1, 1000))
    times: int = parameter(30, "how many times as many documents to look at, the others drawn at random", (1, 1000))
    terms: int = parameter(20, "how many terms to take", (1, 1000))
    beta: float = parameter(0.4, "the greatest similarity of two different words", (0, 1))
    seed: int = parameter(42, "of the random numbers", (0, 2**63))

    def expand(self, query: Query, context: Context) -> Query:
        own = unit(query.weights(), 1)
        first = context.docs[: self.docs]
        if not len(first) or not own:
            return query
        pool = gather(context, np.concatenate([first, self._others(own, context, first)]))
        pool = pool.keep(spelt(context, pool.terms, WORD))
        known = {term: n for term, n in zip(own, context.numbers(list(own)), strict=True) if n >= 0}
        rarity = np.log((1 + context.collection.docs) / context.stats(np.array([*known.values()], np.int64)).df)
        asked = {term: own[term] * idf for term, idf in zip(known, rarity.tolist(), strict=True)}
        weights = np.zeros(len(pool.terms))
        for term, number in known.items():
            at = np.flatnonzero(pool.terms == number)
            if len(at) and own[term] > 0:
                weights += asked[term] * self._similarity(pool, int(at[0]))
        added = best(context, pool, np.where(weights > LEAST, weights, 0), self.terms)
        return rewritten(query, {t: w for t, w in asked.items() if t not in added}, added, "Axiomatic")

    def _similarity(self, pool: Pool, at: int) -> np.ndarray:
        """How alike each term is to the one at a place: 1 to itself, at most beta to another."""
        docs = np.zeros(len(pool.lengths), bool)
        docs[pool.docs[pool.places == at]] = True
        both = pool.by_term(docs[pool.docs].astype(np.float64))
        told = information(pool.by_term(), both[at], both, len(np.unique(pool.docs)))
        alike = self.beta * told / told[at] if told[at] > 0 else np.zeros(len(told))
        alike[at] = 1
        return alike

    def _others(self, own: Iterable[str], context: Context, first: np.ndarray) -> np.ndarray:
        """Documents drawn at random, without the first ones."""
        key = xxhash.xxh64_intdigest("\n".join(sorted(own)).encode("utf-8", "surrogatepass"))
        generator = np.random.Generator(np.random.Philox(key=np.array([self.seed, key], np.uint64)))
        everything = context.everything
        wanted = min(self.docs * self.times, len(everything))
        drawn = everything[generator.choice(len(everything), wanted, replace=False)]
        return drawn[~np.isin(drawn, first)][: max(self.docs * self.times - len(first), 0)]


def information(x: np.ndarray, y: float, both: np.ndarray, n: int) -> np.ndarray:
    """What it tells of a document's having one term whether it has another: x, y and both of n documents have them."""
    told = np.zeros(len(x))
    for joint, one, other in (
        (both, x, y),
        (x - both, x, n - y),
        (y - both, n - x, y),
        (n - x - y + both, n - x, n - y),
    ):
        some = joint > 0
        told[some] += joint[some] / n * np.log(joint[some] * n / (one[some] * other))
    return told


MODELS = (Axiomatic,)
