"""Kernels that find terms in a sorted lexicon."""

from __future__ import annotations

import numpy as np

from sublex.tools.compiled import I64, STORED_U8, inner, kernel


@inner
def compare_bytes(x, ends, arena, y, other_ends, other_arena):
    """Compare string `x` of the table (`ends`, `arena`) with string `y` of the table (`other_ends`, `other_arena`).

    Return a number below 0 if string x is smaller, 0 if the strings are equal, and a number above 0 if string x is
    greater. In a table, string k begins where string k - 1 ends, and ends at ends[k]; its last byte is a newline,
    which is not compared.
    """
    i, j = (ends[x - 1] if x else 0), (other_ends[y - 1] if y else 0)
    # A newline follows each string and is not a part of it.
    length, other = ends[x] - 1 - i, other_ends[y] - 1 - j
    for k in range(min(length, other)):
        if arena[i + k] != other_arena[j + k]:
            return np.int64(arena[i + k]) - np.int64(other_arena[j + k])
    return length - other


@kernel((STORED_U8, I64, STORED_U8, I64, I64), before="search")
def find_strings(arena, starts, wanted, wanted_starts, found):
    """Set found[k] to the place of wanted string k among ascending strings, or to -1 if it is not among them.

    The ascending strings lie end to end: string j is arena[starts[j]:starts[j + 1]]. The wanted strings lie in `wanted`
    and `wanted_starts` in the same way.
    """
    for k in range(len(found)):
        begin, size = wanted_starts[k], wanted_starts[k + 1] - wanted_starts[k]
        low, high = 0, len(starts) - 1
        found[k] = -1
        while low < high:
            middle = (low + high) // 2
            at, length = starts[middle], starts[middle + 1] - starts[middle]
            i = 0
            while i < size and i < length and arena[at + i] == wanted[begin + i]:
                i += 1
            if i == size and i == length:
                found[k] = middle
                break
            if i == length or (i < size and arena[at + i] < wanted[begin + i]):
                low = middle + 1
            else:
                high = middle
