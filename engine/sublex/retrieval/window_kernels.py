"""Kernels of windows. A window is some thousand documents in a row.

In each window, the kernels add up the impacts of the added terms, find the candidates, and look up the other terms for
the candidates.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sublex.retrieval.block_kernels import SIZE
from sublex.retrieval.coding.coding_kernels import (
    BEGIN,
    COUNT,
    FIRST,
    RUN,
    SPAN,
    VALUES,
    WIDTH,
    code_place,
    impact_at,
    run_size,
)
from sublex.tools.bit_kernels import ones
from sublex.tools.compiled import inner

# The number of documents in a window. Their float64 sums take 128 KB and fit the processor's cache. For a query with few
# postings, a window has SPAN documents.
WINDOW = 1 << 14
# A query has few postings if it has less than one posting for every FEW documents.
FEW = 8
# The rows of `places`, which has a column for each term, in the order of adding. AT: the place of the next posting.
# END: the end of the postings in the present span. STOP: the end of the postings in the window. LAST: the end of all
# postings of the term. RUN_AT: the next run. TERM: the term. ROW: its row in the blocks. In the row PLACE, item t is the
# column of the query's t-th term.
AT, END, STOP, LAST, RUN_AT, TERM, ROW, PLACE, PLACE_ROWS = 0, 1, 2, 3, 4, 5, 6, 7, 8
# The rows of `shares`, which has the same columns. WEIGHT: the weight of the term. TOP: the most that the term can add
# to a score. REST: the most that the term and all later terms can add together.
WEIGHT, TOP, REST, SHARE_ROWS = 0, 1, 2, 3


@inner
def postings_of(lists, terms):
    """Return the total number of postings of some terms."""
    postings = np.int64(0)
    for term in terms:
        postings += lists[term, COUNT]
    return postings


@inner
def start(lists, terms, places):
    """Set the places of all terms to their first postings, before the first span."""
    for t in range(terms):
        term = places[TERM, t]
        places[AT, t] = places[END, t] = lists[term, FIRST]
        places[LAST, t], places[RUN_AT, t] = lists[term, FIRST] + lists[term, COUNT], lists[term, RUN]


@inner
def next_span(runs, added, terms, places):
    """Move the places of all terms to the next span in which an added term occurs. Return the span's number, or -1."""
    at, ends, lasts, next_runs = places[AT], places[END], places[LAST], places[RUN_AT]
    span = np.int64(SPAN)
    for t in range(added):
        if ends[t] < lasts[t]:
            span = min(span, np.int64(runs[next_runs[t]] >> np.uint32(16)))
    if span == SPAN:
        return np.int64(-1)
    for t in range(terms):
        while ends[t] < lasts[t] and np.int64(runs[next_runs[t]] >> np.uint32(16)) < span:
            ends[t] += run_size(runs[next_runs[t]])
            next_runs[t] += 1
        at[t] = ends[t]
        if ends[t] < lasts[t] and np.int64(runs[next_runs[t]] >> np.uint32(16)) == span:
            ends[t] += run_size(runs[next_runs[t]])
            next_runs[t] += 1
    return span


@inner
def fetch(docs, floats, lists, terms, at):
    """Read the first postings and the values of all terms, so that the processor loads them into its cache in parallel.

    Return a number that depends on all of them: the compiler removes reads whose result is not used.
    """
    total = np.float32(0)
    for t in range(len(terms)):
        begin = lists[terms[t], BEGIN] >> 2
        if lists[terms[t], COUNT]:
            total += np.float32(docs[at[t]])
        # A line of the processor's cache holds 16 values, so reading every 16th value loads all of them.
        for i in range(begin, begin + min(lists[terms[t], COUNT], lists[terms[t], VALUES]), 16):
            total += floats[i]
    return total


def _list_adder(impact_of: Callable[..., Any], need_of: Callable[..., Any]) -> Any:
    """Return a function that adds the impacts of one term to the sums of the documents in a window.

    That function returns the place of the term's next posting, and the new number of candidates. `impact_of` gives the
    impact of a posting, and `need_of` the least sum with which a document becomes a candidate.
    """

    @inner
    def add_list(docs, codes, floats, i, end, to_code, to_value, first, weight, needed, sums, noted, candidates, found):
        # Indexes are unsigned, because Numba tests for each signed index whether it is negative and counts from the end.
        while i < end:
            doc = np.uint64(docs[i]) - first
            if doc >= np.uint64(len(sums)):
                break
            total = sums[doc] + weight * np.float64(impact_of(codes, floats, i + to_code, to_value))
            sums[doc] = total
            if total >= need_of(needed, doc) and not noted[doc]:
                noted[doc] = 1
                candidates[found] = doc
                found += 1
            i += np.uint64(1)
        return i, found

    return add_list


def _window_adder(need_of: Callable[..., Any]) -> Any:
    """Return a function that adds the impacts of several terms to the sums of the documents in a window.

    That function returns the number of candidates. `need_of` gives the least sum with which a document becomes one.
    """
    add_values = _list_adder(
        inner(lambda codes, floats, code, to_value: floats[to_value + np.uint64(codes[code])]), need_of
    )
    add_impacts = _list_adder(inner(lambda codes, floats, code, to_value: floats[code]), need_of)

    @inner
    def add_window(
        docs, codes, halves, floats, lists, terms, weights, at, ends, stops, first, needed, sums, noted, candidates
    ):
        found = 0
        for t in range(len(terms)):
            i, end, weight, width = np.uint64(at[t]), np.uint64(ends[t]), weights[t], lists[terms[t], WIDTH]
            to_code = np.uint64(code_place(lists, terms[t]) - lists[terms[t], FIRST])
            values = np.uint64(lists[terms[t], BEGIN] >> 2)
            if width == 2:
                i, found = add_values(
                    docs, halves, floats, i, end, to_code, values, first, weight, needed, sums, noted, candidates, found
                )
            elif width == 4:
                i, found = add_impacts(
                    docs, codes, floats, i, end, to_code, values, first, weight, needed, sums, noted, candidates, found
                )
            else:
                i, found = add_values(
                    docs, codes, floats, i, end, to_code, values, first, weight, needed, sums, noted, candidates, found
                )
            stops[t] = i
        return found

    return add_window


# These two functions add up terms in a window and return the number of candidates. A document becomes a candidate if
# its sum is at least `needed`. For `add_evenly`, `needed` is one number for all documents. For `add_by_block`, `needed`
# is an array with a number for each block.
add_evenly = _window_adder(inner(lambda needed, doc: needed))
add_by_block = _window_adder(inner(lambda needed, doc: needed[doc // np.uint64(SIZE)]))


@inner
def kept(candidates, found, sums, lowest):
    """Move the candidates whose sum is at least `lowest` to the front of `candidates`. Return their number."""
    n = 0
    for c in range(found):
        doc = candidates[c]
        candidates[n] = doc
        n += sums[doc] >= lowest
    return n


@inner
def _first_at_least(docs, begin, end, doc):
    """Return the first place from `begin` on with a document of at least `doc`; `end - 1` if there is no such place."""
    i, left = begin, end - begin
    while left > 1:
        half = left >> 1
        # Arithmetic replaces a branch, which the processor would predict wrongly half of the time.
        i += half * (docs[i + half - 1] < doc)
        left -= half
    return i


@inner
def look_up(docs, codes, halves, floats, lists, places, shares, t, bits, ranks, base, first, sums, candidates):
    """Add the impacts of a term to the sums of the candidates that contain it.

    `base` is the first document of the span, and `first` is the first document of the window, counted from `base`.
    """
    term, row, weight, begin, end = places[TERM, t], places[ROW, t], shares[WEIGHT, t], places[AT, t], places[END, t]
    if row >= 0:
        for c in range(len(candidates)):
            doc = base + candidates[c]
            word, bit = bits[row, doc >> 6], np.uint64(1) << np.uint64(doc & 63)
            if word & bit:
                place = (
                    lists[term, FIRST] + np.int64(ranks[row, doc >> 6]) + np.int64(ones(word & (bit - np.uint64(1))))
                )
                sums[candidates[c]] += weight * np.float64(impact_at(codes, halves, floats, lists, term, place))
    elif begin < end:
        for c in range(len(candidates)):
            doc = first + candidates[c]
            place = _first_at_least(docs, begin, end, np.uint16(doc))
            if docs[place] == doc:
                sums[candidates[c]] += weight * np.float64(impact_at(codes, halves, floats, lists, term, place))


@inner
def in_order(docs, codes, halves, floats, lists, terms, places, shares, bits, ranks, base, first, sums, candidate):
    """Return the sum of one candidate, with the terms added in the order of the query.

    `candidate` is an array of one item.
    """
    sums[candidate[0]] = 0.0
    for t in places[PLACE, :terms]:
        look_up(docs, codes, halves, floats, lists, places, shares, t, bits, ranks, base, first, sums, candidate)
    return sums[candidate[0]]


@inner
def clear(docs, at, stops, terms, first, sums):
    """Set the sums of a window to 0. If there are few postings, set only the sums of their documents, which is faster.

    The postings of term t in the window are at the places from at[t] to stops[t].
    """
    postings = np.int64(0)
    for t in range(terms):
        postings += stops[t] - at[t]
    if FEW * postings >= len(sums):
        sums[:] = 0.0
        return
    for t in range(terms):
        for i in range(np.uint64(at[t]), np.uint64(stops[t])):
            sums[np.uint64(docs[i]) - np.uint64(first)] = 0.0
