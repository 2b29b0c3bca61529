"""Kernels that encode and decode the positions of postings.

The gaps between the positions of a posting are stored as packed numbers. `docs/format.md` describes the layout.

Kernels have no bounds checks. So kernels that decode check sizes and numbers themselves, and report damage.
"""

from __future__ import annotations

import numpy as np

from sublex.index.packed_kernels import LIMIT, encode_numbers, get_blocks, get_numbers
from sublex.index.posting_kernels import BLOCK
from sublex.tools.compiled import I32, I64, STORED_U8, STORED_U32, U32, kernel

# The sign bit, which marks a gap while it is decoded.
FIRST = np.int32(-LIMIT)


@kernel((I32, I32, I64), before="positions")
def encode_positions(positions, tfs, cf):
    """Encode the positions of postings. Return (words, widths, tails, sizes), as `encode_numbers` does.

    Posting i has the next tfs[i] values of `positions`, ascending. The postings of term t together have cf[t] positions.
    """
    gaps = np.empty(len(positions), np.uint32)
    i = np.int64(0)
    for k in range(len(tfs)):
        last = np.int64(-1)
        for _ in range(tfs[k]):
            gaps[i] = np.uint32(positions[i] - last - 1)
            last = np.int64(positions[i])
            i += 1
    return encode_numbers(gaps, cf, False)


@kernel(
    (STORED_U32, STORED_U8, I64, I64, STORED_U8, I64, I64, I64, I64, I32, U32, I32), before="positions check-positions"
)
def decode_positions(
    words, widths, word_begins, block_begins, tails, tail_begins, tail_ends, cf, df, tfs, gaps, positions
):  # fmt: skip
    """Decode the positions of all postings of several terms to `positions`, one after the other.

    Returns the place of the first term with damaged positions, or -1. Term k has df[k] postings and cf[k] positions.
    Posting i has tfs[i] positions. The first block of the term has the number block_begins[k], and its words begin
    at words[word_begins[k]]. The rest of the gaps is in tails[tail_begins[k]:tail_ends[k]]. `gaps` is scratch memory for a
    block.
    """
    o = i = np.int64(0)
    for k in range(len(cf)):
        begin = o
        if cf[k] >= BLOCK:
            o = get_blocks(words, widths, word_begins[k], block_begins[k], cf[k] // BLOCK, gaps, positions, o)
            if o < 0:
                return k
        o = get_numbers(tails, tail_begins[k], tail_ends[k], cf[k] % BLOCK, positions, o)
        if o < 0:
            return k
        # The sign bit marks the first gap of each posting. A gap has 31 bits.
        at = begin
        for _ in range(df[k]):
            if at >= o or tfs[i] < 1:
                return k
            positions[at] |= FIRST
            at += tfs[i]
            i += 1
        if at != o:
            return k
        # The gaps become positions. There is no branch for the frequency, since a processor could not predict it.
        last = every = np.int64(0)
        for x in range(begin, o):
            gap = np.int64(positions[x])
            last = (last + 1 & ~(gap >> 63)) + (gap & LIMIT - 1)
            every |= last
            positions[x] = last & LIMIT - 1
        if every >= LIMIT:
            return k
    return -1
