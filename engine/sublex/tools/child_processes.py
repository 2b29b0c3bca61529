"""Processes that run a function of Sublex, and talk with this process by their standard input and output.

A child imports the same modules as this process: it gets the same path of imports, and nothing is imported before it is set.
It gets no object of Python, only what is written to its input.
"""

from __future__ import annotations

import os
import subprocess
import sys


def start_child(module: str, function: str) -> subprocess.Popen[bytes]:
    """Start a process that calls a function of a module of Sublex without arguments. Its input and output are pipes."""
    # Ctrl-C in a terminal reaches all processes there. A child leaves the answer to its parent.
    code = (
        f"import sys; sys.path[:] = {sys.path!r}; import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); "
        f"from {module} import {function}; {function}()"
    )
    return subprocess.Popen([sys.executable, "-P", "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def own_output() -> int:
    """Return a descriptor of the pipe to the parent. Whatever the child prints goes to its standard error from now on."""
    out = os.dup(1)
    os.dup2(2, 1)
    return out


def end_child(child: subprocess.Popen[bytes], patience: float = 5.0) -> None:
    """End a child: close its input, ask it to end, and after `patience` seconds end it at once. Wait until it is gone."""
    for pipe in (child.stdin, child.stdout):
        try:
            if pipe:
                pipe.close()
        except OSError:
            pass
    if child.poll() is None:
        child.terminate()
        try:
            child.wait(patience)
        except subprocess.TimeoutExpired:
            child.kill()
    child.wait()
