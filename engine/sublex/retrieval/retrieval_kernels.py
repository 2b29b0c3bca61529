"""Kernels of retrieval: sum the impacts of query terms over windows of documents, and keep the best k.

The threshold is a score that at least k documents reach. The kernel divides the query's terms into added terms and
looked-up terms, so that a document without an added term cannot reach the threshold. The impacts of the added terms are
summed for all documents. A document becomes a candidate if its sum, plus the most that the looked-up terms can add, reaches
the threshold. The looked-up terms are read only for the candidates.
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

# To guess a threshold, the kernel first searches a sample: the first SAMPLE documents of every SPAN documents.
SAMPLE = 1 << 10
# The terms of a query with more terms keep their order, because sorting them takes more time than it saves.
MOST_SORTED = 1 << 10
# `choices` has four numbers, at these places. "Added postings" are the postings of the added terms.
# HITS: a term can be a looked-up term only if it has more postings than k times this number.
# ADDED: a term without a row in the blocks can be a looked-up term only if it has more postings than this number times
# the added postings.
# BLOCKS: the sums that the documents of each block need are computed only if a < b times this number. a is the number of
# blocks in the window times the number of looked-up terms with a row. b is the number of added postings in the window.
# DOCUMENTS: a threshold is guessed if the index has fewer documents than this number times the added postings.
HITS, ADDED, BLOCKS, DOCUMENTS = 0, 1, 2, 3
# The value of `passing` for a document that passes a filter.
PASSES = 2
# The threshold as long as no document is known: the lowest finite float64. No real score is below it.
LOWEST = -1.7976931348623157e308


@inner
def _first_threshold(terms, weights, least, most, kth):
    """Return a score that at least k documents reach; LOWEST if no such score is known.

    `least`, `most` and `kth` have the least, greatest and k-th best impact of each term. For each term there are k
    documents whose impact is at least the k-th best impact of the term. Their scores are at least this impact times
    the term's weight, minus the most that the other terms can subtract.
    """
    threshold, lowered = LOWEST, 0.0
    for t in range(len(terms)):
        worst = weights[t] * np.float64(least[terms[t]] if weights[t] >= 0 else most[terms[t]])
        lowered += min(worst, 0.0)
    for t in range(len(terms)):
        if weights[t] > 0 and kth[terms[t]] > -np.inf:
            sure = weights[t] * np.float64(kth[terms[t]])
            # The kernel may add a document's impacts in another order, so a sum may be rounded differently. If large
            # parts cancel out, the error is still as large as for the parts, so the slack depends on the largest
            # possible parts.
            slack = len(terms) * 2.0**-50 * (abs(sure) - lowered)
            threshold = max(threshold, at_least(at_least(sure + lowered - slack)))
    return threshold


@inner
def _plan(lists, row_of, least, most, terms, weights, places, shares, sort):
    """Fill in `places` and `shares` for a query.

    With `sort`, the terms are sorted by the most that they can add to a score, divided by their number of postings. In
    this order, a sum may be rounded in another way than in the query's order. shares[REST, len(terms)] gets the
    largest possible difference, which is 0 if the terms keep the query's order.
    """
    n, order, own, tops, magnitude = len(terms), places[AT], places[TERM], shares[TOP], 0.0
    for t in range(n):
        term, low, high, top = terms[t], np.float64(least[terms[t]]), np.float64(most[terms[t]]), 0.0
        # A term without live postings has a least impact above its greatest impact.
        if weights[t] and low <= high:
            top = max(weights[t] * (high if weights[t] > 0 else low), 0.0)
            magnitude += abs(weights[t]) * max(abs(low), abs(high))
        p = t
        while sort and p > 0 and top * lists[own[p - 1], COUNT] > tops[p - 1] * lists[term, COUNT]:
            tops[p], order[p], own[p] = tops[p - 1], order[p - 1], own[p - 1]
            p -= 1
        tops[p], order[p], own[p] = top, t, term
    # Adding n numbers in another order changes their sum by less than n * 2**-52 times the sum of their absolute
    # values.
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
    """Return the number of added terms. A document that contains none of them stays below the threshold.

    The added terms are the first ones in `places`. When the threshold rises, their number stays the same or falls.
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
    """Return whether it saves time to compute, for each block of a window, the sum that makes a document a candidate."""
    postings, rows, highest = np.int64(0), np.int64(0), shares[REST, 0]
    for t in range(added):
        postings += places[END, t] - places[AT, t]
    for t in range(added, terms):
        rows += places[ROW, t] >= 0
    # The numbers are converted to float32. In this type they must neither overflow nor become 0.
    safe = 1e-30 < highest < 1e30 and abs(lowest) < 1e30
    return safe and postings * window // (SPAN - first) * choices[BLOCKS] > window // SIZE * rows > 0


@inner
def _passing(candidates, found, passing, first):
    """Move the candidates that pass the filter to the front, in their order. Return their number."""
    kept = np.int64(0)
    for c in range(found):
        if passing[first + candidates[c]] == PASSES:
            candidates[kept] = candidates[c]
            kept += 1
    return kept


@inner
def _best(
    docs, runs, codes, lists, docno_ranks, passing, bits, ranks, bounds, terms, threshold, k, limit, choices, places, shares, sums,
    noted, needed, candidates, keys,
):  # fmt: skip
    """Write the keys of the best documents for one query to `keys`, in no order. Only documents that pass count.

    Return the number of keys, at most k, and the new threshold. Only the first `limit` of every SPAN documents are
    searched. Between windows all `sums` are 0 and all `noted` are false. `retrieve` describes the other arguments.
    """
    # This is one long function, because a call for each window with all these arrays would take 2 to 6 % of the time.
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
        if len(passing):
            found = _passing(candidates, found, passing, base + first)
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
    """Return a number n: if n documents of the sample reach a score, very likely at least k of all documents reach it.

    `documents` is the number of all documents.
    """
    sampled = documents // SPAN * SAMPLE + min(documents % SPAN, SAMPLE)
    mean = k * sampled / max(documents, 1)
    # At most one of 80 random samples contains n of the k - 1 best documents. (Of all k up to 1,000, 12 is the worst.)
    return np.int64(np.ceil(mean + 3 * np.sqrt(mean) + 0.5))


@kernel((
    U16, U32, U8, LISTS, I32, F32, F32, U8, F32, BITS, RANKS, BOUNDS, I32, I64, I64, F64, F64, I64, PLACES, SHARES, F64, U8, F32, I32, U64,
    KEYS,
), before="search")  # fmt: skip
def retrieve(
    docs, runs, codes, lists, docno_ranks, least, most, passing, kth, bits, ranks, bounds, row_of, query_ends, terms, weights, thresholds,
    choices, places, shares, sums, noted, needed, candidates, keys, found
):  # fmt: skip
    """Write to each row of `found` the keys of the best documents for one query, in no order, followed by zeros.

    The postings are in `docs`, `runs`, `codes` and `lists`; the impacts of deleted documents are NaN. `least`, `most`
    and `kth` have the least, greatest and k-th best impact of each term. If `passing` is not empty, it says whether each
    document passes a filter, and only such documents are found. `kth` then has impacts at a greater depth: the depth at
    which k documents pass, if documents pass at random. `bits`, `ranks` and `bounds` are the arrays of the blocks; `row_of`
    has the row of each term in them, or -1.

    `query_ends` has the place in `terms` and `weights` where each query ends. Scores are rounded as if the impacts were
    added in the order of `terms`. `thresholds` has the threshold of each query after the search in earlier segments; the
    kernel raises it. The comment above HITS describes `choices`.

    The other arrays are scratch arrays of the calling thread. `places` and `shares` have more columns than the longest
    query has terms.
    """
    k, documents, begin = found.shape[1], len(docno_ranks), 0
    enough = _enough(documents, k)
    for q in range(len(query_ends)):
        own, factors = terms[begin : query_ends[q]], weights[begin : query_ends[q]]
        begin = query_ends[q]
        _plan(lists, row_of, least, most, own, factors, places, shares, len(own) <= MOST_SORTED)
        likely = max(_first_threshold(own, factors, least, most, kth), thresholds[q])
        # If another order of adding could change many scores, the terms keep the order of the query.
        if shares[REST, len(own)] != 0 and not shares[REST, len(own)] <= likely * 2.0**-30:
            _plan(lists, row_of, least, most, own, factors, places, shares, False)
        added = _added(lists, len(own), places, shares, likely, k, choices)
        many = postings_of(lists, places[TERM, :added]) * choices[DOCUMENTS] > documents
        threshold, guess = likely, LOWEST
        if len(passing) and likely > thresholds[q]:
            # The documents that reach this score may not pass the filter, so it is only a guess.
            threshold, guess = thresholds[q], likely
        samples = many and enough <= k
        limit, again = SAMPLE if samples else SPAN, samples and guess > LOWEST
        while True:
            n, reached = _best(
                docs, runs, codes, lists, docno_ranks, passing, bits, ranks, bounds, len(own), max(threshold, at_least(guess)), k,
                limit, choices, places, shares, sums, noted, needed, candidates, keys,
            )  # fmt: skip
            if limit == SAMPLE:
                limit = SPAN
                if n >= k:
                    threshold = max(threshold, reached)
                if n >= enough:
                    select(keys, n, enough)
                    guess = max(guess, np.float64(score_of(keys[enough - 1])))
            elif guess == LOWEST or (n == k and score_of(keys[k - 1]) >= guess):
                break
            else:
                # Fewer than k documents reach the guessed threshold, so the search begins again without it.
                guess, limit, again = LOWEST, SAMPLE if again else SPAN, False
        thresholds[q] = reached
        for i in range(n):
            found[q, i] = keys[i]
        for i in range(n, k):
            found[q, i] = 0
