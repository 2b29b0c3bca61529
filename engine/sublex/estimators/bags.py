"""Estimators that represent a document by a sum over its words and compare documents with queries by cosine.

`SummedVectors` is the base class. In `Bag`, every word has one vector and one weight. The vectors of documents are
dense, so only the vectors of one block are in memory at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from sublex.errors import InputError
from sublex.estimators import linear
from sublex.estimators.blocks import in_order, rows_of, spans

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# The number of documents in a block of dense vectors.
DENSE_DOCUMENTS = 1 << 10


def damped(counts: Any) -> np.ndarray:
    """Return 1 + ln of each count; counts below 1 stay as they are."""
    return np.where(counts < 1, counts, 1 + np.log(np.maximum(counts, 1)))


class SummedVectors:
    """An estimator that gives each document a vector: the sum of the vectors of its words.

    Subclasses implement `width`, `rows` and `blocks`.
    """

    @property
    def width(self) -> int:
        """The number of entries of a vector."""
        raise NotImplementedError

    def rows(self, matrix: Any) -> csr_array:
        """Return a matrix of documents by words as sparse rows.

        Raise InputError before `fit`, or if the number of columns differs from the number of words in the fit.
        """
        raise NotImplementedError

    def blocks(self, rows: csr_array, workers: int) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield a slice of `rows` and the vectors of the documents in this slice, one block after another."""
        raise NotImplementedError

    def transform(self, matrix: csr_array, workers: int = 1) -> np.ndarray:
        """Return the vectors of documents (float64), one row for each document."""
        rows = self.rows(matrix)
        vectors = np.empty((rows.shape[0], self.width))
        for span, block in self.blocks(rows, workers):
            vectors[span] = block
        return vectors

    def norms(self, matrix: csr_array, workers: int = 1) -> np.ndarray:
        """Return the norms of the documents' vectors, float64."""
        rows = self.rows(matrix)
        norms = np.empty(rows.shape[0])
        for span, block in self.blocks(rows, workers):
            norms[span] = np.sqrt((block * block).sum(axis=1))
        return norms


class Bag(SummedVectors):
    """Documents as weighted sums of word vectors: the sum over a document's words of count × weight × vector.

    Attributes
    ----------
    vectors : array of shape (words, width), a vector for each word
    weights : array of shape (words,), a factor for each word, the same in every document
    """

    vectors: np.ndarray = np.zeros(0)
    weights: np.ndarray = np.zeros(0)

    @property
    def logs(self) -> bool:
        """Whether `damped` is applied to counts before they are summed."""
        return False

    @property
    def width(self) -> int:
        """The number of entries of a vector."""
        return self.vectors.shape[1]

    def scores(self, query: Any, matrix: csr_array, norms: np.ndarray | None = None, workers: int = 1) -> np.ndarray:
        """Return the cosine of a query with each document of `matrix` (float64); 0 if either vector has norm 0.

        `query` is a vector of weights over the vocabulary. `norms` is the result of `norms(matrix)`; if it is None, the
        norms are computed.
        """
        from sublex.estimators.bag_kernels import similarities

        rows = self.rows(matrix)
        query_vector = self.transform(linear.query_of(query, len(self.vectors)))[0]
        sums = linear.sums(
            self._damped(rows),
            lambda words, values: similarities(words, self.vectors, query_vector, values),
            self.weights,
            workers,
        )
        norms = self.norms(rows, workers) if norms is None else norms
        return linear.cosines(sums, float(np.sqrt(query_vector @ query_vector)), norms)

    def shares(self, query: Any, row: csr_array) -> linear.Shares:
        """Return the amount that each pair of a query word and a document word adds to the score of the document `row`."""
        query_row, document = (self.weighted(r) for r in (linear.query_of(query, len(self.vectors)), self.rows(row)))
        norm = float(np.prod([np.linalg.norm((r @ self.vectors)[0]) for r in (query_row, document)]))
        return linear.shares(query_row, document, self.vectors[query_row.indices], self.vectors[document.indices], norm)

    def rows(self, matrix: Any) -> csr_array:
        """Return a matrix as sparse rows.

        Raise `InputError` before `fit`, or if the number of words differs from the fit.
        """
        if self.vectors.ndim < 2:
            raise InputError(f"{type(self).__name__}: not fitted yet; call fit first.")
        return rows_of(matrix, len(self.vectors))

    def weighted(self, rows: csr_array) -> csr_array:
        """Return sparse rows in which each count is multiplied by the weight of its word.

        If `logs` is true, counts are damped first.
        """
        counts = self._damped(rows)
        return _with_data(counts, counts.data * self.weights[counts.indices])

    def blocks(self, rows: csr_array, workers: int) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield a slice of `rows` and the vectors of the documents in this slice, one block after another."""

        def vectors(span: slice) -> tuple[slice, np.ndarray]:
            return span, self.weighted(rows[span]) @ self.vectors

        return in_order(vectors, spans(rows.shape[0], DENSE_DOCUMENTS), workers)

    def _damped(self, rows: csr_array) -> csr_array:
        return _with_data(rows, damped(rows.data)) if self.logs else rows


def _with_data(rows: csr_array, data: np.ndarray) -> csr_array:
    """Return sparse rows that have the non-zero places of `rows` and the values `data`."""
    from scipy.sparse import csr_array

    return csr_array((data, rows.indices, rows.indptr), shape=rows.shape)
