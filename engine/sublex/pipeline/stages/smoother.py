"""The smoother stage: it changes the scores of the hits before it by those of near documents in a graph."""

from __future__ import annotations

import numpy as np

from sublex.contracts.base import LARGEST_SCORE, Explanation
from sublex.contracts.fitted import Smoother
from sublex.contracts.scores import NO_OPINION
from sublex.errors import InputError, PluginError, contract
from sublex.pipeline.stages.stage import Scoring, State, rank_in, scores_in
from sublex.representations.graph import LoadedGraph
from sublex.representations.loaded import checked_explanation
from sublex.representations.neighbours import NO_NEIGHBOUR
from sublex.retrieval.hits import Hits


class SmootherScoring(Scoring):
    """A smoother applied to one `State`: it scores the hits of the state and, with `add`, the documents near them."""

    def __init__(self, graph: LoadedGraph, state: State):
        self.graph, self.state = graph, state
        self.smoother: Smoother = graph.model

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
        """Return the documents that the stage scores: the hits before it and, with `add`, the documents near them."""
        if not self.smoother.add:
            return docs
        found, _ = self.graph.nearest(docs)
        return np.union1d(docs, found[found != NO_NEIGHBOUR]).astype(np.int32)

    def scores(self, docs: np.ndarray) -> np.ndarray:
        near, cosines = self.graph.nearest(docs)
        before = self._before(docs), self._before(near.ravel()).reshape(near.shape), cosines.astype(np.float64)
        with contract("smoother", self.graph.name):
            scores = np.asarray(self.smoother.smooth(*before), np.float64)
            if scores.shape != (len(docs),) or not (np.abs(scores) <= LARGEST_SCORE).all():
                raise PluginError(f"The smoother {self.graph.name} did not give each document one finite score.")
        return scores.astype(np.float32)

    def _before(self, docs: np.ndarray) -> np.ndarray:
        """Return the scores of documents from the stage before, as float64.

        Documents that are no hits get the lowest score.
        """
        hits = self._hits
        scores = scores_in(hits, docs).astype(np.float64)
        lowest = float(hits.scores.min()) if len(hits) else 0.0
        return np.where(scores > NO_OPINION, scores, lowest)

    def explain(self, doc: int) -> Explanation:
        name, docs = self.graph.name, np.array([doc], np.int32)
        if doc not in self.scored(self._hits.docs):
            return Explanation(float(NO_OPINION), f"{name}: neither a hit before this stage nor near one", "evidence")
        score = float(self.scores(docs)[0])
        if type(self.smoother).explain is Smoother.explain:
            return Explanation(score, f"{name}: the plugin gives no explanation")
        found, cosines = (row[0].tolist() for row in self.graph.nearest(docs))
        near = {other: cosine for other, cosine in zip(found, cosines, strict=True) if cosine > 0}
        scores = {self.graph.snapshot.docno(other): self._score_of(other, "score") for other in near}
        with contract("smoother", name):
            tree = self.smoother.explain(self._score_of(doc, "its own score"), scores, [*near.values()])
            tree = checked_explanation(tree, score, name)
        return tree._replace(label=f"{name}: {tree.label}")

    def _score_of(self, doc: int, what: str) -> Explanation:
        """Return a document's score from the stage before as an explanation. Its label is `what` and the rank there."""
        score, rank = float(self._before(np.array([doc], np.int32))[0]), rank_in(self._hits, doc)
        return Explanation(score, f"{what}, at rank {rank}" if rank else f"{what}: not found, counts as the lowest hit")
