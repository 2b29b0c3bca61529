"""Latent semantic indexing (LSI): words and documents as vectors of one small space.

S. Deerwester, S. Dumais, G. Furnas, T. Landauer and R. Harshman, Indexing by latent semantic analysis, JASIS 41 (1990).
The weighted counts A (terms × documents) are decomposed as A ≈ UΣVᵀ. A word's vector is its row of U. A document's
vector is its row of AᵀU = VΣ, the sum of the vectors of its words. So only one number is stored for a document, the
norm of its vector.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sublex.errors import InputError
from sublex.estimators.bags import Bag
from sublex.estimators.blocks import Blocks, blocks_of, totals
from sublex.estimators.estimator import Estimator
from sublex.estimators.svd import truncated_svd

if TYPE_CHECKING:
    from scipy.sparse import csr_array

WEIGHTINGS = ("count", "tfidf", "logtfidf")


class LSI(Estimator, Bag):
    """LSI as an estimator with scikit-learn's interface: it decomposes counts of documents by words.

    Parameters
    ----------
    e : int
        The number of dimensions. There are fewer if the rank of the matrix is lower.
    weighting : "count", "tfidf" or "logtfidf"
        The weights that are decomposed: counts, counts × ln(N/df), or (1 + ln count) × ln(N/df).
    unit : bool
        Whether each document's weights are scaled to norm 1 before the decomposition.
    seed : int
        Determines the random start of the decomposition.

    Attributes
    ----------
    vectors : array of shape (words, e), the vector of each word (U in the decomposition UΣVᵀ)
    values : array of shape (e,), the singular values Σ, descending
    weights : array of shape (words,), ln(N/df) of each word, or 1 with "count"; 0 for words that occur in no document
    """

    def __init__(self, e: int = 100, weighting: str = "logtfidf", unit: bool = False, seed: int = 0):
        self.e, self.weighting, self.unit, self.seed = e, weighting, unit, seed
        self.values = np.zeros(0)

    @property
    def logs(self) -> bool:
        """Whether a word counts by 1 + ln count in place of its count; `weighting` decides."""
        return self.weighting == "logtfidf"

    def fit(self, matrix: csr_array | Blocks, workers: int = 1) -> LSI:
        """Fit to counts of documents by words, and return the estimator.

        `matrix` is a matrix, a list of blocks of rows, or a function that returns the blocks.
        """
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
        """Return a block of counts, documents by words, as the weights that are decomposed. With `unit`, rows are
        scaled to norm 1.
        """
        weights = self.weighted(rows)
        if self.unit:
            sizes = np.diff(weights.indptr)
            document = np.repeat(np.arange(weights.shape[0]), sizes)
            norms = np.sqrt(np.bincount(document, weights.data**2, weights.shape[0]))
            weights.data /= np.repeat(np.where(norms > 0, norms, 1.0), sizes)
        return weights
