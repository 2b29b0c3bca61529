"""The context of operations on the command line: the index that the user names, messages, progress bars and -v."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import sublex
from sublex.errors import SublexError
from sublex.faces.compiling import say_if_compiling
from sublex.faces.interrupts import reporting_interrupts
from sublex.faces.output import say, show
from sublex.faces.progress import progress
from sublex.index.lookup import existing_path, index_path
from sublex.operations import INDEXED, Needs, Operation, OperationContext
from sublex.tools.messages import command_line

if TYPE_CHECKING:
    from sublex.pipeline.index import Index


class CommandContext(OperationContext):
    """The context of one command. The index is opened when the operation first uses it."""

    def __init__(self, operation: Operation, name: str | None, allow_uncovered: bool, verbose: bool = False):
        super().__init__()
        self.verbose, self._begin = verbose, time.perf_counter()
        self.operation, self.name = operation, name or ""
        self._allow_uncovered = allow_uncovered or operation.needs is Needs.MODEL
        self.command_line = command_line(["sublex", *sys.argv[1:]])

    def open(self, name: str, allow_uncovered: bool = False) -> None:
        """Open the index with this name or path."""
        path = existing_path(name)
        with self.step(f"Opened {path}"):
            self._index, self.name = sublex.open(path, allow_uncovered), name

    def __enter__(self) -> CommandContext:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """With -v, print the time of the command.

        If the index mirrors a foreign index that cannot be read, print the reason, unless the error has it.
        """
        attachment = self._index.attachment if self._index is not None else None
        if attachment and (error is None or isinstance(error, SublexError)) and str(error) != attachment.problem:
            say(*filter(None, [attachment.problem]))
        if self.verbose:
            say(f"The command took {_seconds(time.perf_counter() - self._begin)}.")

    @property
    def index(self) -> Index:
        """The index, opened when it is first used."""
        if self._index is None:
            self.open(self.name, self._allow_uncovered)
        assert self._index is not None
        return self._index

    @property
    def has_index(self) -> bool:
        """Whether the user named an index."""
        return self._index is not None or bool(self.name) or self.operation.needs in INDEXED

    @property
    def path(self) -> Path:
        """The path of the index, which need not be open."""
        return index_path(self.name) if self.operation.needs is Needs.NEW else existing_path(self.name)

    def say(self, *messages: str) -> None:
        """Print messages on standard error."""
        say(*messages)

    def show(self, text: str) -> bool:
        """Print a line of the result."""
        show(text)
        return True

    def report(self, error: SublexError) -> None:
        """Print an error in the same way as an error that ends a command."""
        say(f"sublex: {error}")

    @contextmanager
    def step(self, what: str) -> Iterator[None]:
        """Run a block. With -v, print `what` and the time, as in "Opened indexes/demo: 12 ms"."""
        begin = time.perf_counter()
        yield
        if self.verbose:
            say(f"{what}: {_seconds(time.perf_counter() - begin)}")

    def progress(
        self, label: str, unit: str = "documents", total: int | None = None
    ) -> AbstractContextManager[Callable[..., None]]:
        """Run a block with a bar."""
        return progress(label, unit, total)

    def changing(self) -> AbstractContextManager[None]:
        """Run a block. After an interrupt, the message tells the state of the index."""
        return reporting_interrupts(self.path)

    def prepare(self, tasks: str = "", index: Index | None = None, once: bool = False) -> None:
        """Compile the kernels that tasks need, and say so."""
        say_if_compiling(tasks, index, once)


def _seconds(seconds: float) -> str:
    return f"{1000 * seconds:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"
