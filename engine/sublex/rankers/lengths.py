"""Document lengths as Lucene stores them: one byte, exact below 40, then rounded down to four significant bits.

Lucene 10, org.apache.lucene.util.SmallFloat: `byte4ToInt(intToByte4(length))`.
"""

from __future__ import annotations

import numpy as np

CHOICES = ("exact", "lucene")
# A byte has 256 values, and the largest int needs code 231: the 24 codes left over stand for themselves.
_ITSELF = 24
_BITS = 4


def lucene(length: np.ndarray) -> np.ndarray:
    """The lengths that one byte each gives back."""
    length = np.asarray(length)
    above = np.maximum(length - _ITSELF, 0)
    bits = np.frexp(above.astype(np.float64))[1]
    lost = np.maximum(bits - _BITS, 0).astype(length.dtype)
    return np.where(length < _ITSELF, length, _ITSELF + (above >> lost << lost))
