"""Send lines of JSON while they are computed: a thread makes them, and waits while the client reads slowly."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from sublex.service.limits import SLOW
from sublex.service.problems import as_bytes, problem_of, record_of

if TYPE_CHECKING:
    from sublex.service.app import App

# Lines that wait for the client.
AHEAD = 16


class AnswerLines:
    """The lines of one answer."""

    def __init__(self, app: App, make: Callable[[], Iterable[Any]], receive: Any, send: Any):
        self.app, self.make, self.receive, self._send = app, make, receive, send
        self._queue: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._room = threading.Semaphore(AHEAD)

    async def send(self) -> None:
        """Send all lines. An error after the first line is the last line."""
        from sublex.service.app import _FIXED, NDJSON

        loop = asyncio.get_running_loop()
        job = self.app.pool.start(lambda: self._produce(loop))
        left = asyncio.ensure_future(self._left())
        deadline = loop.call_later(self.app.server.limits.seconds * 10, lambda: loop.run_in_executor(None, job.stop))
        try:
            await self._send({"type": "http.response.start", "status": 200, "headers": list(_FIXED[NDJSON])})
            while True:
                waiting = asyncio.ensure_future(self._queue.get())
                await asyncio.wait({waiting, left, job.future}, return_when=asyncio.FIRST_COMPLETED)
                if left.done():
                    waiting.cancel()
                    break
                if not waiting.done():
                    # The thread has ended; what it made is in the queue.
                    waiting.cancel()
                    if self._queue.empty():
                        break
                    line = self._queue.get_nowait()
                else:
                    line = waiting.result()
                if line is None:
                    break
                self._room.release()
                await self._send({"type": "http.response.body", "body": line, "more_body": True})
            await self._send({"type": "http.response.body", "body": b""})
        finally:
            deadline.cancel()
            left.cancel()
            if not job.future.done():
                await loop.run_in_executor(None, job.stop)
            job.future.exception() if job.future.done() and not job.future.cancelled() else None

    def _produce(self, loop: asyncio.AbstractEventLoop) -> None:
        """Make the lines, in a thread of the pool."""
        try:
            for record in self.make():
                self._put(loop, as_bytes(record) + b"\n")
        except Exception as error:
            self._put(loop, as_bytes({"error": record_of(self.app.server.named(problem_of(error)))}) + b"\n")
        self._put(loop, None)

    def _put(self, loop: asyncio.AbstractEventLoop, line: bytes | None) -> None:
        """Hand a line over when there is room. Raise InterruptedError if the client reads nothing for long."""
        # A wait without an end could not be interrupted.
        for _ in range(int(SLOW * 10)):
            if self._room.acquire(timeout=0.1):
                loop.call_soon_threadsafe(self._queue.put_nowait, line)
                return
        raise InterruptedError("the client does not read")

    async def _left(self) -> None:
        while (await self.receive())["type"] != "http.disconnect":
            pass
