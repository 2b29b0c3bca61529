"""Sums over documents' terms, and over the numbers of their rows."""

from numba import njit


@njit(cache=True, nogil=True)
def dot(starts, terms, tfs, worth, weights, docs, sums):
    """sums[k] = Σ worth[tfs[i]] · weights[terms[i]] over the terms of document docs[k], in their order."""
    for k in range(len(docs)):
        total = 0.0
        for i in range(starts[docs[k]], starts[docs[k] + 1]):
            total += worth[tfs[i]] * weights[terms[i]]
        sums[k] = total


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
