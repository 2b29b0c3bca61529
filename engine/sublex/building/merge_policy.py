"""The merge policy: when segments are merged after documents have been added.

The policy is logarithmic, like Lucene's `LogDocMergePolicy`: the number of segments grows with the logarithm of the
number of documents, even if each addition is small. Only the last segments are merged, so documents keep their order.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

# This number of segments of one level are merged into one segment of the next level.
MERGE_FACTOR = 8


def segments_to_merge(sizes: Sequence[int]) -> int:
    """Return how many of the last segments to merge into one; 1 if none are to be merged.

    `sizes` has the number of documents of each segment, in the order of the index.

    The level of a segment is the logarithm of its size to the base `MERGE_FACTOR`, rounded down. For each level, from
    the highest down, the function looks at the segments at the end of the index that have this level or a lower one.
    They are merged if there are at least `MERGE_FACTOR` of them and the merged segment has a higher level.
    """
    levels = [math.floor(math.log(max(size, 1), MERGE_FACTOR)) for size in sizes]
    for level in range(max(levels, default=0), -1, -1):
        count = 0
        while count < len(sizes) and levels[-1 - count] <= level:
            count += 1
        if count >= MERGE_FACTOR and sum(sizes[-count:]) >= MERGE_FACTOR ** (level + 1):
            return count
    return 1
