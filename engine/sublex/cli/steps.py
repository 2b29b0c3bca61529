"""Say what a command has done and how long it took, if the user asks for it with -v."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import click

from sublex.faces.output import say

# The key of the flag in the context of a command.
VERBOSE = "sublex.verbose"


def _remember(context: click.Context, option: click.Parameter, verbose: bool) -> None:
    """Remember that the user wants to know what is done, and print the time of the whole command at its end."""
    if verbose and not context.resilient_parsing:
        context.meta[VERBOSE] = True
        begin = time.perf_counter()
        context.call_on_close(lambda: say(f"The command took {_seconds(time.perf_counter() - begin)}."))


verbose_option = click.option(
    "-v",
    "--verbose",
    is_flag=True,
    expose_value=False,
    callback=_remember,
    help="Say what is done and how long it takes.",
)


@contextmanager
def step(what: str) -> Iterator[None]:
    """Run a block; with -v, print what was done in it and how long it took, as in "Opened indexes/demo: 12 ms"."""
    begin = time.perf_counter()
    yield
    context = click.get_current_context(silent=True)
    if context and context.meta.get(VERBOSE):
        say(f"{what}: {_seconds(time.perf_counter() - begin)}")


def _seconds(seconds: float) -> str:
    return f"{1000 * seconds:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"
