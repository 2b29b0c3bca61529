"""Kernels that encode and decode the frequencies of postings in a field.

Every 128 frequencies of a term form a bit-packed block, and the rest is in a byte code, or nothing if all of it is 0.
`docs/format.md` describes the layout.

Kernels have no bounds checks. Those that decode therefore check sizes and numbers themselves, and report damage.
"""

from __future__ import annotations

import numpy as np

from sublex.index.position_kernels import get_numbers
from sublex.index.posting_kernels import BLOCK, LANES, pack, put_number, unpack, width_of
from sublex.tools.compiled import I32, I64, STORED_U8, STORED_U32, U32, inner, kernel


@inner
def _bits(tfs, begin, end):
    """Return all bits that are set in any of tfs[begin:end]."""
    every = np.uint32(0)
    for i in range(begin, end):
        every |= np.uint32(tfs[i])
    return np.uint32(every)


@kernel((I32, I64), before="fields")
def encode_fields(tfs, df):
    """Return the frequencies of postings in a field encoded, as (words, widths, tails, sizes).

    The posting lists lie end to end in `tfs`; term t has df[t] postings. `words` has the packed words of all blocks, and
    `widths` the bits of a frequency in each block; a block of zeros takes no word. `tails` has the byte code of the frequencies
    after the last block of each term, unless all of these are 0, and `sizes` the number of its bytes for each term.
    """
    blocks = 0
    for term in range(len(df)):
        blocks += df[term] // BLOCK
    # A number takes at most five bytes in the byte code.
    words, widths = np.empty(BLOCK * blocks + 1, np.uint32), np.empty(blocks, np.uint8)
    tails, sizes = np.empty(5 * (len(tfs) - blocks * BLOCK) + 1, np.uint8), np.empty(len(df), np.int64)
    block = np.empty(BLOCK, np.uint32)
    i = w = b = o = np.int64(0)
    for term in range(len(df)):
        stop = i + df[term]
        while stop - i >= BLOCK:
            widths[b] = width_of(_bits(tfs, i, i + BLOCK))
            for x in range(BLOCK):
                block[x] = np.uint32(tfs[i + x])
            w = pack(block, np.int64(widths[b]), words, w)
            i += BLOCK
            b += 1
        begin = o
        if _bits(tfs, i, stop):
            for x in range(i, stop):
                o = put_number(tails, o, np.int64(tfs[x]))
        i = stop
        sizes[term] = o - begin
    return words[:w].copy(), widths, tails[:o].copy(), sizes


@kernel((STORED_U32, STORED_U8, I64, I64, STORED_U8, I64, I64, I64, I32, U32, I32), before="fields read-fields")
def decode_fields(words, widths, word_begins, block_begins, tails, tail_begins, tail_ends, df, tfs, block, found):
    """Decode the frequencies of all postings of several terms in a field to `found`, one list after the other.

    Returns the place of the first term with a damaged list, or -1. Term k has df[k] postings. Its first block has the number
    block_begins[k], and its words begin at words[word_begins[k]]. The rest of its frequencies is in
    tails[tail_begins[k]:tail_ends[k]]. Posting i has the frequency tfs[i] in the whole document, which its frequency in a
    field must not exceed. `block` is scratch memory for a block.
    """
    o = i = np.int64(0)
    for k in range(len(df)):
        word = word_begins[k]
        for b in range(block_begins[k], block_begins[k] + df[k] // BLOCK):
            wide = np.int64(widths[b])
            if wide > 31 or word + LANES * wide > len(words):
                return k
            unpack(words, word, wide, block)
            word += LANES * wide
            for x in range(BLOCK):
                found[o + x] = block[x]
            o += BLOCK
        if tail_begins[k] < tail_ends[k]:
            o = get_numbers(tails, tail_begins[k], tail_ends[k], df[k] % BLOCK, found, o)
            if o < 0:
                return k
        else:
            for _ in range(df[k] % BLOCK):
                found[o] = 0
                o += 1
        while i < o:
            if found[i] > tfs[i]:
                return k
            i += 1
    return -1
