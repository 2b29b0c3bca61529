"""The kernels of `sublex.models`. They check nothing: what calls them has."""

from __future__ import annotations

from numba import njit


@njit(cache=True, nogil=True)
def dots(a, b, out):
    """out[k] is the product of the k-th columns."""
    rows, columns = a.shape
    out[:] = 0.0
    for i in range(rows):
        for k in range(columns):
            out[k] += a[i, k] * b[i, k]


@njit(cache=True, nogil=True)
def advance(alpha, p, s, inverse, x, r, rho):
    """x += alpha p, r -= alpha s, rho[k] = r[:, k] . inverse r[:, k]: what conjugate gradients do after the product s = A p."""
    rows, columns = x.shape
    rho[:] = 0.0
    for i in range(rows):
        m = inverse[i]
        for k in range(columns):
            x[i, k] += alpha[k] * p[i, k]
            left = r[i, k] - alpha[k] * s[i, k]
            r[i, k] = left
            rho[k] += m * left * left


@njit(cache=True, nogil=True)
def turn(beta, r, inverse, p):
    """p = inverse r + beta p: the next direction."""
    rows, columns = p.shape
    for i in range(rows):
        m = inverse[i]
        for k in range(columns):
            p[i, k] = m * r[i, k] + beta[k] * p[i, k]
