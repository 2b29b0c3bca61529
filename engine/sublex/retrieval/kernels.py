"""Kernels of retrieval: sum the impacts of query terms over windows of documents, and keep the best k.

A document becomes a candidate when its sum reaches a threshold, a score that at least k documents reach. A candidate is stored as one
uint64, its key: the float32 score, mapped to an unsigned integer of the same order, in the upper half, and the rank of the docno in
the lower half. The larger key ranks higher, ties included, so the best k documents are those with the k largest keys.
"""

from __future__ import annotations

import numpy as np
from numba import boolean, float32, float64, int32, int64, uint8, uint64

from sublex.compiled import inner, kernel

# The types of arguments.
U8 = uint8[::1]
U64 = uint64[::1]
I32 = int32[::1]
I64 = int64[::1]
F32 = float32[::1]
F64 = float64[::1]
FLAGS = boolean[::1]
DOCS = int32[:, ::1]
SCORES = float32[:, ::1]
KEYS = uint64[:, ::1]
CURSORS = int64[:, ::1]

# Documents per window. Their float64 sums, 128 KB, fit the processor's cache.
WINDOW = 1 << 14
# The score of a document that no term matches; below every real score.
NOTHING = -np.inf
# The threshold before any document is known: the lowest finite float64, so that no real score is below it.
LOWEST = -1.7976931348623157e308
# The k for which the k-th best impact of each term is known.
LEVELS = (10, 100, 1000)


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
def _best(docs, impacts, terms, weights, at, ends, stops, threshold, docno_ranks, k, sums, noted, candidates, keys):
    """Write the keys of the best documents for one query to `keys`, in no order. Return their number, at most k, and the threshold.

    `at` and `ends` are the places of each term's remaining postings; `at` moves to `ends`. A document is noted as a candidate when its
    sum first reaches the threshold, and tested again with its final sum; a document that no term matches is never noted.
    Between windows all `sums` are 0 and no document is `noted`.
    """
    n = np.int64(0)
    while True:
        lowest = np.int64(len(docno_ranks))
        for t in range(len(terms)):
            if at[t] < ends[t]:
                lowest = min(lowest, np.int64(docs[at[t]]))
        if lowest == len(docno_ranks):
            break
        base = lowest // WINDOW * WINDOW
        found = postings = 0
        for t in range(len(terms)):
            # Unsigned indexes: for signed ones Numba adds a test whether they count from the end.
            i, end, first, weight = np.uint64(at[t]), np.uint64(ends[t]), np.uint64(base), weights[t]
            while i < end:
                doc = np.uint64(docs[i]) - first
                if doc >= np.uint64(WINDOW):
                    break
                total = sums[doc] + weight * np.float64(impacts[i])
                sums[doc] = total
                if total >= threshold and not noted[doc]:
                    noted[doc] = 1
                    candidates[found] = doc
                    found += 1
                i += np.uint64(1)
            stops[t] = i
            postings += stops[t] - at[t]
        for c in range(found):
            total = sums[candidates[c]]
            noted[candidates[c]] = 0
            if total >= threshold:
                if n == len(keys):
                    select(keys, n, k)
                    n = k
                    threshold = max(threshold, at_least(score_of(keys[k - 1])))
                keys[n] = key_of(total, docno_ranks[base + candidates[c]])
                n += 1
        if 16 * postings < WINDOW:
            for t in range(len(terms)):
                for i in range(at[t], stops[t]):
                    sums[docs[i] - base] = 0.0
        else:
            sums[:] = 0.0
        for t in range(len(terms)):
            at[t] = stops[t]
    if n >= k:
        select(keys, n, k)
        n = k
        threshold = max(threshold, at_least(score_of(keys[k - 1])))
    return n, threshold


@kernel((I32, F32, I64, F32, F32, F32, I32, I64, I64, F64, F64, CURSORS, F64, U8, I32, U64, KEYS, FLAGS))
def retrieve(
    docs, impacts, starts, least, most, kth, docno_ranks, query_ends, terms, weights, thresholds,
    cursors, sums, noted, candidates, keys, found, answered
):  # fmt: skip
    """Fill each row of `found` with the keys of the best documents for a query, in no order, followed by zeros.

    The postings of term t are at the places starts[t] to starts[t + 1] of (docs, impacts); the impacts of deleted documents are NaN.
    `least`, `most` and `kth` are the least, greatest and k-th best impact of each term. `query_ends` are the ends of the queries in
    `terms` and `weights`; impacts are added in this order of the terms. `thresholds` has the threshold that each query reached in the
    segments before, and is raised. `cursors`, three rows as long as the longest query, `sums`, `noted`, `candidates` and `keys`
    are scratch arrays of the calling thread. Queries that are `answered` already are left as they are.
    """
    k = found.shape[1]
    begin = 0
    for q in range(len(query_ends)):
        own, factors = terms[begin : query_ends[q]], weights[begin : query_ends[q]]
        begin = query_ends[q]
        if answered[q]:
            continue
        threshold = first_threshold(own, factors, least, most, kth)
        at, ends, stops = cursors[0], cursors[1], cursors[2]
        for t in range(len(own)):
            at[t], ends[t] = starts[own[t]], starts[own[t] + 1]
        n, thresholds[q] = _best(
            docs, impacts, own, factors, at, ends, stops, max(threshold, thresholds[q]), docno_ranks, k, sums, noted,
            candidates, keys,
        )  # fmt: skip
        for i in range(n):
            found[q, i] = keys[i]
        for i in range(n, k):
            found[q, i] = 0


@kernel((I64, I64, I32, F32, FLAGS, I32, F32, F32, F32, SCORES, F32))
def place(terms, starts, docs_in, impacts_in, dead, docs, impacts, least, most, kth, live):
    """Copy the postings of some terms to their places in (docs, impacts), with NaN as the impact of a deleted document.

    `docs_in` and `impacts_in` hold the postings of these terms one after the other. `least`, `most` and `kth` receive the least,
    the greatest and, for each of LEVELS, the k-th best impact of each term among live documents. `live` is scratch memory
    for the impacts of a term.
    """
    o = 0
    for term in terms:
        begin = starts[term]
        n = np.int64(0)
        for i in range(begin, starts[term + 1]):
            docs[i], impacts[i] = docs_in[o], impacts_in[o]
            if dead[docs_in[o]]:
                impacts[i] = np.nan
            else:
                live[n] = impacts_in[o]
                n += 1
            o += 1
        least[term], most[term] = np.inf, -np.inf
        for i in range(n):
            least[term], most[term] = min(least[term], live[i]), max(most[term], live[i])
        for level in range(len(LEVELS)):
            k = LEVELS[len(LEVELS) - 1 - level]
            if n >= k:
                select(live, n, k)
                kth[len(LEVELS) - 1 - level, term] = live[k - 1]
                n = k


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


@kernel((I32, F32, I64, I64, I64, F64, I64, I32, F64))
def rescore(docs, impacts, starts, query_ends, terms, weights, wanted_ends, wanted, sums):
    """Write the scores of the wanted documents of each query to `sums`; NOTHING for a document that no term matches.

    `wanted_ends` are the ends of the queries in `wanted`, and the documents of a query ascend. Impacts are added in the order of the
    terms, as in `retrieve`, so both give the same sums.
    """
    begin = first = 0
    for q in range(len(query_ends)):
        sums[first : wanted_ends[q]] = NOTHING
        for t in range(begin, query_ends[q]):
            i, end = starts[terms[t]], starts[terms[t] + 1]
            for w in range(first, wanted_ends[q]):
                i = _skip(docs, i, end, wanted[w])
                if i == end:
                    break
                if docs[i] == wanted[w]:
                    more = weights[t] * np.float64(impacts[i])
                    sums[w] = more if sums[w] == NOTHING else sums[w] + more
        begin, first = query_ends[q], wanted_ends[q]
