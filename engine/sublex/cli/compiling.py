"""Compile the kernels that a command needs before it begins, and tell the user about it. Every later command is spared this."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import click

from sublex.cli.output import say
from sublex.cli.progress import progress
from sublex.messages import counted

if TYPE_CHECKING:
    from sublex.compile_kernels import Job

# The kernels that commands need: rooms, each with the names of kernels.
QUERY = {"analysis": "tokenize porter", "index": "find_strings decode_terms"}
SEARCH = {**QUERY, "retrieval": "place retrieve unpack"}
BUILD = {
    "analysis": "tokenize porter intern",
    "index": "count_terms add_frequencies scatter encode_postings document_lists",
}
NEEDED: dict[str, dict[str, str]] = {"index": BUILD, "search": SEARCH}


def say_if_compiling() -> None:
    """Compile what this process's command needs and is not yet compiled, and print what happens on standard error.

    A kernel that is not foreseen here is compiled when it is called; a line on standard error says that too.
    """
    from sublex.compile_kernels import jobs_of

    context = click.get_current_context()
    needed = NEEDED.get(context.info_name or "", {})
    jobs = [job for room, names in needed.items() for job in jobs_of(f"sublex.{room}.kernels", names.split())]
    if _has_json(context.params.get("sources") or ()):
        jobs += jobs_of("sublex.readers.kernels", ["scan"])
    compile_missing(jobs)
    _announce_others()


def compile_missing(jobs: Iterable[Job]) -> bool:
    """Compile the kernels whose machine code is not on disk, in parallel, and return whether there were any."""
    from sublex.compile_kernels import compile_all, missing, processors

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


def _has_json(sources: Iterable[str]) -> bool:
    """Return whether a source looks like JSON lines by its name or by the names of the files in it. A guess only costs time."""
    return any(
        ".json" in name.lower()
        for source in sources
        for name in (source, *(os.listdir(source) if os.path.isdir(source) else ()))
    )


def _fate(jobs: Sequence[Job]) -> str:
    """Return whether the machine code outlives this command, as the end of a sentence."""
    from sublex.compiled import is_temporary

    if is_temporary(jobs[0].kernel()):
        return "for this command only; name a folder in NUMBA_CACHE_DIR that can be written to"
    return "which are then stored for every later command"


def _announce_others() -> None:
    """Print a line when Numba compiles a kernel that was not foreseen."""
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
