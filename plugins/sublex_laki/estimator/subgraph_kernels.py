"""Kernels that choose the keyphrases that explain a document's units, and cut these keyphrases and their links out of a
network.

Documents are compressed sparse rows in three arrays: where each row starts, its units, and their counts. The links of a
network are ordered by child, in three arrays: where the links to each node begin, the parents, and the strengths 1 -
exp(-weight). The nodes are the keyphrases, parents before children, and then the units. Callers check the arguments.
"""

from __future__ import annotations

import numpy as np
from numba import float64, int32, int64

from sublex.tools.compiled import inner, kernel

# Types of arrays.
I32, I64, F64 = int32[::1], int64[::1], float64[::1]
# Marks the product of a keyphrase that is found but not reached yet. Every real product is larger.
FOUND = 1e-300


@kernel((I64, I32, F64, I64, I32, F64, F64, F64, F64, I32, int64))
def cut(rows, units, counts, starts, parents, weights, strengths, leaks, totals, mentioned, most):
    """Return the subgraph of each row: its best keyphrases, at most `most`, and the links from these keyphrases to one
    another and to the row's units.

    `totals` has for each keyphrase the sum of the weights of its links. `mentioned` has for each unit the keyphrase
    that the unit mentions, or -1. Keyphrases that the row mentions are chosen before all others.

    Six arrays are returned: where the keyphrases of each row begin; the keyphrases, ascending; for each keyphrase the
    sum of the weights of its links that leave the subgraph; where the links to each child begin; the parent of each
    link, as an index into the row's keyphrases; and the number of each link in the network. The children of a row are
    its keyphrases and then its units.
    """
    keyphrases, first = len(totals), rows[0]
    products, scores = np.zeros(keyphrases), np.zeros(keyphrases)
    found, touched = np.empty(keyphrases, np.int32), np.empty(keyphrases, np.int32)
    place = np.full(keyphrases, -1, np.int32)
    node_rows = np.zeros(len(rows), np.int64)
    nodes, outside = np.empty(0, np.int32), np.empty(0)
    ends, link_parents, links = np.zeros(1, np.int64), np.empty(0, np.int32), np.empty(0, np.int64)
    for d in range(len(rows) - 1):
        row = units[rows[d] : rows[d + 1]]
        size = score(
            row, counts[rows[d] : rows[d + 1]], starts, parents, strengths, leaks, products, found, scores, touched
        )
        for unit in row:
            if mentioned[unit] >= 0 and scores[mentioned[unit]] > 0.0:
                scores[mentioned[unit]] = np.inf
        kept = best(touched[:size], scores, most)
        scores[touched[:size]] = 0.0
        begin = node_rows[d]
        node_rows[d + 1] = begin + len(kept)
        nodes, outside = grown(nodes, begin + len(kept)), grown(outside, begin + len(kept))
        nodes[begin : begin + len(kept)], outside[begin : begin + len(kept)] = kept, totals[kept]
        place[kept] = np.arange(len(kept))
        child = begin + rows[d] - first
        ends = grown(ends, child + len(kept) + len(row) + 1)
        end = ends[child]
        for c in range(len(kept) + len(row)):
            node = kept[c] if c < len(kept) else keyphrases + row[c - len(kept)]
            link_parents = grown(link_parents, end + starts[node + 1] - starts[node])
            links = grown(links, end + starts[node + 1] - starts[node])
            for i in range(starts[node], starts[node + 1]):
                parent = place[parents[i]]
                if parent >= 0:
                    link_parents[end], links[end] = parent, i
                    outside[begin + parent] -= weights[i]
                    end += 1
            child += 1
            ends[child] = end
        place[kept] = -1
    size, children = node_rows[-1], node_rows[-1] + rows[-1] - first
    end = ends[children]
    return node_rows, nodes[:size], outside[:size], ends[: children + 1], link_parents[:end], links[:end]


@inner
def score(units, counts, starts, parents, strengths, leaks, products, found, scores, touched):
    """Add to `scores` for each keyphrase how well it explains the units of a document.

    Return the number of keyphrases that explain any unit, and write these keyphrases to the beginning of `touched`. The
    score of a keyphrase is the logarithm of a ratio: the probability of the units if the keyphrase is on, divided by
    their probability if all keyphrases are off. Only the best path from the keyphrase to a unit is considered.
    """
    keyphrases, size = len(products), 0
    for i in range(len(units)):
        unit = keyphrases + units[i]
        odds = 1.0 / np.expm1(leaks[unit])
        for k in found[: reach(unit, starts, parents, strengths, products, found)]:
            if scores[k] == 0.0:
                touched[size] = k
                size += 1
            scores[k] += max(counts[i] * np.log1p(products[k] * odds), FOUND)
            products[k] = 0.0
    return size


@inner
def reach(node, starts, parents, strengths, products, found):
    """For each ancestor of `node`, set its entry of `products` to the largest product of strengths along a path from
    the ancestor to `node`.

    All entries must be 0 before. Returns the number of ancestors, and writes the ancestors to the beginning of `found`.
    """
    size = 0
    for i in range(starts[node], starts[node + 1]):
        products[parents[i]] = max(strengths[i], FOUND)
        found[size] = parents[i]
        size += 1
    direct, child = size, 0
    while child < size:
        for i in range(starts[found[child]], starts[found[child] + 1]):
            if products[parents[i]] == 0.0:
                products[parents[i]] = FOUND
                found[size] = parents[i]
                size += 1
        child += 1
    # If the found keyphrases have no links among them, their products are final.
    if child > 0 and (size > direct or links_among(found[:size], starts)):
        found[:size].sort()
        for child in found[:size][::-1]:
            # All paths to a child come from nodes with larger numbers, so the child's product is final.
            for i in range(starts[child], starts[child + 1]):
                products[parents[i]] = max(products[parents[i]], strengths[i] * products[child])
    return size


@inner
def links_among(found, starts):
    """Return whether one of the keyphrases in `found` has a parent."""
    for k in found:
        if starts[k + 1] > starts[k]:
            return True
    return False


@inner
def best(candidates, scores, most):
    """Return the candidates with the highest scores, at most `most`, in ascending order. Of equal scores, the lowest
    numbers are chosen.
    """
    if len(candidates) <= most:
        return np.sort(candidates)
    values = scores[candidates]
    least = np.partition(values, len(values) - most)[len(values) - most]
    above = candidates[values > least]
    equal = np.sort(candidates[values == least])[: most - len(above)]
    return np.sort(np.concatenate((above, equal)))


@inner
def grown(array, size):
    """Return an array of at least `size` entries that begins with the entries of the given array."""
    if size <= len(array):
        return array
    larger = np.empty(max(size, 2 * len(array)), array.dtype)
    larger[: len(array)] = array
    return larger
