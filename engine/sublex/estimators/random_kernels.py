"""Random numbers for kernels: SplitMix64 (Steele, Lea and Flood 2014)."""

from __future__ import annotations

import numpy as np

from sublex.tools.compiled import inner


@inner
def uniform(state):
    """Return the next random number in [0, 1) of SplitMix64, and advance `state`, an array of one uint64."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    x = state[0]
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    x ^= x >> np.uint64(31)
    return np.float64(x >> np.uint64(11)) * (1.0 / 9007199254740992.0)
