"""Kernels of the index: counting terms, inverting, merging, and the two codes of postings.

Every 128 postings of a term form a bit-packed block. The rest of a posting list, and the terms of a document, are in a byte
code. Both codes store gaps less one and frequencies less one. `docs/format.md` describes them.

Kernels have no bounds checks. Those that decode therefore check sizes and numbers themselves, and report damage.
"""

from __future__ import annotations

import numpy as np
from numba import boolean, int32, int64, uint8, uint32
from numba.core.types import Array

from sublex.tools.compiled import inner, kernel

# The types of arguments.
I32 = int32[::1]
U32 = uint32[::1]
U8 = uint8[::1]
I64 = int64[::1]
FLAGS = boolean[::1]
STORED_U8 = Array(uint8, 1, "C", readonly=True)
STORED_I32 = Array(int32, 1, "C", readonly=True)
STORED_U32 = Array(uint32, 1, "C", readonly=True)

ROWS_OF_TERMS = int32[:, ::1]

# The columns of the rows that `count_terms` keeps for the terms of a batch: the place of the last entry and the last document, -1
# for none, the bytes of the posting list, and its documents.
PLACE, DOC, BYTES, DF = range(4)
U = np.uint64
# Postings per block.
BLOCK = 128
# A block is packed in four lanes, one for each 32-bit element of a 128-bit vector register.
LANES = 4
# Values per lane.
ROWS = BLOCK // LANES


@inner
def _code_size(value):
    """Return how many bytes a number below 2**32 takes in the byte code, without branches."""
    return (
        1
        + np.int32(value >= 1 << 7)
        + np.int32(value >= 1 << 14)
        + np.int32(value >= 1 << 21)
        + np.int32(value >= 1 << 28)
    )


@inner
def _count(term, first, o, rows, entries, tfs):
    """Count a term of the document whose entries begin at `first`; return where the next new entry goes.

    There are no branches, because nobody can predict them. Term 0, which is no term, writes an entry that the next one replaces.
    """
    at = np.int64(rows[term, PLACE])
    place = at if at >= first else o
    tf = tfs[place]
    entries[place] = term
    tfs[place] = (tf if at >= first else np.int32(0)) + np.int32(1)
    rows[term, PLACE] = place if term > 0 else -1
    return o + (np.int64(at < first) & np.int64(term > 0))


@kernel((I32, I64, FLAGS, I32, I64, I32, I32), before="build")
def count_terms(tokens, token_ends, keep, numbers, term_ends, term_flat, places):
    """Count the terms of the documents of a batch that the mask `keep` selects.

    Token t of the batch has the number n = numbers[t], and its terms are term_flat[term_ends[n - 1]:term_ends[n]].
    `places` is scratch memory: zeros, one for each term. The terms of the batch are numbered from 1 in the order of their first
    appearance; the kernel writes these numbers to `places`, and returns (met, entries, tfs, ends, lengths, rows, cf, counts).
    `met` has the terms themselves. `entries` and `tfs` have the batch's numbers of terms with frequencies, document after
    document, each document's in order of first appearance; `ends` is where each document ends in them, and `lengths` counts
    repetitions. `rows` has for each of these numbers the BYTES of the term's posting list in the byte code and its documents, DF;
    `cf` has its occurrences. `counts` is how often each token occurs in the selected documents.
    """
    room = 0
    for local in range(len(numbers)):
        row = numbers[local]
        room += term_ends[row] - (term_ends[row - 1] if row else 0)
    begins, met, flat = np.empty(len(numbers) + 1, np.int64), np.empty(room, np.int32), np.empty(room, np.int32)
    # Of each token: its term if it has exactly one, 0 for none, -1 for several; and how often it occurs.
    found = np.zeros((len(numbers), 2), np.int32)
    n, x = np.int32(0), np.int64(0)
    for local in range(len(numbers)):
        row = numbers[local]
        begins[local] = x
        for y in range(term_ends[row - 1] if row else 0, term_ends[row]):
            term = term_flat[y]
            if places[term] == 0:
                met[n] = term
                n += 1
                places[term] = n
            flat[x] = places[term]
            x += 1
        width = x - begins[local]
        found[local, 0] = flat[x - 1] if width == 1 else (0 if width == 0 else -1)
    begins[len(numbers)] = x
    docs, room = 0, len(tokens) + 1
    for i in range(len(tokens)):
        if found[tokens[i], 0] < 0:
            room += begins[tokens[i] + 1] - begins[tokens[i]]
    for doc in range(len(keep)):
        docs += keep[doc]
    entries, tfs = np.empty(room, np.int32), np.empty(room, np.int32)
    ends, lengths = np.empty(docs, np.int64), np.empty(docs, np.int32)
    rows = np.zeros((n + 1, 4), np.int32)
    for term in range(n + 1):
        rows[term, PLACE] = rows[term, DOC] = -1
    d, o, i = np.int32(0), np.int64(0), np.int64(0)
    for doc in range(len(keep)):
        end = token_ends[doc]
        if not keep[doc]:
            i = end
            continue
        first, length = o, np.int64(0)
        while i < end:
            local = tokens[i]
            i += 1
            term = found[local, 0]
            found[local, 1] += 1
            if term >= 0:
                o = _count(term, first, o, rows, entries, tfs)
                length += np.int64(term > 0)
                continue
            for y in range(begins[local], begins[local + 1]):
                o = _count(flat[y], first, o, rows, entries, tfs)
                length += 1
        for at in range(first, o):
            term, tf = entries[at], np.int64(tfs[at])
            gap = np.int64(d - rows[term, DOC] - 1)
            rows[term, DOC] = d
            rows[term, BYTES] += _code_size(gap << 1) + np.int32(tf > 1) * _code_size(tf - 2)
            rows[term, DF] += 1
        ends[d], lengths[d] = o, length
        d += 1
    cf, counts = np.zeros(n + 1, np.int64), np.empty(len(numbers), np.int64)
    for local in range(len(numbers)):
        counts[local] = found[local, 1]
        for y in range(begins[local], begins[local + 1]):
            cf[flat[y]] += counts[local]
    return met[:n].copy(), entries[:o], tfs[:o], ends, lengths, rows, cf, counts


@kernel((I32, I32, I64, ROWS_OF_TERMS, I32), before="build")
def invert_batch(entries, tfs, ends, rows, order):
    """Return the posting lists of a batch in the byte code, end to end, with documents counted from 0 within the batch.

    `entries`, `tfs`, `ends` and `rows` are those of `count_terms`. `order` has the batch's numbers of its terms in the order of
    their lists.
    """
    # Of each term: where its list goes on, and its last document.
    state = np.empty((len(rows), 2), np.int64)
    total = np.int64(0)
    for k in range(len(order)):
        state[order[k], 0], state[order[k], 1] = total, -1
        total += rows[order[k], BYTES]
    # Three spare bytes, because each posting writes three bytes at once and leaves bytes beyond its own as they are, and because
    # the kernels that decode read three bytes ahead.
    out = np.zeros(total + 3, np.uint8)
    i = np.int64(0)
    for doc in range(len(ends)):
        while i < ends[doc]:
            term, tf = entries[i], np.int64(tfs[i])
            i += 1
            o, gap = state[term, 0], (doc - state[term, 1] - 1) << 1 | np.int64(tf == 1)
            state[term, 1] = doc
            if gap < 1 << 14 and tf < 130:
                # No branch tells a gap of one byte from one of two, nor a frequency of one from a greater one.
                long, more = np.int64(gap >= 128), np.int64(tf > 1)
                out[o] = gap & 127 | long << 7
                out[o + 1] |= gap >> 7
                out[o + 1 + long] |= (tf - 2) * more
                o += 1 + long + more
            else:
                o = _put(out, o, gap)
                if tf > 1:
                    o = _put(out, o, tf - 2)
            state[term, 0] = o
    return out[:total]


@inner
def _get(data, at):
    """Return the number in the byte code at `at`, and where the next one begins. The data is known to be whole."""
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
def _get_posting(data, at):
    """Return the gap and the frequency of the posting at `at`, and where the next one begins.

    The data is known to be whole, and three spare bytes follow it.
    """
    # The compiler makes one load of these four.
    i = U(at)
    word = U(data[i]) | U(data[i + U(1)]) << U(8) | U(data[i + U(2)]) << U(16) | U(data[i + U(3)]) << U(24)
    # No branch tells a gap of one byte from one of two, nor a frequency of one from a greater one.
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


@kernel((I32, I32, U8, I64, I64, I64, I64, I32, int64, I64, I32, I32), before="build")
def join_lists(terms, sizes, data, begins, ends, offsets, first_docs, ranks, first_rank, cursors, docs, tfs):
    """Decode the lists of consecutive terms from consecutive batches, and append them to the posting lists of these terms.

    Batch b has the lists begins[b] to ends[b] of the terms terms[begins[b]:ends[b]]; they begin at data[offsets[b]], and their
    documents are counted from first_docs[b]. Three spare bytes follow the data. The postings of term t go to docs and tfs
    from cursors[ranks[t] - first_rank] on, and that cursor advances.
    """
    for b in range(len(begins)):
        at, before = offsets[b], first_docs[b] - 1
        for k in range(begins[b], ends[b]):
            place = ranks[terms[k]] - first_rank
            o, doc, stop = cursors[place], before, at + sizes[k]
            while at < stop:
                gap, tf, at = _get_posting(data, at)
                doc += gap + 1
                docs[o], tfs[o] = doc, tf
                o += 1
            cursors[place] = o


@kernel((I32, I32, U8, I32, I64), before="build")
def document_lists(terms, sizes, data, ranks, counts):
    """Return the byte code of the terms of a batch's documents, and the size of each document's list in bytes.

    The batch has the list of term terms[k] in the next sizes[k] bytes of `data`, which three spare bytes follow; the terms
    ascend by their ranks. Document d of the batch has counts[d] terms.
    """
    cursors, total = np.empty(len(counts), np.int64), np.int64(0)
    for doc in range(len(counts)):
        cursors[doc] = total
        total += counts[doc]
    found, tfs = np.empty(total, np.int32), np.empty(total, np.int32)
    at = np.int64(0)
    for k in range(len(terms)):
        rank, doc, stop = ranks[terms[k]], np.int64(-1), at + sizes[k]
        while at < stop:
            gap, tf, at = _get_posting(data, at)
            doc += gap + 1
            o = cursors[doc]
            cursors[doc] = o + 1
            found[o], tfs[o] = rank, tf
    return _encode_lists(found, tfs, counts)


@kernel((I64, I32, I64, I64, U8, I64, I64, U8, I64), before="build merge")
def choose_surfaces(forms, ranks, counts, ends, arena, terms, term_ends, term_arena, chosen):
    """Write the most frequent form of each term to `chosen`; of equally frequent ones, the smallest by its bytes.

    Form forms[k], a string of the table (ends, arena), is one of the term with rank ranks[k] and occurs counts[k] times. The
    term with rank r is string terms[r] of the table (term_ends, term_arena). A term without a form, or that is equal to its most
    frequent form, gets -1.
    """
    most = np.zeros(len(chosen), np.int64)
    for k in range(len(forms)):
        rank, count = ranks[k], counts[k]
        if count > most[rank] or (
            count == most[rank] and _compare(forms[k], ends, arena, chosen[rank], ends, arena) < 0
        ):
            most[rank], chosen[rank] = count, forms[k]
    for rank in range(len(chosen)):
        if chosen[rank] >= 0 and _compare(chosen[rank], ends, arena, terms[rank], term_ends, term_arena) == 0:
            chosen[rank] = -1


@inner
def _compare(x, ends, arena, y, other_ends, other_arena):
    """Return a number below, equal to or above 0, as string x of one table is before, equal to or after string y of another."""
    i, j = (ends[x - 1] if x else 0), (other_ends[y - 1] if y else 0)
    # A newline follows each string and is not a part of it.
    length, other = ends[x] - 1 - i, other_ends[y] - 1 - j
    for k in range(min(length, other)):
        if arena[i + k] != other_arena[j + k]:
            return np.int64(arena[i + k]) - np.int64(other_arena[j + k])
    return length - other


@kernel((I32, I32, I64, int64, I64, I64), before="import")
def check_postings(docs, tfs, df, limit, uniques, lengths):
    """Check posting lists that lie end to end, term k with df[k] postings, and count them in their documents.

    Each list must ascend and name documents below `limit`; frequencies must be at least 1. Adds the terms of each document to
    `uniques` and their frequencies to `lengths`. Returns the place of the first bad posting, or -1.
    """
    i = 0
    for k in range(len(df)):
        last = np.int64(-1)
        for _ in range(df[k]):
            doc = np.int64(docs[i])
            if doc <= last or doc >= limit or tfs[i] < 1:
                return i
            uniques[doc] += 1
            lengths[doc] += tfs[i]
            last = doc
            i += 1
    return -1


@kernel((I32, I32, I64, int64, int64, I64, I64, I32, I32), before="import")
def collect_terms(docs, tfs, df, first_term, first_doc, cursors, ends, terms_out, tfs_out):
    """Copy the postings of some documents to lists of terms. Returns the place of a posting that finds no room, or -1.

    Posting lists lie end to end; term first_term + k has df[k] postings. The terms of document first_doc + d go to
    cursors[d] and the places after it, up to ends[d], and the cursor advances. Postings of other documents are passed over.
    """
    i = 0
    for k in range(len(df)):
        for _ in range(df[k]):
            d = docs[i] - first_doc
            if 0 <= d < len(cursors):
                at = cursors[d]
                if at == ends[d]:
                    return i
                terms_out[at], tfs_out[at] = first_term + k, tfs[i]
                cursors[d] = at + 1
            i += 1
    return -1


@inner
def _put(out, o, value):
    """Append a number in the byte code: seven bits a byte, lowest first, the eighth bit set if more follow. Returns the new o."""
    while value >= 128:
        out[o] = (value & 127) | 128
        o += 1
        value >>= 7
    out[o] = value
    return o + 1


@inner
def _put_list(ids, tfs, i, stop, last, out, o):
    """Append ids[i:stop], ascending and greater than `last`, with their frequencies. Returns the new o.

    The lowest bit of a gap is set if the frequency is 1; that frequency is not written.
    """
    while i < stop:
        gap, tf = (np.int64(ids[i]) - last - 1) << 1 | np.int64(tfs[i] == 1), np.int64(tfs[i])
        last = np.int64(ids[i])
        if gap < 1 << 14 and tf < 130:
            # No branch tells a gap of one byte from one of two, nor a frequency of one from a greater one: three bytes are
            # written, and the next posting overwrites those that are too many.
            long, more = np.int64(gap >= 128), np.int64(tf > 1)
            out[o] = gap & 127 | long << 7
            out[o + 1] = gap >> 7
            out[o + 1 + long] = tf - 2
            o += 1 + long + more
        else:
            o = _put(out, o, gap)
            if tf > 1:
                o = _put(out, o, tf - 2)
        i += 1
    return o


@kernel((I32, I32, I64), before="merge reorder import")
def encode_lists(ids, tfs, counts):
    """Return the byte code of lists that lie end to end, list k with counts[k] entries, and the size of each in bytes."""
    return _encode_lists(ids, tfs, counts)


@inner
def _encode_lists(ids, tfs, counts):
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
def _width(bits):
    """Return how many bits a number needs."""
    width = 0
    while bits:
        width += 1
        bits >>= np.uint32(1)
    return width


@kernel()
def _pack(values, width, out, o):
    """Bit-pack 128 values into out[o:] and return the new o.

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
    """Encode the posting lists of terms that lie end to end, term t with df[t] postings.

    Returns (words, lasts, widths, tails, sizes): the packed words of all blocks; the last document of each block; two widths a
    block, of gaps and of frequencies; the byte code of the rests; and the size of each term's rest in bytes.
    """
    blocks = 0
    for term in range(len(df)):
        blocks += df[term] // BLOCK
    # No number takes more than five bytes of the code, and a posting is at most two numbers.
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
            lasts[b], widths[2 * b], widths[2 * b + 1] = last, _width(np.uint32(all_gaps)), _width(np.uint32(all_more))
            w = _pack(gaps, np.int64(widths[2 * b]), words, w)
            w = _pack(more, np.int64(widths[2 * b + 1]), words, w)
            i += BLOCK
            b += 1
        begin = o
        o = _put_list(docs, tfs, i, stop, last, tails, o)
        i = stop
        sizes[term] = o - begin
    return words[:w].copy(), lasts, widths, tails[:o].copy(), sizes


@kernel()
def _unpack(words, at, width, out):
    """Undo `_pack` for the block that starts at words[at]; the width is at most 32.

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
    """Decode n entries of the byte code in data[at:stop] to ids[o:] and tfs[o:].

    Returns the new o, or -1 if the n entries do not end exactly at `stop`, or if an id is not below `limit`.
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

    The list has `blocks` blocks, from number `block` on, with words from words[word] on; then `rest` postings in
    tails[tail:tail_end]. Returns the new o, or -1 if a block does not end with the document that `lasts` states, if a document
    is not below `limit`, or if the code leaves its bounds.
    """
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


@kernel(
    (STORED_U32, STORED_I32, STORED_U8, I64, I64, STORED_U8, I64, I64, I64, int64, U32, U32, I32, I32),
    before="search delete merge check reorder export import",
)
def decode_terms(
    words, lasts, widths, word_begins, block_begins, tails, tail_begins, tail_ends, df, limit, gaps, more, docs, tfs
):  # fmt: skip
    """Decode the posting lists of several terms, one after the other. Returns the place of the first damaged one, or -1.

    `gaps` and `more` are scratch memory for a block.
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


@kernel((STORED_U8, I64, STORED_U8, I64, I64), before="search")
def find_strings(arena, starts, wanted, wanted_starts, found):
    """Write the place of each wanted string among ascending strings to `found`, or -1.

    Strings lie end to end; string k is arena[starts[k]:starts[k + 1]].
    """
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


@kernel((STORED_U8, I64, I64, I64, int64, I32, I32), before="merge check reorder demo")
def decode_lists(data, starts, ends, counts, limit, ids, tfs):
    """Decode lists of the byte code: list k has counts[k] entries in data[starts[k]:ends[k]].

    Returns the number of the first damaged list, or -1.
    """
    o = np.int64(0)
    for k in range(len(counts)):
        o = _get_list(data, starts[k], ends[k], np.int64(-1), limit, counts[k], ids, tfs, o)
        if o < 0:
            return k
    return -1


@kernel((I32, I32, I64, I64, I32, I64, I64, I32, I32), before="merge export")
def merge_postings(docs, tfs, ranks, counts, doc_map, cursors, ends, docs_out, tfs_out):
    """Copy decoded posting lists of one segment to those of the merged segment, without documents that doc_map takes to -1.

    Term k, with counts[k] postings, becomes term t = ranks[k] of the merged segment. Its postings go to cursors[t] and the places
    after it, up to ends[t], and the cursor advances. Returns the first k whose postings find no room, or -1.
    """
    i = 0
    for k in range(len(counts)):
        at, end = cursors[ranks[k]], ends[ranks[k]]
        for _ in range(counts[k]):
            doc = doc_map[docs[i]]
            if doc >= 0:
                if at == end:
                    return k
                docs_out[at], tfs_out[at] = doc, tfs[i]
                at += 1
            i += 1
        cursors[ranks[k]] = at
    return -1


@kernel((I32, I32, I64, FLAGS, I64, I64), before="delete")
def count_dead(docs, tfs, counts, dead, df, cf):
    """Add to `df` and `cf` the frequencies of terms within the documents of the mask `dead`; term k has counts[k] postings."""
    i = 0
    for k in range(len(counts)):
        for _ in range(counts[k]):
            if dead[docs[i]]:
                df[k] += 1
                cf[k] += tfs[i]
            i += 1
