"""Work over blocks of fixed size, in threads, for results that are the same bytes for any number of them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import TypeVar

T = TypeVar("T")


def blocks(work: Callable[[slice], T], total: int, size: int, workers: int = 1) -> Iterator[T]:
    """What `work` makes of each block of `size` of `total` items, in their order; at most two a worker are under way."""
    parts = (slice(begin, min(begin + size, total)) for begin in range(0, total, size))
    if workers <= 1 or total <= size:
        yield from map(work, parts)
        return
    pool = ThreadPoolExecutor(workers)
    try:
        waiting: deque[Future[T]] = deque()
        for part in parts:
            waiting.append(pool.submit(work, part))
            if len(waiting) > 2 * workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)


def one_blas_thread() -> AbstractContextManager[object]:
    """Within it matrix products of NumPy and SciPy use one thread: their sums depend on how many there are."""
    from threadpoolctl import threadpool_limits

    return threadpool_limits(1, "blas")
