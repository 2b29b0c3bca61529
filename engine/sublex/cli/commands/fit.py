"""Commands for fitted models: fit, card, forget, encode."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

import sublex
from sublex.cli import completion
from sublex.cli.compiling import say_if_compiling
from sublex.cli.lookup import open_index
from sublex.cli.options import (
    examples,
    expressions_argument,
    format_option,
    index_argument,
    memory_option,
    reader_option,
    seed_option,
    workers_option,
)
from sublex.cli.output import print_shown, say, show
from sublex.cli.plugin_commands import PAGES, check_output
from sublex.cli.progress import progress
from sublex.cli.steps import step, verbose_option
from sublex.display.card import card as describe
from sublex.display.card import expressions_of, models, named
from sublex.errors import InputError, SublexError, UnknownName
from sublex.index.lookup import existing_path
from sublex.language.expression import Call
from sublex.tools.arguments import threads

if TYPE_CHECKING:
    from sublex.pipeline.index import Index

# Memory that fitting may take, by default.
FIT_MEMORY = "4GB"


@click.command(
    epilog=examples('sublex fit demo "lsi(e=50)"', 'sublex search demo "cranes by the river" -r "PL2 + 0.3*lsi(e=50)"')
)
@index_argument
@click.argument("expressions", nargs=-1, metavar="[EXPR]...", shell_complete=completion.expressions)
@click.option("--update", is_flag=True, help="Encode documents that models do not cover; without EXPR, for all models.")
@click.option(
    "--from",
    "source",
    metavar="OTHER",
    shell_complete=completion.indexes,
    help="Take the models from this index instead of fitting them.",
)
@seed_option(None, "Seed of random numbers in fitting.", "the model's")
@memory_option(FIT_MEMORY, "Memory that fitting may take.")
@workers_option
@verbose_option
@click.pass_context
def fit(
    context: click.Context, name: str, expressions: tuple[str, ...], update: bool, source: str | None, seed: int | None,
    memory: str, workers: int | None,
) -> None:  # fmt: skip
    """Fit models to an index and encode its documents.

    EXPR names a model with its parameters. A fitted model can be used like a ranker. Models that EXPR depends on are
    fitted first. If a model cannot be fitted, the others are fitted all the same, and the exit code is 2.
    """
    say_if_compiling()
    index = open_index(name)
    wanted = list(expressions)
    if update and not wanted:
        wanted = [rows.expression for entry in index.fitted.values() for rows in entry.rows.values()]
    if not wanted:
        raise InputError("Name what to fit, as in: sublex fit INDEX 'lsi(e=100)'.")
    if not fit_each(index, wanted, seed, None if source is None else existing_path(source), workers, memory):
        context.exit(2)


def fit_each(
    index: Index,
    expressions: Iterable[str],
    seed: int | None = None,
    source: Path | None = None,
    workers: int | None = None,
    memory: str = FIT_MEMORY,
) -> bool:
    """Fit models one after another and print what became of each.

    An expression that cannot be fitted is reported, and the next one is tried. Returns whether all were fitted. `memory` is
    a size such as "4GB"; without `workers`, fitting uses all cores.
    """
    from sublex.building.indexing import parse_size

    cores, size = threads(workers), parse_size(memory)
    complete = True
    for text in expressions:
        generation = index.generation
        try:
            expression = str(_call(text, seed, index))
            with step(f"Fitted {expression} and encoded the documents"), progress(expression, "documents") as advance:
                index.fit(expression, source, workers=cores, memory=size, progress=advance, say=say)
        except SublexError as error:
            say(f"sublex: {error}")
            complete = False
            continue
        state = "is fitted" if index.generation != generation else "was fitted already"
        show(f"{expression} {state} on {index.path}")
    return complete


def _call(text: str, seed: int | None, index: Index) -> Call:
    """Parse the expression of a model, and add the seed if the model has such a parameter."""
    call = sublex.parse(text)
    if not isinstance(call, Call):
        raise InputError(f"{text} is not one component; fit its parts, such as lsi(e=100), by themselves.")
    if seed is None or not _takes_seed(call, index):
        return call
    if call.params.get("seed", seed) != seed:
        raise InputError(f"{text} has a seed of its own; leave one of them out.")
    return Call(call.name, call.args, {**call.params, "seed": seed})


def _takes_seed(call: Call, index: Index) -> bool:
    """Return whether a component has a parameter `seed`; False for an unknown name, which fitting reports."""
    try:
        return "seed" in [param.name for param in index.registry.find("component", call.name).params]
    except UnknownName:
        return False


@click.command(epilog=examples("sublex card demo", 'sublex card demo "lsi(e=20)"'))
@index_argument
@click.argument("expression", metavar="[EXPR]", required=False, shell_complete=completion.expressions)
@format_option("table", "json")
@click.option("-o", "--output", metavar="PAGE", help="Write the model to this file as an HTML page, if it has one.")
def card(name: str, expression: str | None, form: str, output: str | None) -> None:
    """Describe a fitted model, or list all fitted models.

    EXPR is the expression of the model, or its name on disk. Without EXPR, the command lists all fitted models. The last
    column says why a model is outdated: no expression names it any more.
    """
    index = open_index(name, allow_uncovered=True)
    if expression is None:
        if output is not None:
            raise InputError("Name the model that the page shows, as in: sublex card INDEX 'lda(k=20)' -o topics.html.")
        print_shown(models(index), form)
        return
    chosen = named(index, expression)
    if output is not None:
        from sublex.report.page import write_page

        check_output(output, *PAGES)
        write_page(output, index.fitted_model(chosen).page())
        show(f"{output} shows {chosen}")
        return
    print_shown(describe(index, chosen), form)


@click.command(epilog=examples('sublex forget demo "lsi(e=20)"'))
@index_argument
@expressions_argument
def forget(name: str, expressions: tuple[str, ...]) -> None:
    """Remove fitted models from an index, with all that they encoded.

    All models are removed in one step, or none if one is needed by a model that stays.
    """
    index = open_index(name)
    before = index.fitted
    index.forget(*expressions)
    removed = [text for model, entry in before.items() if model not in index.fitted for text in expressions_of(entry)]
    show(f"{', '.join(removed)} {'is' if len(removed) == 1 else 'are'} gone from {index.path}")


@click.command(epilog=examples('sublex encode demo "lsi(e=20)" -o vectors.npz'))
@index_argument
@click.argument("expression", metavar="EXPR", shell_complete=completion.expressions)
@click.argument("file", required=False, shell_complete=completion.files)
@click.option(
    "-o", "--output", required=True, metavar="OUT", help="Write the vectors to this file, in .npz or .parquet."
)
@reader_option
@verbose_option
def encode(name: str, expression: str, file: str | None, output: str, reader: str | None) -> None:
    """Write the vectors that a fitted model gives to documents.

    The documents are those of the index, or those of FILE. An .npz file has the arrays `docnos` and `rows`, or for sparse
    rows `docnos`, `data`, `indices`, `indptr` and `shape`. A .parquet file has the columns `docno` and `row`.
    """
    from sublex.representations.export import export

    say_if_compiling()
    index = open_index(name, allow_uncovered=True)
    model = index.representation(expression)
    with step("Wrote the vectors"):
        count = export(index.snapshot, model, None if file is None else Path(file), Path(output), reader, say)
    show(f"{output} has the vectors of {count:,} documents by {expression}")
