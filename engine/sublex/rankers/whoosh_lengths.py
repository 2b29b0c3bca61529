"""Document lengths as Whoosh stores them, in one byte: exact up to 10, then rounded up to one of 256 lengths, at most 106374."""

from __future__ import annotations

from typing import Any

import numpy as np

# Each length is about 1.033 times the one before it.
LENGTHS = np.rint((1.033 ** np.arange(256) - 1) * 27)


def round_lengths(lengths: Any) -> Any:
    """Return lengths as one byte restores them, as float64."""
    return LENGTHS[np.minimum(np.searchsorted(LENGTHS, lengths), len(LENGTHS) - 1)]
