"""Kernels of decision trees: the sums of trees for rows of features, and the Shapley values of one row."""

from __future__ import annotations

import numpy as np
from numba import types

from sublex.tools.compiled import F64, I32, U8, inner, kernel

# A node with this feature is a leaf.
LEAF = -1
# The values that are missing at a node. NOTHING: no value, and NaN counts as 0. ZEROS: zeros and NaN. NAN: only NaN.
NOTHING, ZEROS, NAN = 0, 1, 2
# A number counts as zero if its distance from 0 is at most this.
ZERO = 1e-35
TREES = (I32, I32, F64, I32, I32, U8, U8, F64)


@inner
def goes_left(value, threshold, missing_left, missing):
    """Return whether a value of a feature goes to the left child of a node."""
    if np.isnan(value):
        if missing != NOTHING:
            return missing_left != 0
        value = 0.0
    if missing == ZEROS and -ZERO <= value <= ZERO:
        return missing_left != 0
    return value <= threshold


@kernel((*TREES, F64, types.int64, F64))
def sums(roots, feature, threshold, left, right, missing_left, missing, value, rows, width, found):
    """Write the sum of all trees for each row of `width` features into `found`."""
    for row in range(len(found)):
        total = 0.0
        for tree in range(len(roots)):
            node = roots[tree]
            while feature[node] != LEAF:
                at = rows[row * width + feature[node]]
                node = left[node] if goes_left(at, threshold[node], missing_left[node], missing[node]) else right[node]
            total += value[node]
        found[row] = total


@kernel((*TREES, F64, F64, types.int64, F64))
def shapley(roots, feature, threshold, left, right, missing_left, missing, value, cover, row, depth, found):
    """Add the Shapley values of a row to `found`, which has one more item than the row: the prediction without features.

    The kernel walks along all paths from a root to a leaf, and keeps two numbers for each feature of the path. `known`
    is 1 if the row's value of the feature goes along the path, otherwise 0. `share` is the part of the training data
    that goes along. When a set of features is known, a leaf of value v adds v times a product: `known` of the features
    in the set, times `share` of the other features of the path. `depth` is the largest number of nodes on a path.
    """
    stack, child = np.empty(depth + 1, np.int32), np.empty(depth + 1, np.int8)
    used, features = np.empty(depth + 1, np.int32), np.int64(0)
    known, share = np.empty(depth + 1), np.empty(depth + 1)
    # For each node of the path, the data to undo its changes: the place of its feature, and the values before.
    place_of, known_before, share_before = np.empty(depth + 1, np.int32), np.empty(depth + 1), np.empty(depth + 1)
    chances = np.empty(depth + 2)
    for tree in range(len(roots)):
        stack[0], child[0], top, features = roots[tree], 0, np.int64(0), np.int64(0)
        while top >= 0:
            node = stack[top]
            if feature[node] == LEAF:
                _leaf(value[node], used, known, share, features, chances, found)
                top -= 1
                continue
            if child[top]:
                # The walk is back from a child, so it undoes the changes that it made for the child.
                place = place_of[top]
                if known_before[top] < 0:
                    features -= 1
                else:
                    known[place], share[place] = known_before[top], share_before[top]
            if child[top] == 2:
                top -= 1
                continue
            to_left = child[top] == 0
            child[top] += 1
            following = left[node] if to_left else right[node]
            goes = goes_left(row[feature[node]], threshold[node], missing_left[node], missing[node]) == to_left
            both = cover[left[node]] + cover[right[node]]
            part = cover[following] / both if both > 0 else 0.5
            place = np.int64(0)
            while place < features and used[place] != feature[node]:
                place += 1
            place_of[top] = place
            if place == features:
                used[place], known[place], share[place] = feature[node], 1.0, 1.0
                known_before[top] = -1.0
                features += 1
            else:
                known_before[top], share_before[top] = known[place], share[place]
            known[place] *= 1.0 if goes else 0.0
            share[place] *= part
            top += 1
            stack[top], child[top] = following, 0


@inner
def _leaf(value, used, known, share, features, chances, found):
    """Add the Shapley values of one leaf to `found`.

    `features` is the number of features of its path. `used` has their numbers, and `known` and `share` are those of
    `shapley`.
    """
    without = value
    for each in range(features):
        without *= share[each]
    found[len(found) - 1] += without
    for each in range(features):
        if known[each] == share[each]:
            continue
        # chances[n] is a sum over all sets of n other features. Each set adds a product: `known` of the features in the set,
        # times `share` of the features outside.
        chances[0] = 1.0
        number = np.int64(0)
        for other in range(features):
            if other == each:
                continue
            number += 1
            chances[number] = 0.0
            for n in range(number, 0, -1):
                chances[n] = chances[n] * share[other] + chances[n - 1] * known[other]
            chances[0] *= share[other]
        # The weight of a set of n others is n! (number - n)! / (number + 1)!.
        weight, total = 1.0 / (number + 1), 0.0
        for n in range(number + 1):
            total += weight * chances[n]
            weight *= (n + 1) / max(number - n, 1)
        found[used[each]] += value * (known[each] - share[each]) * total
