"""Kernels of coding: write the postings of terms as compact arrays, check them, and read them.

Documents: every 65,536 consecutive documents form a span. A document is stored in 16 bits, as its number within the
span. The postings of a term in one span form a run. A run is stored as a uint32: the upper half is the number of the
span, and the lower half is the number of postings minus one.

Impacts: a term has a table of its distinct impacts, which are called its values. The code of a posting is the number
of its value, in one or two bytes. If the table and the codes would take more space than the impacts, the term has no
table, and each code is the impact itself, in four bytes.
"""

from __future__ import annotations

import numpy as np
from numba import boolean, float32, float64, int32, int64, uint8, uint16, uint32, uint64

from sublex.retrieval.bounds import LEVELS
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
TFS_OF_FIELDS = int32[:, ::1]

# The columns of `lists`, which has a row for each term. FIRST: the place of its first posting. COUNT: its number of
# postings. RUN: the place of its first run. BEGIN: the byte at which its values begin. VALUES: its number of values.
# WIDTH: the bytes of one code.
FIRST, COUNT, RUN, BEGIN, VALUES, WIDTH, COLUMNS = 0, 1, 2, 3, 4, 5, 6
# The number of documents in a span: their numbers differ only in the lower 16 bits.
SPAN = 1 << 16
# Postings with a frequency below this number share a pair if their frequencies and their documents' classes are equal.
# A posting with a higher frequency has a pair of its own.
FREQUENCIES = 32
# The largest number of values of a term whose codes take one byte, and of a term whose codes take two bytes.
MOST_IN_ONE, MOST_IN_TWO = 1 << 8, 1 << 16


@inner
def code_place(lists, term):
    """Return the index of a term's first code in the bytes of all codes, viewed as items of this term's width."""
    return (lists[term, BEGIN] + 4 * lists[term, VALUES]) >> (lists[term, WIDTH] >> 1)


@inner
def impact_at(codes, halves, floats, lists, term, place):
    """Return the impact of a term's posting. `place` counts the postings of all terms, one term after the other.

    `halves` and `floats` are views of `codes` as uint16 and as float32.
    """
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
    """Write the documents of a term to `docs` and its runs to `runs`. Return the number of runs.

    `docs_in` has the documents from place `i` to `end`. A run is the term's postings in one span of 65,536 documents.
    The documents are written from place `first` on, and the runs from place `run` on.
    """
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
    """Write the documents and the runs of some terms.

    `lists` gets the places of each term's first document and first run, and `run_counts` gets the number of the term's
    runs.

    `docs_in` has the documents of these terms, one term after the other. The first used[0] places of `docs` and the
    first used[1] places of `runs` are taken; both numbers grow.
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
    """Find the distinct pairs of a term frequency and a class of documents among the postings of each term.

    `docs` and `tfs` have the postings of one term after the other, and `counts` has the number of postings of each
    term. `classes` has the class of each document, -1 for a deleted one. `seen` is scratch space full of -1, with
    FREQUENCIES places for each class; if it is empty, each posting is a pair of its own.

    The results are written to the other arrays. `numbers` gets for each posting the number of its pair within the term,
    or -1 in a deleted document. For each pair, `frequencies` gets the frequency, `kinds` the class, and `live` the
    number of postings. `ends` gets the place where the pairs of each term end.
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


@kernel((TFS_OF_FIELDS, int64, I32, I32, I32), before="search")
def number_rows(tfs, radix, seen, numbers, examples):
    """Number the distinct columns of `tfs`, in the order of their first appearance. Return the count of numbers.

    `tfs` has a row for each field and a column for each posting. `numbers` gets the number of each column, and `examples`
    gets, for each number, a column with this number. `seen` is scratch space full of -1, with radix ** fields places. A
    column with a frequency of `radix` or more gets a number of its own, even if it is equal to another column.
    """
    n = np.int64(0)
    for i in range(tfs.shape[1]):
        place = np.int64(0)
        for field in range(tfs.shape[0]):
            if place >= 0:
                place = place * radix + tfs[field, i] if tfs[field, i] < radix else np.int64(-1)
        number = np.int64(seen[place]) if place >= 0 else np.int64(-1)
        if number < 0:
            number = n
            examples[n] = i
            n += 1
            if place >= 0:
                seen[place] = number
        numbers[i] = number
    return n


@inner
def _number_values(order, begin, end, impacts, live, renumbered, values):
    """Write the distinct impacts of a term's pairs to `values`, greatest first. Return the number of distinct impacts.

    The lower half of an item of `order` is the number of a pair within its term. The term's items, from `begin` to
    `end`, are sorted by impact, greatest first. `renumbered` gets for each pair the number of its impact in `values`.
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
    """Write to `kth` the k-th best impact of a term for each k in LEVELS."""
    found, level = np.int64(0), 0
    for p in range(begin, end):
        pair = begin + np.int64(order[p] & np.uint64(0xFFFFFFFF))
        found += live[pair]
        while level < len(LEVELS) and found >= LEVELS[level]:
            kth[level, term] = impacts[pair]
            level += 1


@inner
def format_of(count, values):
    """Return the number of bytes of a code, 1, 2 or 4, with which a term takes the least space.

    A term with the width 4 has no table of values: each of its codes is the impact itself.

    `count` is the term's number of postings, and `values` its number of values.
    """
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

    The pairs of `terms[x]` end at ends[x]. `impacts` has the impact of each pair, and `live` the pair's number of
    postings. The lower half of an item of `order` is the number of a pair within its term; the items of a term are
    sorted by impact, greatest first. `numbers` has the number of each posting's pair, or -1 in a deleted document,
    where the impact is NaN. The first used[2] bytes of `codes` are taken. `renumbered` and `values` are scratch arrays.
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


@kernel((I64, I64, LISTS, U16, U32, I64, U8, LISTS, U16, U32, I64, U8, I64), before="operators")
def copy_lists(
    terms, others, lists_in, docs_in, runs_in, run_counts_in, codes_in, lists, docs, runs, run_counts, codes, used
):  # fmt: skip
    """Copy the coded postings of the terms `others` from the arrays `…_in` to the terms `terms` of the other arrays.

    The first used[0] places of `docs`, used[1] of `runs` and used[2] of `codes` are taken; these numbers grow.
    """
    for x in range(len(terms)):
        term, other = terms[x], others[x]
        count, own_runs, first = lists_in[other, COUNT], run_counts_in[other], lists_in[other, FIRST]
        for i in range(count):
            docs[used[0] + i] = docs_in[first + i]
        for i in range(own_runs):
            runs[used[1] + i] = runs_in[lists_in[other, RUN] + i]
        size = 4 * lists_in[other, VALUES] + (count * lists_in[other, WIDTH] + 3) // 4 * 4
        for i in range(size):
            codes[used[2] + i] = codes_in[lists_in[other, BEGIN] + i]
        lists[term, FIRST], lists[term, COUNT], lists[term, RUN] = used[0], count, used[1]
        lists[term, BEGIN], lists[term, VALUES], lists[term, WIDTH] = (
            used[2],
            lists_in[other, VALUES],
            lists_in[other, WIDTH],
        )
        run_counts[term] = own_runs
        used[0] += count
        used[1] += own_runs
        used[2] += size


@inner
def _greatest(values):
    """Return the greatest number of an array of unsigned numbers, -1 for an empty array."""
    if len(values) == 0:
        return np.int64(-1)
    # `greatest` has the same type as the array, so that the processor compares many numbers at a time.
    greatest = values[0]
    for i in range(len(values)):
        greatest = max(greatest, values[i])
    return np.int64(greatest)


@kernel((I64, LISTS, I64, U16, U32, U8, int64), before="check-stored-impacts")
def sound(terms, lists, run_counts, docs, runs, codes, documents):
    """Return the index in `terms` of the first term whose runs, documents or codes are damaged, or -1 if there is none.

    The runs of a term must ascend and must contain all its postings. Each document must be below `documents`. Each code must
    be below the term's number of values.
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


@inner
def skip_to(docs, i, end, doc):
    """Return the first place from i on with a document of at least `doc`, or `end` if there is none.

    The search gallops first: its steps double. Then it is binary.
    """
    step = np.int64(1)
    while i + step < end and docs[i + step] < doc:
        i += step
        step *= 2
    low, high = i, min(i + step, end)
    while low < high:
        middle = (low + high) // 2
        if docs[middle] < doc:
            low = middle + 1
        else:
            high = middle
    return low
