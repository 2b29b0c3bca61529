"""The sparse rows in which an index stores weights of terms. They have a column for each term, and a last one for a mark.

The mark means that it is unknown whether the document has weights. The row of a document without weights is empty.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sublex.contracts.stored import Numbers
from sublex.errors import InputError

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# NumPy's types of stored numbers, by the names that users write.
TYPES = {"float32": "f4", "int8": "u1"}
# The largest stored number of one byte.
STEPS = 255
# The largest number of terms that the weights of one name may have.
MOST_TERMS = 1 << 30
# The declarations of the values that are stored beside such rows: the place of the type in `TYPES`, and the step.
TYPE_VALUE = Numbers((1,), "i4", 0, len(TYPES) - 1)
STEP_VALUE = Numbers((1,), "f4", float(np.finfo(np.float32).tiny), float(np.finfo(np.float32).max) / STEPS)


class WeightLayout(NamedTuple):
    """The layout of rows of weights: the number of terms, the type of the stored numbers, and the weight of one step.

    The step is 1 for float32. With one byte, a weight is a whole number of steps, from 1 to 255.
    """

    terms: int
    stored: str
    step: float = 1.0

    @classmethod
    def fitting(cls, stored: str, largest: float, whole: bool) -> WeightLayout:
        """Return a layout for weights up to `largest`, whose number of terms is still 0.

        `whole` says that all weights are integers.
        """
        if stored not in TYPES:
            raise InputError(f"Weights of terms are stored as {' or '.join(TYPES)}, and not as {stored}.")
        if stored == "float32" or (whole and largest <= STEPS):
            return cls(0, stored)
        return cls(0, stored, max(float(np.float32(largest / STEPS)), float(np.finfo(np.float32).tiny)))

    @property
    def width(self) -> int:
        """The number of columns."""
        return self.terms + 1

    @property
    def declared(self) -> Numbers:
        """The declaration of a row: the numbers are above 0."""
        least = 1.0 if self.stored == "int8" else float(np.finfo(np.float32).smallest_subnormal)
        return Numbers((self.width,), TYPES[self.stored], least, sparse=True)

    def rows(self, weights: csr_array) -> csr_array:
        """Return weights (float32) as rows. `weights` has a column for each term. Raise InputError for a weight out of range."""
        from scipy.sparse import csr_array

        values = weights.data
        if self.stored == "int8":
            steps = np.rint(values / np.float32(self.step))
            if steps.max(initial=0) > STEPS:
                raise InputError(
                    f"A weight is {float(values.max()):g}, and the weights that the index has reach to "
                    f"{STEPS * self.step:g} as int8; --replace all of this name."
                )
            values = np.maximum(steps, 1).astype(np.uint8)
        return csr_array((values, weights.indices, weights.indptr), shape=(weights.shape[0], self.width))

    def blank(self, docs: int) -> csr_array:
        """Return rows with only the mark for this number of documents."""
        from scipy.sparse import csr_array

        marks = np.ones(docs, TYPES[self.stored]), np.full(docs, self.terms, np.int32), np.arange(docs + 1)
        return csr_array(marks, shape=(docs, self.width))

    def marked(self, rows: csr_array) -> np.ndarray:
        """Return a mask of the rows that have the mark."""
        # The mark is in the last column, so it is the last entry of its row.
        ends = rows.indptr[1:]
        has = ends > rows.indptr[:-1]
        found = np.zeros(rows.shape[0], np.bool_)
        found[has] = rows.indices[ends[has] - 1] == self.terms
        return found

    def weights(self, rows: csr_array) -> csr_array:
        """Return the weights of rows (float32), without marks. The result has the same number of columns as `rows`."""
        from scipy.sparse import csr_array

        values: Any = rows.data
        if self.stored == "int8":
            values = values.astype(np.float32) * np.float32(self.step)
        marked = self.marked(rows)
        if not marked.any():
            return csr_array((values, rows.indices, rows.indptr), shape=rows.shape)
        kept = np.ones(len(values), np.bool_)
        kept[rows.indptr[1:][marked] - 1] = False
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.diff(rows.indptr) - marked, dtype=np.int64)])
        return csr_array((values[kept], rows.indices[kept], starts), shape=rows.shape)
