"""A piece of a test in a process of its own, which may crash, be killed or run out of something without harm.

The process is forked, so that it starts at once and with every kernel loaded; its answer comes back through a pipe.
"""

from __future__ import annotations

import os
import pickle
import resource
import signal
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple


class Ended(NamedTuple):
    """How a child ended: what its work returned, what it raised, or the signal that ended it."""

    answer: Any = None
    error: BaseException | None = None
    signal: str = ""


class Child:
    """A forked process that runs `work` and nothing else."""

    def __init__(self, work: Callable[[], Any]):
        self._read, write = os.pipe()
        self.started = time.monotonic()
        with warnings.catch_warnings():
            # Python warns of threads, which at this point are those of NumPy's idle BLAS.
            warnings.simplefilter("ignore", DeprecationWarning)
            self.pid = os.fork()
        if not self.pid:
            os.close(self._read)
            _work(work, write)
        os.close(write)

    def send(self, number: signal.Signals) -> None:
        """Send a signal; a child that has ended does not mind."""
        os.kill(self.pid, number)

    def wait(self) -> Ended:
        """How the child ended."""
        with open(self._read, "rb") as pipe:
            data = pipe.read()
        _, status = os.waitpid(self.pid, 0)
        if os.WIFSIGNALED(status):
            return Ended(signal=signal.Signals(os.WTERMSIG(status)).name)
        return Ended(*pickle.loads(data))


def _work(work: Callable[[], Any], write: int) -> None:
    status = 1
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        try:
            ended = (work(), None)
        except BaseException as error:
            ended = (None, error)
        with open(write, "wb") as pipe:
            pipe.write(pickle.dumps(ended))
        status = 0
    finally:
        sys.stdout.flush()
        os._exit(status)


def run(work: Callable[[], Any]) -> Ended:
    """Run something in a child and wait for its end."""
    return Child(work).wait()


WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
CHANGES = ("os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.truncate")


def at_change(number: int, act: Callable[[], None]) -> None:
    """Do something just before the n-th time that this process opens a file to write, renames, removes or makes a folder.

    What `act` raises comes out of that call. There is no way back, so this is for a child only.
    """
    left = number

    def hook(event: str, args: tuple[Any, ...]) -> None:
        nonlocal left
        opened = event == "open" and not isinstance(args[0], int) and args[2] & WRITING
        if opened or event in CHANGES:
            left -= 1
            if left == 0:
                act()

    sys.addaudithook(hook)


def kill_self(number: signal.Signals = signal.SIGKILL) -> None:
    """Get a signal at this very moment."""
    os.kill(os.getpid(), number)
