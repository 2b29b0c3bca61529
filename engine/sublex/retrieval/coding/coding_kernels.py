"""Kernels of coding: write the postings of terms in few bytes, check them, and read them again.

Each 65,536 documents are a span, and a document takes 16 bits: its number within the span. The postings of a term in
one span are a run. A run is a uint32: the number of the span in the upper half, and the number of postings, less one,
in the lower half. A term has a table of its distinct impacts, its values. The code of a posting is the number of its
value, in one or two bytes. If this takes more space than the impacts themselves, the term has no table, and the codes
are impacts, in four bytes.
"""

from __future__ import annotations

import numpy as np
from numba import boolean, float32, float64, int32, int64, uint8, uint16, uint32, uint64

from sublex.tools.compiled import inner, kernel

# The types of arguments.
U8 = uint8[::1]
U16 = uint16[::1]
U32 = uint32[::1]
U64 = uint64[::1]
I32 = int32[::1]
I64 = int64[::1]
F32 = float32[::1]
F64 = float64[::1]
FLAGS = boolean[::1]
LISTS = int64[:, ::1]
LEVELS_OF_TERMS = float32[:, ::1]

# The columns of `lists`, which has a row for each term: the place of its first posting, its number of postings, its first run,
# where its values begin, in bytes, its number of values, and the bytes of the code of a posting.
FIRST, COUNT, RUN, BEGIN, VALUES, WIDTH, COLUMNS = 0, 1, 2, 3, 4, 5, 6
# Documents whose numbers differ in the lower 16 bits only.
SPAN = 1 << 16
# The k for which the k-th best impact of each term is known.
LEVELS = (10, 100, 1000)
# Frequencies below this one share a pair with equal frequencies in documents of the same class.
FREQUENCIES = 32
# The most values that a code of one byte, and of two bytes, can number.
MOST_IN_ONE, MOST_IN_TWO = 1 << 8, 1 << 16


@inner
def code_place(lists, term):
    """Return where the codes of a term begin, counted in codes."""
    return (lists[term, BEGIN] + 4 * lists[term, VALUES]) >> (lists[term, WIDTH] >> 1)


@inner
def impact_at(codes, halves, floats, lists, term, place):
    """Return the impact of a term's posting, given by its place among all postings. `halves` and `floats` are views of `codes`."""
    i = np.uint64(code_place(lists, term) + place - lists[term, FIRST])
    values = np.uint64(lists[term, BEGIN] >> 2)
    if lists[term, WIDTH] == 2:
        return floats[values + np.uint64(halves[i])]
    if lists[term, WIDTH] == 4:
        return floats[i]
    return floats[values + np.uint64(codes[i])]


@inner
def run_size(run):
    """Return the number of postings of a run."""
    return np.int64(run & np.uint32(0xFFFF)) + 1


@inner
def _add_runs(docs_in, i, end, docs, first, runs, run):
    """Write the documents of a term and its runs. Return the number of runs."""
    span, begin, n = np.int64(-1), i, 0
    for x in range(i, end):
        doc = np.int64(docs_in[x])
        docs[first + x - i] = doc & 0xFFFF
        if doc >> 16 != span:
            if x > begin:
                runs[run + n] = span << 16 | (x - begin - 1)
                n += 1
            span, begin = doc >> 16, x
    if end > begin:
        runs[run + n] = span << 16 | (end - begin - 1)
        n += 1
    return n


@kernel((I64, I32, LISTS, U16, U32, I64, I64), before="search")
def put_documents(terms, docs_in, lists, docs, runs, run_counts, used):
    """Write the documents and runs of some terms, where they lie, and their numbers of runs.

    `docs_in` has the documents of these terms one after the other. `used` has the places of `docs` and of `runs` that are not free.
    """
    i = np.int64(0)
    for term in terms:
        end = i + lists[term, COUNT]
        lists[term, FIRST], lists[term, RUN] = used[0], used[1]
        run_counts[term] = _add_runs(docs_in, i, end, docs, used[0], runs, used[1])
        used[0] += end - i
        used[1] += run_counts[term]
        i = end


@kernel((I64, I32, I32, I32, I32, I32, I32, I32, I32, I64), before="search")
def find_pairs(counts, docs, tfs, classes, seen, numbers, frequencies, kinds, live, ends):
    """Find the distinct pairs of a frequency and a class of documents in the postings of each term.

    `docs` and `tfs` hold the postings of one term after the other, and `counts` has the number of each term. `numbers`
    receives for each posting the number of its pair among those of its term, or -1 in a deleted document. `classes` has
    the class of each document, -1 for a deleted one. `seen`, all -1, has FREQUENCIES places for each class; without
    places, each posting is a pair of its own. `frequencies`, `kinds` (the class) and `live` (the number of postings)
    describe pairs, and `ends` says where those of each term end.
    """
    size = len(seen) // FREQUENCIES
    i = o = np.int64(0)
    for x in range(len(counts)):
        begin, end = o, i + counts[x]
        while i < end:
            kind, tf = np.int64(classes[docs[i]]), np.int64(tfs[i])
            if kind < 0:
                numbers[i] = -1
                i += 1
                continue
            place = tf * size + kind if tf < FREQUENCIES else np.int64(len(seen))
            pair = np.int64(seen[place]) if place < len(seen) else np.int64(-1)
            if pair < 0:
                pair = o
                frequencies[o], kinds[o], live[o] = tf, kind, 0
                if place < len(seen):
                    seen[place] = o
                o += 1
            live[pair] += 1
            numbers[i] = pair - begin
            i += 1
        if len(seen):
            for pair in range(begin, o):
                if frequencies[pair] < FREQUENCIES:
                    seen[np.int64(frequencies[pair]) * size + kinds[pair]] = -1
        ends[x] = o


@inner
def _number_values(order, begin, end, impacts, live, renumbered, values):
    """Number the distinct impacts of a term's pairs, greatest first, and write them to `values`. Return their number.

    `order` has the pairs in this order in the lower halves of its items. `renumbered` receives the number of each pair's value.
    """
    n = np.int64(0)
    for p in range(begin, end):
        pair = np.int64(order[p] & np.uint64(0xFFFFFFFF))
        if p == begin or order[p] >> np.uint64(32) != order[p - 1] >> np.uint64(32):
            values[n] = impacts[begin + pair]
            n += 1
        renumbered[pair] = n - 1
    return n


@inner
def _best(order, begin, end, impacts, live, kth, term):
    """Write the k-th best impact of a term for each of LEVELS."""
    found, level = np.int64(0), 0
    for p in range(begin, end):
        pair = begin + np.int64(order[p] & np.uint64(0xFFFFFFFF))
        found += live[pair]
        while level < len(LEVELS) and found >= LEVELS[level]:
            kth[level, term] = impacts[pair]
            level += 1


@inner
def format_of(count, values):
    """Return the bytes of a code that take the least space for these numbers of postings and values: 1, 2, or 4 for no table."""
    width, least = 4, 4 * count
    if values <= MOST_IN_TWO and 4 * values + (2 * count + 3) // 4 * 4 < least:
        width, least = 2, 4 * values + (2 * count + 3) // 4 * 4
    if values <= MOST_IN_ONE and 4 * values + (count + 3) // 4 * 4 < least:
        width = 1
    return width


@kernel((I64, I64, U64, F32, I32, I32, LISTS, U8, F32, F32, LEVELS_OF_TERMS, I32, F32, I64), before="search")
def put_impacts(
    terms, ends, order, impacts, live, numbers, lists, codes, least, most, kth, renumbered, values, used
):  # fmt: skip
    """Write the values and the codes of some terms, and their least, greatest and k-th best impacts.

    The pairs of term x end at ends[x]. `impacts` has their impacts, `live` their numbers of postings, and `order` sorts
    them, greatest impact first. `numbers` has the pair of each posting, -1 for a deleted document, whose impact is NaN.
    used[2] is the number of bytes of `codes` that are not free. `renumbered` and `values` are scratch arrays.
    """
    halves, floats = codes.view(np.uint16), codes.view(np.float32)
    i = begin = np.int64(0)
    for x in range(len(terms)):
        term, end = terms[x], ends[x]
        count = lists[term, COUNT]
        n = _number_values(order, begin, end, impacts, live, renumbered, values)
        _best(order, begin, end, impacts, live, kth, term)
        most[term], least[term] = (values[0], values[n - 1]) if n else (np.float32(-np.inf), np.float32(np.inf))
        # The impact of deleted documents.
        values[n] = np.nan
        dead, postings = n, np.int64(0)
        for pair in range(begin, end):
            postings += live[pair]
        n += postings < count
        width = format_of(count, n)
        lists[term, WIDTH], lists[term, VALUES], lists[term, BEGIN] = width, n if width < 4 else 0, used[2]
        used[2] += 4 * lists[term, VALUES] + (count * width + 3) // 4 * 4
        place = code_place(lists, term)
        if width < 4:
            floats[lists[term, BEGIN] >> 2 : (lists[term, BEGIN] >> 2) + n] = values[:n]
        for at in range(place, place + count):
            value = dead if numbers[i] < 0 else np.int64(renumbered[numbers[i]])
            if width == 2:
                halves[at] = value
            elif width == 4:
                floats[at] = values[value]
            else:
                codes[at] = value
            i += 1
        begin = end


@inner
def _greatest(values):
    """Return the greatest of unsigned numbers, -1 if there are none."""
    if len(values) == 0:
        return np.int64(-1)
    # In the type of the numbers the processor compares many at a time.
    greatest = values[0]
    for i in range(len(values)):
        greatest = max(greatest, values[i])
    return np.int64(greatest)


@kernel((I64, LISTS, I64, U16, U32, U8, int64), before="check-stored-impacts")
def sound(terms, lists, run_counts, docs, runs, codes, documents):
    """Return the place among `terms` of the first one whose runs, documents or codes cannot be right, or -1.

    The runs of a term must ascend and have all its postings, documents must be below `documents`, and each code must have a value.
    """
    halves = codes.view(np.uint16)
    for x in range(len(terms)):
        term = terms[x]
        i, left, last = lists[term, FIRST], lists[term, COUNT], np.int64(-1)
        for run in range(lists[term, RUN], lists[term, RUN] + run_counts[term]):
            span, size = np.int64(runs[run] >> np.uint32(16)), run_size(runs[run])
            if span <= last or size > left:
                return x
            i, left, last = i + size, left - size, span
            if span * SPAN + SPAN > documents:
                if span * SPAN + _greatest(docs[i - size : i]) >= documents:
                    return x
        if left:
            return x
        place, count, greatest = code_place(lists, term), lists[term, COUNT], np.int64(-1)
        if lists[term, WIDTH] == 2:
            greatest = _greatest(halves[place : place + count])
        elif lists[term, WIDTH] == 1:
            greatest = _greatest(codes[place : place + count])
        if greatest >= lists[term, VALUES] and lists[term, WIDTH] < 4:
            return x
    return -1


@kernel((int64, LISTS, U16, U32, U8, I32, F32), before="fill-blocks")
def read_list(term, lists, docs, runs, codes, docs_out, impacts_out):
    """Write the documents and the impacts of a term to `docs_out` and `impacts_out`."""
    halves, floats = codes.view(np.uint16), codes.view(np.float32)
    count, run, i = lists[term, COUNT], lists[term, RUN], np.int64(0)
    own = docs[lists[term, FIRST] : lists[term, FIRST] + count]
    while i < count:
        end = i + run_size(runs[run])
        high = np.int32(runs[run] >> np.uint32(16)) << 16
        for x in range(i, end):
            docs_out[x] = high | np.int32(own[x])
        i, run = end, run + 1
    place, width = code_place(lists, term), lists[term, WIDTH]
    values = floats[lists[term, BEGIN] >> 2 :]
    if width == 2:
        for x in range(count):
            impacts_out[x] = values[np.uint64(halves[place + x])]
    elif width == 4:
        impacts_out[:] = floats[place : place + count]
    else:
        for x in range(count):
            impacts_out[x] = values[np.uint64(codes[place + x])]
