"""Commands that judge runs: eval."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

import sublex
from sublex.cli.output import draw, format_option, say, say_if_compiling
from sublex.tables import Table

if TYPE_CHECKING:
    from sublex.evaluation.run_evaluation import Evaluation
    from sublex.evaluation.systems import System

measures_option = click.option(
    "-m", "--measure", "measures", multiple=True, metavar="MEASURE",
    help="A measure of ir-measures or trec_eval; may be given several times.  "
    "[default: AP nDCG@10 P@10 R@1000 RR Bpref NumRet NumRel]",
)  # fmt: skip


@click.command("eval")
@click.argument("qrels")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@measures_option
@click.option("-q", "--by-topic", is_flag=True, help="Each topic too.")
@format_option("table", "json", "csv", "markdown", "latex")
def evaluate(qrels: str, runs: tuple[str, ...], measures: tuple[str, ...], by_topic: bool, form: str) -> None:
    """Measure runs by relevance judgements.

    Every judged topic counts; what a run lacks, it found nothing for.
    """
    from sublex.evaluation.input_warnings import input_warnings
    from sublex.evaluation.measures import DEFAULT_MEASURES, parse_measures
    from sublex.evaluation.run_evaluation import evaluate

    chosen = [str(measure) for measure in parse_measures(measures or DEFAULT_MEASURES)]
    say_if_compiling()
    judged = sublex.read_qrels(qrels)
    say(str(judged))
    systems = read_systems(runs)
    for note in (
        *judged.notes,
        *(note for system in systems for note in system.run.notes),
        *input_warnings(systems, judged),
    ):
        say(note)
    evaluated = [evaluate(judged, system.run, chosen, system.name) for system in systems]
    if form == "json":
        click.echo(
            json.dumps([_as_json(evaluation, by_topic) for evaluation in evaluated], ensure_ascii=False, indent=1)
        )
    else:
        draw(_table(evaluated, by_topic, 4 if form != "csv" else 10), form)


def read_systems(paths: Sequence[str]) -> list[System]:
    """Runs with their tags for names, or with their files' where tags are the same."""
    from sublex.evaluation.systems import System

    runs = [(path, sublex.read_run(path)) for path in paths]
    tags = [run.tag for _, run in runs]
    return [System(run.tag if run.tag and tags.count(run.tag) == 1 else path, run) for path, run in runs]


def _as_json(evaluation: Evaluation, by_topic: bool) -> dict:
    topics = {"by topic": dict(evaluation.topics())} if by_topic else {}
    return {
        "run": evaluation.name, "topics": len(evaluation.qids), "missing": evaluation.missing,
        "measures": evaluation.mean, **topics,
    }  # fmt: skip


def _table(evaluated: Sequence[Evaluation], by_topic: bool, digits: int) -> Table:
    from sublex.evaluation.run_evaluation import format_values

    first = evaluated[0]
    head = ["run", *(["topic"] if by_topic else []), *first.measures]
    rows = []
    for evaluation in evaluated:
        if by_topic:
            rows += [
                [evaluation.name, qid, *format_values(row.values(), first.counts, digits)]
                for qid, row in evaluation.topics()
            ]
        mean = format_values(evaluation.mean.values(), first.counts, digits)
        rows.append([evaluation.name, *(["all"] if by_topic else []), *mean])
    return Table(head, rows, 1 + by_topic)
