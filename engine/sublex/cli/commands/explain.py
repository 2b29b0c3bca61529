"""The command that takes a score apart: explain."""

from __future__ import annotations

import click

from sublex.cli.compiling import say_if_compiling
from sublex.cli.lookup import open_index
from sublex.cli.options import (
    examples,
    format_option,
    index_argument,
    profile_option,
    ranker_option,
    uncovered_option,
    weighted_option,
)
from sublex.cli.output import print_shown, say
from sublex.cli.steps import step, verbose_option
from sublex.display.explanation import explanation


@click.command(epilog=examples('sublex explain demo "cranes by the river" birds-05 -r PL2'))
@index_argument
@click.argument("query")
@click.argument("docno")
@ranker_option
@profile_option
@uncovered_option
@weighted_option
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
    form: str,
) -> None:
    """Show how the score of a document for QUERY is computed.

    A score is the sum of the parts that are indented below it, and each part in turn, unless its line names another
    operation. A value in brackets is evidence and is not added. The document need not be among the hits.
    """
    from sublex.display.query_forms import query_notes
    from sublex.pipeline.weighted import weighted_query

    say_if_compiling()
    index = open_index(name, allow_uncovered)
    pipeline = index.pipeline(ranker, profile)
    asked = weighted_query(query) if weighted else index.query(query)
    say(*([] if weighted else query_notes(index, query, pipeline)))
    with step(f"Explained by {pipeline}"):
        tree = index.explain(asked, docno, pipeline)
    print_shown(explanation(tree, docno, pipeline, bool(asked.terms)), form)
