"""The truncated singular value decomposition of a sparse matrix A, by a randomised algorithm that reads its rows in blocks.

N. Halko, P.-G. Martinsson and J. A. Tropp, Finding structure with randomness, SIAM Review 53 (2011), algorithms 4.4 and
5.1. The algorithms are applied to the columns of A: power iterations find the range of AᵀA, so neither the left vectors
of A nor a copy of Aᵀ is needed. No dense matrix of the shape of A is made.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sublex.errors import InputError
from sublex.estimators.blocks import Blocks, blocks_of, in_order, one_thread, random, spans, totals

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# The number of columns that a worker computes at a time.
WIDTH = 32
# A row of V counts as noise, and is set to 0, if it is shorter than this share of the longest row.
NOISE = 1e-5


class SVD(NamedTuple):
    """The right singular vectors as columns, and the singular values, descending.

    The sign of a vector is chosen so that its entry of greatest magnitude is positive.
    """

    vectors: np.ndarray
    values: np.ndarray


def truncated_svd(
    matrix: csr_array | Sequence[Any] | Blocks,
    e: int,
    *,
    seed: int = 0,
    powers: int = 8,
    workers: int = 1,
) -> SVD:
    """Return the e greatest singular values of a matrix and their right singular vectors. If the rank is below e, return fewer.

    Parameters
    ----------
    matrix : sparse matrix, list of blocks of rows, or function that returns the blocks
        Documents by terms. A function is called powers + 2 times, once for each pass.
    e : int
        The number of singular values. The algorithm computes max(10, e) more directions and drops them. Without them the
        last vectors would be inexact, because the singular values of text fall slowly.
    seed : int
        Determines the random start.
    powers : int
        The number of power iterations, at least 2.
    workers : int
        Threads; the result is the same, to the byte, for any number.
    """
    if e < 1 or powers < 2:
        raise InputError(f"e={e} must be at least 1, and powers={powers} at least 2.")
    blocks = blocks_of(matrix)
    rows, _, df = totals(blocks)
    columns = len(df)
    width = min(e + max(10, e), rows, columns)
    if width == 0:
        return SVD(np.zeros((columns, 0)), np.zeros(0))
    with one_thread():
        q = random(seed).standard_normal((columns, width))
        for _ in range(powers):
            q = np.linalg.qr(_gram(blocks, q, workers))[0]
        triangle = _triangle(blocks, q, workers)
        _, values, rotation = np.linalg.svd(triangle)
        vectors = q @ rotation.T
    least = values[0] * max(rows, columns) * np.finfo(np.float64).eps
    rank = min(e, int((values > least).sum()))
    vectors = vectors[:, :rank]
    # The row of a term that has no part in these directions holds only rounding errors.
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors = np.where(lengths > NOISE * lengths.max(initial=0.0), vectors, 0.0)
    greatest = vectors[np.abs(vectors).argmax(axis=0), np.arange(rank)]
    return SVD(vectors * np.where(greatest < 0, -1.0, 1.0), values[:rank])


def _gram(blocks: Blocks, x: np.ndarray, workers: int) -> np.ndarray:
    """Return AᵀA x, where A is the matrix of all `blocks`. Each worker computes some columns of the result."""
    from sublex.estimators.bag_kernels import gram

    parts = [np.ascontiguousarray(x[:, span]) for span in spans(x.shape[1], WIDTH)]
    sums = [np.zeros_like(part) for part in parts]
    for block in blocks():
        work = partial(gram, block.indptr, block.indices, block.data)
        list(in_order(lambda pair, work=work: work(*pair), zip(parts, sums, strict=True), workers))  # type: ignore[misc]
    return np.hstack(sums)


def _triangle(blocks: Blocks, q: np.ndarray, workers: int) -> np.ndarray:
    """Return the matrix R of the QR decomposition of A q, where A is the matrix of all `blocks`.

    R is combined from the matrices R of the single blocks.
    """
    triangle: np.ndarray = np.zeros((0, q.shape[1]))
    for part in in_order(lambda block: np.linalg.qr(block @ q, mode="r"), blocks(), workers):
        triangle = np.asarray(np.linalg.qr(np.vstack((triangle, part)), mode="r"))
    return triangle
