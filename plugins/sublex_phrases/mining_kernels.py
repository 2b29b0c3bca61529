"""Kernels of phrase mining: they count sequences of words, the ways in which the sequences occur, and their written
forms.

`sublex.estimators.phrases.phrase_kernels` explains units, walls, nodes and `longest`. A node stands for a frequent
sequence of units. Callers check the arguments.
"""

from __future__ import annotations

import numpy as np
from numba import int32, int64, uint8, uint16

from sublex.estimators.phrases.phrase_kernels import MIX, U, find_slot
from sublex.tools.compiled import kernel

# Types of arrays.
I32, I64, U8, U16 = int32[::1], int64[::1], uint8[::1], uint16[::1]

# Kinds of breaks, as in `sublex.contracts.base.Break`.
HYPHEN, STOP, QUOTE, OPEN, CLOSE, START = 1, 8, 16, 32, 64, 256
# Columns of `count_uses`: occurrences between quotes, in brackets, with capitals, with hyphens inside, after a wall,
# before a wall, and between two walls. At the beginning of a sentence, capitals tell nothing; `PLACED` counts the other
# occurrences.
QUOTED, BRACKETED, CAPITAL, HYPHENED, AFTER, BEFORE, ALONE, PLACED = range(8)
USES = 8


@kernel((I32, I32, U8, int64, int64, int64, I32))
def count_longer(nodes, units, walls, length, part, parts, places):
    """Count the sequences of `length` units. Return the keys and the counts of the distinct sequences.

    `nodes` has for each place of the text the number of the frequent sequence of `length - 1` units that begins there,
    or -1. The key of a sequence joins this number and the last unit. The numbers are divided into `parts` parts, a
    power of two, and only the sequences that begin with a number of part `part` are counted. `places` is set for each
    place of such a sequence to the index of its key among the returned keys.
    """
    keys, counts = np.empty(1 << 12, np.int64), np.zeros(1 << 12, np.int64)
    slots = np.full(1 << 13, -1, np.int32)
    size = 0
    for i in range(len(units) - length + 1):
        last = i + length - 1
        if nodes[i] & (parts - 1) != part or nodes[i] < 0 or nodes[i + 1] < 0 or walls[last]:
            continue
        key = int64(nodes[i]) << 32 | int64(units[last])
        j = find_slot(slots, keys, key)
        if slots[j] < 0:
            if size == len(keys):
                keys = np.concatenate((keys, np.empty_like(keys)))
                counts = np.concatenate((counts, np.zeros_like(counts)))
                slots = np.full(2 * len(slots), -1, np.int32)
                for k in range(size):
                    slots[find_slot(slots, keys, keys[k])] = k
                j = find_slot(slots, keys, key)
            keys[size] = key
            slots[j] = size
            size += 1
        counts[slots[j]] += 1
        places[i] = slots[j]
    return keys[:size].copy(), counts[:size].copy()


@kernel((I32, U8, int64, int64, int64, I32, I32, I32, I32))
def place_longer(nodes, walls, length, part, parts, places, numbers, longer, longest):
    """Write the number of the frequent sequence of `length` units that begins at each place to `longer` and `longest`.

    The arguments up to `places` have the same meaning as in `count_longer`. `numbers` has for each key the number of
    its sequence, or -1 if the sequence is rare; then only `longer` is set, to -1. Places where no sequence of part
    `part` begins are not changed.
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
    """Set `suffixes` for each node of one length to the node of its sequence without the first unit.

    `count` is the number of nodes of smaller lengths. `nodes` and `longer` have the same meaning as in `place_longer`.
    """
    for i in range(len(longer) - 1):
        if longer[i] >= 0:
            suffixes[longer[i] - count] = nodes[i + 1]


@kernel((I32, U8, U16, U8, I32, I32, int64, int64, int64))
def count_uses(longest, walls, breaks, capitals, parents, lengths, begin, end, nodes):
    """Return how often each node occurs in each of several ways: a row for each node, with the columns named above.

    Only occurrences that begin at a place from `begin` up to `end` are counted. `capitals` says for each word whether
    it begins with a capital letter. `nodes` is the number of nodes.
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


@kernel((I32, int64))
def count_found(found, nodes):
    """Return how often each node occurs in `found`, where -1 stands for no node. `nodes` is the number of nodes."""
    counts = np.zeros(nodes, np.int64)
    for node in found:
        if node >= 0:
            counts[node] += 1
    return counts


@kernel((I32, I64, int64))
def count_documents(units, ends, size):
    """Return the number of texts in which each unit occurs. `ends` has the place where each text ends; `size` is the
    number of units.
    """
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
    """Return the distinct written forms of nodes as two arrays: a place where each form occurs, and its number of
    occurrences.

    `found` has for each place the node of the segment that begins there, or -1. Only nodes for which `chosen` is 1 are
    read.
    """
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
        j = find_slot(slots, keys, key)
        if slots[j] < 0:
            if size == len(keys):
                keys, first = np.concatenate((keys, np.empty_like(keys))), np.concatenate((first, np.empty_like(first)))
                counts = np.concatenate((counts, np.zeros_like(counts)))
                slots = np.full(2 * len(slots), -1, np.int32)
                for k in range(size):
                    slots[find_slot(slots, keys, keys[k])] = k
                j = find_slot(slots, keys, key)
            keys[size], first[size] = key, i
            slots[j] = size
            size += 1
        counts[slots[j]] += 1
    return first[:size].copy(), counts[:size].copy()
