"""The truncated singular value decomposition of a sparse matrix, randomised, reading its rows in blocks; nothing n × t is ever dense.

N. Halko, P.-G. Martinsson and J. A. Tropp, Finding structure with randomness, SIAM Review 53 (2011), algorithms 4.4 and 5.1, on the
side of the columns: the range of AᵀA is found by power iterations, so that neither A's left vectors nor Aᵀ is needed.
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

# Columns that a worker takes at a time.
WIDTH = 32
# A column's vector that is smaller than this part of the greatest is noise.
NOISE = 1e-5


class SVD(NamedTuple):
    """Right singular vectors as columns, the greatest entry of each positive, and the singular values, descending."""

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
    """The e greatest singular values and their right vectors; fewer where the rank is lower.

    Where values fall slowly, as those of text do, the last vectors are the hardest; as many more are sought along with them as
    are asked for, at least 10.
    The matrix may come as a list of blocks of rows, or as a function that returns them, once for each of powers + 1 passes.
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
    # A column that has no part in these directions has what rounding and a few iterations leave: none.
    sizes = np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors = np.where(sizes > NOISE * sizes.max(initial=0.0), vectors, 0.0)
    greatest = vectors[np.abs(vectors).argmax(axis=0), np.arange(rank)]
    return SVD(vectors * np.where(greatest < 0, -1.0, 1.0), values[:rank])


def _gram(blocks: Blocks, x: np.ndarray, workers: int) -> np.ndarray:
    """AᵀA x; every worker has columns of its own."""
    from sublex.estimators.kernels import gram

    parts = [np.ascontiguousarray(x[:, span]) for span in spans(x.shape[1], WIDTH)]
    sums = [np.zeros_like(part) for part in parts]
    for block in blocks():
        work = partial(gram, block.indptr, block.indices, block.data)
        list(in_order(lambda pair, work=work: work(*pair), zip(parts, sums, strict=True), workers))  # type: ignore[misc]
    return np.hstack(sums)


def _triangle(blocks: Blocks, q: np.ndarray, workers: int) -> np.ndarray:
    """R of the QR decomposition of A q, from those of its blocks."""
    found: np.ndarray = np.zeros((0, q.shape[1]))
    for part in in_order(lambda block: np.linalg.qr(block @ q, mode="r"), blocks(), workers):
        found = np.asarray(np.linalg.qr(np.vstack((found, part)), mode="r"))
    return found
