"""The command that takes a score apart: explain."""

from __future__ import annotations

import math
from typing import Any

import click

from sublex.base import Explanation
from sublex.cli.compiling import say_if_compiling
from sublex.cli.lookup import open_index
from sublex.cli.options import format_option, index_argument, profile_option, ranker_option, uncovered_option
from sublex.cli.output import clean, print_json, wrapped
from sublex.cli.steps import examples, step, verbose_option
from sublex.errors import InputError
from sublex.trees import OPERATIONS, number_text


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
    click.echo(f"{clean(docno)} is {place} by {pipeline}\n")
    _print_tree(tree._replace(evidence=facts))


def _print_tree(node: Explanation, depth: int = 0) -> None:
    """Print a node of an explanation on one line, and its parts below it, indented by their depth."""
    operation = OPERATIONS.get(node.kind, "") if node.parts else ""
    facts = "; ".join(f"{name} {_as_text(fact)}" for name, fact in node.evidence.items())
    line = f"{number_text(node):>12}  {'  ' * depth}{node.label}"
    line += (f" ({operation})" if operation else "") + (f"  [{facts}]" if facts else "")
    click.echo(wrapped(clean(line.rstrip()), 16 + 2 * depth))
    for part in node.parts:
        _print_tree(part, depth + 1)


def _as_text(fact: Any) -> str:
    if isinstance(fact, dict):
        return ", ".join(f"{key} {_as_text(value)}" for key, value in fact.items())
    if isinstance(fact, (list, tuple)):
        return ", ".join(map(_as_text, fact))
    return f"{fact:.6g}" if isinstance(fact, float) else str(fact)


def _as_json(node: Explanation) -> dict[str, Any]:
    parts = [_as_json(part) for part in node.parts]
    return {
        "value": node.value,
        "label": node.label,
        "kind": node.kind,
        "evidence": dict(node.evidence),
        "parts": parts,
    }
