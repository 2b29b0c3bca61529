"""Relevance models."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sublex.base import Context, Query
from sublex.expanders.feedback_documents import COMMON, ORDINARY, FeedbackDocuments, grown, unit
from sublex.parameters import Declared, parameter


@dataclass(frozen=True)
class RM3(Declared):
    """N. Abdul-Jaleel et al., UMass at TREC 2004: Novelty and HARD; computed as Anserini's Rm3Reranker does, whose defaults these are.

    The terms of each document, the `terms` heaviest of them, share its weight, which is its score. Terrier, by `variant=terrier`, leaves
    a document all its terms that two documents of the collection hold, and weighs it by the exponential of its score.
    """

    docs: int = parameter(10, "how many documents are looked at", (1, 10_000))
    terms: int = parameter(10, "how many terms they give", (1, 10_000))
    original: float = parameter(0.5, "the weight of the query as it was", (0, 1))
    common: float = parameter(COMMON, "terms in a greater share of all documents are left out", (0, 1))
    filter: bool = parameter(True, "whether only words of 2 to 20 letters a-z and digits are taken")
    variant: str = parameter("anserini", "whose estimate", ("anserini", "terrier"))

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.variant == "terrier":
            self.refuse("filter", beside="to variant=terrier")

    def expand(self, query: Query, context: Context) -> Query:
        found = FeedbackDocuments.of(context, context.docs[: self.docs])
        scores = context.scores[: self.docs].astype(np.float64)
        estimate = self._terrier if self.variant == "terrier" else self._anserini
        found, weights = estimate(context, found, scores)
        model = unit(found.best(context, weights, self.terms), 1)
        if not model:
            return query
        own = {term: self.original * weight for term, weight in unit(query.weights(), 1).items()}
        added = {term: (1 - self.original) * weight for term, weight in model.items()}
        return grown(query, own, added, "RM3")

    def _anserini(
        self, context: Context, found: FeedbackDocuments, scores: np.ndarray
    ) -> tuple[FeedbackDocuments, np.ndarray]:
        found = found.uncommon(context, self.common)
        found = (found.spelt(context, ORDINARY) if self.filter else found).heaviest(self.terms)
        # Scores that are not all above 0 are no weights: then the documents count alike.
        weights = scores if (scores > 0).all() else np.ones(len(scores))
        return found, found.by_term((weights / np.maximum(found.by_row(found.tfs), 1))[found.rows] * found.tfs)

    def _terrier(
        self, context: Context, found: FeedbackDocuments, scores: np.ndarray
    ) -> tuple[FeedbackDocuments, np.ndarray]:
        df = context.stats(found.terms).df
        found = found.only((df >= 2) & (df < int(self.common * context.collection.docs)))
        weights = np.exp(scores - scores.max(initial=-np.inf))
        return found, found.by_term((weights / np.maximum(found.lengths, 1))[found.rows] * found.tfs)


MODELS = (RM3,)
