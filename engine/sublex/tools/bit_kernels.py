"""Kernels of bits: count those that are set."""

from __future__ import annotations

import numpy as np

from sublex.tools.compiled import inner


@inner
def ones(bits):
    """Count the bits of a 64-bit number that are 1.

    LLVM recognises these four lines, and replaces them by the processor's instruction that counts bits.
    """
    bits -= (bits >> np.uint64(1)) & np.uint64(0x5555555555555555)
    bits = (bits & np.uint64(0x3333333333333333)) + ((bits >> np.uint64(2)) & np.uint64(0x3333333333333333))
    bits = (bits + (bits >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (bits * np.uint64(0x0101010101010101)) >> np.uint64(56)
