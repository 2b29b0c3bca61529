"""Kernels of blocks: bound the scores of every eight documents, and score documents only where a bound reaches the threshold.

Bounds are added up in whole units, 60,000 of which are the highest score that a query can give. A document is left out only if the
sum of its bounds lies below the threshold, with room for all rounding. Other documents are scored as `retrieve` scores them.
"""

from __future__ import annotations

import numpy as np
from numba import float32, int32, int64, uint8, uint64

from sublex.compiled import inner, kernel
from sublex.retrieval.coding.kernels import (
    BEGIN,
    COUNT,
    FIRST,
    LISTS,
    RUN,
    U16,
    U32,
    WIDTH,
    code_place,
    impact_at,
    run_size,
)
from sublex.retrieval.kernels import (
    F32,
    F64,
    FLAGS,
    I32,
    I64,
    KEYS,
    U8,
    U64,
    at_least,
    first_threshold,
    key_of,
    most_visits_of,
    score_of,
    select,
)

# The types of arguments that the kernels of windows do not have.
BITS = uint64[:, ::1]
RANKS = int32[:, ::1]
BOUNDS = uint8[:, ::1]

# Documents in a block, and blocks in a word of 64 documents.
SIZE, PER_WORD = 8, 8
# The highest sum of bounds of a query, in units; some more for rounding fit 16 bits.
UNITS = 60_000
# Blocks whose bounds are added up at a time: their sums fit the processor's first cache.
CHUNK = 4096
# Each round visits about so many times as many blocks as all rounds before, the best ones first.
GROWTH = 3
# The share of the blocks with bounds that reach the threshold which later rounds will visit, since the threshold rises. It is .2 to .8
# on abstracts and sentences; with .4 the worst of 16 sets of queries takes 1.01 times as long as adding up.
REMAINING = 0.4


@inner
def _ones(word):
    """Return the number of bits that are set."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    word = word + (word >> np.uint64(8))
    word = word + (word >> np.uint64(16))
    word = word + (word >> np.uint64(32))
    return np.int64(word & np.uint64(0x7F))


@kernel((int64, I32, F32, float32, BITS, RANKS, BOUNDS))
def fill(row, docs, impacts, most, bits, ranks, bounds):
    """Fill in the row of a term, whose greatest impact is `most`.

    Return False, with the row half filled, if its documents do not ascend.
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
def _share(impact, factor):
    """Return the units of an impact; 0 for one that raises no score."""
    return np.uint16(np.int64(impact * factor)) if impact > 0 else np.uint16(0)


@inner
def _bound(bound, factor):
    """Return the units of a bound. `factor` has those of the term's greatest impact."""
    return np.uint16((np.uint32(np.uint32(bound) * np.uint32(257)) * np.uint32(factor)) >> np.uint32(16))


@inner
def _add_coded(docs, codes, values, i, end, to_code, high, factor, last, before, sums):
    """Do for the postings of a run, which have codes, what `_add_postings` does. Return the last block and what was added to it."""
    while i < end:
        block = (high | np.int64(docs[i])) >> 3
        units = _share(values[np.uint64(codes[i + to_code])], factor)
        if block != last:
            last, before = block, np.uint16(0)
        if units > before:
            sums[block] += units - before
            before = units
        i += np.uint64(1)
    return last, before


@inner
def _add_plain(docs, impacts, i, end, to_impact, high, factor, last, before, sums):
    """Do for the postings of a run, which have impacts, what `_add_postings` does. Return the last block and what was added to it."""
    while i < end:
        block = (high | np.int64(docs[i])) >> 3
        units = _share(impacts[i + to_impact], factor)
        if block != last:
            last, before = block, np.uint16(0)
        if units > before:
            sums[block] += units - before
            before = units
        i += np.uint64(1)
    return last, before


@inner
def _add_postings(docs, runs, codes, halves, floats, lists, term, factor, sums):
    """Add the greatest impact of a term in each block to the sums, in units."""
    last, before, width = np.int64(-1), np.uint16(0), lists[term, WIDTH]
    i, run, end = lists[term, FIRST], lists[term, RUN], lists[term, FIRST] + lists[term, COUNT]
    to_code, values = np.uint64(code_place(lists, term) - i), floats[lists[term, BEGIN] >> 2 :]
    while i < end:
        high, stop = np.int64(runs[run] >> np.uint32(16)) << 16, i + run_size(runs[run])
        first, after = np.uint64(i), np.uint64(stop)
        if width == 2:
            last, before = _add_coded(docs, halves, values, first, after, to_code, high, factor, last, before, sums)
        elif width == 4:
            last, before = _add_plain(docs, floats, first, after, to_code, high, factor, last, before, sums)
        else:
            last, before = _add_coded(docs, codes, values, first, after, to_code, high, factor, last, before, sums)
        i, run = stop, run + 1


@inner
def _halve(values, out, n):
    """Write the greater one of each pair of values to the first n places of `out`, which may be `values`."""
    for i in range(n):
        out[i] = max(values[2 * i], values[2 * i + 1])


@inner
def _add_bounds(terms, rows, tops, factors, docs, runs, codes, halves, floats, lists, bounds, sums, maxima):
    """Add up the bounds of all terms for each block. The maxima of 8 blocks come first in `maxima`, those of 64 after them."""
    sums[:] = 0
    for t in range(len(terms)):
        if rows[t] < 0 and tops[t] > 0:
            _add_postings(docs, runs, codes, halves, floats, lists, terms[t], factors[t], sums)
    for begin in range(0, len(sums), CHUNK):
        part = sums[begin : begin + CHUNK]
        for t in range(len(terms)):
            if rows[t] >= 0 and tops[t] > 0:
                row, top = bounds[rows[t], begin : begin + CHUNK], tops[t]
                for b in range(len(part)):
                    part[b] += _bound(row[b], top)
    n = len(sums) // 8
    rest = maxima[n:]
    _halve(sums, rest, 4 * n)
    _halve(rest, rest, 2 * n)
    _halve(rest, maxima, n)
    _halve(maxima, rest, n // 2)
    _halve(rest, rest, n // 4)
    _halve(rest, rest, n // 8)


@inner
def _pick(sums, maxima, low, high, blocks):
    """Write the blocks with sums from low to below high to `blocks`, ascending. Return their number."""
    n, eights = 0, len(sums) // 8
    for g in range(eights // 8):
        if maxima[eights + g] >= low:
            for x in range(8 * g, 8 * g + 8):
                if maxima[x] >= low:
                    for b in range(8 * x, 8 * x + 8):
                        blocks[n] = b
                        n += (sums[b] >= low) & (sums[b] < high)
    return n


@inner
def _survey(sums, maxima, low, high, histogram):
    """Return the number of blocks with sums from low to below high. The histogram gets them by their sums, in steps of 256."""
    histogram[:] = 0
    n, eights = 0, len(sums) // 8
    for g in range(eights // 8):
        if maxima[eights + g] >= low:
            for x in range(8 * g, 8 * g + 8):
                if maxima[x] >= low:
                    for b in range(8 * x, 8 * x + 8):
                        if (sums[b] >= low) & (sums[b] < high):
                            histogram[sums[b] >> 8] += 1
                            n += 1
    return n


@inner
def _lowest(histogram, wanted, cut):
    """Return the lowest sum of the best `wanted` blocks of a histogram, about; the cut if that is higher."""
    level, reached = 256, np.int64(0)
    while level > 0 and reached < wanted:
        level -= 1
        reached += histogram[level]
    return max(cut, np.int64(level << 8))


@inner
def _narrow(blocks, count, rows, tops, bytes_, bounds, sums, cut, masks):
    """Keep the blocks in which a document may reach the cut. Return their number, and write the documents as bits to `masks`.

    If the other terms alone stay below the cut, only documents with a term can reach it. Terms without a row are not looked at.
    """
    n = 0
    for c in range(count):
        block = np.uint64(blocks[c])
        spare = np.int64(sums[block]) - cut
        mask, some = np.uint8(255), np.uint8(0)
        for t in range(len(rows)):
            if rows[t] >= 0:
                own = bytes_[rows[t], block]
                needed = np.int64(_bound(bounds[rows[t], block], tops[t])) > spare
                mask &= own if needed else np.uint8(255)
                some |= own
            else:
                some = np.uint8(255)
        blocks[n], masks[n] = block, mask & some
        n += (mask & some) != 0
    return n


@inner
def _find(docs, runs, lists, term, doc, cursor):
    """Return the first place of a term with a document of at least `doc` in its 65,536 documents, and the end of that run.

    Both are the same if the term is in none of these documents. `cursor` is the run of the last search, for a lower document, and
    where it begins.
    """
    span, run, i = doc >> 16, cursor[0], cursor[1]
    stop = lists[term, FIRST] + lists[term, COUNT]
    while i < stop and np.int64(runs[run] >> np.uint32(16)) < span:
        i += run_size(runs[run])
        run += 1
    cursor[0], cursor[1] = run, i
    if i >= stop or np.int64(runs[run] >> np.uint32(16)) > span:
        return i, i
    end, wanted = i + run_size(runs[run]), np.uint16(doc & 0xFFFF)
    low, high = np.uint64(i), np.uint64(end)
    while low < high:
        middle = (low + high) >> np.uint64(1)
        if docs[middle] < wanted:
            low = middle + np.uint64(1)
        else:
            high = middle
    return np.int64(low), end


@inner
def _locate(docs, runs, lists, term, row, block, bits, ranks, cursor):
    """Return the documents of a block that have a term, as bits, and the place of the first one's posting."""
    if row >= 0:
        shift = np.uint64((block & 7) * SIZE)
        word = bits[row, block >> 3]
        before = _ones(word & ((np.uint64(1) << shift) - np.uint64(1)))
        return (word >> shift) & np.uint64(255), lists[term, FIRST] + np.int64(ranks[row, block >> 3]) + before
    place, end = _find(docs, runs, lists, term, block * SIZE, cursor)
    own, i = np.uint64(0), place
    while i < end and np.int64(docs[i]) >> 3 == block & 0x1FFF:
        own |= np.uint64(1) << np.uint64(docs[i] & 7)
        i += 1
    return own, place


@inner
def _cut(threshold, constant, unit, terms):
    """Return the units that a block needs to reach the threshold, less those that rounding may have taken."""
    if threshold <= constant:
        return np.int64(0)
    return max(np.int64(0), np.int64(min((threshold - constant) / unit, 1e9)) - (2 * terms + 4))


@inner
def _visit(
    blocks, masks, count, terms, weights, rows, docs, runs, codes, halves, floats, lists, bits, ranks, sums, words, places,
    constant, unit, threshold, docno_ranks, k, keys, n
):  # fmt: skip
    """Score the documents in the masks of blocks, and add the keys of those that reach the threshold. Return n and the threshold."""
    cut = _cut(threshold, constant, unit, len(terms))
    cursors = np.empty((len(terms), 2), np.int64)
    for t in range(len(terms)):
        cursors[t, 0], cursors[t, 1] = lists[terms[t], RUN], lists[terms[t], FIRST]
    for c in range(count):
        block, mask, some = np.int64(blocks[c]), np.uint64(masks[c]), np.uint64(0)
        if np.int64(sums[block]) < cut:
            continue
        for t in range(len(terms)):
            words[t], places[t] = _locate(docs, runs, lists, terms[t], rows[t], block, bits, ranks, cursors[t])
            some |= words[t]
        mask &= some
        for d in range(SIZE):
            bit = np.uint64(1) << np.uint64(d)
            if not mask & bit:
                continue
            total = 0.0
            for t in range(len(terms)):
                if words[t] & bit:
                    place = places[t] + _ones(words[t] & (bit - np.uint64(1)))
                    total += weights[t] * np.float64(impact_at(codes, halves, floats, lists, terms[t], place))
            if total >= threshold:
                if n == len(keys):
                    select(keys, n, k)
                    n = k
                    threshold = max(threshold, at_least(score_of(keys[k - 1])))
                    cut = _cut(threshold, constant, unit, len(terms))
                keys[n] = key_of(total, docno_ranks[block * SIZE + d])
                n += 1
    return n, threshold


@inner
def _units(terms, weights, least, most, tops, factors):
    """Write each term's greatest share in units, and its units for an impact of 1. Return the size of a unit and a constant.

    The constant bounds what terms with negative weights add. The unit is 0 if no term can raise a score.
    """
    constant = highest = 0.0
    for t in range(len(terms)):
        if weights[t] > 0 and most[terms[t]] > 0:
            highest += weights[t] * np.float64(most[terms[t]])
        elif weights[t] < 0 and least[terms[t]] < 0:
            constant += weights[t] * np.float64(least[terms[t]])
    unit = highest / UNITS
    for t in range(len(terms)):
        tops[t], factors[t] = 0, 0
        if unit > 0 and weights[t] > 0 and most[terms[t]] > 0:
            tops[t] = np.uint16(np.ceil(weights[t] * np.float64(most[terms[t]]) / unit))
            factors[t] = np.float32(weights[t] / unit)
    return unit, constant


@inner
def _best_by_blocks(
    docs, runs, codes, lists, least, most, docno_ranks, bits, bytes_, ranks, bounds, terms, weights, rows, threshold,
    most_visits, sums, maxima, blocks, masks, k, keys
):  # fmt: skip
    """Write the keys of the best documents to `keys`. Return their number, the threshold, and whether that is the answer.

    The blocks with the highest sums are visited first, in rounds: their documents raise the threshold for the other blocks. It is not
    the answer if a round has to visit more blocks than `most_visits`, or seems to leave more; the threshold holds nevertheless.
    """
    tops, factors = np.empty(len(terms), np.uint16), np.empty(len(terms), np.float32)
    words, places = np.empty(len(terms), np.uint64), np.empty(len(terms), np.int64)
    halves, floats = codes.view(np.uint16), codes.view(np.float32)
    unit, constant = _units(terms, weights, least, most, tops, factors)
    if unit == 0:
        return 0, threshold, False
    _add_bounds(terms, rows, tops, factors, docs, runs, codes, halves, floats, lists, bounds, sums, maxima)
    # The first round goes by the maxima of 64 blocks.
    histogram = np.zeros(256, np.int64)
    for g in range(len(sums) // 8, len(sums) // 8 + len(sums) // 64):
        histogram[maxima[g] >> 8] += 1
    cut, high = _cut(threshold, constant, unit, len(terms)), np.int64(1 << 16)
    low = _lowest(histogram, k + 32, cut)
    n = visits = np.int64(0)
    while True:
        count = _pick(sums, maxima, low, high, blocks)
        visits += count
        # Many blocks may have equal sums.
        if count > most_visits:
            return 0, threshold, False
        count = _narrow(blocks, count, rows, tops, bytes_, bounds, sums, cut, masks)
        n, threshold = _visit(
            blocks, masks, count, terms, weights, rows, docs, runs, codes, halves, floats, lists, bits, ranks, sums, words,
            places, constant, unit, threshold, docno_ranks, k, keys, n,
        )  # fmt: skip
        if n >= k:
            select(keys, n, k)
            n = np.int64(k)
            threshold = max(threshold, at_least(score_of(keys[k - 1])))
        cut, high = _cut(threshold, constant, unit, len(terms)), low
        left = _survey(sums, maxima, cut, high, histogram) if high > cut else 0
        if left == 0:
            return n, threshold, True
        if REMAINING * left > most_visits:
            return 0, threshold, False
        low = _lowest(histogram, GROWTH * visits, cut)


@kernel((
    U16, U32, U8, LISTS, I32, F32, F32, F32, I64, I64, F64, I32, F64, F64, BITS, BOUNDS, RANKS, BOUNDS,
    U16, U16, I32, U8, U64, KEYS, FLAGS,
))  # fmt: skip
def retrieve_by_blocks(
    docs, runs, codes, lists, docno_ranks, least, most, kth, query_ends, terms, weights, all_rows, costs, thresholds,
    bits, bytes_, ranks, bounds, sums, maxima, blocks, masks, keys, found, answered
):  # fmt: skip
    """Answer the queries for which blocks pay: fill their rows of `found` as `retrieve` does, and set their flags in `answered`.

    Queries that are `answered` already stay as they are. `all_rows` has the row of each query term, -1 without one; `bytes_` are the
    bits of each block. The thresholds of all queries that were tried are raised. `sums` to `keys` are scratch arrays of the calling
    thread.
    """
    k, begin = found.shape[1], 0
    for q in range(len(query_ends)):
        own, factors = terms[begin : query_ends[q]], weights[begin : query_ends[q]]
        rows = all_rows[begin : query_ends[q]]
        begin = query_ends[q]
        most_visits = most_visits_of(own, rows, lists, len(sums), k, costs)
        if answered[q] or most_visits == 0:
            continue
        threshold = max(thresholds[q], first_threshold(own, factors, least, most, kth))
        n, thresholds[q], answered[q] = _best_by_blocks(
            docs, runs, codes, lists, least, most, docno_ranks, bits, bytes_, ranks, bounds, own, factors, rows, threshold,
            most_visits, sums, maxima, blocks, masks, k, keys,
        )  # fmt: skip
        if answered[q]:
            found[q, :n] = keys[:n]
            found[q, n:] = 0
