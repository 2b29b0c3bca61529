"""Work in blocks of rows: check matrices, cut them into blocks, and run the blocks on threads in order.

The size of a block never depends on the number of workers, and the results of blocks are combined in order. So the
final results are the same, to the byte, for any number of workers.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
import xxhash

from sublex.errors import InputError
from sublex.tools.workers import Workers

if TYPE_CHECKING:
    from scipy.sparse import csr_array

T = TypeVar("T")
U = TypeVar("U")
# A function that returns a matrix as blocks of rows. It is called once for each pass over the data.
Blocks = Callable[[], Iterable[Any]]
# The number of rows in a block.
ROWS_PER_BLOCK = 4096
# Types of values that kernels are compiled for; other types are converted to float64.
KERNEL_DTYPES = ("int32", "float32", "float64")


class _OneThread:
    """A context manager that limits BLAS to one thread.

    The limit holds for the whole process. If several contexts are open at the same time, the first one sets the limit,
    and the last one to close restores the old limit.
    """

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
    """Return a context in which BLAS runs on one thread. The rounding of BLAS depends on its number of threads."""
    return _ONE_THREAD


def in_order(function: Callable[[T], U], items: Iterable[T], workers: int = 1) -> Iterator[U]:
    """Yield the results of a function on items, computed by threads, in the order of the items."""
    with Workers(workers) as pool:
        yield from pool.map(function, items)


def spans(number: int, size: int = 0) -> list[slice]:
    """Return slices that cut `number` rows into blocks of `size` rows, by default `ROWS_PER_BLOCK`."""
    size = size or ROWS_PER_BLOCK
    return [slice(begin, min(begin + size, number)) for begin in range(0, number, size)]


def random(seed: int, item: int = 0) -> np.random.Generator:
    """Return a generator of random numbers for one item of work; the numbers depend only on the seed and the item."""
    return np.random.Generator(np.random.Philox(key=[seed % (1 << 64), item]))


def seeds_of(rows: csr_array, seed: int) -> np.ndarray:
    """Return a seed for each row, uint64. It depends only on `seed` and on the row's own words and counts."""
    words, counts = rows.indices.astype(np.int64), rows.data.astype(np.float64)
    starts = rows.indptr.tolist()
    hashes = (
        xxhash.xxh3_64_intdigest(words[begin:end].tobytes() + counts[begin:end].tobytes(), seed % (1 << 64))
        for begin, end in zip(starts, starts[1:], strict=False)
    )
    return np.fromiter(hashes, np.uint64, rows.shape[0])


def rows_of(matrix: Any, columns: int | None = None) -> csr_array:
    """Return a matrix, dense or sparse, as sparse rows that kernels can read.

    Raises `InputError` for a value that is not finite, or if the number of columns is not `columns`.
    """
    from scipy.sparse import csr_array

    rows = matrix if isinstance(matrix, csr_array) else csr_array(matrix)
    if rows.ndim != 2:
        raise InputError(f"A matrix of documents by terms is needed, not one of {rows.ndim} dimensions.")
    if columns is not None and rows.shape[1] != columns:
        raise InputError(f"The matrix has {rows.shape[1]:,} columns where the model knows {columns:,} words.")
    if rows.dtype.name not in KERNEL_DTYPES:
        rows = rows.astype(np.float64)
    if rows.dtype.kind == "f" and not np.isfinite(rows.data).all():
        raise InputError("The matrix holds values that are not finite; counts or weights are needed.")
    return rows


def blocks_of(matrix: Any) -> Blocks:
    """Return a function that returns the rows of `matrix` as blocks, checked as `rows_of` checks them.

    `matrix` is a matrix, a list of blocks of rows, or a function that returns the blocks.
    """
    if callable(matrix):
        return lambda: map(rows_of, matrix())
    if isinstance(matrix, (list, tuple)):
        checked = [rows_of(block) for block in matrix]
        return lambda: checked
    rows = rows_of(matrix)
    blocks = [rows[span] for span in spans(rows.shape[0])] or [rows]
    return lambda: blocks


class Totals(NamedTuple):
    """Totals of a matrix of documents by terms.

    `docs` is the number of its rows. `cf` has the sum of each column, and `df` the number of non-zero entries of each
    column.
    """

    docs: int
    cf: np.ndarray
    df: np.ndarray


def totals(blocks: Blocks) -> Totals:
    """Return the totals of all blocks, in one pass."""
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
