"""Kernels that encode and decode postings, in the two codes of an index.

Every 128 postings of a term form a bit-packed block. The rest of a posting list, and the terms of a document, are in a byte
code. Both codes store each gap minus one and each frequency minus one. `docs/format.md` describes them.

Kernels have no bounds checks. So kernels that decode check sizes and numbers themselves, and report damage.
"""

from __future__ import annotations

import numpy as np
from numba import int64

from sublex.tools.compiled import I32, I64, STORED_I32, STORED_U8, STORED_U32, U32, inner, kernel

U = np.uint64
# Postings per block.
BLOCK = 128
# A block is packed in four lanes, one for each 32-bit element of a 128-bit vector register.
LANES = 4
# Values per lane.
ROWS = BLOCK // LANES


@inner
def code_size(value):
    """Return how many bytes a number below 2**32 takes in the byte code, without branches."""
    return (
        1
        + np.int32(value >= 1 << 7)
        + np.int32(value >= 1 << 14)
        + np.int32(value >= 1 << 21)
        + np.int32(value >= 1 << 28)
    )


@inner
def _get(data, at):
    """Return the number in the byte code at data[at], and the place where the next number begins.

    The caller has checked that the number ends within `data`.
    """
    value, shift = np.int64(data[at]), 7
    at += 1
    if value >= 128:
        value &= 127
        while True:
            byte = np.int64(data[at])
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
    return value, at


@inner
def get_posting(data, at):
    """Return the gap and the frequency of the posting at data[at], and the place where the next posting begins.

    The gap is the number of documents between this document and the one before. The caller knows that the posting is
    whole, and that three spare bytes follow the data.
    """
    # The compiler turns these four loads into one.
    i = U(at)
    word = U(data[i]) | U(data[i + U(1)]) << U(8) | U(data[i + U(2)]) << U(16) | U(data[i + U(3)]) << U(24)
    # The code has no branch for the size of the gap (one byte or two) or for the frequency (one or more).
    long, more = word >> U(7) & U(1), ~word & U(1)
    second, third = (word >> U(8) & U(255)) * long, (word >> (U(8) + U(8) * long) & U(255)) * more
    if (second | third) < U(128):
        return (
            np.int64((word & U(127) | second << U(7)) >> U(1)),
            np.int64(U(1) + more + third),
            at + np.int64(U(1) + long + more),
        )
    value, at = _get(data, at)
    if value & 1:
        return value >> 1, np.int64(1), at
    more, at = _get(data, at)
    return value >> 1, more + 2, at


@inner
def put_number(out, o, value):
    """Write `value` to out[o:] in the byte code, and return the place after it.

    A byte has seven bits of the number, lowest first, and a bit that is set if more bytes follow.
    """
    while value >= 128:
        out[o] = (value & 127) | 128
        o += 1
        value >>= 7
    out[o] = value
    return o + 1


@inner
def _put_list(ids, tfs, i, stop, last, out, o):
    """Write ids[i:stop] and their frequencies tfs[i:stop] to out[o:] in the byte code, and return the place after them.

    The ids ascend and are greater than `last`. For each id, the gap to the id before it is written with one more bit,
    the lowest, which is set if the frequency is 1. A frequency of 1 is not written.
    """
    while i < stop:
        gap, tf = (np.int64(ids[i]) - last - 1) << 1 | np.int64(tfs[i] == 1), np.int64(tfs[i])
        last = np.int64(ids[i])
        if gap < 1 << 14 and tf < 130:
            # The code has no branch for the size of the gap or for the frequency. It always writes three bytes; the
            # next posting overwrites the bytes that this posting does not need.
            long, more = np.int64(gap >= 128), np.int64(tf > 1)
            out[o] = gap & 127 | long << 7
            out[o + 1] = gap >> 7
            out[o + 1 + long] = tf - 2
            o += 1 + long + more
        else:
            o = put_number(out, o, gap)
            if tf > 1:
                o = put_number(out, o, tf - 2)
        i += 1
    return o


@kernel((I32, I32, I64), before="merge reorder import")
def encode_lists(ids, tfs, counts):
    """Return the byte code of lists, end to end, and the size of each list in bytes.

    The lists lie end to end in `ids` and `tfs`; list k has counts[k] entries.
    """
    return encode_lists_into(ids, tfs, counts)


@inner
def encode_lists_into(ids, tfs, counts):
    out = np.empty(10 * len(ids) + 1, np.uint8)
    sizes = np.empty(len(counts), np.int64)
    i = o = np.int64(0)
    for k in range(len(counts)):
        begin = o
        o = _put_list(ids, tfs, i, i + counts[k], np.int64(-1), out, o)
        i += counts[k]
        sizes[k] = o - begin
    return out[:o].copy(), sizes


@inner
def width_of(bits):
    """Return how many bits a number needs."""
    width = 0
    while bits:
        width += 1
        bits >>= np.uint32(1)
    return width


@kernel()
def pack(values, width, out, o):
    """Pack the lowest `width` bits of 128 values into out[o:], and return the place after them.

    Value 4r + l takes the `width` bits from bit r * width of lane l. Word w of lane l is out[o + 4w + l].
    """
    for x in range(LANES * width):
        out[o + x] = 0
    for row in range(ROWS):
        bit = row * width
        word, shift = o + LANES * (bit >> 5), np.uint32(bit & 31)
        for lane in range(LANES):
            value = values[LANES * row + lane]
            out[word + lane] |= value << shift
            if shift + width > 32:
                out[word + LANES + lane] |= value >> (np.uint32(32) - shift)
    return o + LANES * width


@kernel((I32, I32, I64), before="build merge reorder import")
def encode_postings(docs, tfs, df):
    """Encode posting lists. Return (words, lasts, widths, tails, sizes).

    The lists lie end to end in `docs` and `tfs`; the list of term t has df[t] postings. `words` has the packed words of
    all blocks. `lasts` has the last document of each block. `widths` has two widths for each block: the bits of a gap
    and of a frequency. `tails` has the byte code of the postings after the last block of each term, and `sizes` the
    number of its bytes for each term.
    """
    blocks = 0
    for term in range(len(df)):
        blocks += df[term] // BLOCK
    # A number takes at most five bytes in the byte code, and a posting has at most two numbers.
    rest = len(docs) - blocks * BLOCK
    words = np.empty(2 * BLOCK * blocks + 1, np.uint32)
    lasts, widths = np.empty(blocks, np.int32), np.empty(2 * blocks, np.uint8)
    tails, sizes = np.empty(10 * rest + 1, np.uint8), np.empty(len(df), np.int64)
    gaps, more = np.empty(BLOCK, np.uint32), np.empty(BLOCK, np.uint32)
    i = w = b = o = np.int64(0)
    for term in range(len(df)):
        stop = i + df[term]
        last = np.int64(-1)
        while stop - i >= BLOCK:
            all_gaps = all_more = np.uint32(0)
            for x in range(BLOCK):
                gaps[x] = np.uint32(docs[i + x] - last - 1)
                more[x] = np.uint32(tfs[i + x] - 1)
                last = np.int64(docs[i + x])
                all_gaps |= gaps[x]
                all_more |= more[x]
            lasts[b], widths[2 * b], widths[2 * b + 1] = (
                last,
                width_of(np.uint32(all_gaps)),
                width_of(np.uint32(all_more)),
            )
            w = pack(gaps, np.int64(widths[2 * b]), words, w)
            w = pack(more, np.int64(widths[2 * b + 1]), words, w)
            i += BLOCK
            b += 1
        begin = o
        o = _put_list(docs, tfs, i, stop, last, tails, o)
        i = stop
        sizes[term] = o - begin
    return words[:w].copy(), lasts, widths, tails[:o].copy(), sizes


@kernel()
def unpack(words, at, width, out):
    """Unpack the 128 values of the block that `pack` wrote at words[at]; the width is at most 32.

    Four lanes are unpacked side by side, which the compiler turns into vector instructions.
    """
    mask = np.uint32((np.uint64(1) << np.uint64(width)) - np.uint64(1))
    if width == 0:
        for x in range(BLOCK):
            out[x] = 0
        return
    shift, wide, full = np.uint32(0), np.uint32(width), np.uint32(32)
    k = np.uint64(at)
    one, two, three, four = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)
    a0, a1, a2, a3 = words[k], words[k + one], words[k + two], words[k + three]
    for row in range(np.uint64(ROWS)):
        x = row * four
        if shift + wide <= full:
            out[x], out[x + one] = (a0 >> shift) & mask, (a1 >> shift) & mask
            out[x + two], out[x + three] = (a2 >> shift) & mask, (a3 >> shift) & mask
            shift += wide
            if shift == full and row + one < np.uint64(ROWS):
                k += four
                shift = np.uint32(0)
                a0, a1, a2, a3 = words[k], words[k + one], words[k + two], words[k + three]
        else:
            k += four
            back = full - shift
            b0, b1, b2, b3 = words[k], words[k + one], words[k + two], words[k + three]
            out[x], out[x + one] = ((a0 >> shift) | (b0 << back)) & mask, ((a1 >> shift) | (b1 << back)) & mask
            out[x + two], out[x + three] = ((a2 >> shift) | (b2 << back)) & mask, ((a3 >> shift) | (b3 << back)) & mask
            a0, a1, a2, a3 = b0, b1, b2, b3
            shift = shift + wide - full


@inner
def _get_list(data, at, stop, last, limit, n, ids, tfs, o):
    """Decode `n` entries of the byte code in data[at:stop] to ids[o:] and tfs[o:]. The ids are greater than `last`.

    Returns the place after the last entry in `ids`. Returns -1 if the entries do not end exactly at `stop`, if an id is
    not below `limit`, or if a frequency is too large.
    """
    for _ in range(n):
        value, shift = np.int64(0), 0
        while True:
            if at >= stop or shift > 42:
                return -1
            byte = np.int64(data[at])
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
        last += (value >> 1) + 1
        if last >= limit:
            return -1
        tf = np.int64(1)
        if not value & 1:
            tf, shift = np.int64(0), 0
            while True:
                if at >= stop or shift > 42:
                    return -1
                byte = np.int64(data[at])
                at += 1
                tf |= (byte & 127) << shift
                shift += 7
                if byte < 128:
                    break
            tf += 2
            if tf > 0x7FFFFFFF:
                return -1
        ids[o], tfs[o] = last, tf
        o += 1
    return o if at == stop else -1


@inner
def decode_postings(
    words, lasts, widths, word, block, blocks, tails, tail, tail_end, rest, limit, gaps, more, docs, tfs, o
):
    """Decode the posting list of one term to docs[o:] and tfs[o:].

    The list has `blocks` blocks. The first block has the number `block`, and its words begin at words[word]. `rest`
    postings in tails[tail:tail_end] follow the blocks. `gaps` and `more` are scratch memory for a block. Returns the
    place after the last posting in `docs`. Returns -1 if a block does not end with the document that `lasts` states, if
    a document is not below `limit`, or if the code leaves its bounds.
    """
    last = np.int64(-1)
    for b in range(block, block + blocks):
        wide, wide_tf = np.int64(widths[2 * b]), np.int64(widths[2 * b + 1])
        if wide > 32 or wide_tf > 32 or word + LANES * (wide + wide_tf) > len(words):
            return -1
        unpack(words, word, wide, gaps)
        unpack(words, word + LANES * wide, wide_tf, more)
        word += LANES * (wide + wide_tf)
        for x in range(BLOCK):
            last += np.int64(gaps[x]) + 1
            docs[o + x] = last
            tfs[o + x] = more[x] + np.uint32(1)
        o += BLOCK
        if last != lasts[b] or last >= limit:
            return -1
    return _get_list(tails, tail, tail_end, last, limit, rest, docs, tfs, o)


@kernel(
    (STORED_U32, STORED_I32, STORED_U8, I64, I64, STORED_U8, I64, I64, I64, int64, U32, U32, I32, I32),
    before="search delete merge check reorder export import",
)
def decode_terms(
    words, lasts, widths, word_begins, block_begins, tails, tail_begins, tail_ends, df, limit, gaps, more, docs, tfs
):  # fmt: skip
    """Decode the posting lists of several terms to `docs` and `tfs`, one after the other.

    Returns the place of the first term with a damaged list, or -1. The list of term k has df[k] postings. Its first
    block has the number block_begins[k], and its words begin at words[word_begins[k]]. The rest of the list is
    tails[tail_begins[k]:tail_ends[k]]. Documents must be below `limit`. `gaps` and `more` are scratch memory for a
    block.
    """
    o = np.int64(0)
    for k in range(len(df)):
        o = decode_postings(
            words, lasts, widths, word_begins[k], block_begins[k], df[k] // BLOCK,
            tails, tail_begins[k], tail_ends[k], df[k] % BLOCK, limit, gaps, more, docs, tfs, o,
        )  # fmt: skip
        if o < 0:
            return k
    return -1


@kernel((STORED_U8, I64, I64, I64, int64, I32, I32), before="merge check reorder demo")
def decode_lists(data, starts, ends, counts, limit, ids, tfs):
    """Decode lists of the byte code to `ids` and `tfs`, one after the other.

    List k has counts[k] entries in data[starts[k]:ends[k]], and its ids must be below `limit`. Returns the number of
    the first damaged list, or -1.
    """
    o = np.int64(0)
    for k in range(len(counts)):
        o = _get_list(data, starts[k], ends[k], np.int64(-1), limit, counts[k], ids, tfs, o)
        if o < 0:
            return k
    return -1
