"""The kernel that folds ids, so that ids which differ only in case or leading zeros become equal."""

from __future__ import annotations

import numpy as np
from numba import boolean

from sublex.tools.compiled import I64, STORED_U8, kernel

ZERO, NINE, BIG_A, BIG_Z = 48, 57, 65, 90


@kernel((STORED_U8, I64, I64, boolean, boolean), before="lint")
def fold(arena, starts, sizes, case, zeros):
    """Return strings in lower case (if `case`) and without the leading zeros of numbers in them (if `zeros`).

    String k is arena[starts[k] : starts[k] + sizes[k]]. The result has an arena, starts and sizes in the same form.
    Only ASCII letters change their case.
    """
    total = 0
    for k in range(len(sizes)):
        total += sizes[k]
    out, where, lengths = np.empty(total, np.uint8), np.empty(len(starts), np.int64), np.empty(len(starts), np.int64)
    o = 0
    for k in range(len(starts)):
        where[k] = o
        number = False
        end = starts[k] + sizes[k]
        for x in range(starts[k], end):
            c = arena[x]
            digit = ZERO <= c <= NINE
            # A zero is left out if it begins a number and another digit follows.
            if zeros and c == ZERO and not number and x + 1 < end and ZERO <= arena[x + 1] <= NINE:
                continue
            number = digit
            if case and BIG_A <= c <= BIG_Z:
                c += 32
            out[o] = c
            o += 1
        lengths[k] = o - where[k]
    return out[:o], where, lengths
