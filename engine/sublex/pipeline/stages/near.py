"""The stage `near`: the hits of the stage before it, with scores that are smoothed over a graph of near documents."""

from __future__ import annotations

import numpy as np

from sublex.contracts.base import Explanation
from sublex.contracts.scores import NO_OPINION
from sublex.errors import InputError
from sublex.pipeline.stages.stage import Scoring, State, rank_in, scores_in
from sublex.representations.graph import LoadedGraph
from sublex.representations.near import Near
from sublex.representations.neighbours import NO_NEIGHBOUR
from sublex.retrieval.hits import Hits


class NearScoring(Scoring):
    """A graph on the hits of one state. `near` has the parameters of the stage."""

    def __init__(self, near: Near, graph: LoadedGraph, state: State):
        self.near, self.graph, self.state = near, graph, state

    def find(self, k: int | None = None) -> Hits:
        docs = self.scored(self._hits.docs)
        hits = self.state.passing(Hits(self.graph.snapshot, docs, np.zeros(len(docs), np.float32)))
        return self.rescored(hits)

    @property
    def _hits(self) -> Hits:
        if self.state.hits is None:
            name = self.graph.name
            raise InputError(
                f"{name} smooths the scores of hits, and nothing was found before it; put a ranker before it, as in "
                f"BM25 >> {name}."
            )
        return self.state.hits

    def scored(self, docs: np.ndarray) -> np.ndarray:
        """Return the documents that the stage scores, given the hits before it: these, and with `add` those near them."""
        if not self.near.add:
            return docs
        found, _ = self.graph.neighbours(docs, self.near.k)
        return np.union1d(docs, found[found != NO_NEIGHBOUR]).astype(np.int32)

    def scores(self, docs: np.ndarray) -> np.ndarray:
        before = self._before(docs)
        near, cosines = self.graph.neighbours(docs, self.near.k)
        weights = cosines.astype(np.float64)
        sums = (weights * self._before(near.ravel()).reshape(near.shape)).sum(axis=1)
        totals = weights.sum(axis=1)
        means = np.divide(sums, totals, out=before.copy(), where=totals > 0)
        scores = np.where(totals > 0, self.near.own * before + (1 - self.near.own) * means, before)
        return scores.astype(np.float32)

    def _before(self, docs: np.ndarray) -> np.ndarray:
        """Return the scores of documents from the stage before, float64; a document that it did not find counts as the lowest hit."""
        hits = self._hits
        scores = scores_in(hits, docs).astype(np.float64)
        lowest = float(hits.scores.min()) if len(hits) else 0.0
        return np.where(scores > NO_OPINION, scores, lowest)

    def explain(self, doc: int) -> Explanation:
        name, own = self.graph.name, self.near.own
        docs = np.array([doc], np.int32)
        if doc not in self.scored(self._hits.docs):
            return Explanation(float(NO_OPINION), f"{name}: neither a hit before this stage nor near one", "evidence")
        near, cosines = self.graph.neighbours(docs, self.near.k)
        weights = cosines[0].astype(np.float64)
        before, total = float(self._before(docs)[0]), float(weights.sum())
        alone = self._score_of(doc, before, "its own score")
        if not total:
            return Explanation(before, f"{name}: no document is near it", "sum", (alone,))
        scores = self._before(near[0])
        parts = [
            Explanation(
                weight / total * score,
                self.graph.snapshot.docno(int(other)),
                "product",
                (
                    Explanation(weight / total, f"share of cosine {weight:.3f}"),
                    self._score_of(int(other), score, "score"),
                ),
            )
            for other, weight, score in zip(near[0].tolist(), weights.tolist(), scores.tolist(), strict=True)
            if weight > 0
        ]
        mean = Explanation(
            sum(part.value for part in parts), f"mean of {len(parts)} near documents", "sum", tuple(parts)
        )
        terms = tuple(
            Explanation(weight * part.value, label, "product", (Explanation(weight, "weight"), part))
            for weight, part, label in ((own, alone, "the document itself"), (1 - own, mean, "the documents near it"))
        )
        return Explanation(sum(term.value for term in terms), f"{name}: smoothed score", "sum", terms)

    def _score_of(self, doc: int, score: float, what: str) -> Explanation:
        """Return the score of a document from the stage before, with its rank there."""
        rank = rank_in(self._hits, doc)
        return Explanation(score, f"{what}, at rank {rank}" if rank else f"{what}: not found, counts as the lowest hit")
