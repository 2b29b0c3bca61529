"""The kernel that finds the nearest documents of each document by sparse vectors. Callers check the arguments."""

import numpy as np
from numba import boolean, float64, int64

from sublex.representations.neighbour_kernels import MATRIX, NUMBERS, least_of_best
from sublex.tools.compiled import F32, F64, FLAGS, I32, I64, inner, kernel


@inner
def insert(cosine, other, ranks, docs, cosines):
    """Put a neighbour into a list, which is ordered by descending cosine and then by rank; the last one may fall out."""
    size = len(docs)
    place = size
    while place > 0 and (
        docs[place - 1] < 0
        or cosines[place - 1] < cosine
        or (cosines[place - 1] == cosine and ranks[docs[place - 1]] > ranks[other])
    ):
        place -= 1
    if place < size:
        for later in range(size - 1, place, -1):
            docs[later] = docs[later - 1]
            cosines[later] = cosines[later - 1]
        docs[place] = other
        cosines[place] = cosine


@kernel(
    (I64, I32, F32, I64, I32, F32, I64, I32, F32, FLAGS, F64, boolean, I32, int64, F32, F32, float64, NUMBERS, MATRIX)
)
def nearest(
    starts,
    columns,
    weights,
    other_starts,
    other_columns,
    other_weights,
    list_starts,
    list_docs,
    list_weights,
    is_common,
    common_norms,
    is_positive,
    ranks,
    first,
    sums,
    own_weights,
    margin,
    docs,
    cosines,
):
    """For each of some sparse vectors, find the nearest of other sparse vectors, and write them to `docs` and `cosines`.

    `starts`, `columns` and `weights` are the vectors as compressed rows, with norm 1 or 0 and columns in order; the names
    with `other_` have the other vectors. `list_starts`, `list_docs` and `list_weights` are the posting lists of the
    columns: the numbers of the other vectors, and their weights. The lists of common columns are long, so they are not
    read: `common_norms` has the norm of the part of each other vector in these columns, which bounds their share of a
    product. `is_positive` tells whether no weight is below 0. `sums` and `own_weights` are workspaces, one entry per other
    vector and per column; `own_weights` holds zeros before and after the call. A sum in float32 has an error of at most
    `margin` for each column of a vector. `ranks`, `first`, `docs` and `cosines` are as in `neighbour_kernels.nearest`.
    """
    size = docs.shape[1]
    heap = np.empty(size, np.float32)
    for row in range(len(starts) - 1):
        begin, end = starts[row], starts[row + 1]
        if begin == end:
            continue
        own = first + row if first >= 0 else -1
        error = margin * (1 + end - begin)
        sums[:] = 0
        square = 0.0
        for at in range(begin, end):
            column, weight = columns[at], weights[at]
            own_weights[column] = weight
            if is_common[column]:
                square += np.float64(weight) * np.float64(weight)
                continue
            for place in range(list_starts[column], list_starts[column + 1]):
                sums[list_docs[place]] += weight * list_weights[place]
        common = np.sqrt(square)
        least = np.float64(least_of_best(sums, own, heap))
        if not is_positive or least <= 0:
            least = np.inf
        own_docs, own_cosines = docs[row], cosines[row]
        # The vectors with the highest sums come first. So the list soon has high cosines, and most others are left out.
        for turn in range(2):
            for other in range(len(sums)):
                part = np.float64(sums[other])
                if (part >= least) != (turn == 0) or other == own:
                    continue
                bound = part + common * common_norms[other] + error
                if bound <= error or bound < own_cosines[size - 1]:
                    continue
                total = 0.0
                for at in range(other_starts[other], other_starts[other + 1]):
                    total += np.float64(own_weights[other_columns[at]]) * np.float64(other_weights[at])
                cosine = np.float32(min(1.0, total))
                if cosine > 0:
                    insert(cosine, other, ranks, own_docs, own_cosines)
        for at in range(begin, end):
            own_weights[columns[at]] = 0
