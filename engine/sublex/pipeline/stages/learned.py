"""The learned stage: scores hits by a model whose features are the scores of other expressions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sublex.contracts.base import Explanation
from sublex.contracts.scores import NO_OPINION, with_opinion
from sublex.errors import InputError
from sublex.index.snapshot import Snapshot
from sublex.language.learned import LearnedModel
from sublex.pipeline.stages.stage import Scorer, Scoring, State
from sublex.rankers.explanations import as_evidence
from sublex.retrieval.hits import Hits


class Feature(NamedTuple):
    """A feature: the printed form of its expression, and the scorer of the expression."""

    name: str
    scorer: Scorer


class LearnedScoring(Scoring):
    """A learned model applied to one `State`. It scores the hits or any other documents, and finds none itself."""

    def __init__(self, model: LearnedModel, snapshot: Snapshot, features: Sequence[Feature], state: State):
        self.model, self.snapshot, self.state = model, snapshot, state
        self.features = [(feature.name, feature.scorer.start(state)) for feature in features]

    def search(self, k: int) -> Hits:
        raise InputError(
            f"{self.model} scores hits, and nothing was found before it; put a ranker before it, as in BM25 % 200 >> …."
        )

    def search_passing(self, k: int) -> Hits:
        return self.search(k)

    def rows(self, docs: np.ndarray) -> np.ndarray:
        """Return a row of features for each document, as float64."""
        return feature_rows([scoring for _, scoring in self.features], docs)

    def scores(self, docs: np.ndarray) -> np.ndarray:
        if not len(docs):
            return np.empty(0)
        return self.model.scores(self.rows(docs), self.snapshot.all_docnos.take(docs).tolist())

    def explain(self, doc: int) -> Explanation:
        candidates = self.state.candidates
        docs = np.array([doc], np.int32) if candidates is None else candidates.docs
        if doc not in docs:
            label = f"{self.model}: not among the documents that the stage before found"
            return Explanation(float(NO_OPINION), label, "evidence")
        row = self.rows(docs)[np.flatnonzero(docs == doc)[0]]
        score, adds = float(self.scores(docs)[docs == doc][0]), self.model.contributions(row)
        label = f"{self.model}: the prediction of the model"
        shown = [
            (name, value, as_evidence(scoring.explain(doc)))
            for (name, scoring), value in zip(self.features, row.tolist(), strict=True)
        ]
        if adds is None:
            parts = [Explanation(value, name, "evidence", (tree,)) for name, value, tree in shown]
            return Explanation(score, label, "evidence", tuple(parts))
        parts = [
            Explanation(float(added), f"{name} adds", "sum", (tree,), {"feature": value})
            for (name, value, tree), added in zip(shown, adds, strict=False)
        ]
        return Explanation(score, label, "sum", (Explanation(float(adds[-1]), "without any feature"), *parts))


def feature_rows(scorings: Sequence[Scoring], docs: np.ndarray) -> np.ndarray:
    """Return a matrix of scores, with a row for each document and a column for each expression.

    If an expression has no opinion on a document, the document gets the expression's lowest score for these documents,
    as in a blend. If the expression scores none of them, the score is 0.
    """
    rows = np.empty((len(docs), len(scorings)))
    for column, scoring in enumerate(scorings):
        rows[:, column] = with_opinion(scoring.scores(docs)) if len(docs) else ()
    return rows
