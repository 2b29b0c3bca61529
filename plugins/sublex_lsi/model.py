"""Latent semantic indexing: words and documents as vectors of one small space.

S. Deerwester, S. Dumais, G. Furnas, T. Landauer and R. Harshman, Indexing by latent semantic analysis, JASIS 41 (1990). With the counts
A (terms × documents) ≈ UΣVᵀ a word is its row of U and a document AᵀU = VΣ, the sum of its words' vectors, so that a document
needs one stored number, its norm.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sublex.errors import InputError
from sublex.models import linear
from sublex.models.blocks import Blocks, blocks_of, in_order, rows_of, spans, totals
from sublex.models.svd import truncated_svd

if TYPE_CHECKING:
    from scipy.sparse import csr_array

WEIGHTINGS = ("count", "tfidf", "logtfidf")
# Documents whose dense vectors are held at a time.
ROWS = 1 << 10


class LSI:
    """Estimator with scikit-learn's habits; after `fit`: `vectors` (U), `values` (Σ) and `weights`, a word's factor in every document.

    `weighting` is of the counts: as they are, times ln(N/df), or 1 + ln tf times ln(N/df); with `unit` each document's weights are
    brought to length 1 before the decomposition.
    """

    def __init__(self, e: int = 200, weighting: str = "count", unit: bool = False, seed: int = 0):
        self.e, self.weighting, self.unit, self.seed = e, weighting, unit, seed
        self.vectors = self.values = self.weights = np.zeros(0)

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
            raise InputError("LSI: the matrix holds no counts; index some documents first.")
        known = df > 0
        self.weights = known.astype(np.float64)
        if self.weighting != "count":
            self.weights[known] = np.log(docs / df[known])
            if not self.weights.any():
                raise InputError(
                    f"LSI: every word stands in all {docs} documents, so weighting={self.weighting} leaves nothing."
                )
        self.vectors, self.values = truncated_svd(
            lambda: map(self._weighted, blocks()), self.e, seed=self.seed, workers=workers
        )
        return self

    def transform(self, matrix: csr_array, workers: int = 1) -> np.ndarray:
        """The vectors of documents, AᵀU, one row each."""
        rows = self._rows(matrix)
        made = np.empty((rows.shape[0], self.vectors.shape[1]))
        for span, part in self._blocks(rows, workers):
            made[span] = part
        return made

    def norms(self, matrix: csr_array, workers: int = 1) -> np.ndarray:
        """The lengths of the documents' vectors, which are never all held."""
        rows = self._rows(matrix)
        made = np.empty(rows.shape[0])
        for span, part in self._blocks(rows, workers):
            made[span] = np.sqrt((part * part).sum(axis=1))
        return made

    def scores(self, query: Any, matrix: csr_array, norms: np.ndarray | None = None, workers: int = 1) -> np.ndarray:
        """The cosines of a query, a vector over the vocabulary, with the documents in these rows; `norms` are those of the rows."""
        from sublex_lsi.kernels import similarities

        rows = self._rows(matrix)
        asked = self.transform(linear.query_of(query, len(self.vectors)))[0]
        found = linear.sums(
            self._tamed(rows),
            lambda words, values: similarities(words, self.vectors, asked, values),
            self.weights,
            workers,
        )
        return linear.cosines(
            found, float(np.sqrt(asked @ asked)), self.norms(rows, workers) if norms is None else norms
        )

    def shares(self, query: Any, row: csr_array) -> linear.Shares:
        """What each pair of a query's word and a document's word adds to the score."""
        asked, held = (
            self._weighted(r, unit=False) for r in (linear.query_of(query, len(self.vectors)), self._rows(row))
        )
        norm = float(np.prod([np.linalg.norm((r @ self.vectors)[0]) for r in (asked, held)]))
        return linear.shares(asked, held, self.vectors[asked.indices], self.vectors[held.indices], norm)

    def _rows(self, matrix: Any) -> csr_array:
        if self.vectors.ndim < 2:
            raise InputError("LSI: not fitted yet; call fit first.")
        return rows_of(matrix, len(self.vectors))

    def _blocks(self, rows: csr_array, workers: int):
        def vectors(span: slice) -> tuple[slice, np.ndarray]:
            return span, self._weighted(rows[span], unit=False) @ self.vectors

        return in_order(vectors, spans(rows.shape[0], ROWS), workers)

    def _tamed(self, rows: csr_array) -> csr_array:
        """The counts, or where the weighting says so 1 + ln tf; below 1 the count itself."""
        if self.weighting != "logtfidf":
            return rows
        return _with(rows, np.where(rows.data < 1, rows.data, 1 + np.log(np.maximum(rows.data, 1))))

    def _weighted(self, rows: csr_array, unit: bool | None = None) -> csr_array:
        """The weights of the words in documents; `unit` unless told otherwise as the parameter says."""
        made = self._tamed(rows)
        made = _with(made, made.data * self.weights[made.indices])
        if self.unit if unit is None else unit:
            norms = np.sqrt(
                np.bincount(np.repeat(np.arange(made.shape[0]), np.diff(made.indptr)), made.data**2, made.shape[0])
            )
            made.data /= np.repeat(np.where(norms > 0, norms, 1.0), np.diff(made.indptr))
        return made


def _with(rows: csr_array, data: np.ndarray) -> csr_array:
    """The same places with other values."""
    from scipy.sparse import csr_array

    return csr_array((data, rows.indices, rows.indptr), shape=rows.shape)
