"""The rows in which an index stores vectors and matrices. A row has the numbers of a vector, and after them a scale.

The stored numbers times a scale above 0 are the vector. For floats the scale is 1. For int8 it is the size of one step, and
takes the room of four numbers. A scale of 0 says that the document has no vector. A scale of -1 says that it is unknown
whether the document has a vector. A document without a matrix has no rows. If it is unknown whether a document has a matrix,
it has a single row with the scale -1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from sublex.contracts.stored import Numbers
from sublex.errors import IndexCorrupt
from sublex.vectors.batch import MOST_ENTRIES
from sublex.vectors.matrices import Matrices

# NumPy's types of stored numbers, by the names that users write.
TYPES = {"float32": "f4", "float16": "f2", "int8": "i1"}
# The scales of a document without a vector, and of a document for which it is unknown whether it has one.
WITHOUT, UNCOVERED = 0.0, -1.0
# The declarations of the values that are stored beside such rows: the hash as 16 numbers of four hexadecimal digits,
# the width, and the place of the type in `TYPES`.
HASH_VALUE = Numbers((16,), "u2")
WIDTH_VALUE, TYPE_VALUE = Numbers((1,), "i4", 1, MOST_ENTRIES), Numbers((1,), "i4", 0, len(TYPES) - 1)
# The largest number in int8.
STEPS = 127


class GivenSet(NamedTuple):
    """What an index stores beside the rows of given vectors: the layout of the rows, and the hash of their values.

    For weights, the layout is a `WeightLayout`. `tokens` has the tokens of matrices, or the terms of weights, by
    number.
    """

    layout: Any
    hash: str
    tokens: Sequence[str] = ()


class RowLayout(NamedTuple):
    """The layout of rows: the width of the vectors, and the type of the stored numbers, a name of `TYPES`."""

    width: int
    stored: str

    @property
    def columns(self) -> int:
        """The number of stored numbers in a row, including the scale."""
        return self.width + (4 if self.stored == "int8" else 1)

    @property
    def declared(self) -> Numbers:
        """The declaration of a row."""
        return Numbers((self.columns,), TYPES[self.stored])

    def blank(self, docs: int, scale: float = WITHOUT) -> np.ndarray:
        """Return rows without a vector for this number of documents. `scale` is WITHOUT or UNCOVERED."""
        return self._with_scales(np.zeros((docs, self.width), TYPES[self.stored]), np.full(docs, scale, np.float32))

    def rows(self, vectors: np.ndarray) -> np.ndarray:
        """Return vectors (float32) as rows."""
        scales = np.ones(len(vectors), np.float32)
        if self.stored != "int8":
            with np.errstate(over="ignore"):
                return self._with_scales(vectors.astype(TYPES[self.stored]), scales)
        largest = np.abs(vectors).max(axis=1, initial=0.0)
        np.divide(largest, STEPS, out=scales, where=largest > STEPS * np.finfo(np.float32).tiny)
        return self._with_scales(np.rint(vectors / scales[:, None]).astype(np.int8), scales)

    def _with_scales(self, numbers: np.ndarray, scales: np.ndarray) -> np.ndarray:
        rows = np.empty((len(numbers), self.columns), TYPES[self.stored])
        rows[:, : self.width] = numbers
        rows[:, self.width :] = scales[:, None].view(np.int8) if self.stored == "int8" else scales[:, None]
        return rows

    def scales(self, rows: np.ndarray) -> np.ndarray:
        """Return the scale of each row, float32."""
        last = np.ascontiguousarray(rows[:, self.width :])
        return last.view(np.float32)[:, 0] if self.stored == "int8" else last[:, 0].astype(np.float32)

    def uncovered(self, matrices: Matrices) -> np.ndarray:
        """Return a mask of the documents for which it is unknown whether they have a matrix."""
        found: np.ndarray = matrices.sizes == 1
        found[found] = self.scales(matrices.data[matrices.starts[:-1][found]]) == UNCOVERED
        return found

    def vectors(self, rows: np.ndarray) -> np.ndarray:
        """Return the vectors of rows, float32; zeros for documents without a vector."""
        if self.stored != "int8":
            return rows[:, : self.width].astype(np.float32)
        scales = np.maximum(self.scales(rows), np.float32(0))
        return rows[:, : self.width] * scales[:, None]

    def check_scales(self, scales: np.ndarray) -> None:
        """Raise IndexCorrupt for a scale that neither `rows` nor `blank` would write."""
        marks = (scales == WITHOUT) | (scales == UNCOVERED)
        fits = (scales > 0) & (scales <= np.finfo(np.float32).max / STEPS) if self.stored == "int8" else scales == 1
        if not (marks | fits).all():
            raise IndexCorrupt("A row of vectors has an impossible scale; add the vectors again.")
