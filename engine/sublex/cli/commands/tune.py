"""The command that chooses parameters by cross-validation: tune."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import click

import sublex
from sublex.cli import completion
from sublex.cli.compiling import say_if_compiling
from sublex.cli.lookup import open_index
from sublex.cli.options import (
    examples,
    fields_option,
    format_option,
    hits_option,
    index_argument,
    profile_option,
    qrels_argument,
    seed_option,
    topics_argument,
    workers_option,
)
from sublex.cli.output import CSV, print_figures, print_json, say, show
from sublex.cli.progress import progress
from sublex.cli.steps import step, verbose_option
from sublex.tools.messages import counted

if TYPE_CHECKING:
    from sublex.tuning.result import Scored, Setting, Tuning


@click.command(
    epilog=examples(
        'sublex tune demo topics.trec qrels.txt "BM25(k1={0.4..2}, b={.3,.5})"',
        'sublex tune demo topics.trec qrels.txt "PL2 + {0..1}*BM25" -m nDCG@10',
    )
)
@index_argument
@topics_argument
@qrels_argument
@click.argument("expression", shell_complete=completion.expressions)
@click.option(
    "-m",
    "--measure",
    default="AP",
    show_default=True,
    metavar="MEASURE",
    help="The measure to maximise, named as for sublex eval.",
)
@click.option(
    "--folds", default=5, show_default=True, metavar="N", help="Number of folds; the topics of each are held out once."
)
@click.option(
    "--search",
    type=click.Choice(("grid", "random")),
    default="grid",
    show_default=True,
    help="Try all combinations, or a random sample of them.",
)
@click.option(
    "--steps", default=5, show_default=True, metavar="N", help="Grid: numbers to try of each interval {a..b}."
)
@click.option("--samples", default=50, show_default=True, metavar="N", help="Random search: number of settings to try.")
@seed_option(0, "Seed of the folds and of the random search.")
@hits_option(1000)
@fields_option
@workers_option
@profile_option
@format_option("table", "json", "csv", "markdown", "latex")
@verbose_option
def tune(
    name: str, topics: str, qrels: str, expression: str, measure: str, fields: str, form: str, **options: Any
) -> None:
    """Choose the parameters of EXPRESSION by cross-validation.

    EXPRESSION has ranges in place of numbers: {0..1} is an interval, {1,2,4} a list. Every setting is run on the judged
    topics. Each fold's topics are measured by the setting that is best on all other topics, so the cross-validated figure
    tells what tuning gains on new topics.
    """
    from sublex.display.query_forms import topics_notes

    index = open_index(name)
    say_if_compiling("analyze search", index)
    queries, judgements = sublex.read_topics(topics, fields), sublex.read_qrels(qrels)
    say(str(queries), *queries.notes, str(judgements), *judgements.notes)
    say(*topics_notes(queries))
    with step("Ran and measured the settings"), progress(expression, "queries") as advance:
        tuning = sublex.tune(index, queries, judgements, expression, measure, progress=advance, **options)
    for count, problem in (
        (len(queries) - len(tuning.qids), "topics have no judgements"),
        (len(tuning.unused), "judged topics are not among the topics"),
    ):
        if count:
            say(f"{count:,} {problem} and are left out.")
    values = {"-k": (options["k"], 1000), "--fields": (fields, "title"), "--profile": (options["profile"], None)}
    changed = [word for option, (value, usual) in values.items() if value != usual for word in (option, str(value))]
    command = shlex.join(["sublex", "run", name, topics, "-r", tuning.best.setting.text, *changed])
    if form == "json":
        print_json(_as_json(tuning, command))
    elif form == "table":
        _print(tuning, command)
    else:
        print_figures(tuning.table(4 if form not in CSV else 10, figures=True), form)


def _print(tuning: Tuning, command: str) -> None:
    """Print what each fold chose, the figures to compare, the means of the settings, and the command to run the best."""
    size = f"{counted(len(tuning.settings), 'setting')}, {len(tuning.qids):,} topics, {len(tuning.folds)} folds"
    show(f"{tuning.expression} by {tuning.measure}: {size}")
    click.echo()
    print_figures(tuning.table())
    click.echo()
    for figure in tuning.figures():
        show(f"{figure.name:<20}{figure.value:.4f}  {figure.description}")
    click.echo()
    print_figures(tuning.settings_table())
    if tuning.at_end:
        names = " and ".join(tuning.at_end)
        click.echo(f"\nThe best setting has {names} at an end of its range; a wider range may hold a better one.")
    click.echo()
    show(f"Run it: {command}")


def _as_json(tuning: Tuning, command: str) -> dict[str, Any]:
    def scored(best: Scored) -> dict[str, Any]:
        return {**_setting(best.setting), "score": best.score}

    return {
        "expression": tuning.expression, "measure": tuning.measure, "search": tuning.search,
        "topics": tuning.qids, "unused": tuning.unused,
        "cross-validated": tuning.cross_validated, "best on all topics": scored(tuning.best),
        "defaults": scored(tuning.default) if tuning.default else None,
        "folds": [
            {"topics": fold.qids, **_setting(fold.setting), "training": fold.training, "held out": fold.held_out}
            for fold in tuning.folds
        ],
        "settings": [
            {**_setting(setting), "score": mean} for setting, mean in zip(tuning.settings, tuning.means.tolist(), strict=True)
        ],
        "command": command,
    }  # fmt: skip


def _setting(setting: Setting) -> dict[str, Any]:
    return {"setting": setting.text, "expression": setting.expression, "values": setting.values}
