"""The blend stage: a weighted sum of the scores of several scorers.

The normaliser, which brings scores to a common scale, is here too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sublex.contracts.base import LARGEST_SCORE, Explanation
from sublex.contracts.scores import (
    NO_OPINION,
    RRF_K,
    SURE_WEIGHT,
    Normaliser,
    expect_no_loss,
    expect_weights,
    rank,
    rrf,
    with_opinion,
)
from sublex.errors import InputError
from sublex.index.snapshot import Snapshot
from sublex.pipeline.stages.stage import Scorer, Scoring, State, rank_in
from sublex.rankers.explanations import as_evidence
from sublex.retrieval.hits import Hits


class Scale(NamedTuple):
    """A normaliser for the documents of a snapshot.

    It needs all candidates of a query at once, with their raw scores.
    """

    normaliser: Normaliser
    snapshot: Snapshot

    def of(self, docs: np.ndarray, scores: np.ndarray) -> np.ndarray:
        """Return the scores on the common scale. A score of -inf, "no opinion", is replaced by the lowest score."""
        return self.normaliser(scores, self.snapshot.docno_ranks[docs])

    def explain(self, doc: int, docs: np.ndarray, scores: np.ndarray, raw: Explanation) -> Explanation:
        """Return the explanation of one candidate's normalised score. `raw` explains its raw score."""
        name = f"{self.normaliser.__name__} over the candidates"
        place = np.flatnonzero(docs == doc)
        if not len(place):
            label = f"{name}, which this document is not among"
            return Explanation(float(NO_OPINION), label, "evidence", (as_evidence(raw),))
        filled, values = with_opinion(scores), self.of(docs, scores)
        value, unknown = float(values[place[0]]), scores[place[0]] == NO_OPINION
        if self.normaliser is rrf:
            label = "no opinion, which adds nothing"
            if not unknown:
                label = f"1 / ({RRF_K} + rank {round(1 / value) - RRF_K}) among the candidates"
            return Explanation(value, label, "sum", (as_evidence(raw),))
        if unknown:
            label = "no opinion, which counts as the lowest"
            raw = Explanation(float(filled[place[0]]), label, "sum", (as_evidence(raw),))
        if self.normaliser is rank:
            return Explanation(value, f"1 / rank {round(1 / value)} among the candidates", "sum", (as_evidence(raw),))
        factor, offset = _line(filled, values)
        return Explanation(value, name, "scaled", (raw, Explanation(factor, "factor"), Explanation(offset, "offset")))


class NormaliserScoring(Scoring):
    """A scorer applied to one `State`, with its scores normalised over exactly the candidates."""

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


class BlendPart(NamedTuple):
    """A part of a blend: its printed form, its weight, the scale of its scores, and its scorer."""

    name: str
    weight: float
    scale: Scale
    scorer: Scorer

    @property
    def finds(self) -> bool:
        """Whether the part finds candidates. It does if its weight is above 0 and its scorer can find documents."""
        return self.weight > 0 and self.scorer.finds


class BlendScoring(Scoring):
    """A weighted sum of scorers, applied to one `State`. `parts` has each part with its scoring.

    The candidates are those of the state. Before the first retrieval, the candidates are all documents that at least
    one part finds; each part has its own depth. Every part scores all candidates. The parts are added up in the order
    of their printed forms, so `a + b` and `b + a` give equal scores.
    """

    def __init__(self, snapshot: Snapshot, parts: Sequence[BlendPart], state: State):
        self.snapshot, self.state = snapshot, state
        self.parts = [(part, part.scorer.start(state)) for part in parts]

    def candidates(self) -> tuple[np.ndarray, list[Hits | None]]:
        """Return the candidates, and a list with the hits of each part.

        For a part that did not find candidates, the list has None.
        """
        candidates = self.state.candidates
        if candidates is not None:
            return candidates.docs, [None] * len(self.parts)
        found = [scoring.find() if part.finds else None for part, scoring in self.parts]
        docs = [hits.docs for hits in found if hits is not None]
        return np.unique(np.concatenate([np.empty(0, np.int32), *docs])), found

    def find(self, k: int | None = None) -> Hits:
        docs, _ = self.candidates()
        hits = Hits.ranked(self.snapshot, docs, self._sums(docs))
        return hits if self.state.hits is not None else hits.first(self.state.depth if k is None else k)

    def scores(self, docs: np.ndarray) -> np.ndarray:
        return self._sums(docs).astype(np.float32)

    def _sums(self, docs: np.ndarray) -> np.ndarray:
        """Return the weighted sum of the parts' scores for each document.

        The scores of a part of weight 0 are not computed.
        """
        total = np.zeros(len(docs))
        with np.errstate(all="ignore"):
            for part, scoring in sorted(self.parts, key=lambda item: item[0].name):
                if part.weight:
                    total += part.weight * part.scale.of(docs, scoring.scores(docs))
        if not (np.abs(total) <= LARGEST_SCORE).all():
            raise InputError("The scores of a blend are too large for float32; use smaller weights.")
        weights = [part.weight for part, _ in self.parts]
        if not all(SURE_WEIGHT <= abs(weight) <= 1 / SURE_WEIGHT for weight in weights):
            expect_weights(weights)
            # A normalised score of exactly 0 is a valid score, and no underflow.
            expect_no_loss(total[total != 0], weights)
        return total

    def explain(self, doc: int) -> Explanation:
        docs, found = self.candidates()
        label = f"blend over {len(docs):,} candidates"
        if doc not in docs:
            shown = tuple(as_evidence(scoring.explain(doc)) for _, scoring in self.parts)
            return Explanation(float(NO_OPINION), f"{label}, which this document is not among", "evidence", shown)
        terms = []
        for (part, scoring), hits in zip(self.parts, found, strict=True):
            scaled = part.scale.explain(doc, docs, scoring.scores(docs), scoring.explain(doc))
            factor = Explanation(part.weight, "weight")
            evidence = {}
            if hits is not None:
                rank = rank_in(hits, doc)
                name = "rank among the hits of this part" if rank else "hits of this part"
                evidence[name] = rank or f"{len(hits):,}, without this document"
            terms.append(Explanation(part.weight * scaled.value, part.name, "product", (factor, scaled), evidence))
        return Explanation(sum(term.value for term in terms), label, "sum", tuple(terms))


def _line(raw: np.ndarray, values: np.ndarray) -> tuple[float, float]:
    """Return the factor and the offset that turn raw values into normalised ones."""
    low, high = int(raw.argmin()), int(raw.argmax())
    spread = float(raw[high]) - float(raw[low])
    factor = float(values[high] - values[low]) / spread if spread else 0.0
    return factor, float(values[low]) - factor * float(raw[low])
