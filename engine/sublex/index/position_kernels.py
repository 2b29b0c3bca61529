"""Kernels that encode and decode the positions of postings.

The gaps between the positions of a posting are packed as postings are: every 128 gaps of a term form a bit-packed block, and
the rest is in a byte code. `docs/format.md` describes the layout.

Kernels have no bounds checks. Those that decode therefore check sizes and numbers themselves, and report damage.
"""

from __future__ import annotations

import numpy as np

from sublex.index.posting_kernels import BLOCK, LANES, pack, put_number, unpack, width_of
from sublex.tools.compiled import I32, I64, STORED_U8, STORED_U32, U32, inner, kernel

# Positions are below this.
LIMIT = 1 << 31
FIRST = np.int32(-LIMIT)


@kernel((I32, I32, I64), before="positions")
def encode_positions(positions, tfs, cf):
    """Return the positions of postings encoded, as (words, widths, tails, sizes).

    Posting i has the next tfs[i] values of `positions`, ascending; the postings of term t have cf[t] together. `words` has
    the packed words of all blocks, and `widths` the bits of a gap in each block. `tails` has the byte code of the gaps
    after the last block of each term, and `sizes` the number of its bytes for each term.
    """
    gaps = np.empty(len(positions), np.uint32)
    i = np.int64(0)
    for k in range(len(tfs)):
        last = np.int64(-1)
        for _ in range(tfs[k]):
            gaps[i] = np.uint32(positions[i] - last - 1)
            last = np.int64(positions[i])
            i += 1
    blocks = 0
    for term in range(len(cf)):
        blocks += cf[term] // BLOCK
    # A number takes at most five bytes in the byte code.
    words, widths = np.empty(BLOCK * blocks + 1, np.uint32), np.empty(blocks, np.uint8)
    tails, sizes = np.empty(5 * (len(positions) - blocks * BLOCK) + 1, np.uint8), np.empty(len(cf), np.int64)
    i = w = b = o = np.int64(0)
    for term in range(len(cf)):
        stop = i + cf[term]
        while stop - i >= BLOCK:
            every = np.uint32(0)
            for x in range(BLOCK):
                every |= gaps[i + x]
            widths[b] = width_of(np.uint32(every))
            w = pack(gaps[i : i + BLOCK], np.int64(widths[b]), words, w)
            i += BLOCK
            b += 1
        begin = o
        while i < stop:
            o = put_number(tails, o, np.int64(gaps[i]))
            i += 1
        sizes[term] = o - begin
    return words[:w].copy(), widths, tails[:o].copy(), sizes


@inner
def get_numbers(data, at, stop, n, out, o):
    """Decode `n` numbers of the byte code in data[at:stop] to out[o:].

    Returns the place after the last number in `out`. Returns -1 if the numbers do not end exactly at `stop`, or if one
    is too large.
    """
    for _ in range(n):
        value, shift = np.int64(0), 0
        while True:
            if at >= stop or shift > 28:
                return -1
            byte = np.int64(data[at])
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
        if value >= LIMIT:
            return -1
        out[o] = value
        o += 1
    return o if at == stop else -1


@kernel((STORED_U32, STORED_U8, I64, I64, STORED_U8, I64, I64, I64, I64, I32, U32, I32), before="positions")
def decode_positions(
    words, widths, word_begins, block_begins, tails, tail_begins, tail_ends, cf, df, tfs, gaps, positions
):  # fmt: skip
    """Decode the positions of all postings of several terms to `positions`, one after the other.

    Returns the place of the first term with damaged positions, or -1. Term k has cf[k] positions and df[k] postings, of
    which posting i has tfs[i] positions. The first block of the term has the number block_begins[k], and its words begin
    at words[word_begins[k]]. The rest of the gaps is in tails[tail_begins[k]:tail_ends[k]]. `gaps` is scratch memory for a
    block.
    """
    o = i = np.int64(0)
    for k in range(len(cf)):
        begin, word = o, word_begins[k]
        for b in range(block_begins[k], block_begins[k] + cf[k] // BLOCK):
            wide = np.int64(widths[b])
            if wide > 31 or word + LANES * wide > len(words):
                return k
            unpack(words, word, wide, gaps)
            word += LANES * wide
            for x in range(BLOCK):
                positions[o + x] = gaps[x]
            o += BLOCK
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
        # The gaps become positions, without a branch for the frequency, which a processor could not predict.
        last = every = np.int64(0)
        for x in range(begin, o):
            gap = np.int64(positions[x])
            last = (last + 1 & ~(gap >> 63)) + (gap & LIMIT - 1)
            every |= last
            positions[x] = last & LIMIT - 1
        if every >= LIMIT:
            return k
    return -1
