"""Kernels that estimate scores by sketches. Callers check the arguments.

Estimates are values from -2 to 2 that order documents as their scores do. `probes.Measure` says how a document's value
follows from a cosine and from the norm of its vector; kernels get the measure as its four numbers. Without `norms`, m is 1.
"""

import numpy as np
from numba import float32, float64, int8, int64, types, uint64

from sublex.tools.bit_kernels import ones
from sublex.tools.compiled import F32, F64, FLAGS, I16, I32, I64, inner, kernel
from sublex.tools.prefetching import LINE, prefetch

CODES = int8[:, ::1]
BITS = uint64[:, ::1]
VALUES = float32[:, ::1]
MEASURE = types.UniTuple(float64, 4)
# The sum of a query's entries, their scale, and a margin.
ROUGH = types.UniTuple(float64, 3)
# Documents whose signs are compared at a time. Their sums stay in the processor's second cache, and each array of signs is
# read in pieces that are long enough for the processor to fetch ahead.
TILE = 1 << 14
# Documents whose second bits, or whose codes, are copied side by side at a time.
PIECE, ROWS = 256, 32
# Documents that are looked at one by one if one of them may be among the best.
BLOCK = 64
# Codes are asked for so many bytes before they are needed, and second bits so many documents before.
AHEAD, EARLY = 2048, 64
# Larger than the values that float32 cannot hold.
UNDERFLOW = 1e-37


@inner
def value_of(cosine, norm, measure):
    """Return the value of a document by its cosine and norm."""
    inverse, slope, curve, offset = measure
    m = norm * inverse
    return offset + m * (curve * m + slope * cosine)


@inner
def plus_of(bits, plane0, plane1, plane2):
    """Return the sum of 64 numbers of 3 bits over the places where `bits` is 1. In two's complement, the highest bit counts -4."""
    return ones(bits & plane0) + (ones(bits & plane1) << np.uint64(1)) - (ones(bits & plane2) << np.uint64(2))


@inner
def add_signs(sums, signs, planes, groups, begin, size):
    """Set sums[n] to the sum of the query's entries where a sign of document begin + n is 1, in the first groups.

    The numbers of a group are taken before the loop, and two groups are added at a time, so that the compiler can compute
    many documents at once and reads each sum half as often.
    """
    sums[:size] = 0
    for group in range(0, groups - 1, 2):
        plane0, plane1, plane2 = planes[0, group], planes[1, group], planes[2, group]
        next0, next1, next2 = planes[0, group + 1], planes[1, group + 1], planes[2, group + 1]
        bits, next_bits = signs[group, begin : begin + size], signs[group + 1, begin : begin + size]
        for n in range(size):
            one = plus_of(bits[n], plane0, plane1, plane2)
            sums[n] += one + plus_of(next_bits[n], next0, next1, next2)
    if groups % 2:
        last = groups - 1
        plane0, plane1, plane2 = planes[0, last], planes[1, last], planes[2, last]
        bits = signs[last, begin : begin + size]
        for n in range(size):
            sums[n] += plus_of(bits[n], plane0, plane1, plane2)


@inner
def rough_value(plus, total, scale, length, m, measure):
    """Return the value of a document by the sum over its signs that are 1, float32."""
    _, slope, curve, offset = measure
    cosine = (np.float32(2) * np.float32(np.int32(plus)) - np.float32(total)) * np.float32(scale) * length
    return np.float32(offset) + m * (np.float32(curve) * m + np.float32(slope) * cosine)


@kernel((BITS, BITS, F64, F64, F32, F32, MEASURE, VALUES))
def estimate_by_prefixes(signs, planes, totals, scales, lengths, shares, measure, estimates):
    """Set estimates[g] to rough estimates of values by the first g + 1 groups of signs of each document.

    The arguments are those of `sift`, with a total and a scale for each number of groups.
    """
    docs, reach = len(lengths), np.float32(measure[0])
    sums = np.zeros(docs, np.uint64)
    for group in range(len(signs)):
        plane0, plane1, plane2 = planes[0, group], planes[1, group], planes[2, group]
        bits, found, total, scale = signs[group], estimates[group], totals[group], scales[group]
        for n in range(docs):
            sums[n] += plus_of(bits[n], plane0, plane1, plane2)
        for n in range(docs):
            m = shares[n] * reach if len(shares) else np.float32(1)
            found[n] = rough_value(sums[n], total, scale, lengths[n], m, measure)


@kernel((BITS, BITS, int64, ROUGH, ROUGH, F32, F32, MEASURE, FLAGS, float64, I64, I32))
def sift(signs, planes, groups, first, whole, lengths, shares, measure, live, least, chosen, pluses):
    """Write to `chosen` the live documents whose value may be `least` or more by a rough estimate.

    Return the number of these documents. `pluses` gets the sum of the query's entries over the signs of each that are
    1. An estimate is the value of a cosine: the product of the document's signs with a query, times a scale and the
    document's length. The entries of the query are whole numbers of 3 bits: planes[k] has bit k of each entry. `first`
    and `whole` are the sum of the entries, the scale, and the margin by which cosines may be higher than estimated,
    for the first `groups` of signs and for all. `signs` and `lengths` are fields of `sketch.Sketch`. `shares` are
    norms divided by the longest; m is a share times the first number of the measure.
    """
    reach, slope = np.float32(measure[0]), np.float32(measure[1])
    total, scale, margin = np.float32(first[0]), np.float32(first[1]), np.float32(first[2]) * slope
    every, sums, values = len(signs), np.empty(TILE, np.uint64), np.empty(TILE, np.float32)
    floor, count = np.float32(least), np.int64(0)
    # Whether a document may reach `least`, in one byte each. The bytes of eight documents are read as one number.
    flags = np.empty(TILE, np.uint8)
    words = flags.view(np.uint64)
    for begin in range(0, len(lengths), TILE):
        size = min(TILE, len(lengths) - begin)
        add_signs(sums, signs, planes, groups, begin, size)
        own = lengths[begin : begin + size]
        if len(shares):
            norms = shares[begin : begin + size]
            for n in range(size):
                m = norms[n] * reach
                values[n] = rough_value(sums[n], total, scale, own[n], m, measure) + margin * m
        else:
            for n in range(size):
                values[n] = rough_value(sums[n], total, scale, own[n], np.float32(1), measure) + margin
        before, alive = count, live[begin : begin + size]
        for n in range(size):
            flags[n] = np.uint8(alive[n]) & np.uint8(values[n] >= floor)
        flags[size:] = 0
        for word in range(-(-size // 8)):
            left = words[word]
            while left:
                # The number of bits below the lowest that is 1: eight for each document.
                chosen[count] = begin + 8 * word + (ones((left & -left) - np.uint64(1)) >> np.uint64(3))
                count += 1
                left &= left - np.uint64(1)
        # The chosen documents of this piece: their other signs.
        end, count = count, before
        for place in range(before, end):
            doc = chosen[place]
            plus = sums[doc - begin]
            for group in range(groups, every):
                plus += plus_of(signs[group, doc], planes[0, group], planes[1, group], planes[2, group])
            m = shares[doc] * reach if len(shares) else np.float32(1)
            value = rough_value(plus, whole[0], whole[1], lengths[doc], m, measure)
            chosen[count], pluses[count] = doc, plus
            count += value + np.float32(whole[2]) * slope * m >= floor
    return count


@kernel((BITS, BITS, ROUGH, F32, F32, MEASURE, float64, I64, I32, F32))
def refine(halves, planes, whole, lengths, shares, measure, least, chosen, pluses, estimates):
    """Keep the documents of `chosen` whose value may be `least` or more by an estimate with two bits for each sign.

    Return the number of these documents. `estimates` gets the estimates of their values. `halves` and `lengths` are
    `halves` and `half_lengths` of `sketch.Sketch`. The other arguments are those of `sift`.
    """
    reach, slope = np.float32(measure[0]), np.float32(measure[1])
    floor, margin, count = np.float32(least), np.float32(whole[2]), np.int64(0)
    groups = halves.shape[1]
    bits, sums = np.empty((groups, PIECE), np.uint64), np.empty(PIECE, np.uint64)
    for begin in range(0, len(pluses), PIECE):
        size = min(PIECE, len(pluses) - begin)
        # Rows lie apart in memory. A loop that only copies them waits for many at once.
        for n in range(size):
            doc = chosen[begin + n]
            if begin + n + EARLY < len(pluses):
                other = halves[chosen[begin + n + EARLY]]
                prefetch(other, np.int64(0))
                prefetch(other, np.int64(groups - 1))
            for group in range(groups):
                bits[group, n] = halves[doc, group]
        add_signs(sums, bits, planes, groups, 0, size)
        for n in range(size):
            doc = chosen[begin + n]
            # 4·sign + 2·half - 3, times the entries of the query and added up; `rough_value` takes 2·sum - total.
            total = 2 * np.int64(pluses[begin + n]) + np.int64(np.int32(sums[n])) - np.float64(whole[0])
            m = shares[doc] * reach if len(shares) else np.float32(1)
            value = rough_value(total, whole[0], whole[1], lengths[doc], m, measure)
            chosen[count], estimates[count] = doc, value
            count += value + margin * slope * m >= floor
    return count


@inner
def spread_of(error, tail, norm, measure, bounds):
    """Return the largest difference between the value of a document and its estimate.

    The cosine differs from the estimated one by at most error · bounds[0] + tail · bounds[1] + bounds[2]. bounds[3] is
    the error of scores, as a share of the largest value that a document of this norm can have.
    """
    inverse, slope, curve, offset = measure
    whole, projected, slack, rounding = bounds
    m = norm * inverse
    off = error * whole + tail * projected + slack
    return slope * m * off + rounding * (slope * m - curve * m * m - offset) + UNDERFLOW


@kernel((CODES, I16, F32, I64, float64, F64, MEASURE, F32))
def estimate(codes, query, scales, docs, scale, norms, measure, estimates):
    """Set estimates[n] to the value of docs[n]; its cosine is the product of both codes, times both scales."""
    width = len(query)
    rows = np.empty((ROWS, width), np.int8)
    for begin in range(0, len(docs), ROWS):
        size = min(ROWS, len(docs) - begin)
        # Rows lie apart in memory. A loop that only copies them waits for many at once.
        for n in range(size):
            doc = docs[begin + n]
            for j in range(width):
                rows[n, j] = codes[doc, j]
        for n in range(size):
            row, doc = rows[n], docs[begin + n]
            total = np.int32(0)
            for j in range(width):
                # The sum fits into 32 bits. It is converted to int32 at every step, so that the compiler can multiply many
                # entries at once.
                total = np.int32(total + np.int32(row[j]) * np.int32(query[j]))
            cosine = np.float64(total) * scale * np.float64(scales[doc])
            estimates[begin + n] = np.float32(value_of(cosine, norms[doc] if len(norms) else 1.0, measure))


@kernel((CODES, I16, F32, FLAGS, float64, F32, F32, F64, MEASURE, MEASURE, float64, I64, F32))
def estimate_all(codes, query, scales, live, scale, errors, tails, norms, measure, bounds, least, chosen, estimates):
    """Write to `chosen` the live documents whose value may be `least` or more, with their estimates.

    Return the number of these documents. Estimates are those of `estimate`, and `bounds` those of `spread_of`.
    """
    count, values, most = np.int64(0), np.empty(BLOCK, np.float32), np.empty(BLOCK)
    totals = np.empty(BLOCK, np.int32)
    for begin in range(0, len(scales), BLOCK):
        size = min(BLOCK, len(scales) - begin)
        for n in range(size):
            row, total = codes[begin + n], np.int32(0)
            # The processor itself does not read ahead beyond a page. Without these requests, waiting takes half of the time.
            for j in range(0, len(query), LINE):
                prefetch(row, np.int64(AHEAD + j))
            for j in range(len(query)):
                total = np.int32(total + np.int32(row[j]) * np.int32(query[j]))
            totals[n] = total
        for n in range(size):
            doc = begin + n
            cosine = np.float64(totals[n]) * scale * np.float64(scales[doc])
            tail, norm = np.float64(tails[doc]) if len(tails) else 0.0, norms[doc] if len(norms) else 1.0
            values[n] = np.float32(value_of(cosine, norm, measure))
            most[n] = values[n] + spread_of(errors[doc], tail, norm, measure, bounds)
        for n in range(size):
            # A bound that is not a number leaves out no document.
            if live[begin + n] and not most[n] < least:
                chosen[count], estimates[count] = begin + n, values[n]
                count += 1
    return count


@kernel((F32, I64, F32, F32, F64, MEASURE, MEASURE))
def lower(estimates, docs, errors, tails, norms, measure, bounds):
    """Replace each estimate by a lower bound of the value of its document, docs[n]; -inf if none is known.

    `errors` and `tails` are fields of `sketch.Sketch`, and `bounds` those of `spread_of`.
    """
    for n in range(len(docs)):
        doc = docs[n]
        tail, norm = np.float64(tails[doc]) if len(tails) else 0.0, norms[doc] if len(norms) else 1.0
        least = np.float32(estimates[n] - spread_of(errors[doc], tail, norm, measure, bounds))
        estimates[n] = least if least == least else -np.float32(np.inf)


@kernel((F32, I64, float64, F32, F32, F64, MEASURE, MEASURE, float64, I64))
def reaching(estimates, docs, edge, errors, tails, norms, measure, bounds, least, chosen):
    """Write to `chosen` the documents with estimates below `edge` whose value may be `least` or more, by the bounds of `spread_of`.

    Return the number of these documents.
    """
    count = 0
    for n in range(len(docs)):
        if estimates[n] < edge:
            doc = docs[n]
            tail, norm = np.float64(tails[doc]) if len(tails) else 0.0, norms[doc] if len(norms) else 1.0
            most = estimates[n] + spread_of(errors[doc], tail, norm, measure, bounds)
            # A bound that is not a number leaves out no document.
            if not most < least:
                chosen[count] = doc
                count += 1
    return count
