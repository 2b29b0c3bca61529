"""Worker threads that return results in the order in which the calls were submitted.

Threads suffice because the kernels release the interpreter lock. With one worker everything runs in the calling thread, so the
code that uses `Workers` is the same for one thread and for many.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from types import TracebackType
from typing import Generic, TypeVar

T = TypeVar("T")
U = TypeVar("U")


class OrderedQueue(Generic[U]):
    """A queue of calls that run in threads. Results are taken out in the order in which the calls were submitted."""

    def __init__(self, pool: ThreadPoolExecutor | None, limit: int):
        self._pool, self._limit = pool, limit
        self._waiting: deque[Future[U]] = deque()

    def submit(self, function: Callable[..., U], *arguments: object) -> None:
        """Start a call; without threads it runs at once, and its errors are raised here."""
        if self._pool:
            self._waiting.append(self._pool.submit(function, *arguments))
            return
        done: Future[U] = Future()
        done.set_result(function(*arguments))
        self._waiting.append(done)

    def ready(self) -> Iterator[U]:
        """Yield the oldest results until the number of calls in the queue is within its limit.

        Wait for calls that have not ended.
        """
        while len(self._waiting) > self._limit:
            yield self._waiting.popleft().result()

    def rest(self) -> Iterator[U]:
        """Wait for all calls and yield their results."""
        while self._waiting:
            yield self._waiting.popleft().result()


class Workers:
    """A pool of threads, to be used in a `with` block; on leaving it, calls that have not started are cancelled."""

    def __init__(self, number: int):
        self.number = max(1, number)
        self._pool = ThreadPoolExecutor(self.number) if self.number > 1 else None

    def queue(self) -> OrderedQueue:
        """Return a queue with a limit of two calls per worker; without threads the limit is 0."""
        return OrderedQueue(self._pool, 2 * self.number if self._pool else 0)

    def map(self, function: Callable[[T], U], items: Iterable[T]) -> Iterator[U]:
        """Yield `function(item)` for each item, in order. Items are read at most a few calls ahead of the results."""
        queue: OrderedQueue[U] = self.queue()
        for item in items:
            queue.submit(function, item)
            yield from queue.ready()
        yield from queue.rest()

    @contextmanager
    def in_background(self, work: Callable[[], object]) -> Iterator[None]:
        """Run `work` in a thread while the block runs; leaving the block waits for `work` and raises its error."""
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
