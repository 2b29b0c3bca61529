"""The state that passes through a pipeline, the base classes of stages and scorings, and lookups among hits."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from sublex.contracts.base import Explanation, Query
from sublex.contracts.columns import comparisons_in
from sublex.contracts.operators import Condition
from sublex.contracts.scores import NO_OPINION
from sublex.errors import InputError
from sublex.pipeline.stages.mask import Mask, first_passing, narrowest, passes
from sublex.retrieval.hits import Hits
from sublex.retrieval.searcher import Searcher, Terms

# The number of candidates that a retrieval keeps for later stages, unless `%` sets another number.
DEPTH = 1000
# Estimate the number of documents that a search under masks needs, as if documents passed at random. The search first
# finds SPARE times this number. If fewer than k documents pass, the number is multiplied by DEEPER.
SPARE, DEEPER = 1.2, 4


class State(NamedTuple):
    """A query, its hits (None before the first retrieval), and the number of candidates that a retrieval keeps.

    `original` is the query before all expanders; it is None until the first expander has run.

    `masks` are those of filters, and `allowed` is the mask of the query's condition. A scoring finds only documents
    that pass all of them. Hits from before a `%` may fail a mask; `candidates` are the hits that pass. A mask of a
    filter applies to some stages, and `allowed` to all.
    """

    query: Query
    hits: Hits | None = None
    original: Query | None = None
    depth: int = DEPTH
    masks: tuple[Mask, ...] = ()
    allowed: Mask | None = None

    @property
    def binding(self) -> tuple[Mask, ...]:
        """All masks: the one of the query's condition, and those of filters."""
        return self.masks if self.allowed is None else (self.allowed, *self.masks)

    def filtered(self, mask: Mask) -> State:
        """Return the state with one more mask.

        Masks that know their documents come first. So a function of the user is asked about fewer documents.
        """
        return self._replace(masks=tuple(sorted((mask, *self.masks), key=lambda mask: not mask.at_once)))

    def passing(self, hits: Hits) -> Hits:
        """Return those of the hits that pass the masks."""
        masks = self.binding
        return hits.at(np.flatnonzero(passes(masks, hits.docs))) if masks else hits

    @property
    def candidates(self) -> Hits | None:
        """The hits that pass the masks."""
        return None if self.hits is None else self.passing(self.hits)


class Stage:
    """One stage of a pipeline.

    `finds` says whether the stage can find hits by itself; a pipeline begins with such a stage. `through` says whether
    a filter after the stage also reaches the stages before it. `enough` is the number of hits of the stage before, from
    the first, that the stage looks at; None for all.
    """

    finds = True
    through = True
    enough: int | None = None

    def run(self, state: State, k: int | None = None) -> State:
        """Return the state after this stage. A retrieval keeps `k` hits, or `state.depth` when `k` is None."""
        raise NotImplementedError

    def trace(self, state: State, doc: int) -> Explanation:
        """Return evidence that shows the effect of this stage, for the explanation by a later stage.

        `state` is the state after this stage.
        """
        raise NotImplementedError


class Search(NamedTuple):
    """A searcher, and the terms of one query that it searches for."""

    searcher: Searcher
    terms: Terms


class Scoring:
    """A scorer applied to one `State`, the query and the hits so far: it finds, scores, and explains a score.

    It keeps the results that `find`, `scores` and `explain` share. A subclass defines `search` or `find`, and it defines
    `scores` and `explain`.
    """

    state: State

    def find(self, k: int | None = None) -> Hits:
        """Return the candidates of the state, scored again.

        Without hits, return the best `k` documents that pass the state's masks, by default `state.depth`.
        """
        candidates = self.state.candidates
        if candidates is not None:
            return self.rescored(candidates)
        k = self.state.depth if k is None else k
        return self.search_passing(k) if self.state.binding else self.search(k)

    def search(self, k: int) -> Hits:
        """Return the best k documents of the collection."""
        raise NotImplementedError

    @property
    def search_alone(self) -> Search | None:
        """The searcher, with its terms, if `find` needs nothing but this searcher; otherwise None."""
        return None

    def search_passing(self, k: int) -> Hits:
        """Return the best k documents of the collection that pass the masks of the state.

        If few documents pass, all of them are scored. Otherwise the search goes deeper until k of its documents pass.
        Both ways take about as long if len(few) is k * documents / len(few), as measured on 100,000 abstracts.
        """
        masks = self.state.binding
        few = narrowest(masks)
        documents = max(1, len(masks[0]))
        if few is not None and len(few) ** 2 <= k * documents:
            hits = self.rescored(Hits(masks[0].snapshot, few, np.zeros(len(few), np.float32)))
            return hits.at(first_passing(masks, hits.docs, k))
        depth = k if few is None else int(SPARE * k * documents / len(few)) + k
        while True:
            depth = min(depth, documents)
            hits = self.search(depth)
            places = first_passing(masks, hits.docs, k)
            if len(places) == k or len(hits) < depth or depth == documents:
                return hits.at(places)
            depth *= DEEPER

    def scored(self, docs: np.ndarray) -> np.ndarray:
        """Return the documents that the scorer scores, given the hits of the stage before. By default, these are the same."""
        return docs

    def scores(self, docs: np.ndarray) -> np.ndarray:
        """Return the scores of documents; -inf, "no opinion", for a document that the scorer does not score."""
        raise NotImplementedError

    def explain(self, doc: int) -> Explanation:
        """Return a tree that shows how the score of one document is computed. Its value is -inf for "no opinion"."""
        raise NotImplementedError

    def rescored(self, hits: Hits) -> Hits:
        """Return the hits, ranked by this scorer. Hits with the score -inf are left out."""
        scores = self.scores(hits.docs)
        known = scores > NO_OPINION
        return Hits.ranked(hits.snapshot, hits.docs[known], scores[known])


class Scorer(Stage):
    """A stage that finds documents and scores them. `start` takes a state and returns a `Scoring`, which does both."""

    def __init__(self, start: Callable[[State], Scoring], finds: bool = True, through: bool = True):
        self.start, self.finds, self.through = start, finds, through

    def run(self, state: State, k: int | None = None) -> State:
        scoring = self.start(state)
        return scoring.state._replace(hits=scoring.find(k))

    def trace(self, state: State, doc: int) -> Explanation:
        rank = rank_in(state.hits, doc) if state.hits is not None else 0
        label = f"found at rank {rank}" if rank else "not found"
        return Explanation(float(rank), f"{label} by the stage before", "evidence")


def obeying(
    scorer: Scorer, allowed: Callable[[Condition], Mask], listing: Scorer, own_language: str | None = None
) -> Scorer:
    """Return a scorer that finds only documents which the condition of its query allows. `allowed` returns their mask.

    `listing` answers queries that name values of columns but no words. `own_language` is the scorer's expression if the
    scorer reads the query language of another engine, and otherwise None.
    """

    def start(state: State) -> Scoring:
        query = state.query
        if own_language is not None and query.tree is not None:
            raise InputError(
                f"{own_language} reads queries in the language of another engine, and this query is in Sublex's; "
                "take language=true out of the expression, or ask in plain language."
            )
        if query.condition is None:
            return scorer.start(state)
        lists = not query.terms and any(comparisons_in(query.condition))
        return (listing if lists else scorer).start(state._replace(allowed=allowed(query.condition)))

    return Scorer(start, scorer.finds, scorer.through)


def scores_in(hits: Hits, docs: np.ndarray) -> np.ndarray:
    """Return the scores of documents in the hits. A document that is not a hit has -inf."""
    if not len(hits):
        return np.full(len(docs), NO_OPINION)
    order = np.argsort(hits.docs)
    ascending = hits.docs[order]
    place = np.minimum(np.searchsorted(ascending, docs), len(ascending) - 1)
    return np.where(ascending[place] == docs, hits.scores[order][place], NO_OPINION)


def rank_in(hits: Hits, doc: int) -> int:
    """Return the rank of a document in the hits, from 1 on. A document that is not a hit has 0."""
    place = np.flatnonzero(hits.docs == doc)
    return int(place[0]) + 1 if len(place) else 0
