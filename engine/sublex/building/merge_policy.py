"""The merge policy: when segments are merged after documents have been added.

It is a logarithmic policy, as Lucene's `LogDocMergePolicy`: the number of segments grows with the logarithm of the number of
documents, however small the additions are. Only the last segments are merged, so documents keep their order.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

# Segments of one level that are merged into one segment of the next level.
MERGE_FACTOR = 8


def segments_to_merge(sizes: Sequence[int]) -> int:
    """Return how many of the last segments, given by their numbers of documents, should become one; 1 for none.

    The level of a segment is the logarithm of its size to the base `MERGE_FACTOR`, rounded down. Segments up to a level are
    merged if there are at least `MERGE_FACTOR` of them and the result belongs to a higher level.
    """
    levels = [math.floor(math.log(max(size, 1), MERGE_FACTOR)) for size in sizes]
    for level in range(max(levels, default=0), -1, -1):
        count = 0
        while count < len(sizes) and levels[-1 - count] <= level:
            count += 1
        if count >= MERGE_FACTOR and sum(sizes[-count:]) >= MERGE_FACTOR ** (level + 1):
            return count
    return 1
