"""Operations that change, divide or check an index: delete, merge, join, split, check."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from sublex.errors import SublexError
from sublex.forms.lines import Shown, line, sentence, table_lines
from sublex.index.lookup import existing_path, index_path
from sublex.operations.building import built
from sublex.operations.context import OperationContext
from sublex.operations.declaring import Needs, operation, positional
from sublex.operations.parameters import Overwrite, Reorder, Workers

if TYPE_CHECKING:
    from sublex.index.entries import Manifest


@operation(faces=("cli", "service"), needs=Needs.PATH, forms=("table",), changes=True)
def delete(
    context: OperationContext, docnos: Annotated[tuple[str, ...], positional("DOCNO", completes="docno")]
) -> Shown:
    """Delete documents from an index by their docnos.

    All documents are deleted in one step. If a docno is not in the index, nothing is deleted.

    Examples:
        sublex delete demo birds-01 birds-02
    """
    context.prepare("delete")
    index = context.index
    with context.changing():
        index.delete(docnos, context.say)
    deleted = len(set(docnos))
    return sentence(f"Deleted {deleted:,} of {len(index) + deleted:,} documents from {context.path}")


@operation(faces=("cli", "service"), needs=Needs.PATH, forms=("table",), changes=True)
def merge(context: OperationContext, reorder: Reorder = False, workers: Workers = None) -> Shown:
    """Merge the segments of an index into one, without deleted documents.

    Each `sublex add` writes a segment, and `sublex delete` only marks documents as deleted. Merging frees their space.

    Examples:
        sublex merge demo
        sublex merge demo --reorder
    """
    index = context.index
    context.prepare("order-terms merge" + " reorder" * reorder + _merged_kernels(index.snapshot.manifest))
    segments, shards = len(index.snapshot.segments), len(index.snapshot.manifest.shards)
    with context.step("Merged the segments"), context.changing():
        index.merge(workers, context.say, reorder=reorder)
    made_of = f", made of {segments}" if segments > 1 else ""
    neighbours = ", with similar documents next to each other" if reorder else ""
    in_each = f" in each of its {shards} shards" if shards else ""
    return sentence(f"{context.path} has one segment{in_each}{made_of}{neighbours}")


@operation(needs=Needs.NEW, faces=("cli",))
def join(
    context: OperationContext,
    parts: Annotated[tuple[str, ...], positional("PART", completes="index")],
    overwrite: Overwrite = False,
) -> Shown:
    """Make one index of several, without reading a document again.

    PART is an index. The documents of all parts become those of INDEX, in the order of the parts, which stay as they are. So
    a large collection can be indexed in parts, on several machines if that helps. All parts must have been built alike, and
    no docno may be in two of them. Fitted models are not copied.

    Examples:
        sublex split demo first second
        sublex join both first second
    """
    import sublex

    path, places = context.path, [existing_path(part) for part in parts]
    context.prepare("number-terms")
    with context.step(f"Made {path}"), context.progress(f"Joining {path}") as advance, context.changing():
        index = sublex.join(places, path, overwrite=overwrite, progress=advance)
    assert index.built
    return built(path, index.built)


@operation(needs=Needs.PATH, faces=("cli",), forms=("table", "json"))
def split(
    context: OperationContext,
    parts: Annotated[tuple[str, ...], positional("PART", completes="index")],
    workers: Workers = None,
    overwrite: Overwrite = False,
) -> Shown:
    """Divide the documents of an index among new indexes.

    Each PART is the name of a new index. The first one gets the first documents, and all get nearly equal numbers. INDEX
    stays as it is. `sublex join` makes one index of the parts again. Fitted models are not copied.

    Examples:
        sublex split demo first second
    """
    path, places = context.path, [index_path(part) for part in parts]
    context.prepare(f"delete order-terms merge{_merged_kernels(context.index.snapshot.manifest)}")
    with context.step(f"Split {path}"), context.progress(f"Splitting {path}") as advance, context.changing():
        made = context.index.split(places, workers, overwrite=overwrite, progress=advance)
    rows = [(str(index.path), len(index)) for index in made]
    data = [{"index": name, "documents": docs} for name, docs in rows]
    notes = list(dict.fromkeys(note for index in made if index.built for note in index.built.remarks()))
    return Shown(lambda: table_lines(rows, ("index", "documents")), lambda: data, notes=notes)


@operation(needs=Needs.PATH, forms=("table",))
def check(context: OperationContext) -> Shown:
    """Verify the files of an index.

    The command compares every checksum, and checks that the parts of the index agree with each other. The exit code is 1 if something
    is wrong.

    Examples:
        sublex check demo
    """
    from sublex.index.check import check

    context.prepare("check" + _stored_kernels(context.path))
    with context.step("Verified all files"):
        problems = check(context.path)
    found = problems or [f"{context.path} is sound"]
    return Shown(lambda: [line(problem, indent=0) for problem in found], lambda: problems, code=bool(problems))


def _merged_kernels(manifest: Manifest) -> str:
    """Return the tasks for positions and fields that are needed to merge the segments of an index."""
    return " positions" * ("positions" in manifest.store) + " fields" * bool(manifest.fields)


def _stored_kernels(path: Path) -> str:
    """Return the tasks for positions and fields that the check of an index needs; "" if the manifest cannot be read."""
    from sublex.index.manifest import read_manifest

    with suppress(SublexError):
        manifest = read_manifest(path)
        return " check-positions" * ("positions" in manifest.store) + " read-fields" * bool(manifest.fields)
    return ""
