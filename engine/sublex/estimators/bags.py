"""Documents as sums of their words' vectors, each times the word's weight and its count, compared by cosine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from sublex.errors import InputError
from sublex.estimators import linear
from sublex.estimators.blocks import in_order, rows_of, spans

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# Documents whose dense vectors are held at a time.
ROWS = 1 << 10


def damped(counts: Any) -> np.ndarray:
    """1 + ln of a count; below 1 the count itself."""
    return np.where(counts < 1, counts, 1 + np.log(np.maximum(counts, 1)))


class Sums:
    """Documents whose vectors are sums over their words; only some are ever held at a time."""

    @property
    def width(self) -> int:
        """How many numbers a vector has."""
        raise NotImplementedError

    def rows(self, matrix: Any) -> csr_array:
        """Documents, checked."""
        raise NotImplementedError

    def blocks(self, rows: csr_array, workers: int) -> Iterator[tuple[slice, np.ndarray]]:
        """The vectors of a few documents at a time, with where they belong."""
        raise NotImplementedError

    def transform(self, matrix: csr_array, workers: int = 1) -> np.ndarray:
        """The vectors of documents, one row each."""
        rows = self.rows(matrix)
        made = np.empty((rows.shape[0], self.width))
        for span, part in self.blocks(rows, workers):
            made[span] = part
        return made

    def norms(self, matrix: csr_array, workers: int = 1) -> np.ndarray:
        """The lengths of the documents' vectors."""
        rows = self.rows(matrix)
        made = np.empty(rows.shape[0])
        for span, part in self.blocks(rows, workers):
            made[span] = np.sqrt((part * part).sum(axis=1))
        return made


class Bag(Sums):
    """`vectors`, a row for each word, and `weights`, a word's factor in every document; counts are damped where `logs` says so."""

    vectors: np.ndarray = np.zeros(0)
    weights: np.ndarray = np.zeros(0)
    logs = False

    @property
    def width(self) -> int:
        return self.vectors.shape[1]

    def scores(self, query: Any, matrix: csr_array, norms: np.ndarray | None = None, workers: int = 1) -> np.ndarray:
        """The cosines of a query, a vector over the vocabulary, with the documents in these rows; `norms` are those of the rows."""
        from sublex.estimators.kernels import similarities

        rows = self.rows(matrix)
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
        asked, held = (self.weighted(r) for r in (linear.query_of(query, len(self.vectors)), self.rows(row)))
        norm = float(np.prod([np.linalg.norm((r @ self.vectors)[0]) for r in (asked, held)]))
        return linear.shares(asked, held, self.vectors[asked.indices], self.vectors[held.indices], norm)

    def rows(self, matrix: Any) -> csr_array:
        if self.vectors.ndim < 2:
            raise InputError(f"{type(self).__name__}: not fitted yet; call fit first.")
        return rows_of(matrix, len(self.vectors))

    def weighted(self, rows: csr_array) -> csr_array:
        """The words in documents with their weights times their counts."""
        made = self._tamed(rows)
        return _with(made, made.data * self.weights[made.indices])

    def blocks(self, rows: csr_array, workers: int) -> Iterator[tuple[slice, np.ndarray]]:
        def vectors(span: slice) -> tuple[slice, np.ndarray]:
            return span, self.weighted(rows[span]) @ self.vectors

        return in_order(vectors, spans(rows.shape[0], ROWS), workers)

    def _tamed(self, rows: csr_array) -> csr_array:
        return _with(rows, damped(rows.data)) if self.logs else rows


def _with(rows: csr_array, data: np.ndarray) -> csr_array:
    """The same places with other values."""
    from scipy.sparse import csr_array

    return csr_array((data, rows.indices, rows.indptr), shape=rows.shape)
