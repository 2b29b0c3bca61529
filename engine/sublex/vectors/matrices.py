"""Matrices: rows of one width, some for each document, kept end to end.

A `Matrices` stands where an array with one row for each document does: it has a shape, a type and a length, and gives some of
its documents by a slice, numbers or a mask.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


class Matrices:
    """The matrices of some documents.

    `data` is an array of two dimensions with the rows of all matrices. The matrix of document d has the rows `starts[d]`
    to `starts[d + 1]`, which may be none. `starts` is an array of int64.
    """

    def __init__(self, data: np.ndarray, starts: np.ndarray):
        self.data, self.starts = data, starts

    @classmethod
    def of_sizes(cls, data: np.ndarray, sizes: np.ndarray) -> Matrices:
        """Return matrices with these numbers of rows."""
        return cls(data, np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes, dtype=np.int64)]))

    @property
    def shape(self) -> tuple[int, int]:
        """The number of documents, and the width of the rows."""
        return len(self.starts) - 1, self.data.shape[1]

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the numbers."""
        return self.data.dtype

    @property
    def sizes(self) -> np.ndarray:
        """The number of rows of each matrix."""
        return np.diff(self.starts)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, chosen: slice | np.ndarray) -> Matrices:
        """Return the matrices of some documents: a slice without a step, an array of numbers, or a mask."""
        if isinstance(chosen, slice):
            begin, end, step = chosen.indices(len(self))
            assert step == 1
            starts = self.starts[begin : max(begin, end) + 1]
            return Matrices(self.data[starts[0] : starts[-1]], starts - starts[0])
        docs = np.flatnonzero(chosen) if chosen.dtype == np.bool_ else chosen
        sizes = self.sizes[docs]
        return Matrices.of_sizes(self.data[places(self.starts[docs], sizes)], sizes)

    @staticmethod
    def stacked(blocks: Sequence[Matrices]) -> Matrices:
        """Return the matrices of several blocks as one."""
        return Matrices.of_sizes(
            np.concatenate([block.data for block in blocks]), np.concatenate([block.sizes for block in blocks])
        )


def places(begins: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return the whole numbers from each begin on, as many as each size, end to end."""
    ends = np.cumsum(sizes, dtype=np.int64)
    return np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(begins - (ends - sizes), sizes)
