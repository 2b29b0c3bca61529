"""Document lengths as Lucene stores them in one byte.

Lengths below 40 are exact. Longer lengths are rounded to four significant bits. The source is `byte4ToInt(intToByte4(length))` of
Lucene 10's `org.apache.lucene.util.SmallFloat`.
"""

from __future__ import annotations

import numpy as np

# A byte has 256 codes, and the codes up to 231 suffice for the largest int. Lucene uses the other 24 codes for the
# lengths 0 to 23.
_EXACT_CODES = 24
_SIGNIFICANT_BITS = 4


def round_lengths(lengths: np.ndarray) -> np.ndarray:
    """Return the lengths that Lucene reads back after it stored each in one byte, in the same integer type."""
    lengths = np.asarray(lengths)
    excess = np.maximum(lengths - _EXACT_CODES, 0)
    bits = np.frexp(excess.astype(np.float64))[1]
    lost_bits = np.maximum(bits - _SIGNIFICANT_BITS, 0).astype(lengths.dtype)
    return np.where(lengths < _EXACT_CODES, lengths, _EXACT_CODES + (excess >> lost_bits << lost_bits))
