"""Commands about run files: fuse."""

from __future__ import annotations

import os
import sys

import click

from sublex.cli.output import say, say_if_compiling
from sublex.errors import InputError
from sublex.messages import counted


@click.command()
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@click.option(
    "--method",
    type=click.Choice(("rrf", "combsum", "combmnz", "weighted")),
    default="rrf",
    show_default=True,
    help="Reciprocal ranks, sums of scores, sums times the number of runs, or a weighted sum.",
)
@click.option("--weights", metavar="W,W,...", help="For weighted: one number for each run.")
@click.option(
    "--normalise",
    type=click.Choice(("minmax", "zscore", "rank", "raw")),
    help="What is done to the scores of each topic; not for rrf.  [default: minmax]",
)
@click.option("-k", default=1000, show_default=True, type=click.IntRange(1), help="Hits for each topic.")
@click.option("-o", "--output", metavar="FILE", help="The fused run; .gz compresses.  [default: standard output]")
@click.option(
    "--metadata",
    type=click.Choice(("sidecar", "header", "none")),
    default="sidecar",
    show_default=True,
    help="Where FILE's description goes: FILE.yaml, # lines at the head, or nowhere.",
)
def fuse(
    runs: tuple[str, ...],
    method: str,
    weights: str | None,
    normalise: str | None,
    k: int,
    output: str | None,
    metadata: str,
) -> None:
    """Fuse several run files into one."""
    import sublex
    from sublex.trec.fuse import fuse
    from sublex.trec.metadata import to_comments
    from sublex.trec.run_writer import run_lines, write_run

    for path in runs:
        if output and os.path.isfile(output) and os.path.exists(path) and os.path.samefile(output, path):
            raise InputError(f"{output} is one of the runs to fuse; write the fused run elsewhere.")
    say_if_compiling()
    read = [sublex.read_run(path) for path in runs]
    for note in (note for run in read for note in run.notes):
        say(note)
    fused = fuse(read, method, _numbers(weights), normalise, k)
    about = {**fused.metadata, "implementation": {"software": "sublex", "version": sublex.__version__}}
    if output in (None, "-"):
        if metadata == "header":
            click.echo(to_comments(about), nl=False)
            sys.stdout.flush()
        for lines in run_lines(fused.rows(), fused.tag):
            sys.stdout.buffer.write(lines.data)
        return
    hits = write_run(output, fused.rows(), fused.tag, about, metadata)
    click.echo(
        f"Fused {len(runs)} runs of {counted(len(fused), 'topic')} into {output}: {counted(hits, 'hit')}, tag {fused.tag}"
    )


def _numbers(weights: str | None) -> list[float] | None:
    if weights is None:
        return None
    try:
        return [float(weight) for weight in weights.split(",")]
    except ValueError:
        raise InputError(f"--weights {weights} is not a list of numbers; write for example .7,.3.") from None
