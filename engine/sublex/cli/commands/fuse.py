"""The command that combines run files: fuse."""

from __future__ import annotations

import os
import sys

import click

import sublex
from sublex.cli import completion
from sublex.cli.compiling import say_if_compiling
from sublex.cli.options import examples, hits_option, metadata_option, runs_argument
from sublex.cli.output import print_run, say, show
from sublex.cli.steps import step, verbose_option
from sublex.errors import InputError
from sublex.tools.messages import counted


@click.command(
    epilog=examples(
        "sublex fuse bm25.run pl2.run -o both.run", "sublex fuse bm25.run pl2.run --method weighted --weights .7,.3"
    )
)
@runs_argument
@click.option(
    "--method",
    type=click.Choice(("rrf", "combsum", "combmnz", "weighted")),
    default="rrf",
    show_default=True,
    help="Add up reciprocal ranks (rrf), scores (combsum), scores multiplied by the number of runs that found the "
    "document (combmnz), or weighted scores.",
)
@click.option("--weights", metavar="W,W,...", help="For weighted: one number for each run, such as .7,.3.")
@click.option(
    "--normalise",
    type=click.Choice(("minmax", "zscore", "rank", "rrf", "raw")),
    show_default="minmax",
    help="How the scores of each topic are normalised; not for rrf.",
)
@hits_option(1000)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    shell_complete=completion.files,
    show_default="standard output",
    help="Write the fused run to FILE; .gz compresses it.",
)
@metadata_option
@verbose_option
def fuse(
    runs: tuple[str, ...], method: str, weights: str | None, normalise: str | None, k: int, output: str | None,
    metadata: str,
) -> None:  # fmt: skip
    """Fuse several run files into one."""
    from sublex.trec.fuse import fuse
    from sublex.trec.metadata import to_comments
    from sublex.trec.run_writer import run_lines, write_run

    for path in runs:
        if output and os.path.isfile(output) and os.path.exists(path) and os.path.samefile(output, path):
            raise InputError(f"{output} is one of the runs to fuse; write the fused run elsewhere.")
    say_if_compiling("number-terms read-runs write-runs")
    with step("Read the runs"):
        parts = [sublex.read_run(path) for path in runs]
    say(*(note for part in parts for note in part.notes))
    with step("Fused the runs"):
        fused = fuse(parts, method, _numbers(weights), normalise, k)
    about = {**fused.metadata, "implementation": {"software": "sublex", "version": sublex.__version__}}
    if output in (None, "-"):
        if metadata == "header":
            click.echo(to_comments(about), nl=False)
            sys.stdout.flush()
        print_run(run_lines(fused.rows(), fused.tag))
        return
    hits = counted(write_run(output, fused.rows(), fused.tag, about, metadata), "hit")
    topics = counted(len(fused), "topic")
    show(f"Fused {len(runs)} runs of {topics} into {output}: {hits}, tag {fused.tag}")


def _numbers(weights: str | None) -> list[float] | None:
    if weights is None:
        return None
    try:
        return [float(weight) for weight in weights.split(",")]
    except ValueError:
        raise InputError(f"--weights {weights} is not a list of numbers; write for example .7,.3.") from None
