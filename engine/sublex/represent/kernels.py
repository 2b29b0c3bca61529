"""Sums over documents' terms."""

from numba import njit


@njit(cache=True, nogil=True)
def dot_all(starts, terms, tfs, weights, sums):
    """sums[d] = Σ tfs[i] · weights[terms[i]] over the terms of each document d, in their order."""
    for doc in range(len(starts) - 1):
        total = 0.0
        for i in range(starts[doc], starts[doc + 1]):
            total += tfs[i] * weights[terms[i]]
        sums[doc] = total


@njit(cache=True, nogil=True)
def dot_some(starts, terms, tfs, weights, docs, sums):
    """The same of these documents."""
    for k in range(len(docs)):
        total = 0.0
        for i in range(starts[docs[k]], starts[docs[k] + 1]):
            total += tfs[i] * weights[terms[i]]
        sums[k] = total
