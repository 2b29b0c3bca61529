"""The blend stage: a weighted sum of the normalised scores of several scorers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sublex.contracts.base import LARGEST_SCORE, Explanation
from sublex.contracts.scores import NO_OPINION, minmax
from sublex.errors import InputError
from sublex.index.snapshot import Snapshot
from sublex.pipeline.stages.normalise import NormaliserStage
from sublex.pipeline.stages.stage import Scorer, Scoring, State, rank_in
from sublex.retrieval.hits import Hits


class Part(NamedTuple):
    """A part of a blend: its printed form, its weight, and the normaliser around its scorer."""

    name: str
    weight: float
    stage: NormaliserStage

    @property
    def finds(self) -> bool:
        """Whether the part finds candidates: its weight is positive, and its scorer finds documents."""
        return self.weight > 0 and self.stage.finds


class BlendStage(Scorer):
    """A weighted sum of scorers. A part without a normaliser of its own gets minmax.

    After hits, the candidates are these hits. Otherwise they are the union of the documents that the parts find, each to its own
    depth. Every part scores all candidates. The parts are added up in the order of their printed forms, so `a + b` gives the very
    scores of `b + a`.
    """

    def __init__(self, snapshot: Snapshot, parts: Sequence[tuple[str, float, Scorer]]):
        self.snapshot = snapshot
        self.parts = [
            Part(
                name,
                weight,
                scorer if isinstance(scorer, NormaliserStage) else NormaliserStage(minmax, scorer, snapshot),
            )
            for name, weight, scorer in parts
        ]
        self.finds = any(part.finds for part in self.parts)

    def on(self, state: State) -> BlendScoring:
        return BlendScoring(self, state)

    def explain(self, state: State, doc: int) -> Explanation:
        blend = self.on(state)
        docs, found = blend.candidates()
        label = f"blend over {len(docs):,} candidates"
        if doc not in docs:
            shown = tuple(part.stage.inner.explain(state, doc)._replace(kind="evidence") for part in self.parts)
            return Explanation(float(NO_OPINION), f"{label}, which this document is not among", "evidence", shown)
        terms = []
        for part, scoring, hits in zip(self.parts, blend.scorings, found, strict=True):
            scaled = part.stage.explain_among(state, doc, docs, scoring.scores(docs))
            factor = Explanation(part.weight, "weight")
            evidence = {}
            if hits is not None:
                evidence["rank among the hits of this part"] = rank_in(hits, doc) or f"none of {len(hits):,}"
            terms.append(Explanation(part.weight * scaled.value, part.name, "product", (factor, scaled), evidence))
        return Explanation(sum(term.value for term in terms), label, "sum", tuple(terms))


class BlendScoring(Scoring):
    """A blend at work on one state."""

    def __init__(self, blend: BlendStage, state: State):
        self.blend, self.state = blend, state
        self.scorings = [part.stage.inner.on(state) for part in blend.parts]

    def candidates(self) -> tuple[np.ndarray, list[Hits | None]]:
        """Return the candidates, and the hits of each part; None for a part that did not find any of the candidates."""
        found: list[Hits | None] = [None] * len(self.scorings)
        if self.state.hits is not None:
            return self.state.hits.docs, found
        found = [
            scoring.find() if part.finds else None
            for part, scoring in zip(self.blend.parts, self.scorings, strict=True)
        ]
        docs = [hits.docs for hits in found if hits is not None]
        return np.unique(np.concatenate([np.empty(0, np.int32), *docs])), found

    def find(self, k: int | None = None) -> Hits:
        docs, _ = self.candidates()
        hits = Hits.ranked(self.blend.snapshot, docs, self._sums(docs))
        return hits if self.state.hits is not None else hits.first(self.state.depth if k is None else k)

    def scores(self, docs: np.ndarray) -> np.ndarray:
        return self._sums(docs).astype(np.float32)

    def _sums(self, docs: np.ndarray) -> np.ndarray:
        """Return the weighted sums of all parts. A part of weight 0 is not asked for its scores."""
        parts = zip(self.blend.parts, self.scorings, strict=True)
        total = np.zeros(len(docs))
        with np.errstate(all="ignore"):
            for part, scoring in sorted(parts, key=lambda item: item[0].name):
                if part.weight:
                    total += part.weight * part.stage.normalised(docs, scoring.scores(docs))
        if not (np.abs(total) <= LARGEST_SCORE).all():
            raise InputError("The scores of a blend are too large for float32; use smaller weights.")
        return total
