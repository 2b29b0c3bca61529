"""Changing an index: create, add, delete, merge.

Each function takes the lock, writes new files that no manifest names yet, and commits them in one step. After a failure
the index is as it was before.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from sublex.building.build_settings import BuildSettings
from sublex.building.build_summary import BuildSummary
from sublex.building.deletions import delete_documents, with_tombstones
from sublex.building.document_source import DocumentSource
from sublex.building.journal import JOURNAL
from sublex.building.merge import live_docnos, merge_segments
from sublex.building.merge_policy import segments_to_merge
from sublex.building.reorder.rewrite import reorder_segment
from sublex.building.segment_builder import SEGMENT, Progress, SegmentBuilder
from sublex.contracts.base import Report
from sublex.errors import IndexProblem, InputError, SublexError
from sublex.index.attachment import refuse_if_attached
from sublex.index.directory import Directory
from sublex.index.entries import AnalyzerEntry, Manifest, SegmentEntry
from sublex.index.lock import locked
from sublex.index.manifest import (
    BUILDING,
    MANIFEST,
    commit,
    new_manifest,
    next_segment,
    read_manifest,
    remove_leftovers,
    segment_folder,
)
from sublex.index.ownership import expect_own
from sublex.index.schema import ABSENT, as_json
from sublex.index.segment import Segment, open_segment
from sublex.index.shards import segments_of, shard_for_new_documents
from sublex.tools.messages import Message, Step
from sublex.tools.workers import Workers

# The optional parts of an index: the documents themselves, each document's terms, and the positions of postings. The default
# leaves out positions.
STORED_PARTS, DEFAULT_PARTS = ("text", "terms", "positions"), ("text", "terms")
# The file that lists the unusual documents of the last build.
LISTING = "last-build.tsv"
# The folder, within the folder of a build, for a segment that is then rewritten in another order.
UNORDERED = "unordered"
# A function that is called before a segment is committed. It gets the new manifest, and the entries of the segments that the
# new segment replaces. If the documents were reordered, it also gets an array with the place of each new document among the
# live documents of the replaced segments. It returns the manifest to commit.
BeforeCommit = Callable[[Manifest, Sequence[SegmentEntry], np.ndarray | None], Manifest]


def create(
    root: Path,
    source: DocumentSource,
    settings: BuildSettings,
    analyzer: AnalyzerEntry,
    profile: str,
    progress: Progress,
    overwrite: bool = False,
    resume: bool = False,
    reorder: bool = False,
) -> BuildSummary:
    """Build an index. `analyzer` is the manifest's entry for the analyzer in `settings`.

    With `reorder`, similar documents get neighbouring numbers. `overwrite` and `resume` are passed to `make_index`.
    """
    new = new_manifest(profile, settings.store, analyzer, columns=settings.columns, fields=settings.fields)
    identity = source.identity()
    if resume and identity is None:
        raise InputError("Standard input cannot be read again, so the build cannot resume; start again without resume.")
    asked: list[Any] = [value for value in (dict(new.columns), new.fields) if value]
    asked += [source.share] if source.share[1] > 1 else []
    resume_key = None if identity is None else [identity, as_json(analyzer), new.store, *asked]

    def write(folder: Directory) -> tuple[list[SegmentEntry], BuildSummary]:
        builder = SegmentBuilder(folder, settings)
        builder.summary.add_report(source.report or Report())
        if resume:
            builder.resume(json.loads(json.dumps(resume_key)))
        entry = builder.run(source.batch_makers(), progress, resume_key)
        if not entry.docs:
            raise InputError(_no_document(builder.summary))
        builder.columns.refuse_missing()
        builder.summary.indexed = entry.docs
        _expect_words_in_fields(Segment(folder / SEGMENT, entry), settings, source)
        if reorder:
            (folder / SEGMENT).move(folder / UNORDERED)
            with Workers(settings.workers) as pool:
                entry, _ = reorder_segment(Segment(folder / UNORDERED, entry), folder / SEGMENT, pool)
        return [entry], builder.summary

    return make_index(root, "index", new, write, overwrite, resume)


def _expect_words_in_fields(segment: Segment, settings: BuildSettings, source: DocumentSource) -> None:
    """Raise InputError if no document has a term in some named field."""
    segment.fields = settings.fields
    for name in settings.fields:
        if not segment.field_lengths(name).any():
            asked = "title=head" if name == "title" else f"fields={name}"
            trec = f" The reader trec makes fields of elements that it is told: --reader 'trec({asked})'."
            raise InputError(
                f"No document has a term in the field {name}; leave it out, or name a field that documents have."
                f"{trec if any(each.name == 'trec' for each in source.sources) else ''}"
            )


def make_index(
    root: Path,
    action: str,
    new: Manifest,
    write: Callable[[Directory], tuple[Sequence[SegmentEntry], BuildSummary]],
    overwrite: bool = False,
    resume: bool = False,
) -> BuildSummary:
    """Make an index and return the summary of its documents.

    An existing index is replaced only with `overwrite`, and only when the new one is finished. The new index keeps its
    resources, its names, and the decisions of people about labels.

    Args:
        root: The folder of the index.
        action: The name of the command, for the message that other processes get.
        new: The manifest of the new index, without segments.
        write: A function that writes segments below the folder of the build, each in a folder with the name of its entry. It
            returns the entries and the summary.
        overwrite: Replace an existing index.
        resume: Keep the files of an interrupted build.
    """
    with locked(root, action, create=True):
        old = existing_index(root, overwrite)
        remove_leftovers(root, old, building=not resume)
        if old:
            new = new._replace(
                generation=old.generation + 1, resources=old.resources or ABSENT, labels=old.labels or ABSENT,
                names=old.names or ABSENT,
            )  # fmt: skip
        with _building_folder(root) as folder:
            entries, summary = write(folder)
            if old and old.fitted:
                models = ", ".join(sorted(model.expression for model in old.fitted.values()))
                summary.note(f"The models fitted to the replaced index are gone: {models}; run sublex fit again")
            _commit_segments(root, new, entries)
            _write_listing(root, summary)
    return summary


def existing_index(root: Path, overwrite: bool) -> Manifest | None:
    """Return the manifest of the index that a build will replace. Return None if there is no index that can be read.

    Raises `IndexProblem` if there is an index and `overwrite` is false, or if another program wrote the manifest.
    """
    if not Directory(root).has(MANIFEST):
        return None
    expect_own(root)
    if not overwrite:
        read_manifest(root)
        step = Step("add", root)
        replace = "replace it by --overwrite (in Python overwrite=True)"
        raise IndexProblem(
            Message(f"{root} is already an index; {replace}, or add documents to it: ", step, " SOURCE…")
        )
    with suppress(SublexError):
        return read_manifest(root)
    return None


def _no_document(summary: BuildSummary) -> str:
    """Return the sentence for an input without documents."""
    count = len(summary.problems)
    which = f"first of {count:,} malformed records" if count > 1 else "malformed record"
    return f"There is no document to index{f'; the {which} is {summary.problems[0]}' if count else ''}."


def add(
    root: Path,
    source: DocumentSource,
    settings: Callable[[Manifest], BuildSettings],
    progress: Progress,
    before_commit: BeforeCommit | None = None,
    shard: str | None = None,
) -> BuildSummary:
    """Add documents as a new segment, then merge small segments by the merge policy. Return the summary of the new documents.

    In a cluster, the documents go to `shard`, by default to the one with the fewest documents.

    `settings` is a function that makes the settings from the manifest of the index. The rule for duplicates also
    applies to docnos that are already in the index.
    """
    with locked(root, "add"):
        old = read_manifest(root)
        refuse_if_attached(root, old, "add to it")
        chosen_shard = shard_for_new_documents(root, old, shard)
        remove_leftovers(root, old)
        segments = [open_segment(root, entry) for entry in old.segments]
        with _building_folder(root) as folder:
            chosen = settings(old)
            builder = SegmentBuilder(folder, chosen, (live_docnos(segment) for segment in segments))
            summary, duplicates = builder.summary, builder.duplicates
            summary.add_report(source.report or Report())
            entry = builder.run(source.batch_makers(), progress)
            summary.indexed = entry.docs - len(duplicates.superseded)
            if not summary.read:
                raise InputError(_no_document(summary))
            if entry.docs:
                new = old.next()
                if duplicates.replaced:
                    kept = delete_documents(segments, duplicates.replaced, new.generation)
                    new = new._replace(segments=kept)
                if duplicates.superseded:
                    segment = Segment(folder / SEGMENT, entry)
                    entry = with_tombstones(segment, np.array(duplicates.superseded), new.generation)
                _commit_segments(root, new, [entry._replace(shard=chosen_shard)], before_commit)
            _write_listing(root, summary)
        # The new documents are committed. A merge that fails does not undo this.
        with suppress(SublexError, OSError):
            committed = read_manifest(root)
            own = segments_of(committed, chosen_shard)
            count = segments_to_merge([segment.docs for segment in own])
            if count > 1:
                _merge_some(root, committed, own[-count:], chosen.workers, before_commit)
    return summary


def delete(root: Path, docnos: Sequence[str]) -> int:
    """Delete documents and return the number of documents that remain.

    An unknown docno raises `InputError`, and nothing is deleted.
    """
    with locked(root, "delete"):
        old = read_manifest(root)
        refuse_if_attached(root, old, "delete from it")
        remove_leftovers(root, old)
        segments = [open_segment(root, entry) for entry in old.segments]
        left = delete_documents(segments, docnos, old.generation + 1)
        return commit(root, old.next(segments=left)).statistics.docs


def merge_all(root: Path, workers: int, before_commit: BeforeCommit | None = None, reorder: bool = False) -> int:
    """Merge all segments into one without the deleted documents. Return the number of segments before the merge.

    In a cluster, the segments of each shard become one, a shard in each commit.

    With `reorder`, similar documents get neighbouring numbers, even if there is nothing to merge.
    """
    with locked(root, "merge"):
        old = read_manifest(root)
        refuse_if_attached(root, old, "merge its segments")
        remove_leftovers(root, old)
        for shard in [shard.name for shard in old.shards] or [""]:
            committed = read_manifest(root)
            own = segments_of(committed, shard)
            if (reorder and own) or _is_divided(own):
                _merge_some(root, committed, own, workers, before_commit, reorder)
        return len(old.segments)


def _is_divided(segments: Sequence[SegmentEntry]) -> bool:
    """Return whether an index has something to merge: several segments, or deleted documents."""
    return len(segments) > 1 or any(segment.deleted for segment in segments)


def _merge_some(
    root: Path,
    old: Manifest,
    merged: tuple[SegmentEntry, ...],
    workers: int,
    before_commit: BeforeCommit | None,
    reorder: bool = False,
) -> None:
    """Commit a generation in which the segments `merged` of the manifest `old`, the last ones of a shard, are merged into one.

    With `reorder`, similar documents of the merged segment get neighbouring numbers.
    """
    rest = tuple(segment for segment in old.segments if segment not in merged)
    with _building_folder(root) as building, Workers(workers) as pool:
        segments, order = [open_segment(root, entry) for entry in merged], None
        if not reorder:
            entry = merge_segments(segments, building / SEGMENT, pool)
        else:
            if _is_divided(merged):
                segments = [Segment(building / UNORDERED, merge_segments(segments, building / UNORDERED, pool))]
            entry, order = reorder_segment(segments[0], building / SEGMENT, pool)
        entry = entry._replace(shard=merged[0].shard)
        _commit_segments(root, old.next(segments=rest), [entry], before_commit, merged, order)


@contextmanager
def _building_folder(root: Path) -> Iterator[Directory]:
    """Yield a folder for unfinished files. After a failure it stays only if a build can be resumed from it."""
    folder = Directory(root) / BUILDING
    folder.make()
    try:
        yield folder
    except BaseException:
        if not folder.has(JOURNAL):
            folder.remove()
        raise
    folder.remove()


def _commit_segments(
    root: Path,
    new: Manifest,
    entries: Sequence[SegmentEntry],
    before_commit: BeforeCommit | None = None,
    replaced: Sequence[SegmentEntry] = (),
    order: np.ndarray | None = None,
) -> None:
    """Move finished segments to their places, and commit the manifest `new` with these segments as its last ones.

    If `before_commit` is given, it gets the manifest, `replaced` and `order`, as `BeforeCommit` describes.
    """
    for entry in entries:
        placed = entry._replace(name=next_segment(root))
        folder = segment_folder(root, placed)
        folder.parent.make()
        (Directory(root) / BUILDING / entry.name).move(folder)
        folder.parent.sync()
        new = new._replace(segments=(*new.segments, placed))
    commit(root, before_commit(new, replaced, order) if before_commit else new)


def _write_listing(root: Path, summary: BuildSummary) -> None:
    """Write the list of unusual documents. The index is committed already, so a failure is ignored."""
    with suppress(OSError):
        Directory(root).replace(LISTING, summary.listing().encode(errors="replace"))
