"""The smoother `near`: a weighted mean of a document's own score and the scores of the documents near it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sublex.contracts.base import Explanation, Param, Statistics
from sublex.contracts.fitted import Cost, Smoother, Store, Stored, View
from sublex.contracts.stored import Declared, Json
from sublex.errors import InputError
from sublex.language.expression import Call, Expression
from sublex.representations.clusters import pairs_compared
from sublex.representations.neighbours import EXACT, MOST, STORED

# The seconds on one core to compare a pair of documents.
PER_PAIR = 1e-8
# The representations of Sublex with sparse vectors. All pairs of these are compared.
SPARSE = frozenset({"terms", "chars", "sparse"})

PARAMS = (
    Param("over", Expression, ..., stage="fit", help="The representation whose vectors tell which documents are near."),
    Param("k", int, 10, range=(1, MOST), help="The number of nearest documents."),
    Param("own", float, 0.8, range=(0, 1), help="The weight of a document's own score; that of the others is 1 - own."),
    Param("add", bool, False, help="Whether to add near documents that the stages before did not find."),
)


class Near(Smoother):
    """The hits of the stages before it, each scored by its own score and by the scores of its nearest documents.

    The nearest documents are those with the highest cosines of the vectors of a fitted representation. `near(terms)`
    compares the terms of documents themselves, by tf·idf. The new score is `own` times the document's score, plus 1 - `own`
    times the mean score of its `k` nearest documents, each weighted by its cosine. A nearest document that the stages before
    did not find gets the score of the lowest hit. A document without near documents keeps its score. With `add`, the nearest
    documents of the hits are scored too, so `near` adds documents that the stages before it did not find (S. MacAvaney,
    N. Tonellotto and C. Macdonald, Adaptive Re-Ranking with a Corpus Graph, 2022).

    The cluster hypothesis says that documents near each other answer the same queries (C. van Rijsbergen, Information
    Retrieval, 1979). F. Diaz, Regularizing ad hoc retrieval scores, 2005, smooths scores in this way.
    """

    def __init__(self, over: Expression, k: int, own: float, add: bool):
        self.over, self.k, self.own, self.add = over, k, own, add

    def save(self, store: Store) -> None:
        """Store the number of near documents that the graph keeps for each document."""
        store.put("stored", STORED)

    def load(self, store: Stored) -> None:
        """Check the number of near documents that the graph keeps for each document."""
        if store.get("stored") != STORED:
            raise InputError(f"The lists of neighbours do not have {STORED} documents; fit the graph again.")

    def declares(self) -> Mapping[str, Declared]:
        """Return the declaration of the number that `save` stores."""
        return {"stored": Json(int)}

    def cost(self, collection: Statistics, terms: int) -> Cost:
        """Return the time to compare all pairs of documents, or those of near clusters, and the bytes of the graph."""
        pairs = collection.docs**2
        has_clusters = pairs > EXACT and not (isinstance(self.over, Call) and self.over.name.lower() in SPARSE)
        seconds = PER_PAIR * (pairs_compared(collection.docs) if has_clusters else pairs)
        return Cost(seconds, 8 * STORED * collection.docs)

    def describe(self, view: View) -> Mapping[str, Any]:
        """Return the number of neighbours that are stored for each document and pair of segments."""
        return {"neighbours in a list": STORED}

    def smooth(self, scores: np.ndarray, near: np.ndarray, cosines: np.ndarray) -> np.ndarray:
        sums, totals = (cosines * near).sum(axis=1), cosines.sum(axis=1)
        means = np.divide(sums, totals, out=scores.copy(), where=totals > 0)
        return np.where(totals > 0, self.own * scores + (1 - self.own) * means, scores)

    def explain(self, score: Explanation, near: Mapping[str, Explanation], cosines: Sequence[float]) -> Explanation:
        if not near:
            return Explanation(score.value, "no document is near it", "sum", (score,))
        total = float(np.sum(cosines))
        parts = tuple(
            Explanation(
                cosine / total * other.value,
                docno,
                "product",
                (Explanation(cosine / total, f"share of cosine {cosine:.3f}"), other),
            )
            for (docno, other), cosine in zip(near.items(), cosines, strict=True)
        )
        mean = Explanation(sum(part.value for part in parts), f"mean of {len(parts)} near documents", "sum", parts)
        terms = tuple(
            Explanation(weight * part.value, label, "product", (Explanation(weight, "weight"), part))
            for weight, part, label in (
                (self.own, score, "the document itself"),
                (1 - self.own, mean, "the documents near it"),
            )
        )
        return Explanation(sum(term.value for term in terms), "smoothed score", "sum", terms)
