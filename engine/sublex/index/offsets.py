"""Arithmetic for pieces of different sizes that lie end to end in one array, such as strings or posting lists."""

from __future__ import annotations

import numpy as np

# The number of postings that one call decodes, encodes, merges or verifies. Larger calls need more memory and are not faster.
POSTINGS_PER_CALL = 1 << 20


def starts_of(sizes: np.ndarray) -> np.ndarray:
    """Return the place where each piece starts, and then the place where the last piece ends.

    The result has one value more than `sizes`.
    """
    starts = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=starts[1:])
    return starts


def spans(sizes: np.ndarray, limit: int) -> list[tuple[int, int]]:
    """Return ranges (begin, end) that cut the pieces 0 to len(sizes) - 1.

    The pieces of a range have a total size of at most `limit`; a range of one piece may be larger.
    """
    ends = np.cumsum(sizes, dtype=np.int64)
    cuts = [0]
    while cuts[-1] < len(sizes):
        base = int(ends[cuts[-1] - 1]) if cuts[-1] else 0
        cuts.append(max(cuts[-1] + 1, int(np.searchsorted(ends, base + limit, side="right"))))
    return list(zip(cuts[:-1], cuts[1:], strict=True))
