"""The ranker stage: scores documents by the postings of the query's terms."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sublex.analysis.tokens import words_by_term
from sublex.contracts.base import Explanation, Query, TermStats
from sublex.contracts.operators import words_in
from sublex.contracts.scores import NO_OPINION
from sublex.errors import contract
from sublex.forms.trees import ABSENT
from sublex.pipeline.stages.mask import PASSES, Mask, narrowest
from sublex.pipeline.stages.stage import Scoring, Search, State, scores_in
from sublex.retrieval.hits import Hits
from sublex.retrieval.searcher import Among, Searcher, Terms

# If at most one of FEW documents passes, the terms of a query are looked up for each of them.
FEW = 50


class ScoringOnce(Scoring):
    """The base of scorings that score no document twice: a document that was found keeps its score."""

    hits: Hits | None = None

    def find(self, k: int | None = None) -> Hits:
        self.hits = super().find(k)
        return self.hits

    def scores(self, docs: np.ndarray) -> np.ndarray:
        if self.hits is None:
            return self.computed(docs)
        scores = scores_in(self.hits, docs)
        others = scores == NO_OPINION
        if others.any():
            scores[others] = self.computed(docs[others])
        return scores

    def computed(self, docs: np.ndarray) -> np.ndarray:
        """Compute and return the scores of documents, also for documents that were found."""
        raise NotImplementedError


class RankerScoring(ScoringOnce):
    """A ranker applied to one `State`, the query and the hits so far."""

    def __init__(self, searcher: Searcher, state: State):
        self.searcher, self.state = searcher, state

    @property
    def search_alone(self) -> Search | None:
        state = self.state
        return Search(self.searcher, state.query.weights()) if state.hits is None and not state.binding else None

    def search(self, k: int) -> Hits:
        return self.searcher.search(self.state.query.weights(), k)

    def search_passing(self, k: int) -> Hits:
        found = search_among(self.searcher, self.state.query.weights(), self.state.binding, k)
        return super().search_passing(k) if found is None else found

    def computed(self, docs: np.ndarray) -> np.ndarray:
        return self.searcher.scores(self.state.query.weights(), docs)

    def explain(self, doc: int) -> Explanation:
        query, searcher = self.state.query, self.searcher
        weights = query.weights()
        known = searcher.terms(weights)
        absent = weights.keys() - {name for name, *_ in known}
        words = words_by_term(searcher.snapshot.analyzer, query.text) if absent else {}
        unknown = [words_in(term, lambda word: words.get(word, word)) for term in weights if term in absent]
        parts = tuple(_explained(searcher, query, *term, doc) for term in known)
        score = self.computed(np.array([doc], np.int32))[0]
        evidence = {"in no document": unknown} if unknown else {}
        return Explanation(float(score), f"{searcher.name}, added up over the words", "sum", parts, evidence)


def search_among(searcher: Searcher, query: Terms, masks: Sequence[Mask], k: int) -> Hits | None:
    """Return the best k documents that pass all masks. Return None if a mask does not know its documents yet."""
    few = narrowest(masks)
    if few is None or any(mask.passing is None for mask in masks):
        # A function of the user is asked about as few documents as possible.
        return None
    answers = np.minimum.reduce([mask.answers for mask in masks]) if len(masks) > 1 else masks[0].answers
    number = len(few)
    looked_up = None
    if number * FEW <= len(answers):
        looked_up = few[answers[few] == PASSES] if len(masks) > 1 else few
    return searcher.search(query, k, Among(answers, number, looked_up))


def _explained(searcher: Searcher, query: Query, term: str, stats: TermStats, weight: float, doc: int) -> Explanation:
    """Return the explanation of the amount that a query term adds to a document's score:

    `weight` times the ranker's score. If the document lacks the term, the explanation is only evidence.
    """
    snapshot = searcher.snapshot
    label = snapshot.corpus.surface(term)
    origins = ", ".join(dict.fromkeys(t.origin for t in query.terms if t.term == term))
    origin = {} if origins == "query" else {"from": origins}
    segment, local = snapshot.place(doc)
    tf = int(searcher.term_table.frequencies(term, np.array([doc]))[0])
    if not tf:
        missing = {"documents that have it": int(stats.df)} | origin
        return Explanation(0.0, f"{label}{ABSENT}", "evidence", evidence=missing)
    impacts = searcher.impacts[snapshot.segments.index(segment)]
    document, given = impacts.document(local), searcher.frequency(term, doc, tf)
    with contract("ranker", searcher.ranker):
        score = searcher.ranker.explain(given, document, stats, searcher.collection)
    if weight == 1 and not origin:
        return score._replace(label=f"{label}: {score.label}")
    factor = Explanation(weight, "weight in the query", evidence=origin)
    return Explanation(weight * score.value, label, "product", (factor, score))
