"""Sums, norms and cosines of sparse rows, such as those that a model of topics or keyphrases stores for documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from scipy.sparse import csr_array


def lengths(rows: csr_array) -> np.ndarray:
    """Return the expected tokens of each row in all topics, float64: the tokens that the model knows."""
    return rows @ np.ones(rows.shape[1])


def row_numbers(rows: csr_array) -> np.ndarray:
    """Return the number of the row of each entry."""
    return np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))


def norms(rows: csr_array) -> np.ndarray:
    """Return the Euclidean norm of each row, float64."""
    values = rows.data.astype(np.float64)
    return np.sqrt(np.bincount(row_numbers(rows), values * values, rows.shape[0]))


def cosines(products: np.ndarray, norms: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Return the cosine of each row with the query's shares, given their products and the norms of rows; 0 for a row of zeros."""
    both = norms * np.sqrt(shares @ shares)
    return np.divide(products, both, out=np.zeros(len(both)), where=both > 0)
