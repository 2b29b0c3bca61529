"""Kernels of the index: counting, inverting, and the two codes of postings.

A frequent term's postings stand in blocks of 128, bit-packed; what is left over, a rare term's postings and a document's
terms stand in a byte code. Both code gaps less one and frequencies less one.
"""

from __future__ import annotations

import numpy as np
from numba import njit

BLOCK = 128
LANES = 4
ROWS = BLOCK // LANES


@njit(cache=True, nogil=True)
def count(tokens, token_ends, keep, numbers, term_ends, term_flat, seen):
    """Terms with frequencies for each kept document, in order of first appearance, and how often each raw token was met.

    `numbers` takes a token of the batch to its row in (term_ends, term_flat); `seen` is scratch, one cell a term.
    """
    single = np.empty(len(numbers), np.int32)
    for local in range(len(numbers)):
        row = numbers[local]
        begin = term_ends[row - 1] if row else 0
        width = term_ends[row] - begin
        single[local] = term_flat[begin] if width == 1 else (-1 if width == 0 else -2)
    met = np.zeros(len(numbers), np.int64)
    docs = 0
    for doc in range(len(keep)):
        docs += keep[doc]
    room = len(tokens)
    if len(single) and single.min() == -2:
        for i in range(len(tokens)):
            if single[tokens[i]] == -2:
                row = numbers[tokens[i]]
                room += term_ends[row] - (term_ends[row - 1] if row else 0)
    terms, tfs = np.empty(room, np.int32), np.empty(room, np.int32)
    ends, lengths = np.empty(docs, np.int64), np.empty(docs, np.int64)
    n = o = i = 0
    for doc in range(len(keep)):
        end = token_ends[doc]
        if not keep[doc]:
            i = end
            continue
        first, length = o, 0
        while i < end:
            local = tokens[i]
            i += 1
            met[local] += 1
            term = single[local]
            if term == -1:
                continue
            begin, stop = 0, 1
            if term == -2:
                row = numbers[local]
                begin, stop = (term_ends[row - 1] if row else 0), term_ends[row]
            for x in range(begin, stop):
                if single[local] == -2:
                    term = term_flat[x]
                length += 1
                at = seen[term]
                if first <= at < o and terms[at] == term:
                    tfs[at] += 1
                    continue
                seen[term] = o
                terms[o], tfs[o] = term, 1
                o += 1
        ends[n], lengths[n] = o, length
        n += 1
    return terms[:o].copy(), tfs[:o].copy(), ends, lengths, met


@njit(cache=True, nogil=True)
def tally(terms, tfs, df, cf):
    """Add a part's document and collection frequencies."""
    for i in range(len(terms)):
        df[terms[i]] += 1
        cf[terms[i]] += tfs[i]


@njit(cache=True, nogil=True)
def scatter(terms, tfs, ends, first_doc, ranks, cursors, docs_out, tfs_out):
    """Write a part's postings where their terms' cursors stand, and advance these."""
    i = 0
    for doc in range(len(ends)):
        while i < ends[doc]:
            rank = ranks[terms[i]]
            at = cursors[rank]
            cursors[rank] = at + 1
            docs_out[at] = first_doc + doc
            tfs_out[at] = tfs[i]
            i += 1


@njit(cache=True, nogil=True)
def document_lists(docs, tfs, begins, ends, first_doc, counts):
    """The byte code of a run of documents' terms, and the size of each: the postings' places begins[t] to ends[t], turned round."""
    cursors = np.cumsum(counts) - counts
    terms, found = np.empty(counts.sum(), np.int32), np.empty(counts.sum(), np.int32)
    for term in range(len(begins)):
        for i in range(begins[term], ends[term]):
            doc = docs[i] - first_doc
            at = cursors[doc]
            cursors[doc] = at + 1
            terms[at] = term
            found[at] = tfs[i]
    return encode_lists(terms, found, counts)


@njit(cache=True, nogil=True)
def _put(out, o, value):
    """Append a number in the byte code, seven bits a byte, the lowest first."""
    while value >= 128:
        out[o] = (value & 127) | 128
        o += 1
        value >>= 7
    out[o] = value
    return o + 1


@njit(cache=True, nogil=True)
def _put_list(ids, tfs, i, stop, last, out, o):
    """Append ascending ids and their frequencies: a gap's lowest bit says that the frequency is 1 and is left out."""
    while i < stop:
        gap = np.int64(ids[i]) - last - 1
        last = np.int64(ids[i])
        if tfs[i] == 1:
            o = _put(out, o, gap << 1 | 1)
        else:
            o = _put(out, o, gap << 1)
            o = _put(out, o, np.int64(tfs[i]) - 2)
        i += 1
    return o


@njit(cache=True, nogil=True)
def encode_lists(ids, tfs, counts):
    """The byte code of lists laid end to end, and the size of each."""
    out = np.empty(10 * len(ids) + 1, np.uint8)
    sizes = np.empty(len(counts), np.int64)
    i = o = 0
    for k in range(len(counts)):
        begin = o
        o = _put_list(ids, tfs, i, i + counts[k], -1, out, o)
        i += counts[k]
        sizes[k] = o - begin
    return out[:o].copy(), sizes


@njit(cache=True, nogil=True)
def _width(bits):
    width = 0
    while bits:
        width += 1
        bits >>= np.uint32(1)
    return width


@njit(cache=True, nogil=True)
def _pack(values, width, out, o):
    """Bit-pack 128 values: value 4r + l takes bits r * width of lane l, and the four lanes' words alternate."""
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


@njit(cache=True, nogil=True)
def encode_postings(docs, tfs, df):
    """The code of terms' postings laid end to end: packed words, each block's last document and widths, tails and their sizes."""
    blocks = 0
    for term in range(len(df)):
        blocks += df[term] // BLOCK
    rest = len(docs) - blocks * BLOCK
    words = np.empty(2 * BLOCK * blocks + 1, np.uint32)
    lasts, widths = np.empty(blocks, np.int32), np.empty(2 * blocks, np.uint8)
    tails, sizes = np.empty(10 * rest + 1, np.uint8), np.empty(len(df), np.int64)
    gaps, more = np.empty(BLOCK, np.uint32), np.empty(BLOCK, np.uint32)
    i = w = b = o = 0
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
            lasts[b], widths[2 * b], widths[2 * b + 1] = last, _width(all_gaps), _width(all_more)
            w = _pack(gaps, np.int64(widths[2 * b]), words, w)
            w = _pack(more, np.int64(widths[2 * b + 1]), words, w)
            i += BLOCK
            b += 1
        begin = o
        o = _put_list(docs, tfs, i, stop, last, tails, o)
        i = stop
        sizes[term] = o - begin
    return words[:w].copy(), lasts, widths, tails[:o].copy(), sizes


@njit(cache=True, nogil=True)
def _unpack(words, at, width, out):
    """Undo `_pack`; the width is at most 32."""
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


@njit(cache=True, nogil=True)
def _get_list(data, at, stop, last, limit, n, ids, tfs, o):
    """Decode n entries of the byte code; the new o, or -1 when the bytes end early or late or an id reaches `limit`."""
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
        ids[o], tfs[o] = last, tf
        o += 1
    return o if at == stop else -1


@njit(cache=True, nogil=True)
def decode_postings(words, lasts, widths, word, block, blocks, tails, tail, tail_end, rest, limit, docs, tfs, o):
    """Decode one term's postings: `blocks` blocks from `block` on, whose words begin at `word`, then `rest` in the tail.

    Returns the new o, or -1 when a block does not end with the document its header states, or anything leaves its bounds.
    """
    gaps, more = np.empty(BLOCK, np.uint32), np.empty(BLOCK, np.uint32)
    last = np.int64(-1)
    for b in range(block, block + blocks):
        wide, wide_tf = np.int64(widths[2 * b]), np.int64(widths[2 * b + 1])
        if wide > 32 or wide_tf > 32 or word + LANES * (wide + wide_tf) > len(words):
            return -1
        _unpack(words, word, wide, gaps)
        _unpack(words, word + LANES * wide, wide_tf, more)
        word += LANES * (wide + wide_tf)
        for x in range(BLOCK):
            last += np.int64(gaps[x]) + 1
            docs[o + x] = last
            tfs[o + x] = more[x] + np.uint32(1)
        o += BLOCK
        if last != lasts[b] or last >= limit:
            return -1
    return _get_list(tails, tail, tail_end, last, limit, rest, docs, tfs, o)


@njit(cache=True, nogil=True)
def decode_terms(words, lasts, widths, word_begins, block_begins, tails, tail_begins, tail_ends, df, limit, docs, tfs):
    """Decode the postings of terms one after another; the first bad term's place in `df`, or -1."""
    o = 0
    for k in range(len(df)):
        o = decode_postings(
            words, lasts, widths, word_begins[k], block_begins[k], df[k] // BLOCK,
            tails, tail_begins[k], tail_ends[k], df[k] % BLOCK, limit, docs, tfs, o,
        )  # fmt: skip
        if o < 0:
            return k
    return -1


@njit(cache=True, nogil=True)
def find_strings(arena, starts, wanted, wanted_starts):
    """The place of each wanted string among ascending ones, or -1; strings stand end to end, the last start is the end."""
    found = np.empty(len(wanted_starts) - 1, np.int64)
    for k in range(len(found)):
        begin, size = wanted_starts[k], wanted_starts[k + 1] - wanted_starts[k]
        low, high = 0, len(starts) - 1
        found[k] = -1
        while low < high:
            middle = (low + high) // 2
            at, length = starts[middle], starts[middle + 1] - starts[middle]
            i = 0
            while i < size and i < length and arena[at + i] == wanted[begin + i]:
                i += 1
            if i == size and i == length:
                found[k] = middle
                break
            if i == length or (i < size and arena[at + i] < wanted[begin + i]):
                low = middle + 1
            else:
                high = middle
    return found


@njit(cache=True, nogil=True)
def decode_lists(data, starts, ends, counts, limit, ids, tfs):
    """Decode lists of the byte code, list k in data[starts[k]:ends[k]]; the first bad list, or -1."""
    o = 0
    for k in range(len(counts)):
        o = _get_list(data, starts[k], ends[k], -1, limit, counts[k], ids, tfs, o)
        if o < 0:
            return k
    return -1


@njit(cache=True, nogil=True)
def merge(docs, tfs, ranks, counts, doc_map, cursors, docs_out, tfs_out):
    """Copy one segment's decoded terms to where their merged terms' cursors stand, dropping documents mapped to -1.

    Term k, with counts[k] postings, becomes merged term ranks[k].
    """
    i = 0
    for k in range(len(counts)):
        at = cursors[ranks[k]]
        for _ in range(counts[k]):
            doc = doc_map[docs[i]]
            if doc >= 0:
                docs_out[at], tfs_out[at] = doc, tfs[i]
                at += 1
            i += 1
        cursors[ranks[k]] = at


@njit(cache=True, nogil=True)
def losses(docs, tfs, counts, dead, df, cf):
    """Add to df and cf what the dead documents hold of each term."""
    i = 0
    for k in range(len(counts)):
        for _ in range(counts[k]):
            if dead[docs[i]]:
                df[k] += 1
                cf[k] += tfs[i]
            i += 1
