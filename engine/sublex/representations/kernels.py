"""Sums over documents' terms, and over the numbers of their rows."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def dot(starts, terms, tfs, worth, weights, docs, sums):
    """sums[k] = Σ worth[tfs[i]] · weights[terms[i]] over the terms of document docs[k]: four sums that do not wait for each other."""
    for k in range(len(docs)):
        i, end = starts[docs[k]], starts[docs[k] + np.uint64(1)]
        v = w = x = y = 0.0
        while i + np.uint64(3) < end:
            v += worth[tfs[i]] * weights[terms[i]]
            w += worth[tfs[i + np.uint64(1)]] * weights[terms[i + np.uint64(1)]]
            x += worth[tfs[i + np.uint64(2)]] * weights[terms[i + np.uint64(2)]]
            y += worth[tfs[i + np.uint64(3)]] * weights[terms[i + np.uint64(3)]]
            i += np.uint64(4)
        while i < end:
            v += worth[tfs[i]] * weights[terms[i]]
            i += np.uint64(1)
        sums[k] = (v + w) + (x + y)


@njit(cache=True, nogil=True)
def products(rows, vector, docs, sums):
    """sums[k] is the product of row docs[k] with a vector: four sums that do not wait for each other."""
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
