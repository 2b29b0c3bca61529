"""The command that compiles all kernels: warmup."""

from __future__ import annotations

import click

from sublex.cli.options import examples
from sublex.faces.compiling import compile_missing
from sublex.faces.output import say


@click.command(epilog=examples("sublex warmup"))
def warmup() -> None:
    """Compile all kernels now, so that no later command has to.

    Kernels are the functions that Numba compiles to machine code. Each command compiles the kernels that it needs, once.
    This command compiles all of them, with those of the installed plugins, on all processors.
    """
    from sublex.language import plugins
    from sublex.tools.compile_ahead import all_jobs

    if not compile_missing(all_jobs(plugins.load().modules)):
        say("All kernels are compiled.")
