"""Work in blocks whose size never depends on the number of workers, finished in order: the same bytes for any number of workers."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from sublex.errors import InputError
from sublex.workers import Workers

if TYPE_CHECKING:
    from scipy.sparse import csr_array

T = TypeVar("T")
U = TypeVar("U")
Blocks = Callable[[], Iterable[Any]]
BLOCK = 4096
# What kernels are compiled for; everything else becomes float64.
DATA = ("int32", "float32", "float64")


class _OneThread:
    """The limit is the whole process's: who comes first sets it, who leaves last lifts it."""

    def __init__(self) -> None:
        self._lock, self._inside = threading.Lock(), 0
        self._limits: Any = None

    def __enter__(self) -> None:
        from threadpoolctl import threadpool_limits

        with self._lock:
            if not self._inside:
                self._limits = threadpool_limits(1)
            self._inside += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside:
                self._limits.restore_original_limits()


_ONE_THREAD = _OneThread()


def one_thread() -> _OneThread:
    """BLAS on one thread: how it shares work out decides how it rounds."""
    return _ONE_THREAD


def in_order(function: Callable[[T], U], items: Iterable[T], workers: int = 1) -> Iterator[U]:
    """The results in the order of the items, by threads of their own."""
    with Workers(workers) as pool:
        yield from pool.map(function, items)


def spans(number: int, size: int = 0) -> list[slice]:
    """The blocks of this many rows."""
    size = size or BLOCK
    return [slice(begin, min(begin + size, number)) for begin in range(0, number, size)]


def random(seed: int, item: int = 0) -> np.random.Generator:
    """Random numbers for one item of work, counter-based: they depend on the seed and the item alone."""
    return np.random.Generator(np.random.Philox(key=[seed % (1 << 64), item]))


def rows_of(matrix: Any, columns: int | None = None) -> csr_array:
    """The matrix as finite sparse rows that kernels can read; with `columns`, of this width."""
    from scipy.sparse import csr_array

    rows = matrix if isinstance(matrix, csr_array) else csr_array(matrix)
    if rows.ndim != 2:
        raise InputError(f"A matrix of documents by terms is needed, not one of {rows.ndim} dimensions.")
    if columns is not None and rows.shape[1] != columns:
        raise InputError(f"The matrix has {rows.shape[1]:,} columns where the model knows {columns:,} words.")
    if rows.dtype.name not in DATA:
        rows = rows.astype(np.float64)
    if rows.dtype.kind == "f" and not np.isfinite(rows.data).all():
        raise InputError("The matrix holds values that are not finite; counts or weights are needed.")
    return rows


def blocks_of(matrix: Any) -> Blocks:
    """A function that returns the blocks of rows, checked: of a matrix, of a list of blocks, or of a function that returns them."""
    if callable(matrix):
        return lambda: map(rows_of, matrix())
    if isinstance(matrix, (list, tuple)):
        checked = [rows_of(block) for block in matrix]
        return lambda: checked
    rows = rows_of(matrix)
    cut = [rows[span] for span in spans(rows.shape[0])] or [rows]
    return lambda: cut


class Totals(NamedTuple):
    """Of documents by terms: how many documents, each term's sum over them, and in how many it stands."""

    docs: int
    cf: np.ndarray
    df: np.ndarray


def totals(blocks: Blocks) -> Totals:
    """The totals, in one pass."""
    docs, cf, df = 0, np.zeros(0), np.zeros(0)
    for block in blocks():
        if docs and block.shape[1] != len(cf):
            raise InputError(
                f"One block of rows has {len(cf):,} columns and another {block.shape[1]:,}; all must have the same."
            )
        if not len(cf):
            cf, df = np.zeros(block.shape[1]), np.zeros(block.shape[1])
        docs += block.shape[0]
        cf += np.bincount(block.indices, block.data, block.shape[1])
        df += np.bincount(block.indices, block.data != 0, block.shape[1])
    return Totals(docs, cf, df)
