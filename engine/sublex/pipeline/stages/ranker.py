"""The ranker stage: scores documents by the postings of the query's terms."""

from __future__ import annotations

import numpy as np

from sublex.analysis.tokens import words_by_term
from sublex.contracts.base import Explanation, Query, TermStats
from sublex.contracts.scores import NO_OPINION
from sublex.errors import contract
from sublex.index.segment import Segment
from sublex.pipeline.stages.stage import Scoring, State, scores_in
from sublex.retrieval.hits import Hits
from sublex.retrieval.searcher import Searcher


class RankerScoring(Scoring):
    """A ranker on one state. Documents that it has found are not scored again: they keep their scores."""

    hits: Hits | None = None

    def __init__(self, searcher: Searcher, state: State):
        self.searcher, self.state = searcher, state

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

    def search(self, k: int) -> Hits:
        return self.searcher.search(self.state.query.weights(), k)

    def computed(self, docs: np.ndarray) -> np.ndarray:
        """Return the computed scores of documents, whether they were found or not."""
        return self.searcher.scores(self.state.query.weights(), docs)

    def explain(self, doc: int) -> Explanation:
        query, searcher = self.state.query, self.searcher
        weights = query.weights()
        known = searcher.terms(weights)
        absent = weights.keys() - {name for name, *_ in known}
        words = words_by_term(searcher.snapshot.analyzer, query.text) if absent else {}
        unknown = [words.get(term, term) for term in weights if term in absent]
        parts = tuple(_explained(searcher, query, *term, doc) for term in known)
        score = self.computed(np.array([doc], np.int32))[0]
        evidence = {"in no document": unknown} if unknown else {}
        return Explanation(float(score), f"{searcher.name}, added up over the words", "sum", parts, evidence)


def _explained(searcher: Searcher, query: Query, term: str, number: int, weight: float, doc: int) -> Explanation:
    """Return the explanation of what one query term adds. It is evidence if the document lacks the term."""
    snapshot, term_table = searcher.snapshot, searcher.term_table
    found = snapshot.term(term)
    label = found.surface if found else term
    origins = ", ".join(dict.fromkeys(t.origin for t in query.terms if t.term == term))
    origin = {} if origins == "query" else {"from": origins}
    segment, local = snapshot.place(doc)
    k = snapshot.segments.index(segment)
    stats = TermStats(*(values[number] for values in term_table.stats))
    tf = _frequency(segment, term_table.ordinal(k, number), local)
    if not tf:
        missing = {"documents that have it": int(stats.df)} | origin
        return Explanation(0.0, f"{label}: not in this document", "evidence", evidence=missing)
    document = searcher.impacts[k].document(local)
    with contract("ranker", searcher.ranker):
        score = searcher.ranker.explain(tf, document, stats, snapshot.statistics)
    if weight == 1 and not origin:
        return score._replace(label=f"{label}: {score.label}")
    factor = Explanation(weight, "weight in the query", evidence=origin)
    return Explanation(weight * score.value, label, "product", (factor, score))


def _frequency(segment: Segment, ordinal: int, local: int) -> int:
    """Return the frequency of a term, given by its ordinal in a segment, in one document of that segment."""
    if ordinal < 0:
        return 0
    docs, tfs = segment.postings(ordinal, ordinal + 1)
    place = int(np.searchsorted(docs, local))
    return int(tfs[place]) if place < len(docs) and docs[place] == local else 0
