"""Kernels of retrieval: impacts are added up in windows of documents, and whoever rises above the threshold is a candidate.

A candidate is one number, its key: the float32 score, made to sort as an unsigned integer, above the rank of its docno. So the
larger key ranks higher, ties included, and choosing the best k is choosing the k largest integers.
"""

from __future__ import annotations

import numpy as np
from numba import njit

WINDOW = 1 << 14
# Says that no term matched; below every score.
NOTHING = -np.inf
LOWEST = -1.7976931348623157e308
LEVELS = (10, 100, 1000)


@njit(cache=True, nogil=True)
def key_of(score, rank):
    """The key of a score, rounded to float32, and the rank of a docno."""
    # Adding zero makes -0 a tie with 0.
    rounded = np.float32(np.float32(score) + np.float32(0))
    bits = np.int64(rounded.view(np.int32))
    if bits < 0:
        bits = ~bits & np.int64(0x7FFFFFFF)
    else:
        bits = bits | np.int64(0x80000000)
    return np.uint64((bits << 32) | np.int64(rank))


@njit(cache=True, nogil=True)
def score_of(key):
    """The float32 score in a key."""
    bits = np.int64(key >> np.uint64(32))
    if bits >> 31:
        bits = bits & np.int64(0x7FFFFFFF)
    else:
        bits = ~bits
    return np.int32(bits).view(np.float32)


@njit(cache=True, nogil=True)
def unpack(keys, docs_by_docno, docs, scores, counts):
    """Rows of ascending keys into documents and scores, best first, and how many each row has; a key of 0 stands for nothing."""
    width = keys.shape[1]
    for q in range(len(keys)):
        n = 0
        while n < docs.shape[1] and keys[q, width - 1 - n]:
            key = keys[q, width - 1 - n]
            docs[q, n] = docs_by_docno[np.int64(key & np.uint64(0xFFFFFFFF))]
            scores[q, n] = score_of(key)
            n += 1
        counts[q] = n


@njit(cache=True, nogil=True)
def select(values, n, k):
    """Reorder the first n values so that the k largest stand first, the least of them last."""
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


@njit(cache=True, nogil=True)
def _at_least(score):
    """What a float64 sum must reach to be rounded to this float32 score, or a little less."""
    return np.float64(np.nextafter(np.float32(score), np.float32(-np.inf)))


@njit(cache=True, nogil=True)
def _first_threshold(terms, weights, least, most, kth):
    """A score that k documents reach, from the k-th best impact of each term and what the others may take away."""
    threshold, lowered = LOWEST, 0.0
    for t in range(len(terms)):
        worst = weights[t] * np.float64(least[terms[t]] if weights[t] >= 0 else most[terms[t]])
        lowered += min(worst, 0.0)
    for t in range(len(terms)):
        if weights[t] > 0 and kth[terms[t]] > -np.inf:
            sure = weights[t] * np.float64(kth[terms[t]])
            # A document's sum is rounded in another order, and what cancels out leaves the error of its large parts.
            slack = len(terms) * 2.0**-50 * (abs(sure) - lowered)
            threshold = max(threshold, _at_least(_at_least(sure + lowered - slack)))
    return threshold


@njit(cache=True, nogil=True)
def _best(docs, impacts, terms, weights, at, ends, stops, threshold, docno_ranks, k, sums, noted, candidates, keys):
    """The keys of one query's best documents, at most k in no order, and the threshold reached.

    A document whose sum ends at the threshold or above is noted when it first gets there, a document not met never. Between windows
    all `sums` are 0 and no document is `noted`.
    """
    n = 0
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
            # Unsigned places spare the kernel the question whether they count from the end.
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
                    threshold = max(threshold, _at_least(score_of(keys[k - 1])))
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
        threshold = max(threshold, _at_least(score_of(keys[k - 1])))
    return n, threshold


@njit(cache=True, nogil=True)
def retrieve(
    docs, impacts, starts, least, most, kth, docno_ranks, query_ends, terms, weights, thresholds,
    sums, noted, candidates, keys, found
):  # fmt: skip
    """Fill each row of `found` with the keys of a query's best documents, in no order, and zeros.

    Term t's postings are places starts[t] to starts[t + 1] of (docs, impacts); a deleted document's impacts are NaN. A query's terms
    are added in the order given. `thresholds` are what earlier segments reached, and are raised.
    """
    k = found.shape[1]
    begin = 0
    for q in range(len(query_ends)):
        own, factors = terms[begin : query_ends[q]], weights[begin : query_ends[q]]
        begin = query_ends[q]
        threshold = _first_threshold(own, factors, least, most, kth)
        at, ends, stops = starts[own], starts[own + 1], np.empty(len(own), np.int64)
        n, thresholds[q] = _best(
            docs, impacts, own, factors, at, ends, stops, max(threshold, thresholds[q]), docno_ranks, k, sums, noted,
            candidates, keys,
        )  # fmt: skip
        found[q, :n] = keys[:n]
        found[q, n:] = 0


@njit(cache=True, nogil=True)
def place(terms, starts, docs_in, impacts_in, dead, docs, impacts, least, most, kth):
    """Put terms' postings, given one after the other, into their places, and note their least, greatest and k-th best impacts."""
    o = 0
    for term in terms:
        begin = starts[term]
        live = np.empty(starts[term + 1] - begin, np.float32)
        n = 0
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


@njit(cache=True, nogil=True)
def _skip(docs, i, end, doc):
    """The first place from i on whose document is not below `doc`: steps that double, then halving."""
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


@njit(cache=True, nogil=True)
def rescore(docs, impacts, starts, query_ends, terms, weights, wanted_ends, wanted, sums):
    """Add up the scores of each query's wanted documents, which ascend; the terms in the order given, as `retrieve` does."""
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
