"""Bits: what kernels of several rooms do with the bits of a number."""
