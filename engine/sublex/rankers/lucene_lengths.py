"""Document lengths as Lucene stores them: in one byte, exact below 40, then rounded down to four significant bits.

The source is `byte4ToInt(intToByte4(length))` of Lucene 10's `org.apache.lucene.util.SmallFloat`.
"""

from __future__ import annotations

import numpy as np

# The largest int needs code 231 of a byte's 256 codes. Lucene gives the 24 codes left over to the lengths 0 to 23.
_EXACT_CODES = 24
_SIGNIFICANT_BITS = 4


def round_lengths(lengths: np.ndarray) -> np.ndarray:
    """Return the lengths as one byte restores them, as an array of the same integer type."""
    lengths = np.asarray(lengths)
    excess = np.maximum(lengths - _EXACT_CODES, 0)
    bits = np.frexp(excess.astype(np.float64))[1]
    lost_bits = np.maximum(bits - _SIGNIFICANT_BITS, 0).astype(lengths.dtype)
    return np.where(lengths < _EXACT_CODES, lengths, _EXACT_CODES + (excess >> lost_bits << lost_bits))
