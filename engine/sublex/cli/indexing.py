"""Commands that write an index: index, add, delete, merge; and check."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import sublex
from sublex.cli.output import changing, format_option, index_path, progress, say, say_if_compiling, table
from sublex.errors import InputError, SublexError

if TYPE_CHECKING:
    from sublex.index.build_summary import BuildSummary

KEYS = ("read", "indexed", "empty", "duplicate", "malformed", "white_space")

workers_option = click.option("--workers", type=click.IntRange(1), help="Threads.  [default: all cores]")
memory_option = click.option("--memory", default="1GB", show_default=True, help="Spill to disk beyond this.")
reader_option = click.option(
    "--reader", help="The collection's format, as jsonl or 'jsonl(id=NAME, text=NAME)'.  [default: detected]"
)
strict_option = click.option("--strict", is_flag=True, help="Stop at the first malformed record.")


@click.command()
@click.argument("index")
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...")
@reader_option
@click.option("--profile", default="sublex", show_default=True, help="Defaults: sublex, anserini, terrier, pisa.")
@click.option("--analyzer", help="Text to terms, for example 'english(stop=none)'.  [default: the profile's]")
@click.option("--store", default="text,terms", show_default=True, help="What to keep beside the postings, or none.")
@workers_option
@memory_option
@click.option("--impacts", multiple=True, metavar="EXPR", help="Keep what postings add to scores under this ranker.")
@click.option(
    "--fit", "fits", multiple=True, metavar="EXPR", help="Fit a model, such as 'lsi(e=100)', when all is indexed."
)
@click.option("--resume", is_flag=True, help="Go on with an interrupted build.")
@click.option("--overwrite", is_flag=True, help="Replace an existing index, once the new one is finished.")
@strict_option
@format_option("table", "json")
@click.pass_context
def index(
    context: click.Context, index: str, sources: tuple[str, ...], form: str, impacts: tuple[str, ...],
    fits: tuple[str, ...], **options: Any,
) -> None:  # fmt: skip
    """Index a collection.

    SOURCE is a file, a folder, - for standard input, or irds:NAME.
    """
    from sublex import plugins
    from sublex.index.indexing import build_index
    from sublex.parser import parse_call

    path = index_path(index)
    registry = plugins.load()
    for ranker in impacts:
        registry.resolve("ranker", parse_call(ranker))
    _check_fits(path, fits, options["store"])
    say_if_compiling()
    with progress(f"Indexing {path}") as advance, changing(path):
        outcome = build_index(path, list(sources), progress=advance, say=say, **options)
    _report(path, outcome, form)
    try:
        sublex.open(path).store_impacts(impacts)
    except SublexError as error:
        say(str(error))
    if fits:
        from sublex.cli.fitting import fit_each

        if not fit_each(sublex.open(path), fits, workers=options["workers"] or os.cpu_count() or 1):
            context.exit(2)


def _check_fits(path: Path, fits: tuple[str, ...], store: str) -> None:
    """What cannot be fitted is said before the work is done."""
    from sublex.fitted import Representation
    from sublex.index.manifest import MANIFEST, RESOURCES, read_manifest
    from sublex.representations.inputs import READINGS
    from sublex.representations.stored_models import namer

    there = read_manifest(path) if fits and (path / MANIFEST).exists() else {}
    names = namer(path, {RESOURCES: there.get(RESOURCES, {})})
    for model in fits:
        resolved = names.resolve(model)
        made = names.make(resolved)
        names.identity(resolved, made)
        needed = READINGS[made.reads].needs if isinstance(made, Representation) else ""
        if needed and needed not in store.split(","):
            raise InputError(f"{model} needs stored {needed}; leave --store out, or name {needed} in it.")


@click.command()
@click.argument("index")
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...")
@reader_option
@click.option(
    "--duplicates",
    type=click.Choice(("error", "first", "last")),
    default="error",
    show_default=True,
    help="For a docno already there: refuse, keep the old document, or take the new.",
)
@workers_option
@memory_option
@strict_option
@format_option("table", "json")
def add(index: str, sources: tuple[str, ...], form: str, **options: Any) -> None:
    """Add documents to an index, or update them (--duplicates last)."""
    path = index_path(index)
    say_if_compiling()
    with progress(f"Adding to {path}") as advance, changing(path):
        outcome = sublex.open(path).add(list(sources), progress=advance, say=say, **options)
    _report(path, outcome, form)


def _report(path: Path, outcome: BuildSummary, form: str) -> None:
    """The table every build ends with."""
    listing = path / "last-build.tsv"
    for remark in outcome.remarks():
        say(remark)
    if form == "json":
        rows = zip(KEYS, outcome.rows(), strict=True)
        found = {key: {"count": count, "first": which[:10]} for key, (_, count, which) in rows}
        click.echo(
            json.dumps({"index": str(path), "outcome": found, "list": str(listing)}, ensure_ascii=False, indent=1)
        )
        return
    click.echo(f"Index {path}")
    table([(what, count, _first(which)) for what, count, which in outcome.rows()])
    if any(which for *_, which in outcome.rows()):
        click.echo(f"All of them are listed in {listing}")


def _first(which: list[str]) -> str:
    from sublex.index.build_summary import visible

    shown = map(visible, which[:3])
    return ", ".join(name if len(name) < 60 else name[:57] + "…" for name in shown) + (", …" if len(which) > 3 else "")


@click.command()
@click.argument("index")
@click.argument("docnos", nargs=-1, required=True, metavar="DOCNO...")
def delete(index: str, docnos: tuple[str, ...]) -> None:
    """Delete documents by their docnos, all or none."""
    path = index_path(index)
    say_if_compiling()
    opened = sublex.open(path)
    with changing(path):
        opened.delete(docnos, say)
    click.echo(f"Deleted {len(set(docnos)):,} of {len(opened) + len(set(docnos)):,} documents from {path}")


@click.command()
@click.argument("index")
@workers_option
def merge(index: str, workers: int | None) -> None:
    """Make all segments one and drop what was deleted."""
    path = index_path(index)
    say_if_compiling()
    opened = sublex.open(path)
    before = len(opened.snapshot.segments)
    with changing(path):
        opened.merge(workers, say)
    click.echo(f"{path} has one segment" + (f", made of {before}" if before > 1 else ""))


@click.command()
@click.argument("index")
@click.pass_context
def check(context: click.Context, index: str) -> None:
    """Verify an index; exit with 1 when something is wrong.

    Every checksum is looked at, that of kept impacts too, and whether all parts fit each other.
    """
    from sublex.index.check import check

    path = index_path(index)
    say_if_compiling()
    problems = check(path)
    for problem in problems:
        click.echo(problem)
    if problems:
        context.exit(1)
    click.echo(f"{path} is sound")
