"""The job in which a model is fitted or documents are encoded.

It has workers, memory, progress, a scratch folder and other models. `open_job` makes the `sublex.contracts.fitted.Job`
that plugins get. It limits BLAS to one thread, so that results do not depend on the number of cores.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from sublex.contracts.fitted import Fittable
from sublex.errors import PluginError
from sublex.estimators.blocks import one_thread
from sublex.language.expression import Expression
from sublex.language.plugins import Registry
from sublex.tools.workers import Workers


class Options(NamedTuple):
    """Options of fitting and encoding: threads, bytes of memory, and callbacks. No option changes the result.

    `counting` is called whenever the unit of `progress` changes; its argument is the new unit, such as "sweeps".
    `registry` has the plugins, if the caller has loaded them.
    """

    workers: int = 1
    memory: int = 4 << 30
    progress: Callable[[int, int], None] = lambda done, total: None
    counting: Callable[[str], None] = lambda unit: None
    say: Callable[[str], None] = lambda text: None
    registry: Registry | None = None


class FittingJob:
    """The `sublex.contracts.fitted.Job` of one model.

    `given` is a `GivenSet` for a model of vectors that a user gave, otherwise None. `stopped` is the exception that the
    progress callback raised to stop the work, or None.
    """

    def __init__(
        self,
        options: Options,
        pool: Workers,
        scratch: Path,
        model: Callable[[Expression], Fittable],
        resource: Callable[[str], Path],
    ):
        self.workers, self.memory, self._options = options.workers, options.memory, options
        self.scratch, self.model, self.resource, self._pool = scratch, model, resource, pool
        self.stopped: Exception | None = None
        self.given: Any = None
        self._unit = ""

    def progress(self, done: int, total: int, unit: str = "steps") -> None:
        """Report progress in a unit such as "documents"; the callback may raise to stop the work."""
        try:
            if unit != self._unit:
                self._unit = unit
                self._options.counting(unit)
            self._options.progress(done, total)
        except Exception as error:
            self.stopped = error
            raise

    def say(self, text: str) -> None:
        """Pass a sentence on to the user."""
        self._options.say(text)

    def map(self, work: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        """Yield the results of `work` on the items, in the order of the items."""
        return self._pool.map(work, items)


@contextmanager
def open_job(
    options: Options, model: Callable[[Expression], Fittable], resource: Callable[[str], Path]
) -> Iterator[FittingJob]:
    """Yield a job. At the end of the block, its threads end and its scratch folder is deleted."""
    with tempfile.TemporaryDirectory(prefix="sublex-") as scratch, Workers(options.workers) as pool, one_thread():
        job = FittingJob(options, pool, Path(scratch), model, resource)
        try:
            yield job
        except PluginError:
            # The caller's progress callback raised this exception, so it is not reported as a failure of the plugin.
            if job.stopped is not None:
                raise job.stopped from None
            raise
