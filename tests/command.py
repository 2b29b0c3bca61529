"""Run `sublex` in this process, which spares a test the half second that a new Python takes to start.

What a user would see is captured as a shell captures it: the exit code, and the bytes of standard output and standard
error. Tests of the process itself (signals, closed or full output, what is imported) start a process instead.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple
from unittest import mock

from numba.core import event

from sublex import cli
from sublex.faces import compiling


class Done(NamedTuple):
    """How a command ended and what it wrote."""

    code: int
    output: str
    messages: str


def invoke(*arguments: str | os.PathLike[str], stdin: bytes = b"", merged: bool = False) -> Done:
    """Run `sublex ARGUMENTS` in this process and return how it ended; `merged` writes the messages among the output.

    An exception that the command line does not turn into a message comes out of this call.
    """
    words = [os.fsdecode(os.fsencode(argument)) for argument in arguments]
    output = _stream()
    messages = output if merged else _stream()
    with (
        mock.patch.multiple(sys, argv=["sublex", *words], stdin=_stream(stdin), stdout=output, stderr=messages),
        _fresh_commands(),
    ):
        code = cli.run()
    return Done(code, _text(output), "" if merged else _text(messages))


def _stream(data: bytes = b"") -> io.TextIOWrapper:
    """Return a text stream over bytes in memory. It is no terminal, and escapes what it cannot encode, as `main` asks."""
    return io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", errors="backslashreplace", write_through=True)


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    return stream.buffer.getvalue().decode()


@contextmanager
def _fresh_commands() -> Iterator[None]:
    """Keep a command from leaving plugins' commands and a listener to compilation behind in this process.

    Kernels are compiled in this process when they are called, so no command prints that it compiles.
    """
    with (
        mock.patch.object(cli.cli, "_has_plugin_commands", False),
        mock.patch.dict(cli.cli.commands),
        mock.patch.object(compiling, "compile_missing", lambda jobs: False),
        mock.patch.object(event, "register", _register),
    ):
        yield


def _register(kind: str, listener: event.Listener, register: Callable[..., None] = event.register) -> None:
    """Register a listener to events of Numba, but none to compilation: it would outlive the command."""
    if kind != "numba:compile":
        register(kind, listener)
