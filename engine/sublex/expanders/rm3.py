"""RM3: expansion by a relevance model estimated from the feedback documents."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sublex.contracts.base import Context, Query
from sublex.expanders.feedback_documents import (
    ANSERINI_WORD,
    MAX_SHARE,
    TRUST,
    FeedbackDocuments,
    expanded_query,
    normalise,
    relevant_documents,
)
from sublex.language.parameters import Declared, parameter

# The relevance model before normalisation: the feedback documents, whose terms can all be selected, and the weight of each
# term.
Estimate = tuple[FeedbackDocuments, np.ndarray]


@dataclass(frozen=True)
class RM3(Declared):
    """The query mixed with a relevance model, computed like Anserini's Rm3Reranker, with its defaults.

    N. Abdul-Jaleel et al., UMass at TREC 2004: Novelty and HARD.

    Each feedback document divides its score among its `terms` most frequent terms, in proportion to their frequencies.
    The model's weight of a term is the sum of its shares in all documents. With `variant=terrier`, a document divides the
    exponential of its score among all its terms, and terms that only one document of the collection holds are not selected.

    With `trust`, the model's weight is multiplied by `FeedbackDocuments.coverage` to the power of `trust`.
    """

    docs: int = parameter(10, "The number of feedback documents.", (1, 10_000))
    terms: int = parameter(10, "The number of expansion terms.", (1, 10_000))
    original: float = parameter(0.5, "The weight of the original query; the model's is 1 - original.", (0, 1))
    common: float = parameter(
        MAX_SHARE, "Terms that more than this share of all documents hold are not selected.", (0, 1)
    )
    filter: bool = parameter(True, "Whether to select only terms of 2 to 20 letters a-z and digits.")
    trust: float = parameter(0.0, TRUST, (0, 10))
    variant: str = parameter("anserini", "The estimate of the relevance model.", ("anserini", "terrier"))

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.variant == "terrier":
            self.refuse("filter", reason="with variant=terrier")

    def expand(self, query: Query, context: Context) -> Query:
        docs, scores = relevant_documents(context, self.docs)
        documents = FeedbackDocuments.read(context, docs)
        # The share of the model in the new query; the original query has the rest.
        share = (1 - self.original) * documents.trusted(context, query, self.trust)
        estimate = self._terrier if self.variant == "terrier" else self._anserini
        documents, weights = estimate(context, documents, scores)
        model = normalise(documents.best_terms(context, weights, self.terms), 1)
        if not model:
            return query
        original = {term: (1 - share) * weight for term, weight in normalise(query.weights(), 1).items()}
        added = {term: share * weight for term, weight in model.items()}
        return expanded_query(query, original, added, "RM3")

    def _anserini(self, context: Context, documents: FeedbackDocuments, scores: np.ndarray) -> Estimate:
        documents = documents.drop_common(context, self.common)
        if self.filter:
            documents = documents.select_matching(context, ANSERINI_WORD)
        documents = documents.top_per_document(self.terms)
        # If some score is not above 0, scores cannot be weights, so all documents get the same weight.
        weights = scores if (scores > 0).all() else np.ones(len(scores))
        shares = weights / np.maximum(documents.sum_by_document(documents.tfs), 1)
        return documents, documents.sum_by_term(shares[documents.rows] * documents.tfs)

    def _terrier(self, context: Context, documents: FeedbackDocuments, scores: np.ndarray) -> Estimate:
        df = context.stats(documents.terms).df
        documents = documents.select((df >= 2) & (df < int(self.common * context.collection.docs)))
        # Subtracting the highest score keeps the exponentials finite; normalisation cancels it.
        shares = np.exp(scores - scores.max(initial=-np.inf)) / np.maximum(documents.lengths, 1)
        return documents, documents.sum_by_term(shares[documents.rows] * documents.tfs)


EXPANDERS = (RM3,)
