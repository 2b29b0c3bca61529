"""Kernels of retrieval: sum the impacts of query terms over windows of documents, and keep the best k.

The threshold is a score that at least k documents reach. Only some terms are added up: no document reaches the
threshold without one of them. A document becomes a candidate when its sum can reach the threshold together with the
other terms. The other terms are then looked up for the candidates alone.
"""

from __future__ import annotations

import numpy as np
from numba import float64, int64

from sublex.retrieval.block_kernels import BITS, BOUNDS, RANKS, SIZE, set_needed
from sublex.retrieval.coding.coding_kernels import COUNT, F32, F64, I32, I64, LISTS, SPAN, U8, U16, U32, U64
from sublex.retrieval.key_kernels import KEYS, at_least, key_of, score_of, select
from sublex.retrieval.window_kernels import (
    AT,
    END,
    FEW,
    PLACE,
    REST,
    ROW,
    STOP,
    TERM,
    TOP,
    WEIGHT,
    WINDOW,
    add_by_block,
    add_evenly,
    clear,
    fetch,
    in_order,
    kept,
    look_up,
    next_span,
    postings_of,
    start,
)
from sublex.tools.compiled import inner, kernel

# The types of arguments.
PLACES = int64[:, ::1]
SHARES = float64[:, ::1]

# The documents among every SPAN that are in the sample for a guess.
SAMPLE = 1 << 10
# Queries with more terms keep their order, because sorting them takes longer than it saves.
MOST_SORTED = 1 << 10
# `choices` has four numbers, at these places:
# HITS: a term is looked up only if it has more than this number of postings for each of the k hits.
# ADDED: a term without a row in the blocks is looked up only if it has more than this number of postings for each
# posting that is added up. BLOCKS: what documents of each block need is computed if, for each posting that is added up
# in the window, its blocks times the looked-up terms with a row are fewer than this number.
# DOCUMENTS: a guess is made if the index has fewer than this number of documents for each posting that is added up.
HITS, ADDED, BLOCKS, DOCUMENTS = 0, 1, 2, 3
# The threshold before any document is known: the lowest finite float64, so that no real score is below it.
LOWEST = -1.7976931348623157e308


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
def _plan(lists, row_of, least, most, terms, weights, places, shares, sort):
    """Fill `places` and `shares` for a query. With `sort`, the first terms are those that add the most for each posting.

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
    # Adding n numbers in another order changes their sum by less than n * 2**-52 times the sum of their absolute values.
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
def _blocks_pay(lowest, added, terms, places, shares, first, window, choices):
    """Return whether to compute for each block of a window the sum that its documents need."""
    postings, rows, highest = np.int64(0), np.int64(0), shares[REST, 0]
    for t in range(added):
        postings += places[END, t] - places[AT, t]
    for t in range(added, terms):
        rows += places[ROW, t] >= 0
    # In float32 these numbers neither overflow nor vanish.
    safe = 1e-30 < highest < 1e30 and abs(lowest) < 1e30
    return safe and postings * window // (SPAN - first) * choices[BLOCKS] > window // SIZE * rows > 0


@inner
def _best(
    docs, runs, codes, lists, docno_ranks, bits, ranks, bounds, terms, threshold, k, limit, choices, places, shares, sums, noted, needed,
    candidates, keys,
):  # fmt: skip
    """Write the keys of the best documents for one query to `keys`, in no order.

    Return their number, at most k, and the threshold. Among every SPAN documents, only those before `limit` count.
    Between windows all `sums` are 0 and no document is `noted`.
    """
    # One function does all of this, because handing its arrays to another for each window takes 2 to 6 % of the time.
    halves, floats = codes.view(np.uint16), codes.view(np.float32)
    at, ends, stops, own, weights = places[AT], places[END], places[STOP], places[TERM], shares[WEIGHT]
    start(lists, terms, places)
    n, base, margin = np.int64(0), np.int64(0), shares[REST, terms]
    added = _added(lists, terms, places, shares, threshold, k, choices)
    few = postings_of(lists, own[:added]) * FEW < len(docno_ranks)
    sums = sums[: min(limit, SPAN if few else WINDOW)]
    needed[0] = fetch(docs, floats, lists, own[:added], at)
    while True:
        doc = np.int64(SPAN)
        for t in range(added):
            if at[t] < ends[t]:
                doc = min(doc, np.int64(docs[at[t]]))
        if doc >= limit:
            added = _added(lists, terms, places, shares, threshold, k, choices)
            span = next_span(runs, added, terms, places)
            if span < 0:
                break
            base = span * SPAN
            continue
        first = doc // len(sums) * len(sums)
        lowest = threshold - shares[REST, added]
        if _blocks_pay(lowest, added, terms, places, shares, first, len(sums), choices):
            set_needed(
                lowest, shares[REST, 0], shares[TOP, added:terms], shares[WEIGHT, added:terms], places[ROW, added:terms], bounds,
                (base + first) // SIZE, needed[: len(sums) // SIZE],
            )  # fmt: skip
            found = add_by_block(
                docs, codes, halves, floats, lists, own[:added], weights, at, ends, stops, np.uint64(first), needed, sums, noted, candidates
            )  # fmt: skip
        else:
            found = add_evenly(
                docs, codes, halves, floats, lists, own[:added], weights, at, ends, stops, np.uint64(first), lowest, sums, noted, candidates
            )  # fmt: skip
        for c in range(found):
            noted[candidates[c]] = 0
        for t in range(added, terms):
            found = kept(candidates, found, sums, threshold - shares[REST, t])
            look_up(
                docs, codes, halves, floats, lists, places, shares, t, bits, ranks, base + first, first, sums, candidates[:found]
            )  # fmt: skip
        for c in range(found):
            total = sums[candidates[c]]
            if margin > 0 and np.float32(total - margin) != np.float32(total + margin):
                total = in_order(
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
        clear(docs, at, stops, added, first, sums)
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
    # At most one of 80 random samples holds this number of the k - 1 best documents. (The worst k up to 1,000 is 12.)
    return np.int64(np.ceil(mean + 3 * np.sqrt(mean) + 0.5))


@kernel((
    U16, U32, U8, LISTS, I32, F32, F32, F32, BITS, RANKS, BOUNDS, I32, I64, I64, F64, F64, I64, PLACES, SHARES, F64, U8, F32, I32, U64,
    KEYS,
), before="search")  # fmt: skip
def retrieve(
    docs, runs, codes, lists, docno_ranks, least, most, kth, bits, ranks, bounds, row_of, query_ends, terms, weights, thresholds,
    choices, places, shares, sums, noted, needed, candidates, keys, found
):  # fmt: skip
    """Fill each row of `found` with the keys of the best documents for a query, in no order, followed by zeros.

    `docs`, `runs`, `codes` and `lists` hold the postings; the impacts of deleted documents are NaN. `least`, `most` and
    `kth` are the least, greatest and k-th best impact of each term. `bits`, `ranks` and `bounds` are the arrays of the
    blocks, and `row_of` has the row of each term in them, -1 without one. `query_ends` are the ends of the queries in
    `terms` and `weights`; scores are rounded as if impacts were added in this order of the terms. `thresholds` has the
    threshold of each query after the segments before; the kernel raises it. `choices` are described above. `places` and
    `shares`, which are longer than the longest query, and `sums` to `keys` are scratch arrays of the calling thread.
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
        many = postings_of(lists, places[TERM, :added]) * choices[DOCUMENTS] > documents
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
