"""The kernel of LSI: the similarity of words to a query."""

from __future__ import annotations

from numba import njit


@njit(cache=True, nogil=True)
def similarities(words, vectors, query, values):
    """The dot products of some words' vectors with the query's."""
    for i in range(len(words)):
        word = words[i]
        total = 0.0
        for j in range(len(query)):
            total += vectors[word, j] * query[j]
        values[word] = total
