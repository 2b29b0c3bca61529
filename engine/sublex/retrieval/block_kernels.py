"""Kernels for blocks of eight documents.

They fill the rows of frequent terms and compute bounds of the sums of candidates.
"""

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
    """Fill in row `row` of `bits`, `ranks` and `bounds` for one term; `blocks.Blocks` describes the three arrays.

    `docs` and `impacts` have the document and the impact of each posting, and `most` is the greatest impact.

    Return True, or False if the term's documents do not ascend; the row is then only partly filled.
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
    """Write to `needed`, for each block, the least sum with which a document may still reach the threshold.

    The sum of a document contains the added terms only; the looked-up terms can still raise this sum. For each looked-up
    term, `tops` has the most that it can add, `weights` its weight, and `rows` its row in the blocks. `lowest` is the sum
    that a document needs if every looked-up term adds the most. `highest` is the highest possible score of the query,
    and `first` is the number of the first block. Rounding makes the written sums smaller, never larger.
    """
    # Each step rounds by at most 2**-24 of abs(lowest) + highest, and a term takes three steps. The subtraction is
    # larger than all rounding errors, so the result stays a lower bound.
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
