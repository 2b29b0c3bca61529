"""The command that takes a score apart: explain."""

from __future__ import annotations

import click

from sublex.cli.compiling import say_if_compiling
from sublex.cli.lookup import open_index
from sublex.cli.options import (
    examples,
    format_option,
    hits_option,
    index_argument,
    profile_option,
    ranker_option,
    uncovered_option,
    weighted_option,
)
from sublex.cli.output import print_shown, say
from sublex.cli.steps import step, verbose_option
from sublex.display.explanation import explanation
from sublex.errors import InputError


@click.command(epilog=examples('sublex explain demo "cranes by the river" birds-05 -r PL2'))
@index_argument
@click.argument("query")
@click.argument("docno")
@ranker_option
@profile_option
@uncovered_option
@weighted_option
@click.option("--versus", metavar="OTHER", help="Show what makes the difference to the score of another document.")
@click.option(
    "--why-not", is_flag=True, help="Show why the document is not among the first hits, and what brings it in."
)
@hits_option(10)
@format_option("table", "json")
@verbose_option
def explain(
    name: str,
    query: str,
    docno: str,
    ranker: str | None,
    profile: str | None,
    allow_uncovered: bool,
    weighted: bool,
    versus: str | None,
    why_not: bool,
    k: int,
    form: str,
) -> None:
    """Show how the score of a document for QUERY is computed.

    A score is the sum of the parts that are indented below it, and each part in turn, unless its line names another
    operation. A value in brackets is evidence and is not added. The document need not be among the hits. With --why-not,
    -k is the number of hits among which it is missed.
    """
    from sublex.display.absence import absence
    from sublex.display.difference import difference
    from sublex.display.query_forms import query_notes
    from sublex.pipeline.weighted import weighted_query

    index = open_index(name, allow_uncovered)
    pipeline = index.pipeline(ranker, profile)
    say_if_compiling("analyze search explain", index, once=not pipeline.expands)
    asked = weighted_query(query) if weighted else index.query(query)
    say(*([] if weighted else query_notes(index, query, pipeline)))
    if versus is not None and (why_not or versus == docno):
        raise InputError("Name two documents with --versus, and not --why-not besides.")
    with step(f"Explained by {pipeline}"):
        tree = index.explain(asked, docno, pipeline)
        if versus is not None:
            shown = difference(tree, index.explain(asked, versus, pipeline), (docno, versus), query)
        elif why_not:
            shown = absence(index, asked, docno, pipeline, k)
        else:
            shown = explanation(tree, docno, pipeline, bool(asked.terms))
    print_shown(shown, form)
