"""Kernels that estimate cosines by sketches. Callers check the arguments."""

import numpy as np
from numba import float64, int8, int64, uint64

from sublex.tools.bit_kernels import ones
from sublex.tools.compiled import F32, FLAGS, I16, I64, inner, kernel

CODES = int8[:, ::1]
BITS = uint64[:, ::1]
# The number of buckets in which estimates of cosines, from -2 to 2, are counted.
BUCKETS = 1 << 14
# The estimates by signs of documents whose number is divisible by `STEP` are counted. Counting all would take longer.
STEP = 8


@inner
def bucket_of(estimate):
    """Return the number of the bucket of an estimate, from 0 to `BUCKETS` - 1; a higher estimate is never in a lower bucket."""
    return min(max(int((estimate + 2.0) * (BUCKETS / 4.0)), 0), BUCKETS - 1)


@inner
def shared(a, b, c, d, plane):
    """Return the number of bits that are 1 in both of two groups of 256 bits: `a`, `b`, `c`, `d`, and `plane`."""
    return ones(a & plane[0]) + ones(b & plane[1]) + ones(c & plane[2]) + ones(d & plane[3])


@kernel((BITS, BITS, int64, F32, FLAGS, float64, F32, I64))
def estimate_by_signs(signs, planes, total, lengths, live, scale, estimates, counts):
    """Set each document's estimate to the product of its signs with a query, times `scale` and the document's length.

    The entries of the query are whole numbers of 4 bits: planes[k] has bit k of each entry, and `total` is the sum of
    the entries. `signs` and `lengths` are the fields of `sketch.Sketch`. Every document whose number is divisible by
    `STEP`, if it is live, is counted in the bucket of its estimate.
    """
    # The rows are taken before the loop, so that the compiler can compute many documents at once.
    a, b, c, d = signs[0], signs[1], signs[2], signs[3]
    plane0, plane1, plane2, plane3 = planes[0], planes[1], planes[2], planes[3]
    for doc in range(len(estimates)):
        s, t, u, v = a[doc], b[doc], c[doc], d[doc]
        # The sum of the query's entries where the sign is +. In two's complement, the highest bit counts -8.
        plus = (
            shared(s, t, u, v, plane0)
            + (shared(s, t, u, v, plane1) << np.uint64(1))
            + (shared(s, t, u, v, plane2) << np.uint64(2))
            - (shared(s, t, u, v, plane3) << np.uint64(3))
        )
        estimates[doc] = np.float32(np.float64(2 * np.int32(plus) - total) * scale * np.float64(lengths[doc]))
    for doc in range(0, len(estimates), STEP):
        if live[doc]:
            counts[bucket_of(estimates[doc])] += 1


@kernel((CODES, I16, F32, I64, float64, F32, I64))
def estimate(codes, query, scales, docs, scale, estimates, counts):
    """Set estimates[n] to the product of the codes of docs[n] with a query, times `scale` and the document's scale.

    Count each estimate in its bucket.
    """
    for n in range(len(docs)):
        row = codes[docs[n]]
        total = np.int32(0)
        for j in range(len(query)):
            # The sum fits into 32 bits. It is converted to int32 at every step, so that the compiler can multiply many
            # entries at once.
            total = np.int32(total + np.int32(row[j]) * np.int32(query[j]))
        estimates[n] = np.float32(np.float64(total) * scale * np.float64(scales[docs[n]]))
    for n in range(len(docs)):
        counts[bucket_of(estimates[n])] += 1


@kernel((F32, I64, float64, F32, F32, float64, float64, float64, float64, I64))
def reaching(estimates, docs, edge, errors, tails, norm, tail, slack, least, chosen):
    """Write to `chosen` the documents with estimates below `edge` whose score may be `least` or more.

    Return the number of these documents. The score of document d is at most its estimate + errors[d] · norm +
    tails[d] · tail + slack. `tails` is empty if vectors are not projected; its term is then left out.
    """
    count = 0
    for n in range(len(docs)):
        if estimates[n] < edge:
            most = estimates[n] + errors[docs[n]] * norm + slack
            if len(tails):
                most += tails[docs[n]] * tail
            if most >= least:
                chosen[count] = docs[n]
                count += 1
    return count
