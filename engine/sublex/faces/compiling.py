"""Compile the kernels that a command needs before the command begins, and tell the user about it.

The machine code is stored, so later commands start at once.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from sublex.faces.output import say
from sublex.faces.progress import progress
from sublex.tools.messages import counted

if TYPE_CHECKING:
    from sublex.pipeline.index import Index
    from sublex.tools.compile_ahead import CompileJob


def say_if_compiling(tasks: str = "", index: Index | None = None, once: bool = False) -> None:
    """Compile the missing kernels of a command, and report this on standard error.

    `tasks` names the tasks of the command, such as "search"; the decorators of kernels name the tasks that need them.
    For a command that searches, `index` is the index; kernels for stored impacts and for large indexes are then
    compiled if the index needs them. `once` means that the command searches each term only once, so it needs no kernels
    for large indexes. Any other kernel is compiled when it is called; a line on standard error then says so.
    """
    if tasks:
        compile_missing(_jobs(tasks, index, once))
    _announce_others()


def compile_quietly(tasks: str, index: Index, say_status: Callable[[str], None]) -> None:
    """Compile the missing kernels that tasks need for an index.

    Print nothing. Call `say_status` with a few words about the work.
    """
    from sublex.tools.compile_ahead import compile_all, missing, processors

    left = missing(_jobs(tasks, index))
    if left:
        say_status(f"compiling {counted(len(left), 'kernel')}, once")
        compile_all(left, min(len(left), processors()), lambda: None)


def _jobs(tasks: str, index: Index | None, once: bool = False) -> list[CompileJob]:
    """Return the kernels that tasks need, as jobs. An index adds tasks by its size, stored impacts, positions and fields."""
    from sublex.tools.compile_ahead import jobs_before

    if index is None:
        from sublex.language import plugins

        return jobs_before(tasks, plugins.load().modules)
    from sublex.retrieval.blocks import FEWEST
    from sublex.retrieval.impact_store import declared

    if declared(index.path):
        tasks += " check-stored-impacts"
    if not once and any(segment.docs >= FEWEST for segment in index.snapshot.segments):
        tasks += " fill-blocks"
    if "search" in tasks.split() and "positions" in index.snapshot.manifest.store:
        tasks += " operators"
    if "search" in tasks.split() and index.snapshot.manifest.fields:
        tasks += " read-fields"
    return jobs_before(tasks, index.registry.modules)


def compile_missing(jobs: Iterable[CompileJob]) -> bool:
    """Compile the kernels whose machine code is not on disk, in parallel, and return whether there were any."""
    from sublex.tools.compile_ahead import compile_all, missing, processors

    left = missing(jobs)
    if not left:
        return False
    begin = time.monotonic()
    kernels, processes = counted(len(left), "kernel"), min(len(left), processors())
    say(f"Compiling {kernels} on {counted(processes, 'processor')}, {_fate(left)}.")
    with progress("Compiling", "kernels", len(left)) as advance:
        done = 0

        def count() -> None:
            nonlocal done
            done += 1
            advance(done)

        compile_all(left, processes, count)
    say(f"Compiled {kernels} in {time.monotonic() - begin:.1f} s.")
    return True


def _fate(jobs: Sequence[CompileJob]) -> str:
    """Return the end of a sentence that says whether the machine code is stored for later commands."""
    from sublex.tools.compiled import is_temporary

    if is_temporary(jobs[0].kernel()):
        return "for this command only; name a folder in NUMBA_CACHE_DIR that can be written to"
    return f"{'which is' if len(jobs) == 1 else 'which are'} then stored for every later command"


def _announce_others() -> None:
    """Print a line when Numba compiles a kernel that was not compiled before the command."""
    from numba.core import event

    class Listener(event.Listener):
        """Announces the first compilation."""

        announced = False

        def on_start(self, event: Any) -> None:
            """Announce that a compilation has started, once."""
            if not self.announced:
                say("Compiling another kernel, which takes a second or two.")
            self.announced = True

        def on_end(self, event: Any) -> None:
            """Do nothing when a compilation ends."""

    event.register("numba:compile", Listener())
