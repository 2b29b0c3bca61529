"""Operations that build an index: index, add."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from sublex.errors import SublexError
from sublex.forms.lines import Shown, line, table_lines
from sublex.operations.context import OperationContext
from sublex.operations.declaring import Needs, operation, option
from sublex.operations.fitting import fit_each
from sublex.operations.parameters import Names, Overwrite, Reader, Reorder, Sources, Strict, Workers

if TYPE_CHECKING:
    from sublex.building.build_summary import BuildSummary

# The names in JSON for the rows of a build's table, in the order of the rows.
KEYS = ("read", "indexed", "empty", "duplicate", "malformed", "white_space")
# The number of ids that a row of the table shows in JSON.
IDS_IN_JSON = 10

SpillMemory = Annotated[str, option(metavar="SIZE", help="Memory for postings; beyond it they spill to disk.")]
Expressions = Annotated[tuple[str, ...], option(metavar="EXPR", completes="expression")]


@operation(needs=Needs.NEW, faces=("cli",))
def index(
    context: OperationContext,
    sources: Sources,
    reader: Reader = None,
    profile: Annotated[str | None, option(completes="profile", shown="sublex")] = None,
    analyzer: Annotated[str | None, option(completes="analyzer", shown="the profile's")] = None,
    store: Annotated[str, option(metavar="PARTS")] = "text,terms",
    fields: Names = (),
    columns: Names = (),
    workers: Workers = None,
    memory: SpillMemory = "1GB",
    impacts: Expressions = (),
    fits: Annotated[tuple[str, ...], option("--fit", metavar="EXPR", completes="expression")] = (),
    backend: Annotated[str | None, option(completes="backend")] = None,
    resume: bool = False,
    overwrite: Overwrite = False,
    reorder: Reorder = False,
    strict: Strict = False,
) -> Shown:
    """Build an index of a collection.

    SOURCE is a file, a folder, - for standard input, irds:NAME for a data set of ir_datasets, or lucene:PATH or
    whoosh:PATH for the documents of such an index. The format is detected, and compressed files are read as they are. A
    table at the end counts the documents that were indexed, empty, duplicate or malformed.

    Args:
        profile: Defaults of the analyzer and the rankers: sublex, anserini, terrier or pisa.
        analyzer: How text becomes terms, such as 'english(stop=none)'.
        store: What to store besides the postings: text, terms, positions, several of them, or none.
        fields: Keep frequencies and lengths of these fields, such as title,text; another stored field is then searched too.
        columns: Keep these stored fields as typed columns for filters, facets and sorting, such as year:int,date:date,category.
        impacts: Store what each posting adds to a score of this ranker, for quick searches; may be given several times.
        fits: Fit this model, such as 'lsi(e=100)', after indexing; may be given several times.
        backend: Build the index by another engine, such as lucene, next to INDEX, and attach it.
        resume: Continue an interrupted build.

    Examples:
        sublex index animals documents.jsonl
        sublex index animals documents.jsonl --overwrite --fit "lsi(e=20)"
    """
    import sublex

    path = context.path
    if impacts or fits:
        from sublex.representations.fitting import check_before_build

        check_before_build(path, impacts, fits, store)
    context.prepare(_tasks(sources, reorder, "positions" in store, any(fields)))
    with context.step(f"Built {path}"), context.progress(f"Indexing {path}") as advance, context.changing():
        opened = sublex.build(
            list(sources), path, reader=reader, profile=profile, analyzer=analyzer, store=store,
            fields=",".join(fields), columns=",".join(columns), workers=workers, memory=memory, backend=backend, resume=resume,
            overwrite=overwrite, reorder=reorder, strict=strict, progress=advance, say=context.say,
        )  # fmt: skip
    assert opened.built
    shown = built(path, opened.built)
    # If no impacts are wanted, only a replaced index may have stored ones to remove. Otherwise the pipeline need not be
    # imported.
    if not (impacts or fits or overwrite):
        return shown
    try:
        with context.step("Stored impacts"):
            opened.store_impacts(impacts)
    except SublexError as error:
        context.say(str(error))
    if fits:
        fitted = fit_each(context, opened, fits, workers=workers)
        shown = shown.between(below=fitted.lines)
        shown.code = fitted.code
    return shown


@operation(needs=Needs.PATH, faces=("cli",))
def add(
    context: OperationContext,
    sources: Sources,
    reader: Reader = None,
    duplicates: Literal["error", "first", "last"] = "error",
    workers: Workers = None,
    memory: SpillMemory = "1GB",
    strict: Strict = False,
) -> Shown:
    """Add documents to an index.

    SOURCE is a file, a folder, - for standard input, or irds:NAME, as for `sublex index`. All documents are added in one
    step, or none if something goes wrong. Fitted models encode the new documents, and stored impacts are made again.

    Args:
        duplicates: If a docno is in the index already: add nothing, keep the old document, or take the new one.

    Examples:
        sublex add demo more.jsonl
        sublex add demo changed.jsonl --duplicates last
    """
    return add_to(context, sources, reader, duplicates, workers, memory, strict)


def add_to(
    context: OperationContext,
    sources: tuple[str, ...],
    reader: str | None,
    duplicates: str,
    workers: int | None,
    memory: str,
    strict: bool,
    shard: str | None = None,
) -> Shown:
    """Add documents to an index, or to a shard of a cluster, and return the table of the addition."""
    import sublex

    path = context.path
    options: dict[str, Any] = {"reader": reader, "duplicates": duplicates, "workers": workers, "memory": memory}
    options |= {} if shard is None else {"shard": shard}
    opened = sublex.open(path)
    manifest = opened.snapshot.manifest
    context.prepare(_tasks(sources, positions="positions" in manifest.store, fields=bool(manifest.fields)))
    with context.step(f"Added to {path}"), context.progress(f"Adding to {path}") as advance, context.changing():
        summary = opened.add(list(sources), strict=strict, progress=advance, say=context.say, **options)
    return built(path, summary)


def _tasks(sources: Iterable[str], reorder: bool = False, positions: bool = False, fields: bool = False) -> str:
    """Return the tasks of indexing, whose kernels are compiled in advance.

    A source counts as JSON lines by its name or by the names of the files in it. The flags say what the build does
    besides.
    """
    names = [name for source in sources for name in (source, *(os.listdir(source) if os.path.isdir(source) else ()))]
    has_json = any(".json" in name.lower() for name in names)
    more = " read-json" * has_json + " reorder" * reorder + " positions" * positions + " fields" * fields
    return f"analyze order-terms build{more}"


def built(path: Path, summary: BuildSummary) -> Shown:
    """Return as Shown the table at the end of every build: the documents of each outcome, and their number."""
    rows, listing = summary.rows(), path / "last-build.tsv"
    listed = [line(f"All of them are listed in {listing}")] if any(ids for *_, ids in rows) else []
    outcome = {
        key: {"count": count, "first": ids[:IDS_IN_JSON]} for key, (_, count, ids) in zip(KEYS, rows, strict=True)
    }
    return Shown(
        lambda: [line(f"Index {path}"), *table_lines(summary.table()), *listed],
        lambda: {"index": str(path), "outcome": outcome, "list": str(listing)},
        notes=summary.remarks(),
    )
