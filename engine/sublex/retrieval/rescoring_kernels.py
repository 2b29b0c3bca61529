"""Kernels of rescoring: compute the scores of given documents. A score equals the score that retrieval computes."""

from __future__ import annotations

import numpy as np

from sublex.retrieval.block_kernels import BITS, RANKS
from sublex.retrieval.coding.coding_kernels import (
    COUNT,
    F64,
    FIRST,
    I32,
    I64,
    LISTS,
    RUN,
    U8,
    U16,
    U32,
    U64,
    impact_at,
    run_size,
    skip_to,
)
from sublex.retrieval.key_kernels import KEYS, key_of, select
from sublex.tools.bit_kernels import ones
from sublex.tools.compiled import inner, kernel

# The value of `passing` for a document that passes a filter.
PASSES = 2
# If a term has at most POSTINGS postings for each wanted document, the kernel goes through the postings. Otherwise it looks
# up each document.
POSTINGS = 8
# The score of a document that contains no term of the query. It is below every real score.
NOTHING = -np.inf


@inner
def _rescore_term(docs, runs, codes, lists, term, weight, wanted, sums):
    """Add the impacts of a term to the sums of the wanted documents. `wanted` must be in ascending order."""
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
        i = skip_to(docs, i, end, np.int64(wanted[w]) & 0xFFFF)
        if (
            i < end
            and span == np.int64(runs[run] >> np.uint32(16))
            and np.int64(docs[i]) == np.int64(wanted[w]) & 0xFFFF
        ):
            more = weight * np.float64(impact_at(codes, halves, floats, lists, term, i))
            sums[w] = more if sums[w] == NOTHING else sums[w] + more


@kernel((U16, U32, U8, LISTS, I64, I64, F64, I64, I32, F64), before="explain")
def rescore(docs, runs, codes, lists, query_ends, terms, weights, wanted_ends, wanted, sums):
    """Write the scores of the wanted documents of each query to `sums`. A document without a query term gets NOTHING.

    `query_ends` has the place in `terms` where each query ends, and `wanted_ends` the place in `wanted`. The documents
    of a query ascend. Impacts are added in the order of the terms, so the sums equal the sums of `retrieve`.
    """
    begin = first = 0
    for q in range(len(query_ends)):
        end = wanted_ends[q]
        sums[first:end] = NOTHING
        for t in range(begin, query_ends[q]):
            _rescore_term(docs, runs, codes, lists, terms[t], weights[t], wanted[first:end], sums[first:end])
        begin, first = query_ends[q], end


@inner
def _look_up_row(codes, lists, bits, ranks, row, term, weight, wanted, sums):
    """Add the impacts of a term to the sums of the wanted documents, in any order. The term has the row `row` in `bits`."""
    halves, floats = codes.view(np.uint16), codes.view(np.float32)
    own_bits, own_ranks, start = bits[row], ranks[row], lists[term, FIRST]
    for w in range(len(wanted)):
        doc = np.int64(wanted[w])
        word, bit = own_bits[doc >> 6], np.uint64(1) << np.uint64(doc & 63)
        if word & bit:
            place = start + np.int64(own_ranks[doc >> 6]) + np.int64(ones(word & (bit - np.uint64(1))))
            more = weight * np.float64(impact_at(codes, halves, floats, lists, term, place))
            sums[w] = more if sums[w] == NOTHING else sums[w] + more


@inner
def _look_up_postings(docs, runs, codes, lists, passing, term, weight, wanted, sums):
    """Go through the postings of a term, and add the impacts to the sums of the wanted documents. `wanted` ascends."""
    halves, floats = codes.view(np.uint16), codes.view(np.float32)
    run, i, w = lists[term, RUN], lists[term, FIRST], 0
    stop = i + lists[term, COUNT]
    while i < stop:
        span, end = np.int64(runs[run] >> np.uint32(16)) << 16, i + run_size(runs[run])
        for place in range(i, end):
            doc = span | np.int64(docs[place])
            if passing[doc] == PASSES:
                w = w + np.searchsorted(wanted[w:], doc)
                if w < len(wanted) and wanted[w] == doc:
                    more = weight * np.float64(impact_at(codes, halves, floats, lists, term, place))
                    sums[w] = more if sums[w] == NOTHING else sums[w] + more
        run, i = run + 1, end


@kernel((U16, U32, U8, LISTS, I32, BITS, RANKS, I32, U8, I64, F64, I32, F64, U64, KEYS), before="search")
def best_of(
    docs, runs, codes, lists, docno_ranks, bits, ranks, row_of, passing, terms, weights, wanted, sums, keys, found
):
    """Write the keys of the best wanted documents for one query to the only row of `found`, in no order, followed by zeros.

    `wanted` ascends and has the documents for which `passing` is PASSES. `bits`, `ranks` and `row_of` are those of
    `retrieve`. `sums` and `keys` are scratch arrays with a place for each wanted document, and one more.
    """
    n, k, scores = np.int64(0), found.shape[1], sums[: len(wanted)]
    scores[:] = NOTHING
    for t in range(len(terms)):
        if row_of[terms[t]] >= 0:
            _look_up_row(codes, lists, bits, ranks, row_of[terms[t]], terms[t], weights[t], wanted, scores)
        elif lists[terms[t], COUNT] <= POSTINGS * len(wanted):
            _look_up_postings(docs, runs, codes, lists, passing, terms[t], weights[t], wanted, scores)
        else:
            _rescore_term(docs, runs, codes, lists, terms[t], weights[t], wanted, scores)
    for w in range(len(wanted)):
        if scores[w] != NOTHING:
            keys[n] = key_of(scores[w], docno_ranks[wanted[w]])
            n += 1
    if n > k:
        select(keys, n, k)
        n = k
    for i in range(n):
        found[0, i] = keys[i]
    for i in range(n, k):
        found[0, i] = 0
