"""LSI on an index: it stores the norm of each document's vector, and scores documents by their terms."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from sublex.contracts.base import Statistics
from sublex.contracts.fitted import Corpus, Cost, Job, View
from sublex.estimators.bags import damped
from sublex.estimators.word_sums import NORM, BagSums, count_blocks, frequent_terms
from sublex_lsi.model import LSI

# The seconds on one core per posting and dimension, and the bytes of a sketch per document and dimension.
SECONDS, SKETCH = 6e-8, 2


class LSIRepresentation(BagSums):
    """Cosines of LSI vectors, which are weighted sums of word vectors."""

    version = 3
    vectors_name = "LSI vectors"
    row_values = NORM
    stored = ("vectors", "values", "weights")
    estimator: LSI

    def __init__(self, *, min_df: int, find: str, **params: Any):
        self.estimator, self.min_df, self.find = LSI(**params), min_df, find
        self.transform_counts = damped if self.estimator.logs else None

    def fit(self, corpus: Corpus, job: Job) -> None:
        """Decompose the counts of all words that occur in `min_df` documents or more."""
        self.vocabulary = frequent_terms(corpus, self.min_df)
        progress = partial(job.progress, unit="documents")
        self.estimator.fit(count_blocks(corpus, self.vocabulary, progress), workers=job.workers)

    def describe(self, view: View) -> Mapping[str, Any]:
        """Return the number of dimensions and the five largest singular values."""
        values = self.estimator.values
        return {"dimensions": len(values), "largest singular values": [round(float(v), 3) for v in values[:5]]}

    def estimate(self, corpus: Corpus, job: Job) -> int:
        """Return the bytes of memory that fitting takes: the random start of the decomposition, and copies in the power
        iterations.

        The random start is twice as wide as the vectors.
        """
        return 8 * 4 * len(corpus.vocabulary) * 2 * max(10, self.estimator.e)

    def cost(self, collection: Statistics, terms: int) -> Cost:
        """Return the time of the passes of the decomposition over all postings, and the bytes of what it stores.

        These are the word vectors, and for each document a norm and a sketch, a coarse copy of its vector by which
        documents are found. The estimate assumes that half of the terms occur in so few documents that they have no
        vector.
        """
        e = self.estimator.e
        return Cost(SECONDS * collection.postings * e, 4 * terms * e + (8 + SKETCH * e) * collection.docs)
