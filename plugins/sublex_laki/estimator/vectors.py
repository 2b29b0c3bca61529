"""Vectors of units: the positive pointwise mutual information (PPMI) of units and contexts, reduced by an SVD.

The cosine of two vectors says how similar their units are.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from sublex.errors import InputError
from sublex.estimators.blocks import rows_of
from sublex.estimators.svd import SVD, truncated_svd

# Singular values are taken to be at least this large.
POSITIVE = 1e-300


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


class Decomposed(NamedTuple):
    """The PPMI of contexts and units as sparse rows, and its truncated singular value decomposition."""

    matrix: csr_array
    svd: SVD

    @property
    def vectors(self) -> np.ndarray:
        """A vector for each unit (float32). The length of a vector is 1, or 0 for a unit without counts.

        Singular values are taken to the power ½ (O. Levy, Y. Goldberg and I. Dagan 2015).
        """
        return normalised(self.svd.vectors * np.sqrt(self.svd.values))


def decomposed(matrix: Any, width: int = 100, seed: int = 0, workers: int = 1) -> Decomposed:
    """Return the PPMI of a matrix with its decomposition in `width` dimensions.

    `matrix` has counts of contexts by units. A context is a document, or a unit if the matrix counts neighbours in a
    window.
    """
    rows = ppmi(matrix)
    return Decomposed(rows, truncated_svd(rows, width, seed=seed, workers=workers))


def unit_vectors(matrix: Any, width: int = 100, seed: int = 0, workers: int = 1) -> np.ndarray:
    """Return the vectors of the units of a matrix; see `decomposed`."""
    return decomposed(matrix, width, seed, workers).vectors


def concentration(found: Decomposed, units: np.ndarray) -> np.ndarray:
    """Return how similar the documents of each of `units` are: their mean cosine, divided by the mean cosine of any two
    documents.

    Documents with a term of some subject are similar; documents with a word such as "approach" are as different as any.
    The vector of a document is the sum of the vectors of its other units, so that the unit itself, however rare, adds
    nothing. A unit of a single document has 0.
    """
    scale = np.sqrt(np.maximum(found.svd.values, POSITIVE))
    vectors = found.svd.vectors / scale
    documents = np.asarray(found.matrix @ vectors)
    squares = np.einsum("ij,ij->i", documents, documents)
    known = squares > 0
    total = (documents[known] / np.sqrt(squares[known])[:, None]).sum(axis=0)
    usual = _mean_cosine(float(total @ total), int(known.sum()))
    columns = csr_array(found.matrix[:, units].T)
    values = np.zeros(len(units))
    for k, unit in enumerate(np.asarray(units).tolist()):
        place = slice(columns.indptr[k], columns.indptr[k + 1])
        rows = documents[columns.indices[place]] - columns.data[place, None] * vectors[unit]
        lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
        some = lengths > 0
        total = (rows[some] / lengths[some, None]).sum(axis=0)
        values[k] = _mean_cosine(float(total @ total), int(some.sum()))
    return values / usual if usual > 0 else values


def _mean_cosine(square: float, number: int) -> float:
    """Return the mean cosine of pairs of `number` vectors of length 1. `square` is the squared length of the sum of the
    vectors.
    """
    return (square - number) / (number * (number - 1)) if number > 1 else 0.0


def normalised(vectors: np.ndarray) -> np.ndarray:
    """Return vectors divided by their lengths (float32). A vector of length 0 stays as it is."""
    lengths = np.sqrt((np.asarray(vectors, np.float64) ** 2).sum(axis=1, keepdims=True))
    return np.divide(vectors, lengths, out=np.zeros(vectors.shape), where=lengths > 0).astype(np.float32)
