"""Kernels of random forests: grow one tree on binned features, and add up the votes of trees."""

from __future__ import annotations

import numpy as np
from numba import float64, int32, int64, uint8, uint64

from sublex.tools.compiled import inner, kernel

# Types of arrays.
I32, I64, U8, F64 = int32[::1], int64[::1], uint8[::1], float64[::1]
BINS = uint8[:, ::1]

U = np.uint64


@inner
def _next(state):
    """Return the next state of the generator splitmix64, and a random number of 64 bits."""
    state = state + U(0x9E3779B97F4A7C15)
    z = (state ^ (state >> U(30))) * U(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> U(27))) * U(0x94D049BB133111EB)
    return state, z ^ (z >> U(31))


@kernel((BINS, U8, I64, int64, int64, uint64))
def grow(bins, labels, rows, tries, least, state):
    """Return a tree as four arrays: for each node its feature (-1 for a leaf), its cut, its left child, and the share
    of its rows that have the label 1.

    The right child of a node comes directly after the left child. A row goes left if its bin is at most the cut. Each
    node tries `tries` random features and takes the cut with the lowest Gini impurity. A leaf has at least `least`
    rows. `rows` may hold a row twice; the order of `rows` is changed.
    """
    most = 2 * len(rows)
    features, cuts = np.full(most, -1, np.int32), np.zeros(most, np.uint8)
    children, values = np.zeros(most, np.int32), np.zeros(most)
    begins, ends = np.zeros(most, np.int64), np.zeros(most, np.int64)
    choice = np.arange(bins.shape[1])
    ends[0] = len(rows)
    size, node = 1, 0
    while node < size:
        begin, end = begins[node], ends[node]
        ones = 0
        for k in range(begin, end):
            ones += labels[rows[k]]
        values[node] = ones / (end - begin)
        if 0 < ones < end - begin and end - begin >= 2 * least:
            for k in range(tries):
                state, drawn = _next(state)
                other = k + int64(drawn % U(len(choice) - k))
                choice[k], choice[other] = choice[other], choice[k]
            feature, cut = _best_cut(bins, labels, rows, begin, end, choice[:tries], least, ones)
            if feature >= 0:
                features[node], cuts[node], children[node] = feature, cut, size
                middle = _divide(bins, rows, begin, end, feature, cut)
                begins[size], ends[size] = begin, middle
                begins[size + 1], ends[size + 1] = middle, end
                size += 2
        node += 1
    return features[:size].copy(), cuts[:size].copy(), children[:size].copy(), values[:size].copy()


@inner
def _best_cut(bins, labels, rows, begin, end, tried, least, ones):
    """Return the feature and the cut with the lowest impurity for the rows from `begin` to `end`. The feature is -1 if
    no cut lowers the impurity.

    `tried` are the features that are tried. `ones` is the number of rows with the label 1.
    """
    total = end - begin
    best, feature, cut = ones * ones / total + 1e-9, -1, 0
    all_rows, one_rows = np.empty(256, np.int64), np.empty(256, np.int64)
    for f in tried:
        all_rows[:], one_rows[:] = 0, 0
        for k in range(begin, end):
            b = bins[rows[k], f]
            all_rows[b] += 1
            one_rows[b] += labels[rows[k]]
        left, left_ones = 0, 0
        for b in range(255):
            left += all_rows[b]
            left_ones += one_rows[b]
            if left < least or not all_rows[b]:
                continue
            right = total - left
            if right < least:
                break
            # The Gini impurity falls as this sum rises: the squared number of ones, divided by the rows, of both sides.
            gain = left_ones * left_ones / left + (ones - left_ones) ** 2 / right
            if gain > best:
                best, feature, cut = gain, f, b
    return feature, cut


@inner
def _divide(bins, rows, begin, end, feature, cut):
    """Reorder the rows from `begin` to `end` so that the rows that go left come first. Return the place where the other
    rows begin.
    """
    i, j = begin, end - 1
    while i <= j:
        if bins[rows[i], feature] <= cut:
            i += 1
        else:
            rows[i], rows[j] = rows[j], rows[i]
            j -= 1
    return i


@kernel((BINS, U8, I32, U8, I32, F64, F64, I32))
def vote(bins, drawn, features, cuts, children, values, sums, votes):
    """Let a tree judge the rows on which it was not grown: add the value of the row's leaf to `sums`, and 1 to `votes`.

    `drawn` is 1 for the rows on which the tree was grown.
    """
    for row in range(len(bins)):
        if drawn[row]:
            continue
        node = 0
        while features[node] >= 0:
            node = children[node] + (bins[row, features[node]] > cuts[node])
        sums[row] += values[node]
        votes[row] += 1
