"""Commands about fitted models: fit, forget, card, encode."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import sublex
from sublex import plugins
from sublex.cli.output import clean, format_option, index_path, progress, say, say_if_compiling, show_json, table
from sublex.errors import InputError, SublexError, UnknownName
from sublex.expression import Call

if TYPE_CHECKING:
    from sublex.pipeline.index import Index

workers_option = click.option("--workers", type=click.IntRange(1), help="Threads.  [default: all cores]")


@click.command()
@click.argument("index")
@click.argument("expressions", nargs=-1, metavar="[EXPR]...")
@click.option("--update", is_flag=True, help="Encode documents that models do not cover; of all models without EXPR.")
@click.option("--from", "source", metavar="OTHER", help="Take the models from another index.")
@click.option("--seed", type=click.IntRange(0), help="For whatever takes chance.  [default: the component's]")
@click.option("--memory", default="4GB", show_default=True, help="How much fitting may take.")
@workers_option
@click.pass_context
def fit(
    context: click.Context, index: str, expressions: tuple[str, ...], update: bool, source: str | None, seed: int | None, memory: str,
    workers: int | None,
) -> None:  # fmt: skip
    """Fit models such as lsi(e=100), and encode the documents."""
    from sublex.index.indexing import parse_size

    path = index_path(index)
    say_if_compiling()
    opened = sublex.open(path)
    wanted = list(expressions)
    if update and not wanted:
        wanted = [rows["expression"] for entry in opened.fitted.values() for rows in entry["rows"].values()]
    if not wanted:
        raise InputError("Name what to fit, as in: sublex fit INDEX 'lsi(e=100)'.")
    options = {"workers": workers or os.cpu_count() or 1, "memory": parse_size(memory)}
    if not fit_each(opened, wanted, seed, None if source is None else index_path(source), **options):
        context.exit(2)


def fit_each(
    opened: Index, wanted: Iterable[str], seed: int | None = None, source: Path | None = None, **options: Any
) -> bool:
    """Fit one expression after another, those too that come after one that cannot be fitted; whether all could."""
    whole = True
    for given in wanted:
        before = opened.generation
        try:
            expression = _seeded(given, seed)
            with progress(expression, "documents") as advance:
                opened.fit(expression, source, say=say, progress=advance, **options)
        except SublexError as error:
            say(f"sublex: {error}")
            whole = False
            continue
        done = "is fitted" if opened.generation != before else "was fitted already"
        click.echo(f"{expression} {done} on {opened.path}")
    return whole


def _seeded(expression: str, seed: int | None) -> str:
    """The expression, with this seed where it has none."""
    call = sublex.parse(expression)
    if not isinstance(call, Call):
        raise InputError(f"{expression} is not one component; fit its parts, such as lsi(e=100), by themselves.")
    if seed is None or not _takes_seed(call.name):
        return str(call)
    if call.params.get("seed", seed) != seed:
        raise InputError(f"{expression} has a seed of its own; leave one of them out.")
    return str(Call(call.name, call.args, {**call.params, "seed": seed}))


def _takes_seed(name: str) -> bool:
    """Whether a component declares a seed; of one that is not there, fitting will say so."""
    try:
        return "seed" in [param.name for param in plugins.load().find("component", name).params]
    except UnknownName:
        return False


@click.command()
@click.argument("index")
@click.argument("expressions", nargs=-1, required=True, metavar="EXPR...")
def forget(index: str, expressions: tuple[str, ...]) -> None:
    """Drop fitted models and the rows they gave, all or none."""
    opened = sublex.open(index_path(index))
    before = opened.fitted
    opened.forget(*expressions)
    gone = [expression for name in before if name not in opened.fitted for expression in encodings(before[name])]
    click.echo(f"{', '.join(gone)} {'is' if len(gone) == 1 else 'are'} gone from {opened.path}")


@click.command()
@click.argument("index")
@click.argument("expression", metavar="[EXPR]", required=False)
@format_option("table", "json")
def card(index: str, expression: str | None, form: str) -> None:
    """Describe a fitted model; without EXPR, list all."""
    opened = sublex.open(index_path(index))
    if expression is None:
        rows = [(expression, name) for name, entry in opened.fitted.items() for expression in encodings(entry)]
        show_json([dict(zip(("expression", "model"), row, strict=True)) for row in rows]) if form == "json" else table(
            rows, ("expression", "model")
        )
        return
    facts = opened.card(opened.fitted[expression]["expression"] if expression in opened.fitted else expression)
    if form == "json":
        show_json(facts)
        return
    table([(name, _fact(value)) for name, value in facts.items()])


def encodings(entry: dict[str, Any]) -> list[str]:
    """The expressions that a fitted model stands for: one for each way in which it encodes documents."""
    return sorted(rows["expression"] for rows in entry["rows"].values()) or [entry["expression"]]


def _fact(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return clean(", ".join(map(str, value)))
    return f"{value:,}" if isinstance(value, int) else f"{value:.6g}" if isinstance(value, float) else clean(str(value))


@click.command()
@click.argument("index")
@click.argument("expression", metavar="EXPR")
@click.argument("file", required=False)
@click.option("-o", "--output", required=True, metavar="OUT", help="A file in .npz or .parquet.")
@click.option("--reader", help="The format of FILE.  [default: detected]")
def encode(index: str, expression: str, file: str | None, output: str, reader: str | None) -> None:
    """Write a model's vectors of an index's documents, or of FILE's.

    OUT in .npz holds `docnos` and `rows`, or for sparse rows `data`, `indices`, `indptr` and `shape`; .parquet
    has columns `docno` and `row`.
    """
    from sublex.representations.export import export

    say_if_compiling()
    opened = sublex.open(index_path(index), allow_uncovered=True)
    count = export(
        opened.snapshot,
        opened.representation(expression),
        None if file is None else Path(file),
        Path(output),
        reader,
        say,
    )
    click.echo(f"{output} has the vectors of {count:,} documents by {expression}")
