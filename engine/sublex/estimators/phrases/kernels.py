"""Kernels of phrase mining: count word sequences, count how they occur, and segment texts into phrases.

A text is an array of units, which are words by number, and an array of walls: a phrase cannot begin before a word with a wall and end after
it. A node is a frequent sequence of units: its parent is the sequence without the last unit. `longest` has for each place of a text the
longest frequent sequence that begins there, -1 for none; its parents are all others that begin there. Callers check the arguments.
"""

from __future__ import annotations

import numpy as np
from numba import float64, int32, int64, uint8, uint16

from sublex.tools.compiled import inner, kernel

# Types of arrays.
I32, I64, U8, U16, F64 = int32[::1], int64[::1], uint8[::1], uint16[::1], float64[::1]
COUNTS = int64[:, ::1]
BINS = uint8[:, ::1]

U = np.uint64
MIX = U(0x9E3779B97F4A7C15)
# Kinds of break, as in `sublex.contracts.base.Break`.
HYPHEN, STOP, QUOTE, OPEN, CLOSE, START = 1, 8, 16, 32, 64, 256
# Columns of `count_uses`: occurrences between quotes, in brackets, with capitals, with hyphens inside, after a wall, before a wall, and
# between two walls. Occurrences at the beginning of a sentence say nothing of capitals; `PLACED` counts the others.
QUOTED, BRACKETED, CAPITAL, HYPHENED, AFTER, BEFORE, ALONE, PLACED = range(8)
USES = 8


@inner
def _mixed(key):
    h = U(key) * MIX
    return (h ^ (h >> U(29))) * MIX >> U(20)


@inner
def _find(slots, keys, key):
    """Return the slot of a key, or the empty slot where it belongs."""
    mask = U(len(slots) - 1)
    j = _mixed(key) & mask
    while slots[j] >= 0 and keys[slots[j]] != key:
        j = (j + U(1)) & mask
    return j


@kernel((I32, I32, U8, int64, int64, int64, I32))
def count_longer(nodes, units, walls, length, part, parts, places):
    """Count the sequences that are one unit longer than `nodes`, and return the keys and the counts of the distinct ones.

    `nodes` has the frequent sequence of `length - 1` units at each place, -1 for none. A key holds its number and the unit that follows.
    Only nodes of one of `parts` parts, a power of two, are taken. `places` gets for each place the number of the key among those of its
    part.
    """
    keys, counts = np.empty(1 << 12, np.int64), np.zeros(1 << 12, np.int64)
    slots = np.full(1 << 13, -1, np.int32)
    size = 0
    for i in range(len(units) - length + 1):
        last = i + length - 1
        if nodes[i] & (parts - 1) != part or nodes[i] < 0 or nodes[i + 1] < 0 or walls[last]:
            continue
        key = int64(nodes[i]) << 32 | int64(units[last])
        j = _find(slots, keys, key)
        if slots[j] < 0:
            if size == len(keys):
                keys = np.concatenate((keys, np.empty_like(keys)))
                counts = np.concatenate((counts, np.zeros_like(counts)))
                slots = np.full(2 * len(slots), -1, np.int32)
                for k in range(size):
                    slots[_find(slots, keys, keys[k])] = k
                j = _find(slots, keys, key)
            keys[size] = key
            slots[j] = size
            size += 1
        counts[slots[j]] += 1
        places[i] = slots[j]
    return keys[:size].copy(), counts[:size].copy()


@kernel((I32, U8, int64, int64, int64, I32, I32, I32, I32))
def place_longer(nodes, walls, length, part, parts, places, numbers, longer, longest):
    """Write the number of the frequent sequence of `length` units at each place to `longer` and `longest`.

    The first arguments are those of `count_longer`; `numbers` has the number of each key's sequence, -1 for a rare one. Places where no
    sequence of this part begins are left as they are.
    """
    for i in range(len(nodes) - length + 1):
        last = i + length - 1
        if nodes[i] & (parts - 1) != part or nodes[i] < 0 or nodes[i + 1] < 0 or walls[last]:
            continue
        number = numbers[places[i]]
        longer[i] = number
        if number >= 0:
            longest[i] = number


@kernel((I32, I32, int64, I32))
def find_suffixes(nodes, longer, count, suffixes):
    """Set the suffix of each node of a length: the node without its first unit. `nodes` and `longer` are those of `place_longer`."""
    for i in range(len(longer) - 1):
        if longer[i] >= 0:
            suffixes[longer[i] - count] = nodes[i + 1]


@kernel((I32, U8, U16, U8, I32, I32, int64, int64, int64))
def count_uses(longest, walls, breaks, capitals, parents, lengths, begin, end, nodes):
    """Return how often each node occurs in each way; `capitals` says which words begin with a capital letter.

    Only occurrences that begin between two places of the text are counted.
    """
    uses = np.zeros((nodes, USES), np.int32)
    for i in range(begin, end):
        node = longest[i]
        if node < 0:
            continue
        after = walls[i]
        placed = not breaks[i] & (STOP | START | QUOTE)
        capitalised, hyphen = i, i + lengths[node]
        for k in range(i + lengths[node] - 1, i, -1):
            hyphen = k if breaks[k] & HYPHEN else hyphen
        while capitalised < i + lengths[node] and capitals[capitalised]:
            capitalised += 1
        while node >= 0:
            stop = i + lengths[node]
            last = stop == len(walls)
            before = last or walls[stop] != 0
            row = uses[node]
            row[AFTER] += after
            row[BEFORE] += before
            row[HYPHENED] += hyphen < stop
            row[PLACED] += placed
            row[CAPITAL] += placed and capitalised >= stop
            if after and before:
                right = START if last else breaks[stop]
                row[ALONE] += 1
                row[QUOTED] += breaks[i] & QUOTE != 0 and right & QUOTE != 0
                row[BRACKETED] += breaks[i] & OPEN != 0 and right & CLOSE != 0
            node = parents[node]
    return uses


@kernel((I32, U8, I32, I32, F64, int64, int64, I32))
def segment(longest, walls, parents, lengths, weights, begin, end, found):
    """Write to `found` the node of each segment of the best segmentation, at the place where the segment begins, and -1 elsewhere.

    The best segmentation has the largest sum of weights; nodes with a weight of -inf are no segments. A word that begins no node is
    a segment without one. Of equally good segmentations the one with the longer last segment is taken. `begin` and `end` must stand at
    walls.
    """
    best = np.empty(end - begin + 1)
    back = np.empty(end - begin + 1, np.int32)
    i = begin
    while i < end:
        stop = i + 1
        while stop < end and not walls[stop]:
            stop += 1
        best[0] = 0.0
        for k in range(1, stop - i + 1):
            best[k] = -np.inf
        for k in range(i, stop):
            node = longest[k]
            here = best[k - i]
            if node < 0 and here > best[k + 1 - i]:
                best[k + 1 - i] = here
                back[k + 1 - i] = -1
            while node >= 0:
                at = k + lengths[node] - i
                if here + weights[node] > best[at]:
                    best[at] = here + weights[node]
                    back[at] = node
                node = parents[node]
        at = stop - i
        for k in range(i, stop):
            found[k] = -1
        while at > 0:
            node = back[at]
            at -= lengths[node] if node >= 0 else 1
            found[i + at] = node
        i = stop


@kernel((I32, int64))
def count_found(found, nodes):
    """Return how often each node stands in `found`."""
    counts = np.zeros(nodes, np.int64)
    for node in found:
        if node >= 0:
            counts[node] += 1
    return counts


@kernel((I32, I64, int64))
def count_documents(units, ends, size):
    """Return in how many texts each unit occurs; `ends` is where each text ends."""
    counts, seen = np.zeros(size, np.int64), np.full(size, -1, np.int64)
    i = 0
    for text in range(len(ends)):
        while i < ends[text]:
            unit = units[i]
            if seen[unit] != text:
                seen[unit] = text
                counts[unit] += 1
            i += 1
    return counts


@kernel((I32, I32, U16, I32, U8))
def count_forms(found, surfaces, breaks, lengths, chosen):
    """Return the distinct forms in which chosen nodes are written where they are found: a place of each, and how often it occurs."""
    keys, counts, first = np.empty(1 << 12, np.int64), np.zeros(1 << 12, np.int64), np.empty(1 << 12, np.int64)
    slots = np.full(1 << 13, -1, np.int32)
    size = 0
    for i in range(len(found)):
        node = found[i]
        if node < 0 or not chosen[node]:
            continue
        h = U(node) * MIX
        for k in range(i, i + lengths[node]):
            hyphen = k > i and breaks[k] != 0
            h = (h ^ (h >> U(31)) ^ U(2 * int64(surfaces[k]) + hyphen)) * MIX
        key = int64(h >> U(1))
        j = _find(slots, keys, key)
        if slots[j] < 0:
            if size == len(keys):
                keys, first = np.concatenate((keys, np.empty_like(keys))), np.concatenate((first, np.empty_like(first)))
                counts = np.concatenate((counts, np.zeros_like(counts)))
                slots = np.full(2 * len(slots), -1, np.int32)
                for k in range(size):
                    slots[_find(slots, keys, keys[k])] = k
                j = _find(slots, keys, key)
            keys[size], first[size] = key, i
            slots[j] = size
            size += 1
        counts[slots[j]] += 1
    return first[:size].copy(), counts[:size].copy()


@kernel((I32, U8, I64, I32, int64, I32))
def find_longest(units, walls, keys, slots, singles, longest):
    """Set `longest` to the longest sequence of a trie that begins at each place, -1 for none.

    The first `singles` nodes are the units. `keys` has for each further node the number of its parent and its last unit, and `slots` is the
    hash table of the keys. An unknown word is the unit -1.
    """
    for i in range(len(units)):
        node, k = units[i], i + 1
        longest[i] = node
        while node >= 0 and k < len(units) and not walls[k] and units[k] >= 0:
            j = _find(slots, keys, int64(node) << 32 | int64(units[k]))
            node = np.int32(slots[j] + singles) if slots[j] >= 0 else np.int32(-1)
            if node >= 0:
                longest[i] = node
            k += 1


@kernel((I64,))
def hash_keys(keys):
    """Return the hash table of distinct keys for `find_longest`."""
    size = 16
    while size < 2 * len(keys):
        size *= 2
    slots = np.full(size, -1, np.int32)
    for k in range(len(keys)):
        slots[_find(slots, keys, keys[k])] = k
    return slots
