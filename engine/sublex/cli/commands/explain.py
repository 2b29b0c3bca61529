"""The command that takes a score apart: explain."""

from __future__ import annotations

import math
from typing import Any

import click

from sublex.base import Explanation
from sublex.cli.compiling import say_if_compiling
from sublex.cli.lookup import open_index
from sublex.cli.options import examples, format_option, index_argument, profile_option, ranker_option, uncovered_option
from sublex.cli.output import print_json, wrapped
from sublex.cli.steps import step, verbose_option
from sublex.errors import InputError
from sublex.messages import one_line
from sublex.trees import node_text


@click.command(epilog=examples('sublex explain demo "cranes by the river" birds-05 -r PL2'))
@index_argument
@click.argument("query")
@click.argument("docno")
@ranker_option
@profile_option
@uncovered_option
@format_option("table", "json")
@verbose_option
def explain(
    name: str, query: str, docno: str, ranker: str | None, profile: str | None, allow_uncovered: bool, form: str
) -> None:
    """Show how the score of a document for QUERY is computed.

    A score is the sum of the parts that are indented below it, and each part in turn, unless its line names another
    operation. A value in brackets is evidence and is not added. The document need not be among the hits.
    """
    from sublex.cli.query_forms import note_query

    say_if_compiling()
    index = open_index(name, allow_uncovered)
    pipeline = index.pipeline(ranker, profile)
    note_query(index, query)
    with step(f"Explained by {pipeline}"):
        tree = index.explain(query, docno, pipeline)
    if tree.value == -math.inf and not index.analyze(query):
        raise InputError("The analyzer leaves no word of the query, so there is no score to explain.")
    if form == "json":
        print_json(_as_json(tree))
        return
    facts = dict(tree.evidence)
    rank, hits = facts.pop("rank"), facts.pop("found")
    place = f"at rank {rank:,} of {hits:,}" if rank else f"not among the {hits:,} found"
    click.echo(f"{one_line(docno)} is {place} by {pipeline}\n")
    _print_tree(tree._replace(evidence=facts))


def _print_tree(node: Explanation, depth: int = 0) -> None:
    """Print a node of an explanation on one line, and its parts below it, indented by their depth."""
    value, label, facts = node_text(node)
    line = f"{value:>12}  {'  ' * depth}{label}" + (f"  [{facts}]" if facts else "")
    click.echo(wrapped(one_line(line.rstrip()), 16 + 2 * depth))
    for part in node.parts:
        _print_tree(part, depth + 1)


def _as_json(node: Explanation) -> dict[str, Any]:
    parts = [_as_json(part) for part in node.parts]
    return {
        "value": node.value,
        "label": node.label,
        "kind": node.kind,
        "evidence": dict(node.evidence),
        "parts": parts,
    }
