"""Kernels that score documents: sums over their terms, and products of their rows with a vector.

Callers check the arguments. Each sum is kept in four parts, which a processor adds at the same time.
"""

import numpy as np
from numba import float32

from sublex.tools.compiled import F32, F64, I32, I64, U32, U64, kernel

# The type of dense rows in the signatures of the kernels.
MATRIX = float32[:, ::1]


@kernel((U64, U32, U32, F64, F64, U64, F64), before="demo")
def dot(starts, terms, levels, level_values, weights, docs, sums):
    """Set sums[k] to the sum of level_values[levels[i]] · weights[terms[i]] over the places i of document docs[k].

    Document d has the places from starts[d] up to starts[d + 1], one for each of its terms. A level stands for a
    frequency of a term; level_values has its value. All integers are unsigned, so Numba adds no test for negative
    places.
    """
    for k in range(len(docs)):
        i, end = starts[docs[k]], starts[docs[k] + np.uint64(1)]
        v = w = x = y = 0.0
        while i + np.uint64(3) < end:
            v += level_values[levels[i]] * weights[terms[i]]
            w += level_values[levels[i + np.uint64(1)]] * weights[terms[i + np.uint64(1)]]
            x += level_values[levels[i + np.uint64(2)]] * weights[terms[i + np.uint64(2)]]
            y += level_values[levels[i + np.uint64(3)]] * weights[terms[i + np.uint64(3)]]
            i += np.uint64(4)
        while i < end:
            v += level_values[levels[i]] * weights[terms[i]]
            i += np.uint64(1)
        sums[k] = (v + w) + (x + y)


@kernel((MATRIX, F64, I64, F64), before="demo")
def products(rows, vector, docs, sums):
    """Set sums[k] to the product of row docs[k] with a vector."""
    width = len(vector)
    last = width // 4 * 4
    for k in range(len(docs)):
        row = rows[docs[k]]
        v = w = x = y = 0.0
        for j in range(0, last, 4):
            v += row[j] * vector[j]
            w += row[j + 1] * vector[j + 1]
            x += row[j + 2] * vector[j + 2]
            y += row[j + 3] * vector[j + 3]
        for j in range(last, width):
            v += row[j] * vector[j]
        sums[k] = (v + w) + (x + y)


@kernel((F32, I32, I32, F64, I64, F64))
def sparse_products(data, columns, starts, vector, docs, sums):
    """Set sums[k] to the product of sparse row docs[k] with a vector.

    Row d has the entries from starts[d] up to starts[d + 1].
    """
    for k in range(len(docs)):
        total = 0.0
        for i in range(starts[docs[k]], starts[docs[k] + 1]):
            total += data[i] * vector[columns[i]]
        sums[k] = total
