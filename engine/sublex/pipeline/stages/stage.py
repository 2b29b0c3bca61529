"""What all stages share: the state that passes through a pipeline, the base classes, and lookups among hits."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sublex.base import Explanation, Query
from sublex.retrieval.hits import Hits
from sublex.scores import NO_OPINION

# Candidates that a retrieval keeps for the stages after it, unless `%` sets another number.
DEPTH = 1000


class State(NamedTuple):
    """A query, its hits (None when nothing was retrieved yet), and the number of candidates that a retrieval keeps."""

    query: Query
    hits: Hits | None = None
    depth: int = DEPTH


class Stage:
    """One stage of a pipeline."""

    def run(self, state: State, k: int | None = None) -> State:
        """Return the state after this stage. A retrieval keeps `k` hits, or `state.depth` when `k` is None."""
        raise NotImplementedError

    def trace(self, state: State, doc: int) -> Explanation:
        """Return what this stage did, as evidence in the explanation of a later stage; `state` is the state after this stage."""
        raise NotImplementedError


class Scorer(Stage):
    """A stage that finds documents or scores them."""

    def find(self, state: State, k: int | None = None) -> Hits:
        """Return the hits for the query: found in the collection when the state has no hits, else the state's hits scored again."""
        raise NotImplementedError

    def scores(self, state: State, docs: np.ndarray) -> np.ndarray:
        """Return the scores of documents, -inf for a document on which the scorer has no opinion."""
        return scores_in(self.find(state), docs)

    def explain(self, state: State, doc: int) -> Explanation:
        """Return the score of one document taken apart; its value is -inf where the scorer has no opinion."""
        raise NotImplementedError

    def run(self, state: State, k: int | None = None) -> State:
        return state._replace(hits=self.find(state, k))

    def trace(self, state: State, doc: int) -> Explanation:
        rank = rank_in(state.hits, doc) if state.hits is not None else 0
        label = f"found at rank {rank}" if rank else "not found"
        return Explanation(float(rank), f"{label} by the stage before", "evidence")


class Source(Scorer):
    """A scorer that retrieves from the collection by itself: a ranker or a representation."""

    def retrieve(self, query: Query, k: int) -> Hits:
        """Return the best k documents of the collection."""
        raise NotImplementedError

    def find(self, state: State, k: int | None = None) -> Hits:
        if state.hits is None:
            return self.retrieve(state.query, state.depth if k is None else k)
        docs = state.hits.docs
        scores = self.scores(state, docs)
        known = scores > NO_OPINION
        return Hits.ranked(state.hits.snapshot, docs[known], scores[known])


def scores_in(hits: Hits, docs: np.ndarray) -> np.ndarray:
    """Return the scores that hits give to documents, -inf for documents that are not among them."""
    if not len(hits):
        return np.full(len(docs), NO_OPINION)
    order = np.argsort(hits.docs)
    ascending = hits.docs[order]
    place = np.minimum(np.searchsorted(ascending, docs), len(ascending) - 1)
    return np.where(ascending[place] == docs, hits.scores[order][place], NO_OPINION)


def rank_in(hits: Hits, doc: int) -> int:
    """Return the rank of a document among hits, counted from 1; 0 when it is not among them."""
    place = np.flatnonzero(hits.docs == doc)
    return int(place[0]) + 1 if len(place) else 0
