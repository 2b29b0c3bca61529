"""The context of an operation that a request asks for: the held index, and the sentences that become the notes of the answer."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sublex
from sublex.errors import SublexError
from sublex.operations import Needs, Operation, OperationContext

if TYPE_CHECKING:
    from sublex.pipeline.index import Index
    from sublex.service.held import Generation, HeldIndex
    from sublex.service.server import Server


# Seconds between two records of progress.
PAUSE = 0.2


class RequestContext(OperationContext):
    """The context of one request."""

    def __init__(
        self,
        server: Server,
        operation: Operation,
        held: HeldIndex | None,
        generation: Generation | None,
        allow_uncovered: bool,
    ):
        covering = allow_uncovered or operation.needs is Needs.MODEL
        index: Index | None = None
        if generation is not None:
            index = generation.covering if covering else generation.index
        super().__init__(index)
        self.server, self.held, self.generation = server, held, generation
        self.name = held.name if held else ""
        self.stores_runs = server.may_write
        self.notes: list[str] = []
        # Takes records of progress, while an operation that takes long runs.
        self.tell: Callable[[dict[str, Any]], None] | None = None

    @contextmanager
    def progress(self, label: str, unit: str = "documents", total: int | None = None) -> Iterator[Callable[..., None]]:
        """Tell the client how far an operation that takes long is, every now and then."""
        told = [-PAUSE]

        def advance(done: int, total: int | None = total, unit: str | None = unit) -> None:
            now = time.monotonic()
            if self.tell and now - told[0] >= PAUSE:
                told[0] = now
                self.tell({"done": int(done), "total": None if total is None else int(total), "unit": unit})

        yield advance

    @property
    def names_index(self) -> bool:
        """Always false, so that a request may choose an analyzer although there is an index."""
        return False

    @property
    def path(self) -> Path:
        """The path of the index."""
        return self.index.path

    def open(self, name: str, allow_uncovered: bool = False) -> None:
        """Do nothing: the index is open already."""

    def say(self, *messages: str) -> None:
        """Keep sentences for the notes of the answer."""
        self.notes += messages

    def report(self, error: SublexError) -> None:
        """Keep the sentence of an error after which the operation goes on."""
        self.notes.append(str(error))

    def changed_index(self) -> Index:
        """Return the index opened anew, for an operation that changes it: the held one stays as it is for other requests."""
        return sublex.open(self.index.path, self.index.allow_uncovered)
