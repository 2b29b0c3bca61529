"""Scratch arrays of retrieval. Each thread of a searcher has its own arrays, and uses the same arrays for every query."""

from __future__ import annotations

import threading

import numpy as np


class Scratch(threading.local):
    """The scratch arrays of the calling thread. Before and after a call of a kernel, all sums and flags are 0."""

    _terms = _k = -1

    def __init__(self) -> None:
        from sublex.retrieval import window_kernels

        self._rows = window_kernels.PLACE_ROWS, window_kernels.SHARE_ROWS
        size = window_kernels.SPAN
        self._windows = (
            np.zeros(size), np.zeros(size, np.uint8), np.empty(size // window_kernels.SIZE, np.float32), np.empty(size, np.int32)
        )  # fmt: skip

    def arrays(self, terms: int, k: int) -> tuple[np.ndarray, ...]:
        """Return the scratch arrays that `retrieve` needs for k hits.

        `terms` is the number of terms in all queries together.
        """
        if self._terms < terms:
            self._terms = 2 * terms
            places, shares = self._rows
            self._plan = np.empty((places, self._terms + 1), np.int64), np.empty((shares, self._terms + 1))
        if self._k != k:
            # There is room for more than k keys, because a document that is found early may not be among the best k in the
            # end.
            self._k, self._keys = k, np.empty(max(2 * k, k + 32), np.uint64)
        return *self._plan, *self._windows, self._keys
