"""Kernels that score documents: sums over their terms, products of their rows with a vector, and estimates of cosines by sketches.

Callers check the arguments. Sums over terms and dense rows are kept in four parts, which a processor adds independently of one another.
"""

import numpy as np
from numba import boolean, float32, float64, int8, int16, int32, int64, uint32, uint64

from sublex.compiled import inner, kernel

# The types of arguments.
U32 = uint32[::1]
U64 = uint64[::1]
I64 = int64[::1]
F64 = float64[::1]
I32 = int32[::1]
F32 = float32[::1]
MATRIX = float32[:, ::1]
I16 = int16[::1]
FLAGS = boolean[::1]
CODES = int8[:, ::1]

# Estimates of cosines, from -2 to 2, are counted in so many buckets.
BUCKETS = 1 << 14


@kernel((U64, U32, U32, F64, F64, U64, F64))
def dot(starts, terms, levels, level_values, weights, docs, sums):
    """Set sums[k] = Σ level_values[levels[i]] · weights[terms[i]] over the terms i of document docs[k].

    The terms of document d lie from starts[d] to starts[d + 1]. All integers are unsigned, which saves a test for negative places.
    """
    for k in range(len(docs)):
        i, end = starts[docs[k]], starts[docs[k] + np.uint64(1)]
        v = w = x = y = 0.0
        while i + np.uint64(3) < end:
            v += level_values[levels[i]] * weights[terms[i]]
            w += level_values[levels[i + np.uint64(1)]] * weights[terms[i + np.uint64(1)]]
            x += level_values[levels[i + np.uint64(2)]] * weights[terms[i + np.uint64(2)]]
            y += level_values[levels[i + np.uint64(3)]] * weights[terms[i + np.uint64(3)]]
            i += np.uint64(4)
        while i < end:
            v += level_values[levels[i]] * weights[terms[i]]
            i += np.uint64(1)
        sums[k] = (v + w) + (x + y)


@kernel((MATRIX, F64, I64, F64))
def products(rows, vector, docs, sums):
    """Set sums[k] to the product of row docs[k] with a vector."""
    width = len(vector)
    last = width // 4 * 4
    for k in range(len(docs)):
        row = rows[docs[k]]
        v = w = x = y = 0.0
        for j in range(0, last, 4):
            v += row[j] * vector[j]
            w += row[j + 1] * vector[j + 1]
            x += row[j + 2] * vector[j + 2]
            y += row[j + 3] * vector[j + 3]
        for j in range(last, width):
            v += row[j] * vector[j]
        sums[k] = (v + w) + (x + y)


@kernel((F32, I32, I32, F64, I64, F64))
def sparse_products(data, columns, starts, vector, docs, sums):
    """Set sums[k] to the product of sparse row docs[k] with a vector; row d has the entries starts[d] to starts[d + 1]."""
    for k in range(len(docs)):
        total = 0.0
        for i in range(starts[docs[k]], starts[docs[k] + 1]):
            total += data[i] * vector[columns[i]]
        sums[k] = total


@inner
def bucket_of(estimate):
    """Return the number of the bucket of an estimate, from 0 to `BUCKETS` - 1; a higher estimate is never in a lower bucket."""
    return min(max(int((estimate + 2.0) * (BUCKETS / 4.0)), 0), BUCKETS - 1)


@kernel((CODES, I16, F32, FLAGS, I64, I64, float64, F32, I64))
def estimate(codes, query, scales, live, begins, ends, scale, estimates, counts):
    """Set estimates to the products of codes with a query, each times `scale` and its own scale, for the places of some ranges.

    Range r has the places from begins[r] to ends[r]. A place that is not live gets -inf; the others are counted in their buckets.
    """
    first = 0
    for r in range(len(begins)):
        n = first
        for place in range(begins[r], ends[r]):
            total = np.int32(0)
            for j in range(len(query)):
                # The sum fits into 32 bits. It is cut to them at every step, so that compilers multiply many entries at once.
                total = np.int32(total + np.int32(codes[place, j]) * np.int32(query[j]))
            estimates[n] = np.float32(np.float64(total) * scale * np.float64(scales[place]))
            n += 1
        n = first
        for place in range(begins[r], ends[r]):
            if live[place]:
                counts[bucket_of(estimates[n])] += 1
            else:
                estimates[n] = -np.inf
            n += 1
        first = n


@kernel((F32, I64, I64, int64, I64))
def in_high_buckets(estimates, begins, ends, lowest, places):
    """Write to `places` the places whose estimates are in the bucket `lowest` or a higher one, and return their number."""
    n = count = 0
    for r in range(len(begins)):
        for place in range(begins[r], ends[r]):
            if estimates[n] > -np.inf and bucket_of(estimates[n]) >= lowest:
                places[count] = place
                count += 1
            n += 1
    return count


@kernel((F32, I64, I64, int64, F32, F32, float64, float64, float64, float64, I64))
def reaching(estimates, begins, ends, lowest, errors, tails, norm, tail, slack, least, places):
    """Write to `places` those in lower buckets than `lowest` whose score may be `least` or more, and return their number.

    A score is at most its estimate + errors[place] · norm + tails[place] · tail + slack. Without tails, `tails` is empty.
    """
    n = count = 0
    for r in range(len(begins)):
        for place in range(begins[r], ends[r]):
            if estimates[n] > -np.inf and bucket_of(estimates[n]) < lowest:
                most = estimates[n] + errors[place] * norm + slack
                if len(tails):
                    most += tails[place] * tail
                if most >= least:
                    places[count] = place
                    count += 1
            n += 1
    return count
