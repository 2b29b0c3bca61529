"""The command that measures runs: eval."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

import sublex
from sublex.cli.compiling import say_if_compiling
from sublex.cli.options import examples, format_option, measures_option, qrels_argument, runs_argument
from sublex.cli.output import CSV, print_figures, print_json, say
from sublex.cli.steps import step, verbose_option
from sublex.display.evaluation import evaluation_json, evaluation_table
from sublex.tools.messages import counted

if TYPE_CHECKING:
    from sublex.evaluation.systems import System


@click.command(
    "eval",
    epilog=examples(
        "sublex eval qrels.txt bm25.run pl2.run -m AP -m nDCG@10",
        "sublex eval qrels.txt bm25.run --by-topic --format csv",
    ),
)
@qrels_argument
@runs_argument
@measures_option
@click.option("-q", "--by-topic", is_flag=True, help="Show the figures of each topic too.")
@format_option("table", "json", "csv", "markdown", "latex")
@verbose_option
def evaluate(qrels: str, runs: tuple[str, ...], measures: tuple[str, ...], by_topic: bool, form: str) -> None:
    """Measure run files by relevance judgements.

    Figures are means over all judged topics. A judged topic that is not in a run counts as one without hits.
    """
    from sublex.evaluation.input_warnings import input_warnings
    from sublex.evaluation.measures import DEFAULT_MEASURES, parse_measures
    from sublex.evaluation.run_evaluation import evaluate

    names = [str(measure) for measure in parse_measures(measures or DEFAULT_MEASURES)]
    say_if_compiling("number-terms read-runs")
    with step(f"Read {qrels}"):
        judgements = sublex.read_qrels(qrels)
    say(str(judgements))
    with step(f"Read {counted(len(runs), 'run')}"):
        systems = read_systems(runs)
    run_notes = [note for system in systems for note in system.run.notes]
    say(*judgements.notes, *run_notes, *input_warnings(systems, judgements))
    with step("Measured the runs"):
        evaluations = [evaluate(judgements, system.run, names, system.name) for system in systems]
    if form == "json":
        print_json([evaluation_json(evaluation, by_topic) for evaluation in evaluations])
    else:
        print_figures(evaluation_table(evaluations, by_topic, 4 if form not in CSV else 10), form)


def read_systems(paths: Sequence[str]) -> list[System]:
    """Read run files. A run is named by its tag, or by its path if another run has the same tag or it has none."""
    from sublex.evaluation.systems import System

    runs = [(path, sublex.read_run(path)) for path in paths]
    tags = [run.tag for _, run in runs]
    return [System(run.tag if run.tag and tags.count(run.tag) == 1 else path, run) for path, run in runs]
