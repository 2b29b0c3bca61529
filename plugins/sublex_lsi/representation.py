"""LSI on an index: one stored number a document, its norm; scores come from the words through the forward index."""

from __future__ import annotations

from sublex.estimators.bags import damped
from sublex.word_sums import BagSums, counts, frequent
from sublex_lsi.model import LSI


class LSIRepresentation(BagSums):
    """Cosines of sums of words' vectors."""

    version = 3
    compared = "LSI vectors"
    kept = ("vectors", "values", "weights")

    def __init__(self, e: int = 100, weighting: str = "tfidf", unit: bool = False, min_df: int = 2, seed: int = 0):
        self.estimator, self.min_df = LSI(e, weighting, unit, seed), min_df
        self.of = damped if self.estimator.logs else None

    def fit(self, corpus, job):
        self.vocabulary = frequent(corpus, self.min_df)
        self.estimator.fit(counts(corpus, self.vocabulary, job.progress), workers=job.workers)

    def describe(self, view):
        values = self.estimator.values
        return {"dimensions": len(values), "largest singular values": [round(float(v), 3) for v in values[:5]]}

    def estimate(self, corpus, job):
        # The random start, twice as wide as the vectors, and what the power iterations make of it.
        return 8 * 4 * len(corpus.vocabulary) * 2 * max(10, self.estimator.e)
