"""Kernels of keys. A key is a hit as one uint64: a better hit has a larger key.

The upper half of a key is the float32 score, as an unsigned integer that is larger for a higher score. The lower half
is the rank of the docno, so equal scores are ordered by docno. The best k documents have the k largest keys.
"""

from __future__ import annotations

import numpy as np
from numba import float32, int32, uint64

from sublex.retrieval.coding.coding_kernels import I32, I64
from sublex.tools.compiled import inner, kernel

# The types of arguments.
DOCS = int32[:, ::1]
SCORES = float32[:, ::1]
KEYS = uint64[:, ::1]


@inner
def key_of(score, rank):
    """Return the key of a hit from its score and the rank of its docno. The score is rounded to float32."""
    # Adding 0 turns -0 into 0, so both get the same key.
    rounded = np.float32(np.float32(score) + np.float32(0))
    bits = np.int64(rounded.view(np.int32))
    if bits < 0:
        bits = ~bits & np.int64(0x7FFFFFFF)
    else:
        bits = bits | np.int64(0x80000000)
    return np.uint64((bits << 32) | np.int64(rank))


@inner
def score_of(key):
    """Return the float32 score of a key."""
    bits = np.int64(key >> np.uint64(32))
    if bits >> 31:
        bits = bits & np.int64(0x7FFFFFFF)
    else:
        bits = ~bits
    return np.int32(bits).view(np.float32)


@kernel((KEYS, I32, DOCS, SCORES, I64), before="search")
def unpack(keys, docs_by_docno, docs, scores, counts):
    """Write the documents and scores of rows of keys, best first, and the number of hits of each row to `counts`.

    The keys of a row ascend. A key of 0 is an empty place. `docs_by_docno` has the document of each docno rank.
    """
    width = keys.shape[1]
    for q in range(len(keys)):
        n = 0
        while n < docs.shape[1] and keys[q, width - 1 - n]:
            key = keys[q, width - 1 - n]
            docs[q, n] = docs_by_docno[np.int64(key & np.uint64(0xFFFFFFFF))]
            scores[q, n] = score_of(key)
            n += 1
        counts[q] = n


@inner
def select(values, n, k):
    """Reorder the first n values: the k largest come first, and the least of these k is at place k - 1."""
    low, high, at = 0, n - 1, k - 1
    while low < high:
        pivot = values[(low + high) >> 1]
        i, j = low, high
        while i <= j:
            while values[i] > pivot:
                i += 1
            while values[j] < pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if at <= j:
            high = j
        elif at >= i:
            low = i
        else:
            return


@inner
def at_least(score):
    """Return a lower bound, as float64, of all sums that float32 rounds to `score` or to a higher score."""
    return np.float64(np.nextafter(np.float32(score), np.float32(-np.inf)))
