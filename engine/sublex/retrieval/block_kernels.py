"""Kernels of blocks, which are eight documents each: fill the rows of frequent terms, and bound the sums of candidates."""

from __future__ import annotations

import numpy as np
from numba import float32, int32, int64, uint8, uint64

from sublex.retrieval.coding.coding_kernels import F32, I32
from sublex.tools.compiled import inner, kernel

# The types of arguments.
BITS = uint64[:, ::1]
RANKS = int32[:, ::1]
BOUNDS = uint8[:, ::1]

# Documents in a block, and blocks in a word of 64 documents.
SIZE, PER_WORD = 8, 8


@kernel((int64, I32, F32, float32, BITS, RANKS, BOUNDS), before="fill-blocks")
def fill(row, docs, impacts, most, bits, ranks, bounds):
    """Fill in the row of a term, whose greatest impact is `most`.

    Return False, with the row half filled, if the term's documents do not ascend.
    """
    steps = np.float32(255) / most if most > 0 else np.float32(0)
    i, end, last = np.int64(0), len(docs), np.int64(-1)
    for word in range(bits.shape[1]):
        ranks[row, word] = i
        held = np.uint64(0)
        while i < end and docs[i] < (word + 1) * 64:
            doc = np.int64(docs[i])
            if doc <= last:
                return False
            last = doc
            held |= np.uint64(1) << np.uint64(doc & 63)
            # The impact of a deleted document is NaN.
            if impacts[i] > 0:
                bound = np.uint8(min(np.ceil(impacts[i] * steps), np.float32(255)))
                bounds[row, doc >> 3] = max(bounds[row, doc >> 3], bound)
            i += 1
        bits[row, word] = held
    return True


@inner
def set_needed(lowest, highest, tops, weights, rows, bounds, first, needed):
    """Write for each block a lower bound of the sum that its documents need to reach the threshold by the looked-up terms.

    `tops` are the most that these terms can add, `weights` their weights, and `rows` their rows in the blocks. `lowest`
    is the sum that a document needs if each of them adds the most. `highest` is the highest score of the query, and
    `first` is the first block.
    """
    # Each step rounds by at most 2**-24 of abs(lowest) + highest, and a term takes three steps. So the sum stays a lower bound.
    base = lowest - (abs(lowest) + 2 * highest) * (len(rows) + 2) * 2.0**-22
    for t in range(len(rows)):
        if rows[t] >= 0 and weights[t] > 0:
            base += tops[t]
    needed[:] = np.float32(base)
    for t in range(len(rows)):
        if rows[t] >= 0 and weights[t] > 0:
            # `fill` rounds twice when it computes a bound, so the step is a little larger.
            step, row = np.float32(tops[t] * ((1 + 2.0**-20) / 255)), bounds[rows[t], first : first + len(needed)]
            for b in range(len(row)):
                needed[b] -= step * np.float32(row[b])
