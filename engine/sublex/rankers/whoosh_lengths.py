"""Document lengths as Whoosh stores them in one byte: one of 256 lengths.

Lengths up to 10 are exact. Longer lengths are rounded up to the next of the 256 lengths, the greatest of which is 106374.
"""

from __future__ import annotations

from typing import Any

import numpy as np

# Each length is about 1.033 times the length before it.
LENGTHS = np.rint((1.033 ** np.arange(256) - 1) * 27)


def round_lengths(lengths: Any) -> Any:
    """Return the lengths that Whoosh reads back after it stored each in one byte, as float64."""
    return LENGTHS[np.minimum(np.searchsorted(LENGTHS, lengths), len(LENGTHS) - 1)]
