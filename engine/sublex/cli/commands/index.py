"""Commands that build an index: index, add."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import sublex
from sublex.cli import completion
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
from sublex.cli.steps import step, verbose_option
from sublex.errors import InputError, SublexError
from sublex.faces.compiling import say_if_compiling
from sublex.faces.interrupts import reporting_interrupts
from sublex.faces.output import print_json, print_table, say, show
from sublex.faces.progress import progress
from sublex.index.lookup import existing_path, index_path

if TYPE_CHECKING:
    from sublex.building.build_summary import BuildSummary
    from sublex.language.plugins import Registry

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
    fits: tuple[str, ...], backend: str | None, **options: Any,
) -> None:  # fmt: skip
    """Build an index of a collection.

    SOURCE is a file, a folder, - for standard input, irds:NAME for a data set of ir_datasets, or lucene:PATH or
    whoosh:PATH for the documents of such an index. The format is detected, and compressed files are read as they are. A
    table at the end counts the documents that were indexed, empty, duplicate or malformed.
    """
    from sublex.building.indexing import build_index
    from sublex.language import plugins

    path, registry = index_path(name), plugins.load()
    if impacts or fits:
        _check_expressions(path, impacts, fits, options["store"], registry)
    say_if_compiling(_tasks(sources, options["reorder"]))
    with step(f"Built {path}"), progress(f"Indexing {path}") as advance, reporting_interrupts(path):
        if backend:
            summary = _build_by(backend, context, path, sources, options, progress=advance, registry=registry)
        else:
            summary = build_index(path, list(sources), progress=advance, say=say, registry=registry, **options)
    report(path, summary, form)
    # A replaced index may have stored impacts, which are removed below. Otherwise the pipeline would be imported for nothing.
    if not (impacts or fits or options["overwrite"]):
        return
    from sublex.pipeline.index import Index

    opened = Index(path, load_registry=lambda: registry)
    try:
        with step("Stored impacts"):
            opened.store_impacts(impacts)
    except SublexError as error:
        say(str(error))
    if fits:
        from sublex.cli.context import CommandContext
        from sublex.faces.output import print_shown
        from sublex.operations.fitting import fit, fit_each

        shown = fit_each(CommandContext(fit, name, False), opened, fits, workers=options["workers"])
        print_shown(shown)
        if shown.code:
            context.exit(shown.code)


def _build_by(
    backend: str, context: click.Context, path: Path, sources: tuple[str, ...], options: dict[str, Any], **rest: Any
) -> BuildSummary:
    """Build the index by another engine, and return the summary. Options that only Sublex's own builds have are refused."""
    from sublex.other_engines.attaching import Given
    from sublex.other_engines.build import build_foreign

    given = {n for n in options if context.get_parameter_source(n) is click.core.ParameterSource.COMMANDLINE}
    for name in ("resume", "workers", "reorder"):
        if name in given:
            raise InputError(f"--{name} does not go with --backend {backend}; leave one of them out.")
    attaching = Given(options["analyzer"], options["profile"] if "profile" in given else None)
    kept = {name: options[name] for name in ("reader", "store", "memory", "overwrite", "strict")}
    return build_foreign(path, list(sources), backend, attaching, say=say, **kept, **rest)


def _check_expressions(
    path: Path, impacts: tuple[str, ...], fits: tuple[str, ...], store: str, registry: Registry
) -> None:
    """Raise an error before the index is built if a ranker is unknown or a model could not be fitted afterwards."""
    from sublex.contracts.fitted import Representation
    from sublex.index.manifest import MANIFEST, RESOURCES, read_manifest
    from sublex.language.parser import parse_call
    from sublex.representations.inputs import READINGS
    from sublex.representations.stored_models import namer

    manifest = read_manifest(path) if fits and (path / MANIFEST).exists() else {}
    names = namer(path, {RESOURCES: manifest.get(RESOURCES, {})}, registry)
    for ranker in impacts:
        registry.resolve("ranker", parse_call(ranker))
    for expression in fits:
        resolved = names.resolve(expression)
        model = names.make(resolved)
        names.identity(resolved, model)
        part = READINGS[model.reads].needs if isinstance(model, Representation) else ""
        if part and part not in store.split(","):
            raise InputError(f"{expression} needs stored {part}; leave --store out, or name {part} in it.")


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
