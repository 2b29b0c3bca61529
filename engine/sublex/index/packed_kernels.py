"""Functions of kernels that encode and decode packed numbers: a list of numbers below 2**31 for each term.

Every 128 numbers of a term form a bit-packed block, and the rest is in a byte code, the term's tail. `docs/format.md` describes
the layout.

There are no bounds checks. The functions that decode therefore check sizes and numbers themselves, and report damage.
"""

from __future__ import annotations

import numpy as np

from sublex.index.posting_kernels import BLOCK, LANES, pack, put_number, unpack, width_of
from sublex.tools.compiled import inner

# All numbers are smaller than this.
LIMIT = 1 << 31


@inner
def _bits(numbers, begin, end):
    """Return all bits that are set in any of numbers[begin:end]."""
    every = np.uint32(0)
    for i in range(begin, end):
        every |= numbers[i]
    return np.uint32(every)


@inner
def encode_numbers(numbers, counts, leaves_out_zeros):
    """Encode lists of numbers, which lie end to end. Return (words, widths, tails, sizes).

    Term t has counts[t] numbers. `words` has the packed words of all blocks, and `widths` the bits of a number in each block.
    `tails` has the byte code of the numbers after the last block of each term, and `sizes` the number of its bytes for each term.
    With `leaves_out_zeros`, a tail is empty if all its numbers are 0.
    """
    blocks = 0
    for term in range(len(counts)):
        blocks += counts[term] // BLOCK
    # A number takes at most five bytes in the byte code.
    words, widths = np.empty(BLOCK * blocks + 1, np.uint32), np.empty(blocks, np.uint8)
    tails, sizes = np.empty(5 * (len(numbers) - blocks * BLOCK) + 1, np.uint8), np.empty(len(counts), np.int64)
    i = w = b = o = np.int64(0)
    for term in range(len(counts)):
        stop = i + counts[term]
        while stop - i >= BLOCK:
            widths[b] = width_of(_bits(numbers, i, i + BLOCK))
            w = pack(numbers[i : i + BLOCK], np.int64(widths[b]), words, w)
            i += BLOCK
            b += 1
        begin = o
        if not leaves_out_zeros or _bits(numbers, i, stop):
            for x in range(i, stop):
                o = put_number(tails, o, np.int64(numbers[x]))
        i = stop
        sizes[term] = o - begin
    return words[:w].copy(), widths, tails[:o].copy(), sizes


@inner
def get_blocks(words, widths, word, block, blocks, scratch, out, o):
    """Decode `blocks` blocks of numbers to out[o:]. The first one has the number `block`, and its words begin at words[word].

    `scratch` has room for a block. Returns the place after the last number in `out`, or -1 if a block is damaged.
    """
    for b in range(block, block + blocks):
        wide = np.int64(widths[b])
        if wide > 31 or word + LANES * wide > len(words):
            return -1
        unpack(words, word, wide, scratch)
        word += LANES * wide
        for x in range(BLOCK):
            out[o + x] = scratch[x]
        o += BLOCK
    return o


@inner
def get_numbers(data, at, stop, n, out, o):
    """Decode `n` numbers of the byte code in data[at:stop] to out[o:].

    Returns the place after the last number in `out`. Returns -1 if the numbers do not end exactly at `stop`, or if a
    number is too large.
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
