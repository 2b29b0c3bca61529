"""Matrices: several rows of the same width for each document. The rows of all documents are kept end to end.

A `Matrices` can take the place of an array with one row for each document. It has a shape, a type and a length, and a slice,
an array of numbers or a mask selects some of its documents.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


class Matrices:
    """The matrices of some documents.

    `data` is an array of two dimensions with the rows of all matrices. The matrix of document d is
    `data[starts[d]:starts[d + 1]]`, which may be empty. `starts` is an array of int64. `tokens` (int32) has for each row the
    number of its token in a list of texts, -1 for an unknown token; it is None if no tokens are known.
    """

    def __init__(self, data: np.ndarray, starts: np.ndarray, tokens: np.ndarray | None = None):
        self.data, self.starts, self.tokens = data, starts, tokens

    @classmethod
    def of_sizes(cls, data: np.ndarray, sizes: np.ndarray, tokens: np.ndarray | None = None) -> Matrices:
        """Return matrices with these numbers of rows; `data` has their rows end to end."""
        return cls(data, np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes, dtype=np.int64)]), tokens)

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
            rows: Any = slice(int(starts[0]), int(starts[-1]))
            return Matrices(self.data[rows], starts - starts[0], None if self.tokens is None else self.tokens[rows])
        docs = np.flatnonzero(chosen) if chosen.dtype == np.bool_ else chosen
        sizes = self.sizes[docs]
        rows = places(self.starts[docs], sizes)
        return Matrices.of_sizes(self.data[rows], sizes, None if self.tokens is None else self.tokens[rows])

    @staticmethod
    def stacked(blocks: Sequence[Matrices]) -> Matrices:
        """Return the matrices of several blocks, joined. The result has tokens if all blocks have tokens."""
        tokens = [block.tokens for block in blocks if block.tokens is not None]
        return Matrices.of_sizes(
            np.concatenate([block.data for block in blocks]),
            np.concatenate([block.sizes for block in blocks]),
            np.concatenate(tokens) if len(tokens) == len(blocks) else None,
        )

    def with_tokens(self) -> Matrices:
        """Return the same matrices with a token for each row. If no tokens are known, each row gets -1."""
        unknown = np.full(len(self.data), -1, np.int32)
        return Matrices(self.data, self.starts, unknown if self.tokens is None else self.tokens)


def places(begins: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return, end to end, the whole numbers from begins[k] up to begins[k] + sizes[k] - 1, for each k."""
    ends = np.cumsum(sizes, dtype=np.int64)
    return np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(begins - (ends - sizes), sizes)
