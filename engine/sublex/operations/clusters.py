"""Operations on clusters, which are indexes that lie in shards: cluster build, cluster add, cluster delete, cluster check, cluster info."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from sublex.errors import InputError, SublexError
from sublex.forms.lines import Shown, line, records
from sublex.index.lookup import existing_path, names_index
from sublex.operations import building, changing
from sublex.operations.building import SpillMemory, built
from sublex.operations.context import OperationContext
from sublex.operations.declaring import Needs, operation, option, positional
from sublex.operations.parameters import Names, Overwrite, Reader, Sources, Strict, Workers

if TYPE_CHECKING:
    from sublex.index.entries import Manifest

SHARD = ("shard", "documents", "deleted", "segments", "generation", "state")


@operation("cluster build", needs=Needs.NEW, faces=("cli",))
def build(
    context: OperationContext,
    paths: Annotated[tuple[str, ...], positional("PATH", completes="index")],
    shards: Annotated[int | None, option(least=1)] = None,
    reader: Reader = None,
    profile: Annotated[str | None, option(completes="profile", shown="sublex")] = None,
    analyzer: Annotated[str | None, option(completes="analyzer", shown="the profile's")] = None,
    store: Annotated[str, option(metavar="PARTS")] = "text,terms",
    fields: Names = (),
    columns: Names = (),
    workers: Workers = None,
    memory: SpillMemory = "1GB",
    resume: bool = False,
    overwrite: Overwrite = False,
    strict: Strict = False,
) -> Shown:
    """Build a cluster: an index whose documents lie in shards.

    It ranks as one index of all its documents does.

    Without --shards, each PATH is an index. It is copied, and becomes a shard; the shards are in the order of the paths. All
    must have been built alike, and no docno may be in two of them. Models are not taken along. With --shards, each PATH is
    a source of documents, as for `sublex index`. Processes build the shards of a large collection side by side. A docno
    that several shards would have stays in the first of them.

    Args:
        shards: Divide documents among this number of shards.
        profile: Defaults of the analyzer and the rankers: sublex, anserini, terrier or pisa.
        analyzer: How text becomes terms, such as 'english(stop=none)'.
        store: What to store besides the postings: text, terms, positions, several of them, or none.
        fields: Keep frequencies and lengths of these fields, such as title,text; another stored field is then searched too.
        columns: Keep these stored fields as typed columns for filters, facets and sorting, such as year:int,category.
        resume: Continue an interrupted build; finished shards are kept.

    Examples:
        sublex split demo first second
        sublex cluster build all first second
        sublex search all cranes
    """
    import sublex

    path = context.path
    given: dict[str, Any] = {"reader": reader, "profile": profile, "analyzer": analyzer}
    if shards is None and not all(map(names_index, paths)):
        wrong = next(each for each in paths if not names_index(each))
        raise InputError(
            f"{wrong} is no index; name indexes, or divide documents among new shards: --shards 4"
            if Path(wrong).exists()
            else f"No index at {wrong}; name indexes, which become the shards."
        )
    places: list[Any] = [existing_path(each) if shards is None else each for each in paths]
    context.prepare("number-terms" if shards is None else "analyze order-terms build delete merge read-json")
    with context.step(f"Built {path}"), context.progress(f"Building {path}") as advance, context.changing():
        index = sublex.build_cluster(
            places, path, shards, columns=",".join(columns), fields=",".join(fields), store=store, workers=workers,
            memory=memory, resume=resume, overwrite=overwrite, strict=strict, progress=advance, say=context.say, **given,
        )  # fmt: skip
    assert index.built
    return built(path, index.built)


@operation("cluster add", needs=Needs.PATH, faces=("cli",))
def add(
    context: OperationContext,
    sources: Sources,
    shard: Annotated[str | None, option(metavar="NAME", shown="the one with the fewest documents")] = None,
    reader: Reader = None,
    duplicates: Literal["error", "first", "last"] = "error",
    workers: Workers = None,
    memory: SpillMemory = "1GB",
    strict: Strict = False,
) -> Shown:
    """Add documents to a shard of a cluster.

    The command does what `sublex add` does: all documents are added in one step, or none. A docno may be in any shard
    already.

    Args:
        shard: The shard that gets the documents, such as 002.
        duplicates: If a docno is in the cluster already: add nothing, keep the old document, or take the new one.

    Examples:
        sublex cluster add halves more.jsonl
        sublex cluster add halves changed.jsonl --duplicates last --shard 002
    """
    _manifest(context.path)
    return building.add_to(context, sources, reader, duplicates, workers, memory, strict, shard)


@operation("cluster delete", needs=Needs.PATH, faces=("cli",), forms=("table",), changes=True)
def delete(
    context: OperationContext, docnos: Annotated[tuple[str, ...], positional("DOCNO", completes="docno")]
) -> Shown:
    """Delete documents from the shards of a cluster by their docnos.

    All documents are deleted in one step. If a docno is not in the cluster, nothing is deleted.

    Examples:
        sublex cluster delete halves birds-01
    """
    _manifest(context.path)
    return changing.delete(context, docnos=docnos)


@operation("cluster check", needs=Needs.PATH, faces=("cli",), forms=("table",))
def check(context: OperationContext) -> Shown:
    """Verify all files of a cluster and of its shards.

    The command compares every checksum, and the manifest of each shard with that of the cluster. The exit code is 1 if
    something is wrong.

    Examples:
        sublex cluster check halves
    """
    _manifest(context.path)
    return changing.check(context)


@operation("cluster info", needs=Needs.PATH, shell="cluster", forms=("table", "json", "csv"))
def info(context: OperationContext) -> Shown:
    """List the shards of a cluster, and their documents.

    A shard is `current`, or `behind` if a writer was killed before it was done; the next change mends that. Otherwise its
    state says what is wrong with it.

    Examples:
        sublex cluster info halves
    """
    from sublex.index.shards import expect_shard, segments_of

    path = context.path
    manifest, rows, problems = _manifest(path), [], []
    for shard in manifest.shards:
        try:
            state = "current" if expect_shard(path, manifest, shard) else "behind"
        except SublexError as error:
            problems.append(str(error))
            state = "damaged"
        own = segments_of(manifest, shard.name)
        docs, live = sum(segment.docs for segment in own), sum(segment.live.docs for segment in own)
        rows.append((shard.name, live, docs - live, len(own), shard.generation, state))
    shown = records(SHARD, rows).between(below=[line(problem, indent=0) for problem in problems])
    shown.code = int(bool(problems))
    return shown


def _manifest(path: Path) -> Manifest:
    """Return the manifest of a cluster. Raise InputError for an index that is not a cluster."""
    from sublex.index.manifest import read_manifest

    manifest = read_manifest(path)
    if not manifest.shards:
        raise InputError(f"{path} is an index and not a cluster; make one by: sublex cluster build CLUSTER {path} …")
    return manifest
