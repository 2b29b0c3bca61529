"""Kernels that find the phrases of a list in texts, and cut texts into phrases.

A text is two arrays with a value for each word: its unit (`lexicon`), and whether there is a wall before the word. A
wall is a place, such as the end of a sentence, where no phrase goes on. A node stands for a sequence of units; the
node's parent stands for the sequence without its last unit. `longest` has, for each place of a text, the node of the
longest sequence that begins there, -1 for none. The parents of this node, and their parents, are the nodes of the
shorter sequences that begin there. Callers check the arguments.
"""

from __future__ import annotations

import numpy as np
from numba import float64, int32, int64, uint8

from sublex.tools.compiled import inner, kernel

# Types of arrays.
I32, I64, U8, F64 = int32[::1], int64[::1], uint8[::1], float64[::1]

U = np.uint64
MIX = U(0x9E3779B97F4A7C15)


@inner
def mixed(key):
    """Return the hash of a key."""
    h = U(key) * MIX
    return (h ^ (h >> U(29))) * MIX >> U(20)


@inner
def find_slot(slots, keys, key):
    """Return the place in `slots` of a key, or the empty place where the key belongs.

    A place holds the number of a key in `keys`, or -1 if it is empty.
    """
    mask = U(len(slots) - 1)
    j = mixed(key) & mask
    while slots[j] >= 0 and keys[slots[j]] != key:
        j = (j + U(1)) & mask
    return j


@kernel((I32, U8, I32, I32, F64, int64, int64, I32))
def segment(longest, walls, parents, lengths, weights, begin, end, found):
    """Find the best segmentation of the words from `begin` up to `end`: the one with the largest sum of weights.

    At the place where a segment begins, the kernel writes the segment's node to `found`; at other places it writes -1.
    `longest` has, for each place, the node of the longest sequence that begins there, -1 for none. `parents`, `lengths`
    and `weights` describe the nodes; a node with the weight -inf cannot be a segment. A word at which no node begins is
    a segment of its own, without a node. If two segmentations are equally good, the kernel takes the one whose last segment
    is longer. `walls` is true where a word cannot be in one segment with the word before it. There must be walls at the
    places `begin` and `end`.
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


@kernel((I32, U8, I64, I32, int64, I32))
def find_longest(units, walls, keys, slots, singles, longest):
    """Set longest[i] to the node of the longest sequence of a trie that begins at place i of a text, -1 for none.

    `units` has the unit of each word of the text, -1 for an unknown word. `walls` is true where a word cannot be in one
    sequence with the word before it. The first `singles` nodes of the trie are the single units. For each other node,
    `keys` has a key that is made of the number of its parent and of its last unit. `slots` is the hash table of the
    keys.
    """
    for i in range(len(units)):
        node, k = units[i], i + 1
        longest[i] = node
        while node >= 0 and k < len(units) and not walls[k] and units[k] >= 0:
            j = find_slot(slots, keys, int64(node) << 32 | int64(units[k]))
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
        slots[find_slot(slots, keys, keys[k])] = k
    return slots
