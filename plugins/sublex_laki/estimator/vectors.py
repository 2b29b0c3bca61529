"""Vectors of units: the positive pointwise mutual information (PPMI) of units and contexts, reduced by an SVD.

The cosine of two vectors says how similar their units are.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from sublex.errors import InputError
from sublex.estimators.blocks import rows_of
from sublex.estimators.svd import truncated_svd


def ppmi(matrix: Any) -> csr_array:
    """Return max(0, log(n_cu n / (n_c n_u))) as sparse rows, for counts n_cu of contexts by units.

    n_c is the sum of the counts of a context, n_u the sum of a unit, and n the sum of all counts.
    """
    rows = rows_of(matrix).astype(np.float64)
    if rows.nnz and rows.data.min() < 0:
        raise InputError("LAKI: counts of units must not be negative; some are.")
    by_context, by_unit = np.asarray(rows.sum(axis=1)), np.asarray(rows.sum(axis=0))
    chance = np.repeat(by_context, np.diff(rows.indptr)) * by_unit[rows.indices]
    counted = rows.data > 0
    ratios = np.where(counted, rows.data * rows.data.sum() / np.where(counted, chance, 1.0), 1.0)
    values = csr_array((np.log(np.maximum(ratios, 1.0)), rows.indices, rows.indptr), shape=rows.shape)
    values.eliminate_zeros()
    return values


def unit_vectors(matrix: Any, width: int = 100, seed: int = 0, workers: int = 1) -> np.ndarray:
    """Return a vector for each unit (float32). The length of a vector is 1, or 0 for a unit without counts.

    `matrix` has counts of contexts by units. A context is a document, or a unit if the matrix counts neighbours in a
    window. `width` is the number of dimensions. Singular values are taken to the power ½ (O. Levy, Y. Goldberg and I.
    Dagan 2015).
    """
    found = truncated_svd(ppmi(matrix), width, seed=seed, workers=workers)
    return normalised(found.vectors * np.sqrt(found.values))


def normalised(vectors: np.ndarray) -> np.ndarray:
    """Return vectors divided by their lengths (float32). A vector of length 0 stays as it is."""
    lengths = np.sqrt((np.asarray(vectors, np.float64) ** 2).sum(axis=1, keepdims=True))
    return np.divide(vectors, lengths, out=np.zeros(vectors.shape), where=lengths > 0).astype(np.float32)
