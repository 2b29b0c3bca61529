"""Operations that change or check an index: delete, merge, check."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Annotated

from sublex.errors import SublexError
from sublex.forms.lines import Shown, line, sentence
from sublex.operations.context import OperationContext
from sublex.operations.declaring import Needs, operation, positional
from sublex.operations.parameters import Reorder, Workers


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
    manifest = index.snapshot.manifest
    stored = " positions" * ("positions" in manifest.store) + " fields" * bool(manifest.fields)
    context.prepare("order-terms merge" + " reorder" * reorder + stored)
    segments = len(index.snapshot.segments)
    with context.step("Merged the segments"), context.changing():
        index.merge(workers, context.say, reorder=reorder)
    made_of = f", made of {segments}" if segments > 1 else ""
    neighbours = ", with similar documents next to each other" if reorder else ""
    return sentence(f"{context.path} has one segment{made_of}{neighbours}")


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


def _stored_kernels(path: Path) -> str:
    """Return the tasks for positions and fields that the check of an index needs; "" if the manifest cannot be read."""
    from sublex.index.manifest import read_manifest

    with suppress(SublexError):
        manifest = read_manifest(path)
        return " check-positions" * ("positions" in manifest.store) + " read-fields" * bool(manifest.fields)
    return ""
