"""Kernels of dCoT: affine maps of sparse and of dense rows, and steps of conjugate gradients. Callers check the arguments."""

from __future__ import annotations

from numba import float32, float64, int32

from sublex.tools.compiled import kernel

# The types of the kernels' arguments.
I32 = int32[::1]
F32 = float32[::1]
F64 = float64[::1]
F64M = float64[:, ::1]
F32M = float32[:, ::1]


@kernel((I32, I32, F64, I32, F64M, F64M), (I32, I32, F32, I32, F32M, F32M), before="demo")
def affine(indptr, indices, data, place, weights, out):
    """Set out[i] to the affine map of the sparse row i. The rows are in `indptr`, `indices` and `data`.

    The value in column j is multiplied by row place[j] of `weights`, or left out if place[j] is -1. The products are
    added to the last row of `weights`, which is the bias.
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


@kernel((F64M, F64M, F64M), (F32M, F32M, F32M))
def affine_dense(rows, weights, out):
    """Set out[i] to the affine map of the dense row rows[i].

    The value in column j is multiplied by row j of `weights`. The products are added to the last row of `weights`,
    which is the bias.
    """
    bias = len(weights) - 1
    width = weights.shape[1]
    for i in range(len(rows)):
        for k in range(width):
            out[i, k] = weights[bias, k]
        for j in range(bias):
            x = rows[i, j]
            for k in range(width):
                out[i, k] += x * weights[j, k]


@kernel((F64M, F64M, F64), before="demo")
def dots(a, b, out):
    """Set out[k] to the dot product of column k of `a` and column k of `b`."""
    rows, columns = a.shape
    out[:] = 0.0
    for i in range(rows):
        for k in range(columns):
            out[k] += a[i, k] * b[i, k]


@kernel((F64, F64M, F64M, F64, F64M, F64M, F64), before="demo")
def advance(alpha, p, s, inverse, x, r, rho):
    """Take a step of conjugate gradients in each column k: add alpha[k] p to `x`, and subtract alpha[k] s from `r`.

    `x` is the solution so far, `r` the residual, `p` the direction of the step, and `s` the product A p. `inverse` is 1
    divided by the diagonal of A. rho[k] is set to the sum of `inverse` times the squares of the new column k of `r`.
    """
    rows, columns = x.shape
    rho[:] = 0.0
    for i in range(rows):
        m = inverse[i]
        for k in range(columns):
            x[i, k] += alpha[k] * p[i, k]
            left = r[i, k] - alpha[k] * s[i, k]
            r[i, k] = left
            rho[k] += m * left * left


@kernel((F64, F64M, F64, F64M), before="demo")
def turn(beta, r, inverse, p):
    """Set the next direction of conjugate gradients: column k of `p` becomes `inverse` times column k of `r`, plus
    beta[k] p.
    """
    rows, columns = p.shape
    for i in range(rows):
        m = inverse[i]
        for k in range(columns):
            p[i, k] = m * r[i, k] + beta[k] * p[i, k]
