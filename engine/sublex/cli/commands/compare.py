"""The command that compares rankers and runs: compare."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

import sublex
from sublex.cli import completion
from sublex.cli.commands.eval import read_systems
from sublex.cli.compiling import say_if_compiling
from sublex.cli.lookup import open_index
from sublex.cli.options import (
    examples,
    fields_option,
    format_option,
    hits_option,
    measures_option,
    profile_option,
    rankers_option,
    seed_option,
    uncovered_option,
    workers_option,
)
from sublex.cli.output import print_figures, print_shown, say, say_uncovered
from sublex.cli.plugin_commands import PAGES, check_output
from sublex.cli.progress import progress
from sublex.cli.steps import step, verbose_option
from sublex.display.comparison import comparison as shown
from sublex.errors import InputError

if TYPE_CHECKING:
    from sublex.evaluation.systems import System
    from sublex.pipeline.index import Index
    from sublex.pipeline.pipeline import Pipeline
    from sublex.trec.topics import Topics


class Files(NamedTuple):
    """The arguments of the command: an index with topics, or neither; judgements; and run files."""

    index_name: str | None
    topics: str | None
    qrels: str
    runs: Sequence[str]


@click.command(
    epilog=examples(
        "sublex compare demo topics.trec qrels.txt -r BM25 -r PL2 -o report.html",
        "sublex compare qrels.txt bm25.run pl2.run",
    )
)
@click.argument(
    "files", nargs=-1, required=True, metavar="[INDEX TOPICS] QRELS [RUN]...", shell_complete=completion.index_or_file
)
@rankers_option
@measures_option
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    shell_complete=completion.files,
    help="Write the report, one HTML page, to this file.",
)
@hits_option(1000)
@fields_option
@click.option(
    "--test",
    type=click.Choice(("t", "randomisation", "wilcoxon")),
    default="t",
    show_default=True,
    help="The significance test of two systems.",
)
@click.option(
    "--correction",
    type=click.Choice(("holm", "bonferroni", "bh", "none", "tukey")),
    default="holm",
    show_default=True,
    help="The correction for the number of pairs. tukey replaces the test by Tukey's HSD.",
)
@click.option("--alpha", default=0.05, show_default=True, metavar="LEVEL", help="The significance level.")
@seed_option(0, "Seed of random numbers in tests and intervals.")
@click.option("--fresh", is_flag=True, help="Run every ranker again, also if its run is stored.")
@workers_option
@profile_option
@uncovered_option
@format_option("table", "json", "csv", "markdown", "latex")
@verbose_option
def compare(
    files: tuple[str, ...], rankers: tuple[str, ...], measures: tuple[str, ...], output: str | None,
    k: int, fields: str, test: str, correction: str, alpha: float, seed: int, fresh: bool, workers: int | None,
    profile: str | None, allow_uncovered: bool, form: str,
) -> None:  # fmt: skip
    """Compare rankers on an index, run files, or both.

    Every system is measured on the judged topics and tested against the others. The first system is the baseline. The
    runs of rankers are stored with the index and used again.
    """
    from sublex.display.query_forms import topics_notes
    from sublex.evaluation.comparison import Plan, compare
    from sublex.evaluation.measures import DEFAULT_MEASURES, parse_measures

    if output is not None:
        check_output(output, *PAGES)
    names = [str(measure) for measure in parse_measures(measures or DEFAULT_MEASURES)]
    given = _files(files, rankers)
    index = open_index(given.index_name, allow_uncovered) if given.index_name else None
    say_if_compiling("analyze search number-terms", index)
    judgements = sublex.read_qrels(given.qrels)
    topics = sublex.read_topics(given.topics, fields) if given.topics else None
    pipelines = [index.pipeline(ranker, profile) for ranker in rankers] if index is not None else []
    for pipeline in pipelines:
        say_uncovered(pipeline)
    systems, run_notes = _read_runs(given.runs, [str(pipeline) for pipeline in pipelines], k)
    if index is not None and topics is not None:
        systems = [_run(index, topics, pipeline, k, workers, fresh) for pipeline in pipelines] + systems
    notes = [*judgements.notes, *(topics.notes if topics else ()), *run_notes]
    say(*topics_notes(topics or ()))
    with step("Measured and tested the systems"):
        comparison = compare(systems, judgements, topics, names, index, Plan(test, correction, alpha, seed), notes)
    say(*comparison.notes)
    if form in ("table", "json"):
        print_shown(shown(comparison), form)
    else:
        print_figures(comparison.table(), form)
    if output:
        from sublex.report.page import write_report

        with step("Wrote the report"):
            write_report(comparison, output, shlex.join(["sublex", *sys.argv[1:]]))
        say(f"The report is {output}")


def _files(files: Sequence[str], rankers: Sequence[str]) -> Files:
    """Return the arguments by their roles.

    They are QRELS RUN... if there are no rankers and the first one is a file or a data set, and INDEX TOPICS QRELS RUN... otherwise.
    """
    from sublex.readers.irds import PREFIX

    if (Path(files[0]).is_file() or files[0].startswith(PREFIX)) and not rankers:
        given = Files(None, None, files[0], files[1:])
    elif len(files) >= 3:
        given = Files(files[0], files[1], files[2], files[3:])
    else:
        raise InputError("Name INDEX TOPICS QRELS and rankers with -r, or QRELS and run files.")
    if not rankers and not given.runs:
        raise InputError("There is nothing to compare; name rankers with -r, or run files after the qrels.")
    return given


def _run(index: Index, topics: Topics, pipeline: Pipeline, k: int, workers: int | None, fresh: bool) -> System:
    from sublex.evaluation.systems import run_system

    with step(f"Ran {pipeline}"), progress(str(pipeline), "topics", len(topics)) as advance:
        return run_system(index, topics, pipeline, k, workers, advance, fresh=fresh)


def _read_runs(paths: Sequence[str], taken: Sequence[str], k: int) -> tuple[list[System], list[str]]:
    """Read run files and keep the first k hits of each topic, as for rankers.

    Returns the systems, none with a name that is `taken` by a ranker, and notes for the user.
    """
    from sublex.evaluation.systems import System

    systems: list[System] = []
    notes: list[str] = []
    for path, system in zip(paths, read_systems(paths), strict=True):
        run = system.run.top(k)
        notes += run.notes
        if len(run.docs) < len(system.run.docs):
            notes.append(f"{path}: the first {k:,} hits of each topic count (-k).")
        systems.append(System(path if system.name in taken else system.name, run))
    return systems, notes
