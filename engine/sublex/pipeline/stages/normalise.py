"""The normaliser stage: brings the scores of a scorer to a common scale over its candidates."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sublex.contracts.base import Explanation
from sublex.contracts.scores import NO_OPINION, RRF_K, Normaliser, rank, rrf, with_opinion
from sublex.index.snapshot import Snapshot
from sublex.pipeline.stages.stage import Scorer, Scoring, State
from sublex.retrieval.hits import Hits


class Scale(NamedTuple):
    """A normaliser for the documents of a snapshot. It takes all candidates of a query and their raw scores."""

    normaliser: Normaliser
    snapshot: Snapshot

    def of(self, docs: np.ndarray, scores: np.ndarray) -> np.ndarray:
        """Return the scores on the common scale; "no opinion" counts as the lowest score."""
        return self.normaliser(scores, self.snapshot.docno_ranks[docs])

    def explain(self, doc: int, docs: np.ndarray, scores: np.ndarray, raw: Explanation) -> Explanation:
        """Return the normalised score of one candidate, whose raw score `raw` explains: a factor times it, plus an offset."""
        name = f"{self.normaliser.__name__} over the candidates"
        place = np.flatnonzero(docs == doc)
        if not len(place):
            label = f"{name}, which this document is not among"
            return Explanation(float(NO_OPINION), label, "evidence", (raw._replace(kind="evidence"),))
        filled, values = with_opinion(scores), self.of(docs, scores)
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


class NormaliserScoring(Scoring):
    """A scorer with its scores normalised over exactly the candidates, at work on one state."""

    def __init__(self, scale: Scale, inner: Scorer, state: State):
        self.scale, self.inner, self.state = scale, inner.start(state), state

    def find(self, k: int | None = None) -> Hits:
        hits = self.inner.find()
        return Hits.ranked(hits.snapshot, hits.docs, self.scale.of(hits.docs, hits.scores))

    def scores(self, docs: np.ndarray) -> np.ndarray:
        return self.scale.of(docs, self.inner.scores(docs))

    def explain(self, doc: int) -> Explanation:
        hits = self.inner.find()
        return self.scale.explain(doc, hits.docs, hits.scores, self.inner.explain(doc))


def _line(raw: np.ndarray, values: np.ndarray) -> tuple[float, float]:
    """Return factor and offset of the line on which normalised values lie over raw ones."""
    low, high = int(raw.argmin()), int(raw.argmax())
    spread = float(raw[high]) - float(raw[low])
    factor = float(values[high] - values[low]) / spread if spread else 0.0
    return factor, float(values[low]) - factor * float(raw[low])
