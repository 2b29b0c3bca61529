"""The maps of dCoT: W = E[P] E[Q]^-1, (4), for words without a matrix of words by words, and for deeper layers directly."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.sparse import csr_array

from sublex.estimators import conjugate_gradients
from sublex.estimators.kernels import gram

Progress = Callable[[int, int], None]
# Added to the diagonal of Q except at the bias, as M. Chen's program does for marginalised denoising autoencoders.
RIDGE = 1e-5
# Rows of W multiplied together.
ROWS = 4096


def first_map(
    x: csr_array, r: int, kind: type, p: float, tol: float, workers: int, progress: Progress | None
) -> tuple[np.ndarray, np.ndarray]:
    """The first layer's map, transposed, the bias in its last row, and the steps of each column; the first r words are the prototypes.

    With q = 1 - p, D the diagonal of S and s the sums of the columns, E[Q] W' = E[P]' reads, bias b apart,
    (q² S + qp D) w + q s b = q S_j and q s'w + n b = s_j. The second gives b, which leaves for w the matrix
    q² (S - s s'/n) + qp D: its smallest eigenvalue is at least p when its diagonal is made 1, so few steps are enough.
    """
    n, d = x.shape
    q = 1.0 - p
    qx = x.data * q
    qs = np.bincount(x.indices, qx, d)
    D = np.bincount(x.indices, x.data**2, d)
    diagonal = q * p * D + RIDGE

    def add(v: np.ndarray, out: np.ndarray) -> np.ndarray:
        """q² (S - s s'/n) v, added to what is there."""
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
    predicted = sum(qs[at : at + ROWS] @ W[at : min(at + ROWS, d)] for at in range(0, d, ROWS))
    W[d] = (qs[:r] / q - predicted) / n
    return W, steps


def deeper_map(S: np.ndarray, p: float) -> np.ndarray:
    """The map of a layer from the scatter matrix of [h; 1], transposed: every input is a prototype, and S is small."""
    E_P, E_Q = expectations(S, len(S) - 1, p)
    return np.linalg.solve(E_Q, E_P.T)


def expectations(S: np.ndarray, r: int, p: float) -> tuple[np.ndarray, np.ndarray]:
    """E[P] and E[Q] of (5) and (6) from the scatter matrix of [x; 1], whose first r rows are the prototypes."""
    q = np.append(np.full(len(S) - 1, 1.0 - p), 1.0)
    E_Q = S * q * q[:, None]
    np.fill_diagonal(E_Q, S.diagonal() * q + np.append(np.full(len(S) - 1, RIDGE), 0.0))
    return S[:r] * q, E_Q
