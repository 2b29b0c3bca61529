"""A table that numbers byte strings by first appearance: raw tokens while tokenizing, docnos while building."""

from __future__ import annotations

import numpy as np

from sublex.analysis import kernels


class Interner:
    """Byte strings to numbers 0, 1, 2, …; the strings stay readable in one arena, each followed by a newline."""

    def __init__(self) -> None:
        self.size = 0
        self.ends = np.empty(1 << 12, np.int64)
        self.hashes = np.empty(1 << 12, np.uint64)
        self.rows = np.empty((1 << 12, 3), np.uint64)
        self.arena = np.empty(1 << 16, np.uint8)
        self.slots = np.full(1 << 13, -1, np.int32)

    @property
    def nbytes(self) -> int:
        """Memory held."""
        return self.ends.nbytes + self.hashes.nbytes + self.rows.nbytes + self.arena.nbytes + self.slots.nbytes

    def add(self, text: np.ndarray, starts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
        """The numbers of the strings text[start:start + length]; unknown ones are added."""
        text = np.concatenate([text, np.zeros(kernels.SPARE, np.uint8)])
        return self.add_described(text, starts, *kernels.describe(text, starts, lengths))

    def add_described(self, text: np.ndarray, starts: np.ndarray, rows: np.ndarray, hashes: np.ndarray) -> np.ndarray:
        """The same for strings that a kernel has described."""
        self._make_room(len(starts), int(rows[:, 2].sum()) + len(starts))
        numbers, self.size = kernels.intern(
            text, starts, rows, hashes, self.slots, self.rows, self.hashes, self.ends, self.arena, self.size
        )
        return numbers

    def strings(self, first: int = 0) -> bytes:
        """All strings from number `first` on, each followed by a newline."""
        begin = self.ends[first - 1] if first else 0
        return self.arena[begin : self.ends[self.size - 1] if self.size else 0].tobytes()

    def _make_room(self, strings: int, size: int) -> None:
        if self.size + strings > len(self.ends):
            self.ends = _longer(self.ends, self.size + strings)
            self.hashes = _longer(self.hashes, self.size + strings)
            self.rows = _longer(self.rows, self.size + strings)
        used = int(self.ends[self.size - 1]) if self.size else 0
        if used + size > len(self.arena):
            self.arena = _longer(self.arena, used + size)
        if 2 * (self.size + strings) > len(self.slots):
            self.slots = kernels.refill(self.hashes, self.size, 1 << (2 * (self.size + strings)).bit_length())


def _longer(values: np.ndarray, least: int) -> np.ndarray:
    longer = np.empty((max(least, 2 * len(values)), *values.shape[1:]), values.dtype)
    longer[: len(values)] = values
    return longer
