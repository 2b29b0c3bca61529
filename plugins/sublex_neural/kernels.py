"""Kernels that compare rows with a vector: products, squares and squared distances, in float64 and in a fixed order.

Rows may have further columns after those of the vector, which are not read. Each sum is kept in eight parts, which a
processor adds at the same time: with four, it waits for each addition. Callers check that the rows are wide enough.
"""

import numpy as np
from numba import float32

from sublex.tools.compiled import F64, inner, kernel

MATRIX = float32[:, ::1]
PARTS = 8


@inner
def _product(row, vector, width):
    last = width // PARTS * PARTS
    a = b = c = d = e = f = g = h = 0.0
    for j in range(0, last, PARTS):
        a += row[j] * vector[j]
        b += row[j + 1] * vector[j + 1]
        c += row[j + 2] * vector[j + 2]
        d += row[j + 3] * vector[j + 3]
        e += row[j + 4] * vector[j + 4]
        f += row[j + 5] * vector[j + 5]
        g += row[j + 6] * vector[j + 6]
        h += row[j + 7] * vector[j + 7]
    for j in range(last, width):
        a += row[j] * vector[j]
    return ((a + b) + (c + d)) + ((e + f) + (g + h))


@inner
def _square(row, width):
    last = width // PARTS * PARTS
    a = b = c = d = e = f = g = h = 0.0
    for j in range(0, last, PARTS):
        a += np.float64(row[j]) * row[j]
        b += np.float64(row[j + 1]) * row[j + 1]
        c += np.float64(row[j + 2]) * row[j + 2]
        d += np.float64(row[j + 3]) * row[j + 3]
        e += np.float64(row[j + 4]) * row[j + 4]
        f += np.float64(row[j + 5]) * row[j + 5]
        g += np.float64(row[j + 6]) * row[j + 6]
        h += np.float64(row[j + 7]) * row[j + 7]
    for j in range(last, width):
        a += np.float64(row[j]) * row[j]
    return ((a + b) + (c + d)) + ((e + f) + (g + h))


@inner
def _distance(row, vector, width):
    last = width // PARTS * PARTS
    a = b = c = d = e = f = g = h = 0.0
    for j in range(0, last, PARTS):
        s, t = row[j] - vector[j], row[j + 1] - vector[j + 1]
        u, v = row[j + 2] - vector[j + 2], row[j + 3] - vector[j + 3]
        w, x = row[j + 4] - vector[j + 4], row[j + 5] - vector[j + 5]
        y, z = row[j + 6] - vector[j + 6], row[j + 7] - vector[j + 7]
        a += s * s
        b += t * t
        c += u * u
        d += v * v
        e += w * w
        f += x * x
        g += y * y
        h += z * z
    for j in range(last, width):
        s = row[j] - vector[j]
        a += s * s
    return ((a + b) + (c + d)) + ((e + f) + (g + h))


@kernel((MATRIX, F64, F64, F64))
def products(rows, vector, sums, squares):
    """Set sums[k] to the product of row k with a vector, and squares[k] to its product with itself, if there are squares."""
    width = len(vector)
    if not len(squares):
        for k in range(len(sums)):
            sums[k] = _product(rows[k], vector, width)
        return
    for k in range(len(sums)):
        sums[k] = _product(rows[k], vector, width)
        squares[k] = _square(rows[k], width)


@kernel((MATRIX, F64, F64))
def distances(rows, vector, sums):
    """Set sums[k] to the squared distance of row k from a vector."""
    width = len(vector)
    for k in range(len(sums)):
        sums[k] = _distance(rows[k], vector, width)
