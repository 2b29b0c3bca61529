"""Kernels that compare rows with a vector, or with all tokens of a query, in float64 and in a fixed order.

Rows may have more columns than the vector; these are not read. Each sum is kept in eight parts, so that a processor can
add to several at the same time; with four parts, it would wait for each addition. Callers check that the rows are wide
enough.
"""

import numpy as np
from numba import float32, float64

from sublex.tools.compiled import F64, I64, inner, kernel

MATRIX, COLUMNS = float32[:, ::1], float64[:, ::1]
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
    """Set sums[k] to the product of row k and a vector. If `squares` is not empty, set squares[k] to the product of row
    k with itself.
    """
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


@kernel((MATRIX, I64, COLUMNS, F64, F64, I64, F64))
def largest_products(rows, starts, query, sums, best, places, work):
    """Set sums[d] to the sum over the columns of `query` of the largest product with a row of document d.

    The rows of document d are starts[d] up to starts[d + 1]; if it has none, sums[d] is not changed. Afterwards, `best`
    and `places` have the largest products of the last document that has rows, and the numbers of the rows within this
    document. Of equal products, the first row counts. `work` is working memory. Four entries of a row are multiplied
    with all columns at a time, which a processor does for several columns at once.
    """
    width, count = query.shape
    last = width // 4 * 4
    for d in range(len(sums)):
        if starts[d] == starts[d + 1]:
            continue
        for i in range(count):
            best[i] = -np.inf
        for j in range(starts[d], starts[d + 1]):
            for i in range(count):
                work[i] = 0.0
            for k in range(0, last, 4):
                a, b = np.float64(rows[j, k]), np.float64(rows[j, k + 1])
                c, e = np.float64(rows[j, k + 2]), np.float64(rows[j, k + 3])
                for i in range(count):
                    work[i] += (a * query[k, i] + b * query[k + 1, i]) + (c * query[k + 2, i] + e * query[k + 3, i])
            for k in range(last, width):
                a = np.float64(rows[j, k])
                for i in range(count):
                    work[i] += a * query[k, i]
            for i in range(count):
                if work[i] > best[i]:
                    best[i] = work[i]
                    places[i] = j - starts[d]
        total = 0.0
        for i in range(count):
            total += best[i]
        sums[d] = total
