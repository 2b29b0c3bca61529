"""The first documents of every system for each topic, and what of them nobody has judged."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from sublex.evaluation.comparison import Comparison
from sublex.pipeline.index import Index
from sublex.statistics.agreement import rbo, tau_ap

DEPTH = 100
JUDGED_AT = (5, 10, 20, 100)
FIRST = 10


class Rankings:
    """Rankings to depth 100 as numbers of documents that all systems share: `lists[system][topic]`, best first."""

    def __init__(self, comparison: Comparison):
        numbers: dict[str, int] = {}
        self.qids, self.systems = comparison.qids, len(comparison.systems)
        self.lists: list[list[list[int]]] = []
        for system in comparison.systems:
            names = system.run.docnos
            ranked = []
            for qid in self.qids:
                docs = system.run.topic(qid)[0][:DEPTH]
                ranked.append([numbers.setdefault(docno, len(numbers)) for docno in names.take(docs).tolist()])
            self.lists.append(ranked)
        self.docnos = list(numbers)
        self.grades: list[dict[int, int]] = []
        for qid in self.qids:
            judged = comparison.qrels[qid]
            self.grades.append({numbers[docno]: grade for docno, grade in judged.items() if docno in numbers})

    def judged(self) -> np.ndarray:
        """Systems by cutoffs: which share of the first documents is judged, over all topics."""
        shares = np.zeros((self.systems, len(JUDGED_AT)))
        for system, ranked in enumerate(self.lists):
            for column, cutoff in enumerate(JUDGED_AT):
                shown = [docs[:cutoff] for docs in ranked]
                known = sum(doc in grades for docs, grades in zip(shown, self.grades, strict=True) for doc in docs)
                shares[system, column] = known / max(1, sum(map(len, shown)))
        return shares

    def agreement(self) -> tuple[np.ndarray, np.ndarray]:
        """Systems by systems: rank-biased overlap, and τ_AP of each against the others, as means over topics."""
        overlap, correlation = np.eye(self.systems), np.eye(self.systems)
        for a, b in combinations(range(self.systems), 2):
            both = [(x, y) for x, y in zip(self.lists[a], self.lists[b], strict=True) if x or y]
            overlap[a, b] = overlap[b, a] = _mean([rbo(x, y) for x, y in both])
            correlation[a, b] = correlation[b, a] = _mean([tau_ap(x, y, symmetric=True) for x, y in both])
        return overlap, correlation

    def unjudged(self, a: int, b: int) -> list[tuple[int, int]]:
        """Topics and documents that a has among its first ten and b has not, and that nobody judged."""
        found = []
        for topic, (mine, theirs, grades) in enumerate(zip(self.lists[a], self.lists[b], self.grades, strict=True)):
            others = set(theirs[:FIRST])
            found += [(topic, doc) for doc in mine[:FIRST] if doc not in others and doc not in grades]
        return found

    def titles(self, index: Index | None, documents: Sequence[int]) -> dict[int, str]:
        """Titles of documents, where the index has them."""
        if index is None or "text" not in index.store:
            return {}
        places = {number: index.doc(self.docnos[number]) for number in documents}
        found = {}
        for number, doc in sorted(((n, d) for n, d in places.items() if d is not None), key=lambda pair: pair[1]):
            document = index.snapshot.stored(doc)
            text = " ".join((document.title or document.text[:200]).split())
            found[number] = text if len(text) <= 100 else f"{text[:99].rsplit(' ', 1)[0]}…"
        return found


class Flip(NamedTuple):
    """Whether judging more could turn two systems round by P@10: how far apart they are, and what the one behind could gain."""

    ahead: str
    behind: str
    difference: float
    unjudged: int
    gain: float

    @property
    def possible(self) -> bool:
        return self.gain >= self.difference


def flips(comparison: Comparison, rankings: Rankings) -> list[Flip]:
    """For every two systems: were all that only the one behind found relevant, would it be ahead?"""
    precision = [
        np.array([sum(grades.get(doc, 0) > 0 for doc in docs[:FIRST]) for docs, grades in zip(ranked, rankings.grades, strict=True)]).mean()
        / FIRST
        for ranked in rankings.lists
    ]  # fmt: skip
    found = []
    for a, b in combinations(range(rankings.systems), 2):
        ahead, behind = (a, b) if precision[a] >= precision[b] else (b, a)
        number = len(rankings.unjudged(behind, ahead))
        gain = number / FIRST / len(rankings.qids)
        difference = float(precision[ahead] - precision[behind])
        found.append(Flip(comparison.names[ahead], comparison.names[behind], difference, number, gain))
    return found


def to_judge(rankings: Rankings, most: int = 50) -> list[tuple[str, str, dict[int, int]]]:
    """Unjudged documents among the first ten of some systems but not of all, by how high they stand: topic, docno, rank by system."""
    found = []
    for topic, grades in enumerate(rankings.grades):
        ranks: dict[int, dict[int, int]] = {}
        for system, ranked in enumerate(rankings.lists):
            for rank, doc in enumerate(ranked[topic][:FIRST], 1):
                if doc not in grades:
                    ranks.setdefault(doc, {})[system] = rank
        found += [(topic, doc, seen) for doc, seen in ranks.items() if len(seen) < rankings.systems]
    found.sort(key=lambda entry: (min(entry[2].values()), -len(entry[2]), entry[0]))
    return [(rankings.qids[topic], rankings.docnos[doc], seen) for topic, doc, seen in found[:most]]


def _mean(values: Sequence[float]) -> float:
    known = [value for value in values if value == value]
    return sum(known) / len(known) if known else float("nan")
