"""Scratch arrays of retrieval: each thread of a searcher has its own, and uses them for every query."""

from __future__ import annotations

import threading

import numpy as np

from sublex.retrieval.blocks.blocks import Blocks


class Scratch(threading.local):
    """The scratch arrays of the calling thread. Sums and flags are 0 before each call of a kernel, and after it."""

    _k = _words = 0

    def __init__(self) -> None:
        from sublex.retrieval.kernels import SPAN

        self._windows = np.zeros(SPAN), np.zeros(SPAN, np.uint8), np.empty(SPAN, np.int32)

    def keys(self, k: int) -> np.ndarray:
        """Return room for the keys of the best k documents, and of others that are found before better ones."""
        if self._k != k:
            self._k, self._keys = k, np.empty(max(2 * k, k + 32), np.uint64)
        return self._keys

    def windows(self, k: int) -> tuple[np.ndarray, ...]:
        """Return the arrays of `retrieve`: the sums of a window, flags of its documents, candidates, and keys for k hits."""
        return *self._windows, self.keys(k)

    def blocks(self, blocks: Blocks) -> tuple[np.ndarray, ...]:
        """Return the arrays of `retrieve_by_blocks` for the blocks of a segment."""
        if self._words != blocks.words:
            self._words, self._blocks = blocks.words, blocks.scratch()
        return self._blocks
