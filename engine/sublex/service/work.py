"""The threads that answer requests, so that the event loop never searches: a queue, a deadline, and a way to stop.

A call is stopped between two steps of Python, as Ctrl-C stops a command: its thread gets a KeyboardInterrupt. Compiled code
runs to its end. The result of a stopped call is dropped.
"""

from __future__ import annotations

import asyncio
import ctypes
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

from sublex.errors import is_interrupt
from sublex.faces.interrupts import interrupt
from sublex.service.problems import busy


class Stopped(Exception):
    """The call was stopped before it returned."""


class ThreadCall:
    """A call in a thread of the pool. `future` gets its result or its error, in the event loop."""

    def __init__(self, call: Callable[[], Any], loop: asyncio.AbstractEventLoop):
        self.future: asyncio.Future[Any] = loop.create_future()
        self._call, self._loop, self._lock = call, loop, threading.Lock()
        self._thread = 0
        self.is_stopped = False

    def run(self) -> None:
        """Make the call; called in a thread of the pool, which may be interrupted at any step."""
        result: Any = None
        error: BaseException | None = None
        try:
            with self._lock:
                if not self.is_stopped:
                    self._thread = threading.get_ident()
            if self._thread:
                result = self._call()
        except BaseException as raised:
            error = raised
        self._end()
        if self.is_stopped or (error is not None and (isinstance(error, KeyboardInterrupt) or is_interrupt(error))):
            result, error = None, Stopped()
        self._loop.call_soon_threadsafe(self._tell, result, error)

    def _end(self) -> None:
        """Note that the call has ended, so that nobody interrupts the thread any more. An interrupt under way is taken back."""
        while True:
            try:
                with self._lock:
                    thread, self._thread = self._thread, 0
                if self.is_stopped and thread:
                    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), None)
                return
            except KeyboardInterrupt:
                continue

    def _tell(self, result: Any, error: BaseException | None) -> None:
        if self.future.done():
            return
        if error is None:
            self.future.set_result(result)
        else:
            self.future.set_exception(error)

    def stop(self) -> None:
        """Stop the call, or do not begin it. It may take a moment, so it is called in a thread of its own."""
        with self._lock:
            if self.is_stopped:
                return
            self.is_stopped = True
            if self._thread:
                interrupt(self._thread)


class AnswerThreads:
    """Threads that make calls. At most `waiting` calls wait; one more is refused."""

    def __init__(self, threads: int, waiting: int):
        self._queue: SimpleQueue[ThreadCall | None] = SimpleQueue()
        self._most, self._open = threads + waiting, 0
        self._threads = [
            threading.Thread(target=self._work, name=f"sublex-answers-{n}", daemon=True) for n in range(threads)
        ]
        for thread in self._threads:
            thread.start()

    @property
    def open(self) -> int:
        """The number of calls that run or wait."""
        return self._open

    def start(self, call: Callable[[], Any]) -> ThreadCall:
        """Have a thread make a call. Raise Refused if too many wait. Called in the event loop."""
        if self._open >= self._most:
            raise busy("The server is busy; try again in a moment.")
        job = ThreadCall(call, asyncio.get_running_loop())
        self._open += 1
        job.future.add_done_callback(self._count)
        self._queue.put(job)
        return job

    def _count(self, future: asyncio.Future[Any]) -> None:
        self._open -= 1

    def _work(self) -> None:
        while True:
            try:
                job = self._queue.get()
                if job is None:
                    return
                job.run()
            except KeyboardInterrupt:
                continue

    def close(self) -> None:
        """End the threads after the calls that they make."""
        for _ in self._threads:
            self._queue.put(None)
