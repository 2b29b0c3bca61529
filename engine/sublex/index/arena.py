"""Strings end to end as components hold them, and the arithmetic of pieces that follow one another."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from sublex.errors import IndexCorrupt
from sublex.index.format import Component


def starts_of(sizes: np.ndarray) -> np.ndarray:
    """Where each of the pieces of these sizes starts, and where the last ends."""
    starts = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=starts[1:])
    return starts


class Arena:
    """Byte strings end to end: an arena and their sizes."""

    def __init__(self, arena: Component, sizes: Component):
        self._arena, self._sizes = arena, sizes

    def __len__(self) -> int:
        return len(self._sizes)

    @cached_property
    def starts(self) -> np.ndarray:
        """Where each string starts, and where the last ends."""
        starts = starts_of(self._sizes.all())
        if starts[-1] != len(self._arena):
            raise IndexCorrupt(f"{self._sizes.path} does not fit {self._arena.path}; rebuild the index.")
        return starts

    def __getitem__(self, k: int) -> bytes:
        begin, end = int(self.starts[k]), int(self.starts[k + 1])
        return self._arena.part(begin, end).tobytes()

    def list(self, begin: int = 0, end: int | None = None) -> list[bytes]:
        """The strings of a range."""
        starts = self.starts[begin : (len(self) if end is None else end) + 1]
        data = self._arena.part(int(starts[0]), int(starts[-1])).tobytes()
        cuts = (starts - starts[0]).tolist()
        return [data[a:b] for a, b in zip(cuts, cuts[1:], strict=False)]

    def arrays(self) -> tuple[np.ndarray, np.ndarray]:
        """All of them: the bytes end to end, and the size of each."""
        return self._arena.all(), np.diff(self.starts)

    def bisect(self, wanted: bytes, order: np.ndarray | None = None) -> int:
        """How many of the strings, which ascend (in `order`, where given), are smaller than the wanted one."""
        low, high = 0, len(self)
        while low < high:
            middle = (low + high) // 2
            if self[middle if order is None else int(order[middle])] < wanted:
                low = middle + 1
            else:
                high = middle
        return low


def spans(sizes: np.ndarray, most: int) -> list[tuple[int, int]]:
    """Cut 0 … len(sizes) into ranges whose sizes sum to at most `most`, or hold one item."""
    ends = np.cumsum(sizes, dtype=np.int64)
    cuts = [0]
    while cuts[-1] < len(sizes):
        base = int(ends[cuts[-1] - 1]) if cuts[-1] else 0
        cuts.append(max(cuts[-1] + 1, int(np.searchsorted(ends, base + most, side="right"))))
    return list(zip(cuts[:-1], cuts[1:], strict=True))
