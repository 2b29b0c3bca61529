"""Threads that do the kernels' work, in order and a few items ahead; the kernels release the interpreter's lock."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from types import TracebackType
from typing import TypeVar

T = TypeVar("T")
U = TypeVar("U")


class Workers:
    """`map` over threads, or inline for one worker; results come in the order of the items either way."""

    def __init__(self, number: int):
        self.number = max(1, number)
        self._pool = ThreadPoolExecutor(self.number) if self.number > 1 else None

    def map(self, function: Callable[[T], U], items: Iterable[T]) -> Iterator[U]:
        """Like the built-in, with at most two items a worker under way."""
        if self._pool is None:
            yield from map(function, items)
            return
        waiting: deque[Future[U]] = deque()
        for item in items:
            waiting.append(self._pool.submit(function, item))
            if len(waiting) > 2 * self.number:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()

    @contextmanager
    def beside(self, work: Callable[[], object]) -> Iterator[None]:
        """Have work done beside the block; it is finished when the block is left."""
        if self._pool is None:
            work()
            yield
            return
        future = self._pool.submit(work)
        try:
            yield
        finally:
            wait([future])
        future.result()

    def __enter__(self) -> Workers:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool:
            self._pool.shutdown(cancel_futures=True)
