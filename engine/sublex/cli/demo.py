"""`sublex demo`: the demo collection, indexed and described, and what to try next."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import click

from sublex.cli.output import home, say, say_if_compiling, table
from sublex.errors import InputError


def folder() -> Path:
    """Where the demo collection is: in the installed package, or in a checkout's `queries/demo`."""
    package = Path(__file__).parents[1]
    for place in (package / "demo", package.parents[1] / "queries" / "demo"):
        if (place / "documents.jsonl").is_file():
            return place
    raise InputError("The demo collection is not installed with this copy of Sublex.")


def _spare(path: Path, documents: Path) -> None:
    """Refuse to replace an index of anything but the demo's documents."""
    import sublex

    if (path / "index.json").exists():
        known = {json.loads(line)["id"] for line in documents.read_text(encoding="utf-8").splitlines()}
        if not known.issuperset(sublex.open(path).all_docnos.tolist()):
            raise InputError(
                f"{path} holds documents of your own, which the demo would replace; move or remove it first."
            )


@click.command()
def demo() -> None:
    """Index the demo collection and look at it."""
    import sublex

    collection, path = folder(), home() / "demo"
    say_if_compiling()
    _spare(path, collection / "documents.jsonl")
    index = sublex.build(collection / "documents.jsonl", path, overwrite=True, say=say)
    s = index.statistics
    click.echo(f"Indexed {s.docs:,} documents with {s.tokens:,} tokens to {path}")
    click.echo("\nWords with several senses in it:")
    found = [index.term(term) for word in ("crane", "bank", "seal", "pitch", "mercury") for term in index.analyze(word)]
    table([(t.surface, t.df, t.cf) for t in found if t], ("word", "documents", "occurrences"))
    click.echo("\nTry next:")
    for command in (
        "search demo 'cranes by the river'",
        "explain demo 'cranes by the river' river-08",
        "run demo " + shlex.quote(str(collection / "topics.trec")) + " -r BM25 -r 'BM25 >> RM3 >> BM25' -o runs",
        "info demo",
        "terms demo 'cran*'",
        "doc demo birds-01",
        "analyze --index demo 'The cranes were craning'",
    ):
        click.echo(f"  sublex {command}")
    click.echo(f"Topics and judgements are in {collection}")
