"""Kernels that estimate scores by sketches. Callers check the arguments.

Estimates are values from -2 to 2 that order documents as their scores do. `finding.Measure` says how a document's value
follows from a cosine and from the norm of its vector; kernels get the measure as its four numbers. Without `norms`, m is 1.
"""

import numpy as np
from numba import float64, int8, int64, types, uint64

from sublex.tools.bit_kernels import ones
from sublex.tools.compiled import F32, F64, FLAGS, I16, I64, inner, kernel

CODES = int8[:, ::1]
BITS = uint64[:, ::1]
MEASURE = types.UniTuple(float64, 4)
# The number of buckets in which values, from -2 to 2, are counted.
BUCKETS = 1 << 14
# The estimates by signs of documents whose number is divisible by `STEP` are counted. Counting all would take longer.
STEP = 8
# Documents whose signs are compared at a time. Their sums stay in the processor's second cache, and each array of signs is
# read in pieces that are long enough for the processor to fetch ahead.
TILE = 1 << 14
# Larger than the values that float32 cannot hold.
UNDERFLOW = 1e-37


@inner
def bucket_of(value):
    """Return the number of the bucket of a value, from 0 to `BUCKETS` - 1; a higher value is never in a lower bucket."""
    return min(max(int((value + 2.0) * (BUCKETS / 4.0)), 0), BUCKETS - 1)


@inner
def value_of(cosine, norm, measure):
    """Return the value of a document by its cosine and norm."""
    inverse, slope, curve, offset = measure
    m = norm * inverse
    return offset + m * (curve * m + slope * cosine)


@inner
def plus_of(bits, plane0, plane1, plane2, plane3):
    """Return the sum of 64 numbers of 4 bits over the places where `bits` is 1. In two's complement, the highest bit counts -8."""
    return (
        ones(bits & plane0)
        + (ones(bits & plane1) << np.uint64(1))
        + (ones(bits & plane2) << np.uint64(2))
        - (ones(bits & plane3) << np.uint64(3))
    )


@kernel((BITS, BITS, int64, float64, F32, F64, MEASURE, FLAGS, F32, I64))
def estimate_by_signs(signs, planes, total, scale, lengths, norms, measure, live, estimates, counts):
    """Set each document's estimate to the value of a cosine: the product of its signs with a query, times `scale` and its length.

    The entries of the query are whole numbers of 4 bits: planes[k] has bit k of each entry, and `total` is the sum of
    the entries. `signs` and `lengths` are the fields of `sketch.Sketch`. Every document whose number is divisible by
    `STEP`, if it is live, is counted in the bucket of its estimate.
    """
    sums = np.empty(TILE, np.uint64)
    for begin in range(0, len(estimates), TILE):
        size = min(TILE, len(estimates) - begin)
        sums[:] = 0
        for group in range(len(signs)):
            # The numbers are taken before the loop, so that the compiler can compute many documents at once.
            plane0, plane1, plane2, plane3 = planes[0, group], planes[1, group], planes[2, group], planes[3, group]
            bits = signs[group, begin : begin + size]
            for n in range(size):
                sums[n] += plus_of(bits[n], plane0, plane1, plane2, plane3)
        for n in range(size):
            doc = begin + n
            cosine = np.float64(2 * np.int32(sums[n]) - total) * scale * np.float64(lengths[doc])
            estimates[doc] = np.float32(value_of(cosine, norms[doc] if len(norms) else 1.0, measure))
    for doc in range(0, len(estimates), STEP):
        if live[doc]:
            counts[bucket_of(estimates[doc])] += 1


@kernel((F32, FLAGS, F64, MEASURE, float64, float64, I64))
def likely(estimates, live, norms, measure, margin, least, chosen):
    """Write to `chosen` the live documents whose value is `least` or more if their cosine is higher by `margin` than estimated.

    Return the number of these documents.
    """
    inverse, slope, _, _ = measure
    count = 0
    for doc in range(len(estimates)):
        m = (norms[doc] if len(norms) else 1.0) * inverse
        # The place is written in any case: a branch that depends on the document would take longer.
        chosen[count] = doc
        count += live[doc] & (np.float64(estimates[doc]) + margin * slope * m >= least)
    return count


@kernel((CODES, I16, F32, I64, float64, F64, MEASURE, F32, I64))
def estimate(codes, query, scales, docs, scale, norms, measure, estimates, counts):
    """Set estimates[n] to the value of a cosine: the product of the codes of docs[n] with a query, times `scale` and the document's.

    Count each estimate in its bucket.
    """
    for n in range(len(docs)):
        row = codes[docs[n]]
        total = np.int32(0)
        for j in range(len(query)):
            # The sum fits into 32 bits. It is converted to int32 at every step, so that the compiler can multiply many
            # entries at once.
            total = np.int32(total + np.int32(row[j]) * np.int32(query[j]))
        cosine = np.float64(total) * scale * np.float64(scales[docs[n]])
        estimates[n] = np.float32(value_of(cosine, norms[docs[n]] if len(norms) else 1.0, measure))
    for n in range(len(docs)):
        counts[bucket_of(estimates[n])] += 1


@kernel((F32, I64, float64, F32, F32, F64, MEASURE, float64, float64, float64, float64, float64, I64))
def reaching(estimates, docs, edge, errors, tails, norms, measure, norm, tail, slack, rounding, least, chosen):
    """Write to `chosen` the documents with estimates below `edge` whose value may be `least` or more.

    Return the number of these documents. The cosine of document d is at most the one that was estimated + errors[d] ·
    norm + tails[d] · tail + slack. `tails` is empty if vectors are not projected; its term is then left out. `rounding`
    is the error of scores, as a share of the largest value that a document of this norm can have.
    """
    inverse, slope, curve, offset = measure
    count = 0
    for n in range(len(docs)):
        if estimates[n] < edge:
            doc = docs[n]
            m = (norms[doc] if len(norms) else 1.0) * inverse
            off = errors[doc] * norm + slack
            if len(tails):
                off += tails[doc] * tail
            most = estimates[n] + slope * m * off + rounding * (slope * m - curve * m * m - offset) + UNDERFLOW
            # A bound that is not a number leaves out no document.
            if not most < least:
                chosen[count] = doc
                count += 1
    return count
