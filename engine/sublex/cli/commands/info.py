"""Commands that show what an index contains: info, doc, terms, analyze."""

from __future__ import annotations

import click

from sublex.cli import completion
from sublex.cli.compiling import say_if_compiling
from sublex.cli.lookup import open_index
from sublex.cli.options import examples, format_option, index_argument
from sublex.cli.output import print_shown
from sublex.display import terms as display
from sublex.display.document import document
from sublex.display.overview import overview
from sublex.errors import InputError


@click.command(epilog=examples("sublex info demo", "sublex info demo --terms 20"))
@index_argument
@click.option(
    "--terms",
    default=10,
    show_default=True,
    type=click.IntRange(0),
    metavar="N",
    help="Number of the most frequent terms to show.",
)
@format_option("table", "json")
def info(name: str, terms: int, form: str) -> None:
    """Describe an index: counts, analyzer, models, sizes, frequent terms."""
    print_shown(overview(open_index(name), terms), form)


@click.command(epilog=examples("sublex doc demo birds-05"))
@index_argument
@click.argument("docno")
@format_option("table", "json")
def doc(name: str, docno: str, form: str) -> None:
    """Show a stored document.

    The index must store texts, which it does unless it was built with another --store.
    """
    print_shown(document(open_index(name), docno), form)


@click.command(epilog=examples("sublex terms demo 'crane*'", "sublex terms demo -n 5"))
@index_argument
@click.argument("pattern", default="*")
@click.option(
    "-n",
    "number",
    default=50,
    show_default=True,
    type=click.IntRange(0),
    metavar="N",
    help="Maximum number of terms; 0 for all.",
)
@format_option("table", "json", "csv")
def terms(name: str, pattern: str, number: int, form: str) -> None:
    """List the terms of an index that match PATTERN.

    Each term comes with its document frequency (df), its collection frequency (cf) and the form in which documents mostly
    write it. PATTERN is matched against terms as the analyzer makes them: * stands for any characters, ? for one
    character, [ab] for a or b.
    """
    print_shown(display.terms(open_index(name), pattern, number or None), form)


@click.command(
    epilog=examples(
        'sublex analyze "The cranes\' nests" --analyzer "english(stem=porter2)"',
        'sublex analyze "cranes by the river" --index demo',
    )
)
@click.argument("text")
@click.option(
    "--index", "name", metavar="INDEX", shell_complete=completion.indexes, help="Use the analyzer of this index."
)
@click.option(
    "--analyzer",
    metavar="ANALYZER",
    shell_complete=completion.named("analyzer"),
    show_default="english",
    help="Use this analyzer, such as 'plain(stem=porter2)' or german.",
)
@format_option("table", "json")
def analyze(text: str, name: str | None, analyzer: str | None, form: str) -> None:
    """Show how an analyzer turns TEXT into terms, stage by stage."""
    from sublex.display.analysis import analysis
    from sublex.language import plugins
    from sublex.language.parser import parse_call

    if name and analyzer:
        raise InputError("Give --index or --analyzer, not both.")
    say_if_compiling("analyze")
    if name:
        snapshot = open_index(name).snapshot
        chosen, printed = snapshot.analyzer, snapshot.analyzer_expression
    else:
        registry, call = plugins.load(), parse_call("english" if analyzer is None else analyzer)
        chosen = registry.resolve("analyzer", call).make()
        printed = registry.print_of("analyzer", chosen, call.name, call.params)
    print_shown(analysis(text, chosen, printed), form)
