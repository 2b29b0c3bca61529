"""Kernels of dCoT: affine maps of sparse and of dense rows. Callers check the arguments."""

from __future__ import annotations

from numba import njit


@njit(cache=True, nogil=True)
def affine(indptr, indices, data, place, weights, out):
    """Set out[i] = W [x; 1] for each sparse row x.

    Column j belongs to row place[j] of the weights, and is left out at -1. The last row of the weights is the bias.
    """
    bias = len(weights) - 1
    width = weights.shape[1]
    for i in range(len(indptr) - 1):
        for k in range(width):
            out[i, k] = weights[bias, k]
        for e in range(indptr[i], indptr[i + 1]):
            w = place[indices[e]]
            if w >= 0:
                x = data[e]
                for k in range(width):
                    out[i, k] += x * weights[w, k]


@njit(cache=True, nogil=True)
def affine_dense(rows, weights, out):
    """Set out[i] = W [x; 1] for each dense row x. The last row of the weights is the bias."""
    bias = len(weights) - 1
    width = weights.shape[1]
    for i in range(len(rows)):
        for k in range(width):
            out[i, k] = weights[bias, k]
        for j in range(bias):
            x = rows[i, j]
            for k in range(width):
                out[i, k] += x * weights[j, k]
