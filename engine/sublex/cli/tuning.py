"""The command that tunes: tune."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING, Any

import click

import sublex
from sublex.cli.output import clean, draw, format_option, index_path, progress, say, say_if_compiling
from sublex.cli.searching import profile_option

if TYPE_CHECKING:
    from sublex.tuning.result import Scored, Setting, Tuning


@click.command()
@click.argument("index")
@click.argument("topics")
@click.argument("qrels")
@click.argument("expression")
@click.option(
    "-m",
    "--measure",
    default="AP",
    show_default=True,
    metavar="MEASURE",
    help="What is to be high, as sublex eval names it.",
)
@click.option("--folds", default=5, show_default=True, help="Parts of the topics, each held out once.")
@click.option(
    "--search", type=click.Choice(("grid", "random")), default="grid", show_default=True,
    help="All combinations, or some drawn by chance.",
)  # fmt: skip
@click.option("--steps", default=5, show_default=True, help="Numbers of an interval {a..b} in a grid.")
@click.option("--samples", default=50, show_default=True, help="Settings of a random search.")
@click.option("--seed", default=0, show_default=True, help="For the folds and the random search.")
@click.option("-k", default=1000, show_default=True, type=click.IntRange(1), help="How many documents a topic at most.")
@click.option("--fields", default="title", show_default=True, help="What of a topic is the query, as in title+desc.")
@click.option("--workers", type=click.IntRange(1), help="Threads.  [default: all cores]")
@profile_option
@format_option("table", "json", "csv", "markdown", "latex")
def tune(
    index: str, topics: str, qrels: str, expression: str, measure: str, fields: str, form: str, **options: Any
) -> None:
    """Choose the numbers of EXPRESSION by cross-validation.

    EXPRESSION has ranges in place of numbers, as in 'BM25(k1={0.4..2.0}, b={.3,.5,.75})' or 'PL2 + {0..1}*BM25'.
    """
    say_if_compiling()
    opened = sublex.open(index_path(index))
    asked, judged = sublex.read_topics(topics, fields), sublex.read_qrels(qrels)
    for line in (str(asked), *asked.notes, str(judged), *judged.notes):
        say(line)
    with progress(expression, "queries") as advance:
        found = sublex.tune(opened, asked, judged, expression, measure, progress=advance, **options)
    for many, what in (
        (len(asked) - len(found.qids), "topics have no judgements"),
        (len(found.unused), "judged topics are not asked"),
    ):
        if many:
            say(f"{many:,} {what} and are left out.")
    given = {"-k": (options["k"], 1000), "--fields": (fields, "title"), "--profile": (options["profile"], None)}
    more = [part for name, (value, default) in given.items() if value != default for part in (name, str(value))]
    command = shlex.join(["sublex", "run", index, topics, "-r", found.best.setting.text, *more])
    if form == "json":
        click.echo(json.dumps(_as_json(found, command), ensure_ascii=False, indent=1))
    elif form == "table":
        _show(found, command)
    else:
        draw(found.table(4 if form != "csv" else 10, figures=True), form)


def _show(found: Tuning, command: str) -> None:
    counted = f"{len(found.settings):,} settings, {len(found.qids):,} topics, {len(found.folds)} folds"
    click.echo(f"{clean(found.expression)} by {found.measure}: {counted}\n")
    draw(found.table())
    click.echo()
    for figure in found.figures():
        click.echo(f"{figure.name:<20}{figure.value:.4f}  {clean(figure.description)}")
    click.echo()
    draw(found.settings_table())
    if found.at_end:
        click.echo(f"\nThe best has {' and '.join(found.at_end)} at an end of its range; a wider one may hold better.")
    click.echo(f"\nRun it: {clean(command)}")


def _as_json(found: Tuning, command: str) -> dict[str, Any]:
    def scored(of: Scored) -> dict[str, Any]:
        return {**_setting(of.setting), "score": of.score}

    return {
        "expression": found.expression, "measure": found.measure, "search": found.search,
        "topics": found.qids, "unused": found.unused,
        "cross-validated": found.cross_validated, "best on all topics": scored(found.best),
        "defaults": scored(found.default) if found.default else None,
        "folds": [
            {"topics": fold.qids, **_setting(fold.setting), "training": fold.training, "held out": fold.held_out}
            for fold in found.folds
        ],
        "settings": [
            {**_setting(setting), "score": mean} for setting, mean in zip(found.settings, found.means.tolist(), strict=True)
        ],
        "command": command,
    }  # fmt: skip


def _setting(setting: Setting) -> dict[str, Any]:
    return {"setting": setting.text, "expression": setting.expression, "values": setting.values}
