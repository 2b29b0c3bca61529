"""Latent semantic indexing: words and documents as vectors of one small space.

S. Deerwester, S. Dumais, G. Furnas, T. Landauer and R. Harshman, Indexing by latent semantic analysis, JASIS 41 (1990). With the counts
A (terms × documents) ≈ UΣVᵀ a word is its row of U and a document AᵀU = VΣ, the sum of its words' vectors, so that a document
needs one stored number, its norm.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sublex.errors import InputError
from sublex.estimators.bags import Bag
from sublex.estimators.blocks import Blocks, blocks_of, totals
from sublex.estimators.svd import truncated_svd

if TYPE_CHECKING:
    from scipy.sparse import csr_array

WEIGHTINGS = ("count", "tfidf", "logtfidf")


class LSI(Bag):
    """Estimator with scikit-learn's habits; after `fit`: `vectors` (U), `values` (Σ) and `weights`, a word's factor in every document.

    `weighting` is of the counts: as they are, times ln(N/df), or 1 + ln tf times ln(N/df); with `unit` each document's weights are
    brought to length 1 before the decomposition.
    """

    def __init__(self, e: int = 200, weighting: str = "count", unit: bool = False, seed: int = 0):
        self.e, self.weighting, self.unit, self.seed = e, weighting, unit, seed
        self.values, self.logs = np.zeros(0), weighting == "logtfidf"

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters, by name."""
        return {"e": self.e, "weighting": self.weighting, "unit": self.unit, "seed": self.seed}

    def fit(self, matrix: csr_array | Blocks, workers: int = 1) -> LSI:
        """Fit to counts of documents by terms: a matrix, a list of blocks of rows, or a function that returns them."""
        if self.weighting not in WEIGHTINGS:
            raise InputError(f"LSI: weighting={self.weighting} is none of {', '.join(WEIGHTINGS)}.")
        blocks = blocks_of(matrix)
        docs, cf, df = totals(blocks)
        if not cf.any():
            raise InputError("LSI: no words are left to decompose; index more documents, or lower min_df.")
        known = df > 0
        self.weights = known.astype(np.float64)
        if self.weighting != "count":
            self.weights[known] = np.log(docs / df[known])
            if not self.weights.any():
                raise InputError(
                    f"LSI: every word stands in all {docs} documents, so weighting={self.weighting} leaves nothing."
                )
        self.vectors, self.values = truncated_svd(
            lambda: map(self._decomposed, blocks()), self.e, seed=self.seed, workers=workers
        )
        return self

    def _decomposed(self, rows: csr_array) -> csr_array:
        """The weights of the words in documents, as they are decomposed."""
        made = self.weighted(rows)
        if self.unit:
            norms = np.sqrt(
                np.bincount(np.repeat(np.arange(made.shape[0]), np.diff(made.indptr)), made.data**2, made.shape[0])
            )
            made.data /= np.repeat(np.where(norms > 0, norms, 1.0), np.diff(made.indptr))
        return made
