"""Send lines of JSON while they are computed: a thread makes them, and waits while the client reads slowly."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sublex.service.limits import SLOW
from sublex.service.problems import Refused, as_bytes, problem_of, record_of

if TYPE_CHECKING:
    from sublex.service.app import App

# Lines that wait for the client.
AHEAD = 16
# The deadline of an answer in lines, divided by that of any other answer.
LONGER = 10


class AnswerLines:
    """The lines of one answer."""

    def __init__(self, app: App, make: Callable[[Callable[[Any], None]], None], receive: Any, send: Any):
        self.app, self.make, self.receive, self._send = app, make, receive, send
        self._queue: asyncio.Queue[bytes | Refused | None] = asyncio.Queue()
        self._room = threading.Semaphore(AHEAD)

    async def send(self) -> None:
        """Send all lines. Raise Refused for an error before the first line; a later one is the last line."""
        from sublex.service.app import _FIXED, NDJSON

        loop = asyncio.get_running_loop()
        job = self.app.pool.start(lambda: self._produce(loop))
        # Whatever ended the thread was told by a line.
        job.future.add_done_callback(lambda made: made.cancelled() or made.exception())
        left = asyncio.ensure_future(self._left())
        seconds = self.app.server.limits.seconds * LONGER
        late: list[bool] = []

        def stop() -> None:
            late.append(True)
            loop.run_in_executor(None, job.stop)

        deadline, has_begun = loop.call_later(seconds, stop), False
        try:
            while not left.done():
                line = await self._next(left, job.future)
                if line is None and late:
                    line = Refused(504, f"The answer takes longer than {seconds:g} seconds; ask for less.")
                if isinstance(line, Refused) and not has_begun:
                    raise line
                if not has_begun:
                    await self._send({"type": "http.response.start", "status": 200, "headers": list(_FIXED[NDJSON])})
                    has_begun = True
                if line is None:
                    break
                body = as_bytes({"error": record_of(line)}) + b"\n" if isinstance(line, Refused) else line
                await self._send({"type": "http.response.body", "body": body, "more_body": True})
                if isinstance(line, Refused):
                    break
            if has_begun:
                await self._send({"type": "http.response.body", "body": b""})
        finally:
            deadline.cancel()
            left.cancel()
            if not job.future.done():
                await loop.run_in_executor(None, job.stop)

    async def _next(self, left: asyncio.Future[None], made: asyncio.Future[Any]) -> bytes | Refused | None:
        """Return the next line, a refusal that ends the lines, or None after the last one and for a client that left."""
        waiting = asyncio.ensure_future(self._queue.get())
        ends: set[asyncio.Future[Any]] = {waiting, left, made}
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        if not waiting.done():
            waiting.cancel()
            # If the thread has ended, what it made is in the queue.
            if left.done() or self._queue.empty():
                return None
            line = self._queue.get_nowait()
        else:
            line = waiting.result()
        self._room.release()
        return line

    def _produce(self, loop: asyncio.AbstractEventLoop) -> None:
        """Make the lines, in a thread of the pool."""
        try:
            self.make(lambda record: self._put(loop, as_bytes(record) + b"\n"))
        except Exception as error:
            self._put(loop, self.app.server.named(problem_of(error)))
        self._put(loop, None)

    def _put(self, loop: asyncio.AbstractEventLoop, line: bytes | Refused | None) -> None:
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
