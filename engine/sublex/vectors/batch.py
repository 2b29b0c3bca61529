"""The batches that readers of vectors return, and the checks that all readers share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from sublex.errors import InputError
from sublex.tools.messages import counted

# The largest number of entries of a vector.
MOST_ENTRIES = 1 << 16
# The largest number of rows of a matrix.
MOST_ROWS = 1 << 16
# The number of rows that a reader returns at a time, unless the rows lie in a file that is mapped into memory.
ROWS_PER_BATCH = 4096


class VectorsBatch(NamedTuple):
    """The vectors of some documents or queries.

    `rows` is an array of numbers with one row for each of `ids`. For matrices, `rows` has the rows of all matrices,
    end to end; `sizes` (int64) then has the number of rows of each matrix, and `tokens` the token of each row, or
    nothing. `mapped` says that the rows stay valid when the next batch is read, as rows do that are mapped from a
    file. `texts` has the texts of queries, if the file has them. `place` says where the batch comes from, for
    messages.
    """

    ids: Sequence[str]
    rows: np.ndarray
    place: str
    mapped: bool = False
    texts: Sequence[str] = ()
    sizes: np.ndarray | None = None
    tokens: Sequence[str] = ()


class Repeated(Sequence[str]):
    """The id of each row of some matrices: an id is repeated for each row of its matrix."""

    def __init__(self, ids: Sequence[str], sizes: np.ndarray):
        self._ids, self._ends = ids, np.cumsum(sizes)

    def __len__(self) -> int:
        return int(self._ends[-1]) if len(self._ends) else 0

    def __getitem__(self, row: Any) -> Any:
        return self._ids[int(np.searchsorted(self._ends, row, "right"))]


def expect_sizes(sizes: np.ndarray, ids: Sequence[str], rows: int, place: str) -> np.ndarray:
    """Return `sizes`, the number of rows of each matrix, as int64.

    Raise InputError if a size is impossible, or if the sizes do not add up to `rows`.
    """
    if sizes.ndim != 1 or sizes.dtype.kind not in "iu" or len(sizes) != len(ids):
        raise InputError(f"{place} has {counted(len(ids), 'id')} and no whole number of rows for each of them.")
    wrong = np.flatnonzero((sizes < 1) | (sizes > MOST_ROWS))
    if len(wrong):
        size, name = int(sizes[wrong[0]]), ids[int(wrong[0])]
        if size == 0:
            raise InputError(f"{place}: the matrix of {name} is empty; leave it out.")
        raise InputError(f"{place}: the matrix of {name} has {size:,} rows; give 1 to {MOST_ROWS:,}.")
    sizes = sizes.astype(np.int64)
    if int(sizes.sum()) != rows:
        raise InputError(f"{place} has {counted(rows, 'row')}, and sizes that add up to {int(sizes.sum()):,}.")
    return sizes


def expect_tokens(tokens: Sequence[str], rows: int, place: str) -> Sequence[str]:
    """Return `tokens` unchanged. Raise InputError if there are tokens, but not one for each of this number of rows."""
    if len(tokens) not in (0, rows):
        raise InputError(f"{place} has {counted(rows, 'row')} and {counted(len(tokens), 'token')}; give each row one.")
    return tokens


def expect_shape(shape: Sequence[int], place: str) -> None:
    """Raise InputError unless an array of this shape has two dimensions, and rows of a possible width."""
    if len(shape) != 2:
        raise InputError(f"{place} has {counted(len(shape), 'dimension')}; vectors are rows of an array of two.")
    expect_width(shape[1], place)


def expect_width(width: int, place: str) -> None:
    """Raise InputError for a width that no vector may have."""
    if not 0 < width <= MOST_ENTRIES:
        raise InputError(f"{place} has vectors of {width:,} numbers; give 1 to {MOST_ENTRIES:,}.")


def expect_numbers(dtype: np.dtype[Any], place: str) -> None:
    """Raise InputError if values of this type cannot be entries of vectors."""
    if dtype.hasobject:
        raise InputError(f"{place} holds pickled Python objects, which Sublex never loads; save plain numbers.")
    if dtype.kind not in "fiu":
        raise InputError(f"{place} holds values of the type {dtype}; vectors are whole numbers or floats.")


def single(rows: np.ndarray, ids: Sequence[str], place: str) -> np.ndarray:
    """Return rows as float32. Raise InputError for a number that is not finite as float32. The message names the id."""
    with np.errstate(over="ignore", invalid="ignore"):
        values = np.ascontiguousarray(rows, np.float32)
    if not np.isfinite(values.sum(dtype=np.float64)) and not np.isfinite(values).all():
        wrong = ~np.isfinite(values)
        row = int(np.flatnonzero(wrong.any(axis=1))[0])
        number = rows[row][wrong[row]][0]
        is_large = bool(np.isfinite(number))
        fault = "a number that is too large for float32" if is_large else "NaN" if number != number else "infinity"
        raise InputError(f"{place}: the vector of {ids[row]} holds {fault}; correct it or leave it out.")
    return values
