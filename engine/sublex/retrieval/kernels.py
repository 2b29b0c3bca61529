"""Kernels of retrieval: sum the impacts of query terms over windows of documents, and keep the best k.

The threshold is a score that at least k documents reach. Only the postings of some terms are added up: those without which no document
reaches the threshold. A document becomes a candidate when its sum can reach the threshold together with the other terms. These are then
looked up for the candidates. A hit is stored as one uint64, its key: the float32 score, mapped to an unsigned integer of the same order, in
the upper half, and the rank of the docno in the lower half. The larger key ranks higher, ties included, so the best k documents are those
with the k largest keys.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import float32, float64, int32, int64, uint64

from sublex.compiled import inner, kernel
from sublex.retrieval.blocks.kernels import BITS, BOUNDS, RANKS, SIZE, need, ones
from sublex.retrieval.coding.kernels import (
    BEGIN,
    COUNT,
    F32,
    F64,
    FIRST,
    I32,
    I64,
    LISTS,
    RUN,
    SPAN,
    U8,
    U16,
    U32,
    U64,
    VALUES,
    WIDTH,
    code_place,
    impact_at,
    run_size,
)

# The types of arguments that the kernels of coding do not have.
DOCS = int32[:, ::1]
SCORES = float32[:, ::1]
KEYS = uint64[:, ::1]
PLACES = int64[:, ::1]
SHARES = float64[:, ::1]

# Documents per window. Their float64 sums, 128 KB, fit the processor's cache. A query with few postings has windows of SPAN documents.
WINDOW = 1 << 14
# A query has few postings if it has less than one posting for so many documents.
FEW = 8
# Of every SPAN documents, so many are in the sample for a guess.
SAMPLE = 1 << 10
# Queries with more terms keep their order, because sorting them takes longer than it saves.
MOST_SORTED = 1 << 10
# The places of `choices`, which are four numbers. HITS: a term is looked up only if it has more than so many postings for each of the k
# hits. ADDED: a term without a row is looked up only if it has more than so many postings for each posting that is added up. BLOCKS: the
# sum that a document needs is computed for each block of a window if one posting or more is added up for so many blocks of looked-up terms.
# DOCUMENTS: a guess is made if more than one posting is added up for so many documents.
HITS, ADDED, BLOCKS, DOCUMENTS = 0, 1, 2, 3
# The rows of `places`. A column is a term, in the order of adding. Its rows are the next posting, the end of the postings in the same SPAN
# documents, the end of those in the window, the end of all; the next run, the term, and the term's row in the blocks. The last row,
# PLACE, has for term t of the query its column.
AT, END, STOP, LAST, RUN_AT, TERM, ROW, PLACE, PLACE_ROWS = 0, 1, 2, 3, 4, 5, 6, 7, 8
# The rows of `shares`: the weight of each term, the most that it can add to a score, the most that it and the terms after it can add.
WEIGHT, TOP, REST, SHARE_ROWS = 0, 1, 2, 3
# The score of a document that no term matches; below every real score.
NOTHING = -np.inf
# The threshold before any document is known: the lowest finite float64, so that no real score is below it.
LOWEST = -1.7976931348623157e308


@inner
def key_of(score, rank):
    """Return the key of a score, rounded to float32, and the rank of a docno."""
    # Adding 0 turns -0 into 0, so the two are equal.
    rounded = np.float32(np.float32(score) + np.float32(0))
    bits = np.int64(rounded.view(np.int32))
    if bits < 0:
        bits = ~bits & np.int64(0x7FFFFFFF)
    else:
        bits = bits | np.int64(0x80000000)
    return np.uint64((bits << 32) | np.int64(rank))


@inner
def score_of(key):
    """Return the float32 score of a key."""
    bits = np.int64(key >> np.uint64(32))
    if bits >> 31:
        bits = bits & np.int64(0x7FFFFFFF)
    else:
        bits = ~bits
    return np.int32(bits).view(np.float32)


@kernel((KEYS, I32, DOCS, SCORES, I64))
def unpack(keys, docs_by_docno, docs, scores, counts):
    """Write documents and scores, best first, for rows of ascending keys, and the number of hits of each row to `counts`.

    A key of 0 is an empty place. `docs_by_docno` has the document of each docno rank.
    """
    width = keys.shape[1]
    for q in range(len(keys)):
        n = 0
        while n < docs.shape[1] and keys[q, width - 1 - n]:
            key = keys[q, width - 1 - n]
            docs[q, n] = docs_by_docno[np.int64(key & np.uint64(0xFFFFFFFF))]
            scores[q, n] = score_of(key)
            n += 1
        counts[q] = n


@inner
def select(values, n, k):
    """Reorder the first n values: the k largest come first, and the least of these is at place k - 1."""
    low, high, at = 0, n - 1, k - 1
    while low < high:
        pivot = values[(low + high) >> 1]
        i, j = low, high
        while i <= j:
            while values[i] > pivot:
                i += 1
            while values[j] < pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if at <= j:
            high = j
        elif at >= i:
            low = i
        else:
            return


@inner
def at_least(score):
    """Return a lower bound of the float64 sums that round to this float32 score or a higher one."""
    return np.float64(np.nextafter(np.float32(score), np.float32(-np.inf)))


@inner
def _first_threshold(terms, weights, least, most, kth):
    """Return a score that at least k documents reach; LOWEST when none is known.

    The k documents with the best impacts of one term reach its k-th best impact times its weight, less what the other terms can
    subtract from it.
    """
    threshold, lowered = LOWEST, 0.0
    for t in range(len(terms)):
        worst = weights[t] * np.float64(least[terms[t]] if weights[t] >= 0 else most[terms[t]])
        lowered += min(worst, 0.0)
    for t in range(len(terms)):
        if weights[t] > 0 and kth[terms[t]] > -np.inf:
            sure = weights[t] * np.float64(kth[terms[t]])
            # The kernel adds a document's impacts in another order, which rounds differently. When large parts cancel out,
            # the rounding error is that of the large parts, so the slack depends on them.
            slack = len(terms) * 2.0**-50 * (abs(sure) - lowered)
            threshold = max(threshold, at_least(at_least(sure + lowered - slack)))
    return threshold


@inner
def _postings_of(lists, terms):
    """Return the number of postings of some terms."""
    postings = np.int64(0)
    for term in terms:
        postings += lists[term, COUNT]
    return postings


@inner
def _plan(lists, row_of, least, most, terms, weights, places, shares, sort):
    """Fill `places` and `shares` for a query. To `sort` the terms is to order them by the most that each can add to a score, a posting.

    shares[REST, len(terms)] is the most by which another order of adding can change a sum; 0 if the terms keep the query's order.
    """
    n, order, own, tops, magnitude = len(terms), places[AT], places[TERM], shares[TOP], 0.0
    for t in range(n):
        term, low, high, top = terms[t], np.float64(least[terms[t]]), np.float64(most[terms[t]]), 0.0
        # Without a live posting, the least impact is above the greatest.
        if weights[t] and low <= high:
            top = max(weights[t] * (high if weights[t] > 0 else low), 0.0)
            magnitude += abs(weights[t]) * max(abs(low), abs(high))
        p = t
        while sort and p > 0 and top * lists[own[p - 1], COUNT] > tops[p - 1] * lists[term, COUNT]:
            tops[p], order[p], own[p] = tops[p - 1], order[p - 1], own[p - 1]
            p -= 1
        tops[p], order[p], own[p] = top, t, term
    # Two orders of adding n numbers differ by less than n * 2**-52 times the sum of their sizes.
    margin = n * 2.0**-50 * magnitude
    rest, shares[REST, n] = margin, 0.0
    for p in range(n - 1, -1, -1):
        if order[p] != p:
            shares[REST, n] = margin
        rest += tops[p]
        shares[REST, p], shares[WEIGHT, p] = rest, weights[order[p]]
        places[ROW, p], places[PLACE, order[p]] = row_of[own[p]], p


@inner
def _added(lists, terms, places, shares, threshold, k, choices):
    """Return how many terms, from the first on, are added up. A document with none of them stays below the threshold.

    The number does not grow when the threshold rises.
    """
    postings = np.int64(0)
    for t in range(terms):
        count = lists[places[TERM, t], COUNT]
        if shares[REST, t] < threshold and count > choices[HITS] * k:
            if places[ROW, t] >= 0 or count > choices[ADDED] * postings:
                return t
        postings += count
    return terms


@inner
def _next_span(runs, added, terms, places):
    """Move the places of all terms to the next SPAN documents that an added term is in. Return the number of this span, or -1."""
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
def _fetch(docs, floats, lists, terms, at):
    """Read where the postings and the values of terms begin, so that the processor fetches all of them from memory at the same time.

    Return a number that depends on them, because the compiler leaves out reads without a use.
    """
    total = np.float32(0)
    for t in range(len(terms)):
        begin = lists[terms[t], BEGIN] >> 2
        if lists[terms[t], COUNT]:
            total += np.float32(docs[at[t]])
        # A line of the processor's cache has 16 values.
        for i in range(begin, begin + min(lists[terms[t], COUNT], lists[terms[t], VALUES]), 16):
            total += floats[i]
    return total


def _list_adder(impact_of: Callable[..., Any], need_of: Callable[..., Any]) -> Any:
    """Return a function that adds the impacts of one term in a window, and returns the place of the next posting, and `found`."""

    @inner
    def add_list(docs, codes, floats, i, end, to_code, to_value, first, weight, needed, sums, noted, candidates, found):
        # Unsigned indexes: for signed ones Numba adds a test whether they count from the end.
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
    """Return a function that adds up a window. `need_of` returns the sum with which a document becomes a candidate."""
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


# Both add the impacts of terms in a window to its sums, and return the number of candidates: the documents whose sum reaches `needed`.
# For `_add_evenly`, `needed` is one number for all documents. For `_add_by_block`, it is an array with a number for each block.
_add_evenly = _window_adder(inner(lambda needed, doc: needed))
_add_by_block = _window_adder(inner(lambda needed, doc: needed[doc // np.uint64(SIZE)]))


@inner
def _blocks_pay(lowest, added, terms, places, shares, first, window, choices):
    """Return whether to compute for each block of a window the sum that its documents need."""
    postings, highest = np.int64(0), shares[REST, 0]
    for t in range(added):
        postings += places[END, t] - places[AT, t]
    # In float32 these numbers neither overflow nor vanish.
    safe = 1e-30 < highest < 1e30 and abs(lowest) < 1e30
    return safe and postings * window // (SPAN - first) * choices[BLOCKS] > window // SIZE * (terms - added) > 0


@inner
def _kept(candidates, found, sums, lowest):
    """Keep the candidates whose sum is at least the lowest. Return their number."""
    n = 0
    for c in range(found):
        doc = candidates[c]
        candidates[n] = doc
        n += sums[doc] >= lowest
    return n


@inner
def _first_at_least(docs, begin, end, doc):
    """Return the first place from `begin` on with a document of at least `doc`, or the last place before `end`."""
    i, left = begin, end - begin
    while left > 1:
        half = left >> 1
        # Without a branch, which the processor would guess wrongly half of the time.
        i += half * (docs[i + half - 1] < doc)
        left -= half
    return i


@inner
def _look_up(docs, codes, halves, floats, lists, places, shares, t, bits, ranks, base, first, sums, candidates):
    """Add the impacts of a term to the sums of the candidates that contain it.

    `base` is the first document of the window, and `first` is its number among SPAN documents.
    """
    term, row, weight, begin, end = places[TERM, t], places[ROW, t], shares[WEIGHT, t], places[AT, t], places[END, t]
    if row >= 0:
        for c in range(len(candidates)):
            doc = base + candidates[c]
            word, bit = bits[row, doc >> 6], np.uint64(1) << np.uint64(doc & 63)
            if word & bit:
                place = lists[term, FIRST] + np.int64(ranks[row, doc >> 6]) + ones(word & (bit - np.uint64(1)))
                sums[candidates[c]] += weight * np.float64(impact_at(codes, halves, floats, lists, term, place))
    elif begin < end:
        for c in range(len(candidates)):
            doc = first + candidates[c]
            place = _first_at_least(docs, begin, end, np.uint16(doc))
            if docs[place] == doc:
                sums[candidates[c]] += weight * np.float64(impact_at(codes, halves, floats, lists, term, place))


@inner
def _in_order(docs, codes, halves, floats, lists, terms, places, shares, bits, ranks, base, first, sums, candidate):
    """Return the sum of the candidate in an array of one, with the terms added in the order of the query."""
    sums[candidate[0]] = 0.0
    for t in places[PLACE, :terms]:
        _look_up(docs, codes, halves, floats, lists, places, shares, t, bits, ranks, base, first, sums, candidate)
    return sums[candidate[0]]


@inner
def _clear(docs, at, stops, terms, first, sums):
    """Set the sums of a window to 0: all of them, or with few postings only the sums of their documents.

    The postings of term t in the window are those from at[t] to stops[t].
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


@inner
def _best(
    docs, runs, codes, lists, docno_ranks, bits, ranks, bounds, terms, threshold, k, limit, choices, places, shares, sums, noted, needed,
    candidates, keys,
):  # fmt: skip
    """Write the keys of the best documents for one query to `keys`, in no order. Return their number, at most k, and the threshold.

    Of every SPAN documents only those before the `limit` are looked at. A document is noted as a candidate when its sum first reaches the
    sum that it needs, and tested again with its final sum. A document that no term matches is never noted. Between windows all `sums` are 0
    and no document is `noted`.
    """
    halves, floats = codes.view(np.uint16), codes.view(np.float32)
    at, ends, stops, own, weights = places[AT], places[END], places[STOP], places[TERM], shares[WEIGHT]
    for t in range(terms):
        at[t] = ends[t] = lists[own[t], FIRST]
        places[LAST, t], places[RUN_AT, t] = at[t] + lists[own[t], COUNT], lists[own[t], RUN]
    n, base, margin = np.int64(0), np.int64(0), shares[REST, terms]
    added = _added(lists, terms, places, shares, threshold, k, choices)
    few = _postings_of(lists, own[:added]) * FEW < len(docno_ranks)
    sums = sums[: min(limit, SPAN if few else WINDOW)]
    needed[0] = _fetch(docs, floats, lists, own[:added], at)
    while True:
        doc = np.int64(SPAN)
        for t in range(added):
            if at[t] < ends[t]:
                doc = min(doc, np.int64(docs[at[t]]))
        if doc >= limit:
            added = _added(lists, terms, places, shares, threshold, k, choices)
            span = _next_span(runs, added, terms, places)
            if span < 0:
                break
            base = span * SPAN
            continue
        first = doc // len(sums) * len(sums)
        lowest = threshold - shares[REST, added]
        if _blocks_pay(lowest, added, terms, places, shares, first, len(sums), choices):
            need(
                lowest, shares[REST, 0], shares[TOP, added:terms], shares[WEIGHT, added:terms], places[ROW, added:terms], bounds,
                (base + first) // SIZE, needed[: len(sums) // SIZE],
            )  # fmt: skip
            found = _add_by_block(
                docs, codes, halves, floats, lists, own[:added], weights, at, ends, stops, np.uint64(first), needed, sums, noted,
                candidates,
            )  # fmt: skip
        else:
            found = _add_evenly(
                docs, codes, halves, floats, lists, own[:added], weights, at, ends, stops, np.uint64(first), lowest, sums, noted,
                candidates,
            )  # fmt: skip
        for c in range(found):
            noted[candidates[c]] = 0
        for t in range(added, terms):
            found = _kept(candidates, found, sums, threshold - shares[REST, t])
            _look_up(
                docs, codes, halves, floats, lists, places, shares, t, bits, ranks, base + first, first, sums, candidates[:found]
            )  # fmt: skip
        for c in range(found):
            total = sums[candidates[c]]
            if margin > 0 and np.float32(total - margin) != np.float32(total + margin):
                total = _in_order(
                    docs, codes, halves, floats, lists, terms, places, shares, bits, ranks, base + first, first, sums,
                    candidates[c : c + 1],
                )  # fmt: skip
            if total >= threshold - margin:
                if n == len(keys):
                    select(keys, n, k)
                    n = k
                    threshold = max(threshold, at_least(score_of(keys[k - 1])))
                keys[n] = key_of(total, docno_ranks[base + first + candidates[c]])
                n += 1
        _clear(docs, at, stops, added, first, sums)
        for t in range(added):
            at[t] = stops[t]
    if n >= k:
        select(keys, n, k)
        n = k
        threshold = max(threshold, at_least(score_of(keys[k - 1])))
    return n, threshold


@inner
def _enough(documents, k):
    """Return a number of documents in the sample that reach a score only if, most likely, k of all documents reach it."""
    sampled = documents // SPAN * SAMPLE + min(documents % SPAN, SAMPLE)
    mean = k * sampled / max(documents, 1)
    # At most one of 80 random samples has so many of the k - 1 best documents. (The worst k up to 1,000 is 12.)
    return np.int64(np.ceil(mean + 3 * np.sqrt(mean) + 0.5))


@kernel((
    U16, U32, U8, LISTS, I32, F32, F32, F32, BITS, RANKS, BOUNDS, I32, I64, I64, F64, F64, I64, PLACES, SHARES, F64, U8, F32, I32, U64,
    KEYS,
))  # fmt: skip
def retrieve(
    docs, runs, codes, lists, docno_ranks, least, most, kth, bits, ranks, bounds, row_of, query_ends, terms, weights, thresholds,
    choices, places, shares, sums, noted, needed, candidates, keys, found
):  # fmt: skip
    """Fill each row of `found` with the keys of the best documents for a query, in no order, followed by zeros.

    `docs`, `runs`, `codes` and `lists` hold the postings; the impacts of deleted documents are NaN. `least`, `most` and `kth` are the
    least, greatest and k-th best impact of each term. `bits`, `ranks` and `bounds` are the rows of the blocks, and `row_of` has the row of
    each term, -1 without one. `query_ends` are the ends of the queries in `terms` and `weights`; scores are rounded as if impacts were
    added in this order of the terms. `thresholds` has the threshold of each query after the segments before; the kernel raises it.
    `choices` say when terms are looked up, when the needs of blocks are computed, and when a guess is made. `places` and `shares`, which
    are longer than the longest query, and `sums` to `keys` are scratch arrays of the calling thread.
    """
    k, documents, begin = found.shape[1], len(docno_ranks), 0
    enough = _enough(documents, k)
    for q in range(len(query_ends)):
        own, factors = terms[begin : query_ends[q]], weights[begin : query_ends[q]]
        begin = query_ends[q]
        _plan(lists, row_of, least, most, own, factors, places, shares, len(own) <= MOST_SORTED)
        threshold = max(_first_threshold(own, factors, least, most, kth), thresholds[q])
        # Where the order of adding could change many scores, the terms keep the order of the query.
        if shares[REST, len(own)] != 0 and not shares[REST, len(own)] <= threshold * 2.0**-30:
            _plan(lists, row_of, least, most, own, factors, places, shares, False)
        added = _added(lists, len(own), places, shares, threshold, k, choices)
        many = _postings_of(lists, places[TERM, :added]) * choices[DOCUMENTS] > documents
        guess, limit = LOWEST, SAMPLE if many and enough <= k else SPAN
        while True:
            n, reached = _best(
                docs, runs, codes, lists, docno_ranks, bits, ranks, bounds, len(own), max(threshold, at_least(guess)), k, limit,
                choices, places, shares, sums, noted, needed, candidates, keys,
            )  # fmt: skip
            if limit == SAMPLE:
                limit, threshold = SPAN, max(threshold, reached)
                if n >= enough:
                    select(keys, n, enough)
                    guess = np.float64(score_of(keys[enough - 1]))
            elif guess == LOWEST or (n == k and score_of(keys[k - 1]) >= guess):
                break
            else:
                # Fewer than k documents reach the guess.
                guess = LOWEST
        thresholds[q] = reached
        for i in range(n):
            found[q, i] = keys[i]
        for i in range(n, k):
            found[q, i] = 0


@inner
def _skip(docs, i, end, doc):
    """Return the first place from i on with a document of at least `doc`, or `end`: a galloping, then a binary search."""
    step = 1
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


@inner
def _rescore_term(docs, runs, codes, lists, term, weight, wanted, sums):
    """Add the impacts of a term to the sums of the wanted documents, which ascend."""
    halves, floats = codes.view(np.uint16), codes.view(np.float32)
    run, i = lists[term, RUN], lists[term, FIRST]
    stop = i + lists[term, COUNT]
    end = i + (run_size(runs[run]) if i < stop else 0)
    for w in range(len(wanted)):
        span = np.int64(wanted[w]) >> 16
        while end < stop and np.int64(runs[run] >> np.uint32(16)) < span:
            run += 1
            i, end = end, end + run_size(runs[run])
        if i == stop or (np.int64(runs[run] >> np.uint32(16))) > span:
            continue
        i = _skip(docs, i, end, np.int64(wanted[w]) & 0xFFFF)
        if (
            i < end
            and span == np.int64(runs[run] >> np.uint32(16))
            and np.int64(docs[i]) == np.int64(wanted[w]) & 0xFFFF
        ):
            more = weight * np.float64(impact_at(codes, halves, floats, lists, term, i))
            sums[w] = more if sums[w] == NOTHING else sums[w] + more


@kernel((U16, U32, U8, LISTS, I64, I64, F64, I64, I32, F64))
def rescore(docs, runs, codes, lists, query_ends, terms, weights, wanted_ends, wanted, sums):
    """Write the scores of the wanted documents of each query to `sums`; NOTHING for a document that no term matches.

    `wanted_ends` are the ends of the queries in `wanted`, and the documents of a query ascend. Impacts are added in the order of the
    terms, as in `retrieve`, so both give the same sums.
    """
    begin = first = 0
    for q in range(len(query_ends)):
        end = wanted_ends[q]
        sums[first:end] = NOTHING
        for t in range(begin, query_ends[q]):
            _rescore_term(docs, runs, codes, lists, terms[t], weights[t], wanted[first:end], sums[first:end])
        begin, first = query_ends[q], end
