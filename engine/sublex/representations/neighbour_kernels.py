"""The kernels that find the nearest documents of each document by the vectors. Callers check the arguments."""

import numpy as np
from numba import float32, float64, int32, int64

from sublex.tools.compiled import I32, I64, inner, kernel

MATRIX = float32[:, ::1]
NUMBERS = int32[:, ::1]


@inner
def product(one, other):
    """Return the product of two vectors, added up in float64 in the order of their entries."""
    total = 0.0
    for entry in range(len(one)):
        total += np.float64(one[entry]) * np.float64(other[entry])
    return total


@inner
def least_of_best(values, own, heap):
    """Return the lowest of the `len(heap)` highest values above 0.

    Ignore the value at `own`. Return 0 if there are fewer values.
    """
    size = len(heap)
    count = 0
    for place in range(len(values)):
        value = values[place]
        if (count == size and value <= heap[0]) or place == own or value <= 0:
            continue
        # The heap has the lowest kept value first, and each value is at least its parent.
        if count < size:
            at = count
            count += 1
            if count == 1:
                heap[0] = value
                continue
            while at > 0 and heap[(at - 1) // 2] > value:
                heap[at] = heap[(at - 1) // 2]
                at = (at - 1) // 2
        else:
            at = 0
            while True:
                child = 2 * at + 1
                if child >= size:
                    break
                if child + 1 < size and heap[child + 1] < heap[child]:
                    child += 1
                if heap[child] >= value:
                    break
                heap[at] = heap[child]
                at = child
        heap[at] = value
    return heap[0] if count == size else np.float32(0)


@kernel((MATRIX, MATRIX, MATRIX, I32, int64, float64, NUMBERS, MATRIX))
def nearest(estimates, vectors, others, ranks, first, margin, docs, cosines):
    """For each row of `vectors`, find the nearest of `others`.

    Write their numbers to `docs`, and their cosines to `cosines`. The vectors have norm 1 or 0. `estimates` has the
    products of all pairs with errors of at most `margin`. Neighbours have a cosine above 0, and are ordered by
    descending cosine. If cosines are equal in float32, the lower rank in `ranks` is first. If `first` is not negative,
    row r is the vector first + r of `others`, and is not its own neighbour. `docs` holds -1 before the call; where
    there are too few neighbours, -1 stays.
    """
    size = docs.shape[1]
    heap = np.empty(size, np.float32)
    for row in range(len(vectors)):
        own = first + row if first >= 0 else -1
        least = np.float64(least_of_best(estimates[row], own, heap)) - margin
        count = 0
        for other in range(len(others)):
            if estimates[row, other] < least or other == own:
                continue
            cosine = np.float32(min(1.0, product(vectors[row], others[other])))
            if cosine <= 0:
                continue
            place = count
            while place > 0 and (
                cosines[row, place - 1] < cosine
                or (cosines[row, place - 1] == cosine and ranks[docs[row, place - 1]] > ranks[other])
            ):
                place -= 1
            if place == size:
                continue
            for later in range(min(count, size - 1), place, -1):
                docs[row, later] = docs[row, later - 1]
                cosines[row, later] = cosines[row, later - 1]
            docs[row, place] = other
            cosines[row, place] = cosine
            count = min(count + 1, size)


@kernel((MATRIX, I64, I64, I64, MATRIX, MATRIX, I32, float64, NUMBERS, MATRIX))
def merge(estimates, rows, members, own, vectors, others, ranks, margin, docs, cosines):
    """Merge some of `others`, whose numbers are `members`, into the lists of neighbours of some rows of `vectors`.

    `estimates` has the products of each of `rows` with each member, with errors of at most `margin`. `own` has the number
    in `others` of each row of `vectors`, or -1; no row is its own neighbour. `docs` and `cosines` are as `nearest` writes
    them, and have no member yet.
    """
    size = docs.shape[1]
    for at in range(len(rows)):
        row = rows[at]
        for number in range(len(members)):
            if estimates[at, number] < cosines[row, size - 1] - margin or members[number] == own[row]:
                continue
            other = members[number]
            cosine = np.float32(min(1.0, product(vectors[row], others[other])))
            if cosine <= 0:
                continue
            place = size
            while place > 0 and (
                docs[row, place - 1] < 0
                or cosines[row, place - 1] < cosine
                or (cosines[row, place - 1] == cosine and ranks[docs[row, place - 1]] > ranks[other])
            ):
                place -= 1
            if place == size:
                continue
            for later in range(size - 1, place, -1):
                docs[row, later] = docs[row, later - 1]
                cosines[row, later] = cosines[row, later - 1]
            docs[row, place] = other
            cosines[row, place] = cosine
