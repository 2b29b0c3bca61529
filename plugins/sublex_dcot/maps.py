"""Learn the maps of dCoT, W = E[P] E[Q]⁻¹ (equation 4).

Conjugate gradients solve for the first map, over words, without a matrix of words by words. Deeper maps are small and
are solved directly.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.sparse import csr_array

from sublex.estimators.bag_kernels import gram
from sublex_dcot import conjugate_gradients

Progress = Callable[[int, int], None]
# A constant that is added to the diagonal of Q, except at the bias, as in M. Chen's program for marginalised denoising
# autoencoders.
RIDGE = 1e-5
# Rows of W that are multiplied at a time.
MAP_ROWS = 4096


def first_map(
    x: csr_array, r: int, kind: type, p: float, tol: float, workers: int, progress: Progress | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the transposed map W' of the first layer, and the number of steps that conjugate gradients took for each
    column.

    The last row of W' is the bias. `x` holds counts, documents by words; its first `r` columns are the prototypes. `p`
    is the probability that a word is removed, and `kind` is the type of the map's numbers.

    W' solves E[Q] W' = E[P]'. Let q = 1 - p, n the number of documents, S = x'x, D the diagonal of S, and s the column
    sums of x. For prototype j, let w be its column of W' without the bias b. Then there are two equations: (q² S + qp
    D) w + q s b = q S_j, where S_j is column j of S, and q s'w + n b = s_j. The second equation gives b. With this b,
    the matrix of the first equation is q² (S - s s'/n) + qp D. When this matrix is scaled to a diagonal of 1, its
    smallest eigenvalue is at least p, so few steps are enough.
    """
    n, d = x.shape
    q = 1.0 - p
    qx = x.data * q
    qs = np.bincount(x.indices, qx, d)
    D = np.bincount(x.indices, x.data**2, d)
    diagonal = q * p * D + RIDGE

    def add(v: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Add q² (S - s s'/n) v to `out`, and return `out`."""
        out -= qs[:, None] * (np.einsum("i,ij->j", qs, v) / n)
        gram(x.indptr, x.indices, qx, v, out)
        return out

    def product(v: np.ndarray) -> np.ndarray:
        return add(v, diagonal[:, None] * v)

    def right(columns: slice) -> np.ndarray:
        v = np.zeros((d, columns.stop - columns.start))
        np.fill_diagonal(v[columns], 1.0)
        return add(v, np.zeros_like(v)) / q

    W = np.empty((d + 1, r), kind)
    steps = conjugate_gradients.solve(
        product, right, diagonal + q * q * D - qs * qs / n, W[:d], tol, workers=workers, progress=progress
    )
    predicted = sum(qs[at : at + MAP_ROWS] @ W[at : min(at + MAP_ROWS, d)] for at in range(0, d, MAP_ROWS))
    W[d] = (qs[:r] / q - predicted) / n
    return W, steps


def deeper_map(S: np.ndarray, p: float) -> np.ndarray:
    """Return the transposed map of a deeper layer. All inputs of the layer are prototypes.

    `S` is the scatter matrix of the layer's inputs with a 1 appended. `p` is the probability that an input is removed.
    """
    E_P, E_Q = expectations(S, len(S) - 1, p)
    return np.linalg.solve(E_Q, E_P.T)


def expectations(S: np.ndarray, r: int, p: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the matrices E[P] and E[Q] of the paper (equations 5 and 6).

    `S` is the scatter matrix of the inputs with a 1 appended; its first `r` rows are the prototypes. `p` is the
    probability that an input is removed.
    """
    q = np.append(np.full(len(S) - 1, 1.0 - p), 1.0)
    E_Q = S * q * q[:, None]
    np.fill_diagonal(E_Q, S.diagonal() * q + np.append(np.full(len(S) - 1, RIDGE), 0.0))
    return S[:r] * q, E_Q
