"""The blend stage: a weighted sum of the normalised scores of several scorers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sublex.base import Explanation
from sublex.errors import InputError
from sublex.pipeline.stages.normalise import NormaliserStage
from sublex.pipeline.stages.stage import Scorer, State, rank_in
from sublex.retrieval.hits import Hits
from sublex.scores import NO_OPINION, minmax

LARGEST = float(np.finfo(np.float32).max)


class BlendStage(Scorer):
    """A weighted sum of scorers. The first part finds the candidates; a part without a normaliser of its own gets minmax."""

    def __init__(self, parts: Sequence[tuple[float, Scorer]]):
        self.parts = [(w, p if isinstance(p, NormaliserStage) else NormaliserStage(minmax, p)) for w, p in parts]

    def find(self, state: State, k: int | None = None) -> Hits:
        candidates = self.parts[0][1].find(state)
        return Hits.ranked(candidates.snapshot, candidates.docs, self._sum(candidates.scores, state, candidates.docs))

    def scores(self, state: State, docs: np.ndarray) -> np.ndarray:
        return self._sum(self.parts[0][1].scores(state, docs), state, docs)

    def _sum(self, first: np.ndarray, state: State, docs: np.ndarray) -> np.ndarray:
        """Return the weighted sums of all parts, given the normalised scores of the first part."""
        scores = [first.astype(np.float64), *(part.scores(state, docs) for _, part in self.parts[1:])]
        with np.errstate(all="ignore"):
            total = sum(weight * part_scores for (weight, _), part_scores in zip(self.parts, scores, strict=True))
        if not (np.abs(total) <= LARGEST).all():
            raise InputError("The scores of a blend are too large for float32; use smaller weights.")
        return np.asarray(total)

    def explain(self, state: State, doc: int) -> Explanation:
        hits = self.parts[0][1].inner.find(state)
        label = f"blend over {len(hits):,} candidates"
        if not rank_in(hits, doc):
            shown = tuple(part.inner.explain(state, doc)._replace(kind="evidence") for _, part in self.parts)
            return Explanation(float(NO_OPINION), f"{label}, which this document is not among", "evidence", shown)
        terms = []
        for number, (weight, part) in enumerate(self.parts):
            raw = part.inner.scores(state, hits.docs) if number else hits.scores
            scaled = part.explain_among(state, doc, hits.docs, raw)
            factor = Explanation(weight, "weight")
            terms.append(Explanation(weight * scaled.value, f"{weight:g} times", "product", (factor, scaled)))
        return Explanation(sum(term.value for term in terms), label, "sum", tuple(terms))
