"""The normaliser stage: brings the scores of a scorer to a common scale over its candidates."""

from __future__ import annotations

import numpy as np

from sublex.contracts.base import Explanation
from sublex.contracts.scores import NO_OPINION, RRF_K, Normaliser, rank, rrf, with_opinion
from sublex.index.snapshot import Snapshot
from sublex.pipeline.stages.stage import Scorer, State
from sublex.retrieval.hits import Hits


class NormaliserStage(Scorer):
    """A scorer with its scores normalised over exactly the candidates; "no opinion" counts as the lowest score."""

    def __init__(self, normaliser: Normaliser, inner: Scorer, snapshot: Snapshot):
        self.normaliser, self.inner, self.snapshot = normaliser, inner, snapshot
        self.finds = inner.finds

    def find(self, state: State, k: int | None = None) -> Hits:
        hits = self.inner.find(state)
        return Hits.ranked(hits.snapshot, hits.docs, self.normalised(hits.docs, hits.scores))

    def scores(self, state: State, docs: np.ndarray) -> np.ndarray:
        return self.normalised(docs, self.inner.scores(state, docs))

    def normalised(self, docs: np.ndarray, raw: np.ndarray) -> np.ndarray:
        """Return the raw scores of all candidates on the common scale."""
        return self.normaliser(raw, self.snapshot.docno_ranks[docs])

    def explain(self, state: State, doc: int) -> Explanation:
        hits = self.inner.find(state)
        return self.explain_among(state, doc, hits.docs, hits.scores)

    def explain_among(self, state: State, doc: int, docs: np.ndarray, scores: np.ndarray) -> Explanation:
        """Return the normalised score of one candidate: a factor times the raw score, plus an offset.

        `docs` are the candidates and `scores` their raw scores.
        """
        name = f"{self.normaliser.__name__} over the candidates"
        raw = self.inner.explain(state, doc)
        place = np.flatnonzero(docs == doc)
        if not len(place):
            label = f"{name}, which this document is not among"
            return Explanation(float(NO_OPINION), label, "evidence", (raw._replace(kind="evidence"),))
        filled, values = with_opinion(scores), self.normalised(docs, scores)
        value = float(values[place[0]])
        if scores[place[0]] == NO_OPINION and self.normaliser is rrf:
            return Explanation(value, "no opinion, which adds nothing", "sum", (raw._replace(kind="evidence"),))
        if scores[place[0]] == NO_OPINION:
            label = "no opinion, which counts as the lowest"
            raw = Explanation(float(filled[place[0]]), label, "sum", (raw._replace(kind="evidence"),))
        if self.normaliser in (rank, rrf):
            label = f"1 / rank {round(1 / value)} among the candidates"
            if self.normaliser is rrf:
                label = f"1 / ({RRF_K} + rank {round(1 / value) - RRF_K}) among the candidates"
            return Explanation(value, label, "sum", (raw._replace(kind="evidence"),))
        factor, offset = _line(filled, values)
        return Explanation(value, name, "scaled", (raw, Explanation(factor, "factor"), Explanation(offset, "offset")))


def _line(raw: np.ndarray, values: np.ndarray) -> tuple[float, float]:
    """Return factor and offset of the line on which normalised values lie over raw ones."""
    low, high = int(raw.argmin()), int(raw.argmax())
    spread = float(raw[high]) - float(raw[low])
    factor = float(values[high] - values[low]) / spread if spread else 0.0
    return factor, float(values[low]) - factor * float(raw[low])
