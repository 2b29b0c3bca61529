"""Kernels over matrices of documents by terms, for the estimators.

Documents are compressed sparse rows in three arrays: where each row starts, its terms, and their counts. Callers check the arguments.
"""

from __future__ import annotations

import numpy as np
from numba import boolean, float32, float64, int32, int64

from sublex.tools.compiled import kernel

# The type of int32 arrays in the signatures of the kernels.
I32 = int32[::1]
I64 = int64[::1]
F32 = float32[::1]
F64 = float64[::1]
FLAGS = boolean[::1]
MATRIX = float64[:, ::1]


@kernel(
    (I32, I32, I32, MATRIX, MATRIX), (I32, I32, F64, MATRIX, MATRIX), (I64, I64, F64, MATRIX, MATRIX), before="demo"
)
def gram(starts, terms, counts, x, y):
    """Add AᵀA x to `y`. A is the matrix with the rows in `starts`, `terms` and `counts`."""
    width = x.shape[1]
    z = np.empty(width)
    for d in range(len(starts) - 1):
        z[:] = 0.0
        for i in range(starts[d], starts[d + 1]):
            count = np.float64(counts[i])
            row = x[terms[i]]
            for c in range(width):
                z[c] += count * row[c]
        for i in range(starts[d], starts[d + 1]):
            count = np.float64(counts[i])
            row = y[terms[i]]
            for c in range(width):
                row[c] += count * z[c]


@kernel(
    (I32, I32, I32, F64, int64, F64),
    (I32, I32, F32, F64, int64, F64),
    (I32, I32, F64, F64, int64, F64),
    (I64, I64, F64, F64, int64, F64),
)
def products(starts, terms, counts, values, first, sums):
    """Set sums[d] to the sum of count × value over the terms of row first + d. `values` has the value of each term."""
    for d in range(len(sums)):
        begin, end = starts[first + d], starts[first + d + 1]
        last = begin + (end - begin) // 4 * 4
        v = w = x = y = 0.0
        for i in range(begin, last, 4):
            # A processor adds four independent sums at once. With unsigned indices, Numba adds no test for negative
            # indices.
            v += np.float64(counts[i]) * values[np.uint64(terms[i])]
            w += np.float64(counts[i + 1]) * values[np.uint64(terms[i + 1])]
            x += np.float64(counts[i + 2]) * values[np.uint64(terms[i + 2])]
            y += np.float64(counts[i + 3]) * values[np.uint64(terms[i + 3])]
        for i in range(last, end):
            v += np.float64(counts[i]) * values[np.uint64(terms[i])]
        sums[d] = (v + w) + (x + y)


@kernel((I32, FLAGS, I64))
def distinct(terms, seen, out):
    """Write the distinct terms to `out` in the order of their first occurrence, and return their number.

    `seen` has a flag for each term of the vocabulary; all flags are False before and after the call.
    """
    n = 0
    for i in range(len(terms)):
        if not seen[terms[i]]:
            seen[terms[i]] = True
            out[n] = terms[i]
            n += 1
    for i in range(n):
        seen[out[i]] = False
    return n


@kernel((I64, MATRIX, F64, F64), before="demo")
def similarities(words, vectors, query, values):
    """Set values[word] to the dot product of vectors[word] with `query`, for each word in `words`."""
    width = len(query)
    last = width // 4 * 4
    for i in range(len(words)):
        word = words[i]
        row = vectors[word]
        # A processor adds four independent sums at once.
        v = w = x = y = 0.0
        for j in range(0, last, 4):
            v += row[j] * query[j]
            w += row[j + 1] * query[j + 1]
            x += row[j + 2] * query[j + 2]
            y += row[j + 3] * query[j + 3]
        for j in range(last, width):
            v += row[j] * query[j]
        values[word] = (v + w) + (x + y)
