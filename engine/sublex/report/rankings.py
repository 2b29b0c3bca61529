"""Compare the rankings of systems: their shares of judged documents, their agreement, and the documents to judge next."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from sublex.evaluation.comparison import Comparison
from sublex.pipeline.index import Index
from sublex.statistics.agreement import rbo, tau_ap

# The number of documents per topic that are compared.
DEPTH = 100
# Cutoffs for the shares of judged documents.
JUDGED_CUTOFFS = (5, 10, 20, 100)
# The number of documents per topic that count for P@10.
TOP = 10
# The number of characters shown of a title, and of the text of a document without a title.
TITLE_LENGTH, TEXT_LENGTH = 100, 200


class Rankings:
    """The first 100 documents of each system for each topic.

    Documents are numbered, in the same way for all systems. `lists[system][topic]` has the numbers of documents, best
    first. `docnos` has the docno of each number. `grades[topic]` maps the numbers of judged documents to their grades.
    """

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

    def judged_shares(self) -> np.ndarray:
        """Return the shares of judged documents down to each cutoff, over all topics, as a matrix of systems by cutoffs."""
        shares = np.zeros((self.systems, len(JUDGED_CUTOFFS)))
        for system, ranked in enumerate(self.lists):
            for column, cutoff in enumerate(JUDGED_CUTOFFS):
                tops = [docs[:cutoff] for docs in ranked]
                judged = sum(doc in grades for docs, grades in zip(tops, self.grades, strict=True) for doc in docs)
                shares[system, column] = judged / max(1, sum(map(len, tops)))
        return shares

    def agreement(self) -> tuple[np.ndarray, np.ndarray]:
        """Return two matrices of systems by systems: rank-biased overlap and symmetric τ_AP.

        The values are means over topics.
        """
        overlap, correlation = np.eye(self.systems), np.eye(self.systems)
        for a, b in combinations(range(self.systems), 2):
            both = [(x, y) for x, y in zip(self.lists[a], self.lists[b], strict=True) if x or y]
            overlap[a, b] = overlap[b, a] = _mean([rbo(x, y) for x, y in both])
            correlation[a, b] = correlation[b, a] = _mean([tau_ap(x, y, symmetric=True) for x, y in both])
        return overlap, correlation

    def precision(self, system: int) -> float:
        """Return the system's mean P@10."""
        tops = (docs[:TOP] for docs in self.lists[system])
        relevant = [sum(grades.get(doc, 0) > 0 for doc in docs) for docs, grades in zip(tops, self.grades, strict=True)]
        return float(np.mean(relevant)) / TOP

    def unjudged(self, a: int, b: int) -> list[tuple[int, int]]:
        """Return (topic, document) of each unjudged document that system a has in its first ten, and system b has not."""
        missing = []
        for topic, (mine, theirs, grades) in enumerate(zip(self.lists[a], self.lists[b], self.grades, strict=True)):
            others = set(theirs[:TOP])
            missing += [(topic, doc) for doc in mine[:TOP] if doc not in others and doc not in grades]
        return missing

    def titles(self, index: Index | None, documents: Sequence[int]) -> dict[int, str]:
        """Return the titles of documents, or the beginnings of their texts.

        Documents whose texts the index does not store are left out.
        """
        if index is None or "text" not in index.store:
            return {}
        places = {number: index.doc(self.docnos[number]) for number in documents}
        titles = {}
        # Documents are read in the order of the index, because neighbours share a compressed block.
        for number, doc in sorted(((n, d) for n, d in places.items() if d is not None), key=lambda pair: pair[1]):
            document = index.snapshot.shown(doc)
            if document is None:
                continue
            text = " ".join((document.title or document.text[:TEXT_LENGTH]).split())
            titles[number] = text if len(text) <= TITLE_LENGTH else f"{text[: TITLE_LENGTH - 1].rsplit(' ', 1)[0]}…"
        return titles


class Reversal(NamedTuple):
    """Whether more judgements could reverse the order of two systems by P@10.

    `difference` is the P@10 of `ahead` minus the P@10 of `behind`. `unjudged` is the number of unjudged documents that
    are among the first ten of `behind` and not among the first ten of `ahead`. `gain` is the increase of the P@10 of
    `behind` if all these unjudged documents are relevant.
    """

    ahead: str
    behind: str
    difference: float
    unjudged: int
    gain: float

    @property
    def possible(self) -> bool:
        """Whether the P@10 of `behind` could reach or exceed the P@10 of `ahead`."""
        return self.gain >= self.difference


def reversals(comparison: Comparison, rankings: Rankings) -> list[Reversal]:
    """Return for each pair of systems a `Reversal`: whether more judgements could reverse their order by P@10."""
    precision = [rankings.precision(system) for system in range(rankings.systems)]
    pairs = []
    for a, b in combinations(range(rankings.systems), 2):
        ahead, behind = (a, b) if precision[a] >= precision[b] else (b, a)
        unjudged = len(rankings.unjudged(behind, ahead))
        gain = unjudged / TOP / len(rankings.qids)
        difference = precision[ahead] - precision[behind]
        pairs.append(Reversal(comparison.names[ahead], comparison.names[behind], difference, unjudged, gain))
    return pairs


def to_judge(rankings: Rankings, limit: int = 50) -> list[tuple[str, str, dict[int, int]]]:
    """Return the unjudged documents that are among the first ten of some systems, but not of all.

    The highest ranked are first.

    An item of the list has the id of a topic, a docno, and a dictionary from numbers of systems to the document's
    ranks. The list has at most `limit` items.
    """
    documents = []
    for topic, grades in enumerate(rankings.grades):
        ranks: dict[int, dict[int, int]] = {}
        for system, ranked in enumerate(rankings.lists):
            for rank, doc in enumerate(ranked[topic][:TOP], 1):
                if doc not in grades:
                    ranks.setdefault(doc, {})[system] = rank
        documents += [(topic, doc, by_system) for doc, by_system in ranks.items() if len(by_system) < rankings.systems]
    documents.sort(key=lambda entry: (min(entry[2].values()), -len(entry[2]), entry[0]))
    return [(rankings.qids[topic], rankings.docnos[doc], by_system) for topic, doc, by_system in documents[:limit]]


def _mean(values: Sequence[float]) -> float:
    known = [value for value in values if value == value]
    return sum(known) / len(known) if known else float("nan")
