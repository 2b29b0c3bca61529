"""The command that compares systems: compare."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

import sublex
from sublex.cli.judging import measures_option, read_systems
from sublex.cli.output import draw, format_option, index_path, progress, say, say_if_compiling, say_uncovered
from sublex.cli.searching import profile_option, uncovered_option
from sublex.errors import InputError
from sublex.tables import Table

if TYPE_CHECKING:
    from sublex.evaluation.comparison import Comparison
    from sublex.evaluation.systems import System
    from sublex.pipeline.index import Index
    from sublex.pipeline.pipeline import Pipeline
    from sublex.trec.topics import Topics


class Given(NamedTuple):
    """What stands on the command line."""

    name: str | None
    topics: str | None
    qrels: str
    runs: Sequence[str]


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="[INDEX TOPICS] QRELS [RUN]...")
@click.option("-r", "--ranker", "rankers", metavar="EXPR", multiple=True, help="A system; may be given several times.")
@measures_option
@click.option("-o", "--output", metavar="FILE", help="Write the report, one HTML file, there.")
@click.option("-k", default=1000, show_default=True, type=click.IntRange(1), help="How many documents a topic at most.")
@click.option("--fields", default="title", show_default=True, help="What of a topic is the query, as in title+desc.")
@click.option(
    "--test", type=click.Choice(("t", "randomisation", "wilcoxon")), default="t", show_default=True,
    help="How two systems are told apart.",
)  # fmt: skip
@click.option(
    "--correction", type=click.Choice(("holm", "bonferroni", "bh", "none", "tukey")), default="holm", show_default=True,
    help="For the number of pairs; tukey is a test of its own.",
)  # fmt: skip
@click.option("--alpha", default=0.05, show_default=True, help="The level of the test.")
@click.option("--seed", default=0, show_default=True, type=click.IntRange(0), help="For whatever takes chance.")
@click.option("--fresh", is_flag=True, help="Run every ranker, also where its run is known.")
@click.option("--workers", type=click.IntRange(1), help="Threads.  [default: all cores]")
@profile_option
@uncovered_option
@format_option("table", "json", "csv", "markdown", "latex")
def compare(
    files: tuple[str, ...], rankers: tuple[str, ...], measures: tuple[str, ...], output: str | None,
    k: int, fields: str, test: str, correction: str, alpha: float, seed: int, fresh: bool, workers: int | None,
    profile: str | None, allow_uncovered: bool, form: str,
) -> None:  # fmt: skip
    """Compare rankers on an index, runs of others, or both.

    The first system is the one that others are held against. A ranker's run is kept beside the index and used again.
    """
    from sublex.evaluation.comparison import Plan, compare
    from sublex.evaluation.measures import DEFAULT_MEASURES, parse_measures

    if output is not None:
        from sublex.report.page import check_report_path

        check_report_path(output)
    chosen = [str(measure) for measure in parse_measures(measures or DEFAULT_MEASURES)]
    given = _given(files, rankers)
    say_if_compiling()
    judged = sublex.read_qrels(given.qrels)
    index = sublex.open(index_path(given.name), allow_uncovered) if given.name else None
    topics = sublex.read_topics(given.topics, fields) if given.topics else None
    made = [index.pipeline(ranker, profile) for ranker in rankers] if index is not None else []
    for pipeline in made:
        say_uncovered(pipeline)
    systems, notes = _runs(given.runs, [str(pipeline) for pipeline in made], k)
    if index is not None and topics is not None:
        systems = [_ran(index, topics, pipeline, k, workers, fresh) for pipeline in made] + systems
    notes = [*judged.notes, *(topics.notes if topics else ()), *notes]
    comparison = compare(systems, judged, topics, chosen, index, Plan(test, correction, alpha, seed), notes)
    _show(comparison, form)
    if output:
        from sublex.report.page import write_report

        write_report(comparison, output, shlex.join(["sublex", *sys.argv[1:]]))
        say(f"The report is {output}")


def _given(files: Sequence[str], rankers: Sequence[str]) -> Given:
    if Path(files[0]).is_file() and not rankers:
        given = Given(None, None, files[0], files[1:])
    elif len(files) >= 3:
        given = Given(files[0], files[1], files[2], files[3:])
    else:
        raise InputError("Name INDEX TOPICS QRELS and rankers with -r, or QRELS and run files.")
    if not rankers and not given.runs:
        raise InputError("There is nothing to compare; name rankers with -r, or run files after the qrels.")
    return given


def _ran(index: Index, topics: Topics, pipeline: Pipeline, k: int, workers: int | None, fresh: bool) -> System:
    from sublex.evaluation.systems import run_system

    with progress(str(pipeline), "topics", len(topics)) as advance:
        return run_system(index, topics, pipeline, k, workers, advance, fresh=fresh)


def _runs(paths: Sequence[str], taken: Sequence[str], k: int) -> tuple[list[System], list[str]]:
    """The runs of files, cut at k as those of rankers are, under names that no ranker has; what is to be said of them."""
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


def _show(comparison: Comparison, form: str) -> None:
    for note in comparison.notes:
        say(note)
    if form == "json":
        click.echo(json.dumps(_as_json(comparison), ensure_ascii=False, indent=1))
        return
    draw(comparison.table(), form)
    if form != "table":
        return
    click.echo()
    draw(_against_first(comparison))
    sentences = comparison.headlines()
    if sentences:
        click.echo()
    for sentence in sentences:
        click.echo(f"* {sentence}")


def _against_first(comparison: Comparison) -> Table:
    """The main measure: where each mean may lie, how it stands against the first system, how long a topic took."""
    head = ["", "system", comparison.main, f"{100 - 100 * comparison.plan.alpha:g} % interval", "difference",
            "corrected p", "better/same/worse", "ms a topic"]  # fmt: skip
    rows = []
    for row in comparison.summaries():
        pair = row.pair
        rows.append(
            [
                row.letter,
                row.name,
                f"{row.mean:.4f}",
                f"{row.interval[0]:.4f} to {row.interval[1]:.4f}" if row.interval else "-",
                _signed(-pair.difference) if pair else "-",
                f"{pair.corrected:.4f}" if pair else "-",
                f"{pair.losses}/{pair.ties}/{pair.wins}" if pair else "-",
                f"{row.milliseconds:.3g}" if row.milliseconds is not None else "-",
            ]
        )
    return Table(head, rows, 2)


def _signed(value: float) -> str:
    text = f"{value:+.4f}"
    return text if float(text) else "0"


def _as_json(comparison: Comparison) -> dict[str, Any]:
    systems = []
    for place, (system, evaluation) in enumerate(zip(comparison.systems, comparison.evaluations, strict=True)):
        systems.append(
            {
                "name": system.name,
                "measures": evaluation.mean,
                "intervals": {
                    name: [_number(end) for end in ends[place]] for name, ends in comparison.intervals.items()
                },
                "missing": evaluation.missing,
                "milliseconds": system.mean_milliseconds,
                "by topic": dict(evaluation.topics()),
            }
        )
    pairs = [
        {
            "measure": measure, "a": pair.a, "b": pair.b, "difference": pair.difference, "p": pair.p,
            "corrected": pair.corrected, "effect": _number(pair.effect), "detectable": _number(pair.detectable),
            "interval": [_number(end) for end in pair.interval], "wins": pair.wins, "ties": pair.ties, "losses": pair.losses,
        }
        for measure in comparison.tested
        for pair in comparison.pairs(measure)
    ]  # fmt: skip
    plan = comparison.plan._asdict()
    return {"topics": len(comparison.qids), "plan": plan, "notes": comparison.notes, "systems": systems, "pairs": pairs}


def _number(value: float) -> float | None:
    """JSON has no infinity."""
    return float(value) if abs(value) < float("inf") else None
