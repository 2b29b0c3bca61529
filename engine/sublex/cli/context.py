"""What operations may use of the command line: the index that the user names, messages on standard error, bars and -v."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

from sublex.cli.lookup import open_index
from sublex.cli.steps import step
from sublex.errors import SublexError
from sublex.faces.compiling import say_if_compiling
from sublex.faces.interrupts import reporting_interrupts
from sublex.faces.output import say
from sublex.faces.progress import progress
from sublex.index.lookup import existing_path, index_path
from sublex.operations import INDEXED, Context, Needs, Operation

if TYPE_CHECKING:
    from sublex.pipeline.index import Index


class CommandContext(Context):
    """The context of one command. The index is opened when the operation first uses it."""

    def __init__(self, operation: Operation, name: str | None, allow_uncovered: bool):
        super().__init__()
        self.operation, self.name = operation, name or ""
        self._allow_uncovered = allow_uncovered or operation.needs is Needs.MODEL
        self.command_line = shlex.join(["sublex", *sys.argv[1:]])

    def open(self, name: str, allow_uncovered: bool = False) -> None:
        """Open the index of this name or path; at the end of the command, say why a foreign index behind it cannot be read."""
        self._index, self.name = open_index(name, allow_uncovered), name

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

    def report(self, error: SublexError) -> None:
        """Print an error as the one that ends a command is printed."""
        say(f"sublex: {error}")

    def step(self, what: str) -> AbstractContextManager[None]:
        """Run a block; with -v, print how long it took."""
        return step(what)

    def progress(
        self, label: str, unit: str = "documents", total: int | None = None
    ) -> AbstractContextManager[Callable[..., None]]:
        """Run a block with a bar."""
        return progress(label, unit, total)

    def changing(self) -> AbstractContextManager[None]:
        """Run a block; an interrupt in it says what became of the index."""
        return reporting_interrupts(self.path)

    def prepare(self, tasks: str = "", index: Index | None = None, once: bool = False) -> None:
        """Compile the kernels that tasks need, and say so."""
        say_if_compiling(tasks, index, once)
