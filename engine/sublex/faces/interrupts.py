"""Repeat interrupts that Python ignored, and tell a user who interrupts a change of an index about the state of the index."""

from __future__ import annotations

import _thread
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from sublex.errors import is_interrupt

# Seconds before an ignored interrupt is delivered again. Also the seconds between attempts to interrupt a thread that
# loads machine code.
PAUSE = 0.01


def deliver_ignored_interrupts() -> None:
    """From now on, deliver each interrupt a second time if Python ignores it in this process.

    Python prints and ignores an exception in code that it runs between two steps of a program, such as `__del__` or the
    callback of a weak reference. Without this, an interrupt at that moment would not end the command. An interrupt in code
    that a kernel calls is delivered after that code, because the kernel would crash.
    """
    sys.unraisablehook = handle_unraisable
    # A process that ignores interrupts, such as a background process, goes on ignoring them.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, handle_interrupt)


def handle_interrupt(number: int, frame: FrameType | None) -> None:
    """Raise KeyboardInterrupt. In code that a kernel calls, do not raise it, but interrupt this thread again in a moment."""
    unpickle = getattr(sys.modules.get("sublex.tools.compiled"), "unpickle", None)
    caller = frame
    while unpickle and caller:
        if caller.f_code is unpickle.__code__:
            _thread.start_new_thread(_interrupt_soon, (threading.get_ident(),))
            return
        caller = caller.f_back
    signal.default_int_handler(number, frame)


def handle_unraisable(ignored: sys.UnraisableHookArgs) -> None:
    """Interrupt this thread again in a moment if Python ignored an interrupt.

    If Python ignored any other exception, print the exception.
    """
    error = ignored.exc_value
    if isinstance(error, KeyboardInterrupt) or (error and is_interrupt(error)):
        # Python would ignore an interrupt in this function as well, so another thread raises it a moment later. The
        # other thread is not a `threading.Thread`: starting one takes a lock, and this thread may already hold that
        # lock.
        _thread.start_new_thread(_interrupt_soon, (threading.get_ident(),))
    else:
        sys.__unraisablehook__(ignored)


def _interrupt_soon(thread: int) -> None:
    time.sleep(PAUSE)
    interrupt(thread)


def interrupt(thread: int) -> None:
    """Raise KeyboardInterrupt in a thread at its next step in Python. The main thread is interrupted as by Ctrl-C."""
    if thread == threading.main_thread().ident:
        signal.pthread_kill(thread, signal.SIGINT)
        return
    import ctypes

    # If the exception came while LLVM loads machine code, the process would crash. Loading takes a few hundredths of a
    # second.
    while thread in getattr(sys.modules.get("sublex.tools.compiled"), "loading", ()):
        time.sleep(PAUSE)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(KeyboardInterrupt))


@contextmanager
def reporting_interrupts(path: Path) -> Iterator[None]:
    """Run a change of an index, and add the state of the index to a KeyboardInterrupt.

    If the change was not committed, the message of the KeyboardInterrupt says that the index is as it was before, and
    how to continue an interrupted build. If the change was committed, the KeyboardInterrupt has no message.
    """
    from sublex.building.journal import resumable

    before = _manifest_version(path)
    try:
        yield
    except KeyboardInterrupt:
        if _manifest_version(path) != before:
            raise
        advice = "; to continue the build, run the same command with --resume" if resumable(path) else ""
        raise KeyboardInterrupt(f"the index is as it was before{advice}") from None


def _manifest_version(path: Path) -> tuple[int, ...]:
    """Return the inode and modification time of the manifest; () without a manifest. Both change with every commit."""
    manifest = path / "index.json"
    if not manifest.exists():
        return ()
    stat = manifest.stat()
    return stat.st_ino, stat.st_mtime_ns
