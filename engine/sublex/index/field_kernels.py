"""Kernels that encode and decode the frequencies of postings in a field.

The frequencies are stored as packed numbers. `docs/format.md` describes the layout.

Kernels have no bounds checks. So kernels that decode check sizes and numbers themselves, and report damage.
"""

from __future__ import annotations

import numpy as np

from sublex.index.packed_kernels import encode_numbers, get_blocks, get_numbers
from sublex.index.posting_kernels import BLOCK
from sublex.tools.compiled import I32, I64, STORED_U8, STORED_U32, U32, kernel


@kernel((I32, I64), before="fields")
def encode_fields(tfs, df):
    """Encode the frequencies of postings in a field. Return (words, widths, tails, sizes).

    The posting lists lie end to end in `tfs`; term t has df[t] postings. `encode_numbers` describes the result. A block of
    zeros takes no word, and a tail of zeros takes no byte.
    """
    return encode_numbers(tfs.view(np.uint32), df, True)


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
        if df[k] >= BLOCK:
            o = get_blocks(words, widths, word_begins[k], block_begins[k], df[k] // BLOCK, block, found, o)
            if o < 0:
                return k
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
