"""The terms on which models are fitted and documents encoded: workers, memory, progress, and what they may ask for."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from sublex.errors import PluginError
from sublex.estimators.blocks import one_thread
from sublex.expression import Expression
from sublex.fitted import Fitted
from sublex.workers import Workers


class Options(NamedTuple):
    """How fitting is done; none of it changes what comes out."""

    workers: int = 1
    memory: int = 4 << 30
    progress: Callable[[int, int], None] = lambda done, total: None
    say: Callable[[str], None] = lambda text: None


class Job:
    """What `sublex.fitted.Job` says, for one model."""

    def __init__(
        self,
        options: Options,
        pool: Workers,
        scratch: Path,
        model: Callable[[Expression], Fitted],
        resource: Callable[[str], Path],
    ):
        self.workers, self.memory, self._options = options.workers, options.memory, options
        self.scratch, self.model, self.resource, self._pool = scratch, model, resource, pool
        self.stopped: Exception | None = None

    def progress(self, done: int, total: int) -> None:
        """Say how far it is; whoever listens may raise to stop it."""
        try:
            self._options.progress(done, total)
        except Exception as error:
            self.stopped = error
            raise

    def map(self, work: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        """The results of work on items, in their order."""
        return self._pool.map(work, items)


@contextmanager
def working(options: Options, model: Callable[[Expression], Fitted], resource: Callable[[str], Path]) -> Iterator[Job]:
    """A job while it lasts: its threads, its folder for scratch; BLAS has one thread."""
    with (
        tempfile.TemporaryDirectory(prefix="sublex-") as scratch,
        Workers(options.workers) as pool,
        one_thread(),
    ):
        job = Job(options, pool, Path(scratch), model, resource)
        try:
            yield job
        except PluginError:
            # What stopped it is not the plugin's fault.
            if job.stopped is not None:
                raise job.stopped from None
            raise
