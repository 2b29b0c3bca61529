"""Kernels of retrieval: sum the impacts of query terms over windows of documents, and keep the best k.

A document becomes a candidate when its sum reaches a threshold, a score that at least k documents reach. A candidate is stored as one
uint64, its key: the float32 score, mapped to an unsigned integer of the same order, in the upper half, and the rank of the docno in
the lower half. The larger key ranks higher, ties included, so the best k documents are those with the k largest keys.
"""

from __future__ import annotations

import numpy as np
from numba import float32, int32, int64, uint64

from sublex.compiled import inner, kernel
from sublex.retrieval.coding.kernels import (
    BEGIN,
    COUNT,
    F32,
    F64,
    FIRST,
    FLAGS,
    I32,
    I64,
    LISTS,
    RUN,
    SPAN,
    U8,
    U16,
    U32,
    U64,
    WIDTH,
    code_place,
    impact_at,
    run_size,
)

# The types of arguments that the kernels of coding do not have.
DOCS = int32[:, ::1]
SCORES = float32[:, ::1]
KEYS = uint64[:, ::1]
CURSORS = int64[:, ::1]

# Documents per window. Their float64 sums, 128 KB, fit the processor's cache. A query with few postings has windows of SPAN documents.
WINDOW = 1 << 14
# A query has few postings if it has less than one posting for so many documents.
FEW = 8
# The most terms of a query that blocks answer.
MOST_TERMS = 1000
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
def first_threshold(terms, weights, least, most, kth):
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
def postings_of(lists, terms):
    """Return the number of postings of some terms."""
    postings = np.int64(0)
    for term in terms:
        postings += lists[term, COUNT]
    return postings


@inner
def _next_span(runs, at, ends, stops, next_runs):
    """Turn to the next 65,536 documents that any term is in: move the `ends` of its postings there. Return their number, or -1.

    `at` equals `ends`; `stops` are the ends of the terms' lists.
    """
    span = np.int64(SPAN)
    for t in range(len(ends)):
        if ends[t] < stops[t]:
            span = min(span, np.int64(runs[next_runs[t]] >> np.uint32(16)))
    if span == SPAN:
        return np.int64(-1)
    for t in range(len(ends)):
        if ends[t] < stops[t] and np.int64(runs[next_runs[t]] >> np.uint32(16)) == span:
            ends[t] += run_size(runs[next_runs[t]])
            next_runs[t] += 1
    return span


@inner
def _add_values(
    docs, codes, values, i, end, to_code, to_value, first, weight, threshold, sums, noted, candidates, found
):
    """Add the impacts of a term with a table to the sums of a window. Return the place of the next posting, and `found`."""
    # Unsigned indexes: for signed ones Numba adds a test whether they count from the end.
    while i < end:
        doc = np.uint64(docs[i]) - first
        if doc >= np.uint64(len(sums)):
            break
        total = sums[doc] + weight * np.float64(values[to_value + np.uint64(codes[i + to_code])])
        sums[doc] = total
        if total >= threshold and not noted[doc]:
            noted[doc] = 1
            candidates[found] = doc
            found += 1
        i += np.uint64(1)
    return i, found


@inner
def _add_impacts(docs, impacts, i, end, to_impact, first, weight, threshold, sums, noted, candidates, found):
    """Add the impacts of a term without a table to the sums of a window. Return the place of the next posting, and `found`."""
    while i < end:
        doc = np.uint64(docs[i]) - first
        if doc >= np.uint64(len(sums)):
            break
        total = sums[doc] + weight * np.float64(impacts[i + to_impact])
        sums[doc] = total
        if total >= threshold and not noted[doc]:
            noted[doc] = 1
            candidates[found] = doc
            found += 1
        i += np.uint64(1)
    return i, found


@inner
def _add_window(
    docs, codes, halves, floats, lists, terms, weights, at, ends, stops, first, threshold, sums, noted, candidates
):
    """Add the impacts of all terms in a window to its sums. Return the number of candidates."""
    found = 0
    for t in range(len(terms)):
        i, end, weight, width = np.uint64(at[t]), np.uint64(ends[t]), weights[t], lists[terms[t], WIDTH]
        to_code = np.uint64(code_place(lists, terms[t]) - lists[terms[t], FIRST])
        values = np.uint64(lists[terms[t], BEGIN] >> 2)
        if width == 2:
            i, found = _add_values(
                docs, halves, floats, i, end, to_code, values, first, weight, threshold, sums, noted, candidates, found
            )
        elif width == 4:
            i, found = _add_impacts(
                docs, floats, i, end, to_code, first, weight, threshold, sums, noted, candidates, found
            )
        else:
            i, found = _add_values(
                docs, codes, floats, i, end, to_code, values, first, weight, threshold, sums, noted, candidates, found
            )
        stops[t] = i
    return found


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
def _best(docs, runs, codes, lists, terms, weights, cursors, threshold, docno_ranks, k, sums, noted, candidates, keys):
    """Write the keys of the best documents for one query to `keys`, in no order. Return their number, at most k, and the threshold.

    A document is noted as a candidate when its sum first reaches the threshold, and tested again with its final sum; a document that
    no term matches is never noted. Between windows all `sums` are 0 and no document is `noted`.
    """
    halves, floats = codes.view(np.uint16), codes.view(np.float32)
    at, ends, stops, lasts, next_runs = cursors[0], cursors[1], cursors[2], cursors[3], cursors[4]
    for t in range(len(terms)):
        at[t] = ends[t] = lists[terms[t], FIRST]
        lasts[t], next_runs[t] = at[t] + lists[terms[t], COUNT], lists[terms[t], RUN]
    n, base = np.int64(0), np.int64(0)
    sums = sums[: SPAN if postings_of(lists, terms) * FEW < len(docno_ranks) else WINDOW]
    while True:
        lowest = np.int64(SPAN)
        for t in range(len(terms)):
            if at[t] < ends[t]:
                lowest = min(lowest, np.int64(docs[at[t]]))
        if lowest == SPAN:
            span = _next_span(runs, at, ends[: len(terms)], lasts, next_runs)
            if span < 0:
                break
            base = span * SPAN
            continue
        first = lowest // len(sums) * len(sums)
        found = _add_window(
            docs, codes, halves, floats, lists, terms, weights, at, ends, stops, np.uint64(first), threshold, sums, noted,
            candidates,
        )  # fmt: skip
        for c in range(found):
            total = sums[candidates[c]]
            noted[candidates[c]] = 0
            if total >= threshold:
                if n == len(keys):
                    select(keys, n, k)
                    n = k
                    threshold = max(threshold, at_least(score_of(keys[k - 1])))
                keys[n] = key_of(total, docno_ranks[base + first + candidates[c]])
                n += 1
        _clear(docs, at, stops, len(terms), first, sums)
        for t in range(len(terms)):
            at[t] = stops[t]
    if n >= k:
        select(keys, n, k)
        n = k
        threshold = max(threshold, at_least(score_of(keys[k - 1])))
    return n, threshold


@inner
def most_visits_of(terms, rows, lists, blocks, k, costs):
    """Return how many blocks can be visited in the time that it takes to add up a query; 0 if blocks do not seem to pay."""
    postings, cost, visit = 0, 0.0, costs[2] * len(terms)
    for t in range(len(terms)):
        own = lists[terms[t], COUNT]
        postings += own
        cost += own if rows[t] < 0 else costs[0] / 100 * blocks
    return postings / visit if postings > cost + costs[1] * k**1.3 * visit and len(terms) <= MOST_TERMS else 0.0


@kernel((
    U16, U32, U8, LISTS, I32, F32, F32, F32, I64, I64, F64, I32, F64, F64, int64, CURSORS, F64, U8, I32, U64, KEYS, FLAGS,
))  # fmt: skip
def retrieve(
    docs, runs, codes, lists, docno_ranks, least, most, kth, query_ends, terms, weights, all_rows, costs, thresholds, blocks,
    cursors, sums, noted, candidates, keys, found, answered
):  # fmt: skip
    """Fill each row of `found` with the keys of the best documents for a query, in no order, followed by zeros.

    Queries that are `answered`, and those for which blocks seem to pay, are left as they are. Return the number of the latter.

    `docs`, `runs`, `codes` and `lists` hold the postings; the impacts of deleted documents are NaN.
    `least`, `most` and `kth` are the least, greatest and k-th best impact of each term. `query_ends` are the ends of the queries in
    `terms` and `weights`; impacts are added in this order of the terms. `all_rows` has the row of each query term in the blocks,
    -1 without one, `blocks` is the number of blocks, and `costs` tell when they pay; with 0 blocks they never do.
    `thresholds` has the threshold that each query reached in the segments before, and is raised. `cursors`, five rows as long as the
    longest query, `sums`, `noted`, `candidates` and `keys` are scratch arrays of the calling thread.
    """
    k = found.shape[1]
    begin = left = 0
    for q in range(len(query_ends)):
        end = query_ends[q]
        own, factors, rows = terms[begin:end], weights[begin:end], all_rows[begin:end]
        begin = end
        if answered[q]:
            continue
        if blocks and most_visits_of(own, rows, lists, blocks, k, costs) > 0:
            left += 1
            continue
        answered[q] = True
        threshold = max(first_threshold(own, factors, least, most, kth), thresholds[q])
        n, thresholds[q] = _best(
            docs, runs, codes, lists, own, factors, cursors, threshold, docno_ranks, k, sums, noted, candidates, keys
        )
        for i in range(n):
            found[q, i] = keys[i]
        for i in range(n, k):
            found[q, i] = 0
    return left


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
