"""Kernels of reordering: list the terms of documents, split documents into halves of similar ones, and move pieces of bytes.

The kernels compute with whole numbers only, so the order is the same on every machine. Callers check documents and terms.
"""

from __future__ import annotations

import numpy as np
from numba import int64

from sublex.tools.compiled import I32, I64, STORED_U8, U8, inner, kernel

# A part with this number of documents or fewer is not split. The left half has a multiple of this number, so that halves
# fit the blocks of retrieval.
LEAF = 8
# A split takes at most ROUNDS rounds. It ends earlier when a round moves at most one document in ENOUGH.
ROUNDS, ENOUGH = 20, 200
# Costs are whole numbers of 1 / BIT bits. A pair of documents changes sides only if the gain is large enough. The required
# gain rises by RISE in each round.
BIT = 4096
RISE = BIT


@kernel((I32, I64, I32, I64, I32), before="reorder")
def list_terms(docs, counts, numbers, cursors, terms):
    """Turn posting lists, which lie end to end in `docs`, into a list of terms for each document.

    List k has counts[k] documents and belongs to the term numbers[k]; a list with a negative number is skipped. The
    next term of document d goes to terms[cursors[d]], and the kernel advances this cursor.
    """
    end = 0
    for k in range(len(counts)):
        begin, end = end, end + counts[k]
        if numbers[k] >= 0:
            for i in range(begin, end):
                terms[cursors[docs[i]]] = numbers[k]
                cursors[docs[i]] += 1


@kernel((I32, int64, I64, I32, I32, int64), before="reorder")
def bisect(order, levels, starts, terms, slopes, vocabulary):
    """Split documents into halves of similar documents, and split the halves again: `levels` times, or down to leaves.

    `order` has the numbers of the documents, ascending. The kernel puts them in the new order, ascending within each
    part. Document d has the terms terms[starts[d]:starts[d + 1]], which are below `vocabulary`. `slopes` is the result
    of `log_slopes` for the number of documents.
    """
    left, right = np.zeros(vocabulary, np.int32), np.zeros(vocabulary, np.int32)
    gains = np.empty((vocabulary, 2), np.int32)
    touched = np.empty(vocabulary, np.int32)
    stack = [(0, len(order), 0)]
    while len(stack):
        begin, end, level = stack.pop()
        if level < levels and end - begin > LEAF:
            middle = begin + half(end - begin)
            _split(order[begin:end], middle - begin, starts, terms, slopes, left, right, gains, touched)
            stack.append((begin, middle, level + 1))
            stack.append((middle, end, level + 1))


@kernel((int64,), before="reorder")
def half(docs):
    """Return the number of documents in the left half of a part: half of them, rounded to a multiple of `LEAF`."""
    return min((docs + LEAF) // (2 * LEAF), (docs - 1) // LEAF) * LEAF


@inner
def _split(order, middle, starts, terms, slopes, left, right, gains, touched):
    """Divide the documents of `order` at the place `middle`, so that similar documents are on the same side.

    `left`, `right`, `gains` and `touched` are scratch memory. left[t] and right[t] hold the number of documents with
    term t on each side; they are 0 before and after the call. The other arguments are those of `bisect`. A document's
    key is its gain from a move to the right, or its loss from a move to the left, so the left half gets the smallest
    keys.
    """
    sides = np.zeros(len(order), np.uint8)
    sides[middle:] = 1
    number = _count(order, sides, starts, terms, left, right, touched)
    keys = np.empty(len(order), np.int64)
    for step in range(ROUNDS):
        for i in range(number):
            term = touched[i]
            # The gain of moving a document with this term to the right, and the loss of moving one to the left.
            gains[term, 0] = slopes[right[term]] - slopes[max(left[term] - 1, 0)]
            gains[term, 1] = slopes[max(right[term] - 1, 0)] - slopes[left[term]]
        for i in range(len(order)):
            side, doc = sides[i], order[i]
            key = (2 * side - 1) * np.int64(step * RISE // 2)
            for p in range(starts[doc], starts[doc + 1]):
                key += gains[terms[p], side]
            keys[i] = key
        if _exchange(order, sides, keys, middle, starts, terms, left, right) * ENOUGH <= len(order):
            break
    for i in range(number):
        left[touched[i]] = right[touched[i]] = 0
    sorted_order = np.empty_like(order)
    places = [0, middle]
    for i in range(len(order)):
        sorted_order[places[sides[i]]] = order[i]
        places[sides[i]] += 1
    order[:] = sorted_order


@inner
def _count(order, sides, starts, terms, left, right, touched):
    """Add to left[t] and right[t] the number of documents with term t on each side.

    sides[i] is 1 if the document order[i] is on the right. Write the terms of these documents to `touched`, and return
    the number of terms.
    """
    number = 0
    for i in range(len(order)):
        for p in range(starts[order[i]], starts[order[i] + 1]):
            term = terms[p]
            if left[term] + right[term] == 0:
                touched[number] = term
                number += 1
            if sides[i]:
                right[term] += 1
            else:
                left[term] += 1
    return number


@inner
def _exchange(order, sides, keys, middle, starts, terms, left, right):
    """Put the `middle` documents with the smallest keys on the left. Return the number of documents that changed sides.

    keys[i] and sides[i] belong to order[i]. Of documents with equal keys, those that are already on the left come
    first. The kernel updates `sides`, and the counts `left` and `right`.
    """
    pivot = _select(keys.copy(), middle)
    room, there = middle, 0
    for i in range(len(order)):
        room -= keys[i] < pivot
        there += keys[i] == pivot and sides[i] == 0
    # Of the documents with the pivot's key, `stay` documents remain on the left, and `come` documents move to the left.
    stay = min(room, there)
    come = room - stay
    moved = 0
    for i in range(len(order)):
        side = keys[i] > pivot
        if keys[i] == pivot:
            if sides[i]:
                side = come == 0
                come -= not side
            else:
                side = stay == 0
                stay -= not side
        if side != sides[i]:
            moved += 1
            sides[i] = side
            step = 1 if side else -1
            for p in range(starts[order[i]], starts[order[i] + 1]):
                right[terms[p]] += step
                left[terms[p]] -= step
    return moved


@inner
def _select(keys, place):
    """Return the key that would be at `place` if the keys were sorted. The call changes the order of the keys."""
    low, high = 0, len(keys) - 1
    while low < high:
        pivot, i, j = keys[(low + high) // 2], low, high
        while i <= j:
            while keys[i] < pivot:
                i += 1
            while keys[j] > pivot:
                j -= 1
            if i <= j:
                keys[i], keys[j] = keys[j], keys[i]
                i += 1
                j -= 1
        # Keys up to place j are at most the pivot. Keys from place i on are at least the pivot. Keys between both places are
        # equal to the pivot.
        if place <= j:
            high = j
        elif place >= i:
            low = i
        else:
            break
    return keys[place]


@kernel((STORED_U8, I64, I64, U8, I64), before="reorder")
def move(data, begins, sizes, out, places):
    """Copy pieces of bytes: piece k is data[begins[k]:begins[k] + sizes[k]], and is copied to out[places[k]:]."""
    for k in range(len(sizes)):
        for i in range(sizes[k]):
            out[places[k] + i] = data[begins[k] + i]
