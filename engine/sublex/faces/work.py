"""Run a call in its own thread.

Ctrl-C ends the call within a second even in compiled code, because the main thread can give it up.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Generic, TypeVar

from sublex.faces.interrupts import interrupt

T = TypeVar("T")
# Interrupted work has this number of seconds to clean up. Then the main thread goes on without it.
GRACE = 0.5
GIVEN_UP = "what is being computed still ends, but its result is not used"


class Work(threading.Thread, Generic[T]):
    """A call that runs in its own thread.

    Ctrl-C raises KeyboardInterrupt in the thread at its next step in Python, so that files and locks are cleaned up.
    Compiled code cannot be interrupted in this way. The main thread then goes on without the work, which ends when the
    compiled code returns. Until then, no message of the work is printed.
    """

    def __init__(self, call: Callable[[], T]):
        super().__init__(daemon=True)
        self._call, self._over, self._closers = call, threading.Event(), list[Callable[[], None]]()
        self._results: list[T] = []
        self._error: BaseException | None = None
        self.given_up = self.has_terminal = False

    def run(self) -> None:
        """Make the call; called in the thread."""
        try:
            self._results.append(self._call())
        except BaseException as error:
            self._error = error
        finally:
            self._over.set()

    def result(self) -> T:
        """Make the call in the thread, and return its result or raise its error. Only the main thread may call this."""
        try:
            while not self._over.is_set():
                try:
                    if self.ident is None:
                        self.start()
                    self._over.wait()
                except KeyboardInterrupt:
                    # While another program, such as an editor, has the terminal, Ctrl-C is meant for that program.
                    if not self.has_terminal:
                        raise
        except KeyboardInterrupt:
            self._interrupt()
        if self._error is not None:
            raise self._error
        return self._results[0]

    def _interrupt(self) -> None:
        """Raise KeyboardInterrupt in the thread and wait a moment for its end.

        If the thread goes on after this moment, raise KeyboardInterrupt in the calling thread too.
        """
        with suppress(KeyboardInterrupt):
            interrupt(self.ident or 0)
            self._over.wait(GRACE)
        if not self._over.is_set():
            self.given_up = True
            for close in self._closers:
                close()
            raise KeyboardInterrupt(GIVEN_UP)

    def when_given_up(self, close: Callable[[], None]) -> None:
        """Register a function that is called if the main thread gives this work up.

        It may remove a bar from the terminal.
        """
        self._closers.append(close)


def current() -> Work | None:
    """Return the work that this thread does; None in any other thread."""
    thread = threading.current_thread()
    return thread if isinstance(thread, Work) else None


def is_given_up() -> bool:
    """Return whether this thread does work that was given up. It must then print and change nothing more."""
    work = current()
    return work is not None and work.given_up


@contextmanager
def terminal_of_another() -> Iterator[None]:
    """Run a block in which another program has the terminal, so that Ctrl-C does not end the work."""
    work = current()
    if work is None:
        yield
        return
    work.has_terminal = True
    try:
        yield
    finally:
        work.has_terminal = False
