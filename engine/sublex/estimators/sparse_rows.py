"""Sums, norms and cosines of sparse rows. A model of topics or keyphrases stores such a row for each document."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from scipy.sparse import csr_array


def lengths(rows: csr_array) -> np.ndarray:
    """Return the sum of each row, float64.

    In a row of expected tokens by topic, it is the number of tokens that the model knows.
    """
    return rows @ np.ones(rows.shape[1])


def row_numbers(rows: csr_array) -> np.ndarray:
    """Return for each stored entry the number of its row."""
    return np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))


def norms(rows: csr_array) -> np.ndarray:
    """Return the Euclidean norm of each row, float64."""
    values = rows.data.astype(np.float64)
    return np.sqrt(np.bincount(row_numbers(rows), values * values, rows.shape[0]))


def cosines(products: np.ndarray, norms: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Return the cosine of each row with `shares`, the topics' shares in a query.

    `products` has the dot product of each row with `shares`, and `norms` the norm of each row. The cosine of a row of
    zeros is 0.
    """
    both = norms * np.sqrt(shares @ shares)
    return np.divide(products, both, out=np.zeros(len(both)), where=both > 0)
