"""Commands that build, change and check an index: index, add, delete, merge, check."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import sublex
from sublex.cli import completion
from sublex.cli.compiling import say_if_compiling
from sublex.cli.interrupts import reporting_interrupts
from sublex.cli.options import (
    examples,
    format_option,
    index_argument,
    memory_option,
    reader_option,
    reorder_option,
    strict_option,
    workers_option,
)
from sublex.cli.output import print_json, print_table, say, show
from sublex.cli.progress import progress
from sublex.cli.steps import step, verbose_option
from sublex.errors import SublexError
from sublex.index.lookup import existing_path, index_path

if TYPE_CHECKING:
    from sublex.building.build_summary import BuildSummary

# Names in JSON of the rows of a build's table, in their order.
KEYS = ("read", "indexed", "empty", "duplicate", "malformed", "white_space")
# Ids that a row of the table shows, ids that it shows in JSON, and characters of an id in the table.
IDS, IDS_IN_JSON, LONGEST_ID = 3, 10, 60

sources_argument = click.argument(
    "sources", nargs=-1, required=True, metavar="SOURCE...", shell_complete=completion.files
)
spill_option = memory_option("1GB", "Memory for postings; beyond it they spill to disk.")


@click.command(
    epilog=examples(
        "sublex index animals documents.jsonl",
        'sublex index animals documents.jsonl --overwrite --fit "lsi(e=20)"',
    )
)
@index_argument
@sources_argument
@reader_option
@click.option(
    "--profile",
    default="sublex",
    show_default=True,
    metavar="PROFILE",
    shell_complete=completion.profiles,
    help="Defaults of the analyzer and the rankers: sublex, anserini, terrier or pisa.",
)
@click.option(
    "--analyzer",
    metavar="ANALYZER",
    shell_complete=completion.named("analyzer"),
    show_default="the profile's",
    help="How text becomes terms, such as 'english(stop=none)'.",
)
@click.option(
    "--store",
    default="text,terms",
    show_default=True,
    metavar="PARTS",
    help="What to store besides the postings: text, terms, both, or none.",
)
@workers_option
@spill_option
@click.option(
    "--impacts",
    multiple=True,
    metavar="EXPR",
    shell_complete=completion.expressions,
    help="Store what each posting adds to a score of this ranker, for quick searches; may be given several times.",
)
@click.option(
    "--fit",
    "fits",
    multiple=True,
    metavar="EXPR",
    shell_complete=completion.expressions,
    help="Fit this model, such as 'lsi(e=100)', after indexing; may be given several times.",
)
@click.option(
    "--backend",
    metavar="BACKEND",
    shell_complete=completion.named("backend"),
    help="Build the index by another engine, such as lucene, next to INDEX, and attach it.",
)
@click.option("--resume", is_flag=True, help="Continue an interrupted build.")
@click.option("--overwrite", is_flag=True, help="Replace an existing index when the new one is finished.")
@reorder_option
@strict_option
@format_option("table", "json")
@verbose_option
@click.pass_context
def index(
    context: click.Context, name: str, sources: tuple[str, ...], form: str, impacts: tuple[str, ...],
    fits: tuple[str, ...], **options: Any,
) -> None:  # fmt: skip
    """Build an index of a collection.

    SOURCE is a file, a folder, - for standard input, irds:NAME for a data set of ir_datasets, or lucene:PATH or
    whoosh:PATH for the documents of such an index. The format is detected, and compressed files are read as they are. A
    table at the end counts the documents that were indexed, empty, duplicate or malformed.
    """
    path = index_path(name)
    if impacts or fits:
        from sublex.representations.fitting import check_before_build

        check_before_build(path, impacts, fits, options["store"])
    # The default profile is that of Sublex's own builds; another engine names its own.
    if context.get_parameter_source("profile") is click.core.ParameterSource.DEFAULT:
        options["profile"] = None
    say_if_compiling(_tasks(sources, options["reorder"]))
    with step(f"Built {path}"), progress(f"Indexing {path}") as advance, reporting_interrupts(path):
        opened = sublex.build(list(sources), path, progress=advance, say=say, **options)
    assert opened.built
    report(path, opened.built, form)
    # A replaced index may have stored impacts, which are removed here. Otherwise the pipeline would be imported for nothing.
    if not (impacts or fits or options["overwrite"]):
        return
    try:
        with step("Stored impacts"):
            opened.store_impacts(impacts)
    except SublexError as error:
        say(str(error))
    if fits:
        from sublex.cli.commands.fit import fit_each

        if not fit_each(opened, fits, workers=options["workers"]):
            context.exit(2)


@click.command(epilog=examples("sublex add demo more.jsonl", "sublex add demo changed.jsonl --duplicates last"))
@index_argument
@sources_argument
@reader_option
@click.option(
    "--duplicates",
    type=click.Choice(("error", "first", "last")),
    default="error",
    show_default=True,
    help="If a docno is in the index already: add nothing, keep the old document, or take the new one.",
)
@workers_option
@spill_option
@strict_option
@format_option("table", "json")
@verbose_option
def add(name: str, sources: tuple[str, ...], form: str, **options: Any) -> None:
    """Add documents to an index.

    SOURCE is a file, a folder, - for standard input, or irds:NAME, as for `sublex index`. All documents are added in one
    step, or none if something goes wrong. Fitted models encode the new documents, and stored impacts are made again.
    """
    path = existing_path(name)
    say_if_compiling(_tasks(sources))
    with step(f"Added to {path}"), progress(f"Adding to {path}") as advance, reporting_interrupts(path):
        summary = sublex.open(path).add(list(sources), progress=advance, say=say, **options)
    report(path, summary, form)


def _tasks(sources: Iterable[str], reorder: bool = False) -> str:
    """Return the tasks of indexing. A source counts as JSON lines by its name or by the names of the files in it."""
    names = [name for source in sources for name in (source, *(os.listdir(source) if os.path.isdir(source) else ()))]
    has_json = any(".json" in name.lower() for name in names)
    return "analyze order-terms build" + " read-json" * has_json + " reorder" * reorder


def report(path: Path, summary: BuildSummary, form: str) -> None:
    """Print the table that every build ends with: how many documents had each outcome, and which."""
    listing = path / "last-build.tsv"
    say(*summary.remarks())
    if form == "json":
        rows = zip(KEYS, summary.rows(), strict=True)
        counts = {key: {"count": count, "first": ids[:IDS_IN_JSON]} for key, (_, count, ids) in rows}
        print_json({"index": str(path), "outcome": counts, "list": str(listing)})
        return
    show(f"Index {path}")
    print_table([(label, count, _first(ids)) for label, count, ids in summary.rows()])
    if any(ids for *_, ids in summary.rows()):
        show(f"All of them are listed in {listing}")


def _first(ids: list[str]) -> str:
    """Return the first few ids, each on one line and cut where it is long."""
    from sublex.building.build_summary import visible

    shown = map(visible, ids[:IDS])
    short = (id if len(id) < LONGEST_ID else f"{id[: LONGEST_ID - 3]}…" for id in shown)
    return ", ".join(short) + (", …" if len(ids) > IDS else "")


@click.command(epilog=examples("sublex delete demo birds-01 birds-02"))
@index_argument
@click.argument("docnos", nargs=-1, required=True, metavar="DOCNO...")
def delete(name: str, docnos: tuple[str, ...]) -> None:
    """Delete documents from an index by their docnos.

    All documents are deleted in one step. If a docno is not in the index, nothing is deleted.
    """
    path = existing_path(name)
    say_if_compiling("delete")
    opened = sublex.open(path)
    with reporting_interrupts(path):
        opened.delete(docnos, say)
    deleted = len(set(docnos))
    show(f"Deleted {deleted:,} of {len(opened) + deleted:,} documents from {path}")


@click.command(epilog=examples("sublex merge demo", "sublex merge demo --reorder"))
@index_argument
@reorder_option
@workers_option
@verbose_option
def merge(name: str, reorder: bool, workers: int | None) -> None:
    """Merge the segments of an index into one, without deleted documents.

    Each `sublex add` writes a segment, and `sublex delete` only marks documents as deleted. Merging frees their space.
    """
    path = existing_path(name)
    say_if_compiling("order-terms merge" + " reorder" * reorder)
    opened = sublex.open(path)
    segments = len(opened.snapshot.segments)
    with step("Merged the segments"), reporting_interrupts(path):
        opened.merge(workers, say, reorder=reorder)
    made_of = f", made of {segments}" if segments > 1 else ""
    show(f"{path} has one segment{made_of}" + (", with similar documents next to each other" if reorder else ""))


@click.command(epilog=examples("sublex check demo"))
@index_argument
@verbose_option
@click.pass_context
def check(context: click.Context, name: str) -> None:
    """Verify the files of an index.

    Every checksum is verified, and whether the parts of the index agree with each other. The exit code is 1 if something
    is wrong.
    """
    from sublex.index.check import check

    path = existing_path(name)
    say_if_compiling("check")
    with step("Verified all files"):
        problems = check(path)
    for problem in problems:
        show(problem)
    if problems:
        context.exit(1)
    show(f"{path} is sound")
