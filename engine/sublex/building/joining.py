"""Join several indexes into one, and split one index into several. No document is read again.

A joined index has copies of the segments of its parts, in their order. A part of a split index has one segment with a
range of the documents. Fitted models, vectors and resources are not copied, since they belong to another set of documents.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from sublex.analysis.interner import Interner
from sublex.building.build_summary import BuildSummary
from sublex.building.merge import live_docnos, merge_segments
from sublex.building.segment_builder import SEGMENT
from sublex.building.segment_share import SegmentShare, shares
from sublex.building.writer import existing_index, make_index
from sublex.errors import IndexCorrupt, InputError
from sublex.index.attachment import refuse_if_attached
from sublex.index.directory import Directory
from sublex.index.entries import MOST_DOCS, Manifest, SegmentEntry, ShardEntry
from sublex.index.format import copy_folder
from sublex.index.manifest import new_manifest, read_manifest
from sublex.index.segment import Segment, open_segment
from sublex.index.shards import MOST_SHARDS, shard_name
from sublex.tools.strings import Strings
from sublex.tools.workers import Workers

# The folder of tombstones that were copied. No generation has the number 0, so no later deletion writes to this folder.
COPIED_TOMBSTONES = "deleted-0"
# A function that is called with the number of documents so far.
Progress = Callable[[int], None]


def join(
    root: Path,
    parts: Sequence[Path],
    overwrite: bool = False,
    progress: Progress = lambda docs: None,
    as_cluster: bool = False,
) -> BuildSummary:
    """Make an index of the documents of `parts`, in their order, and return the summary of its documents.

    The parts must have been built alike, and no two of their documents may share a docno. With `as_cluster`, the index is
    a cluster, and each part becomes a shard of it.
    """
    if not parts:
        raise InputError("There is nothing to join; name the indexes that become one.")
    if as_cluster and len(parts) > MOST_SHARDS:
        raise InputError(f"A cluster of {len(parts):,} shards cannot be built; name at most {MOST_SHARDS:,} indexes.")
    manifests = [_read_part(root, part) for part in parts]
    for part, manifest in zip(parts, manifests, strict=True):
        _expect_alike(parts[0], manifests[0], part, manifest)
    stored = sum(segment.docs for manifest in manifests for segment in manifest.segments)
    if stored > MOST_DOCS:
        raise InputError(f"The parts have {stored:,} documents; an index holds at most {MOST_DOCS:,}.")
    _expect_distinct(parts, manifests)

    def write(folder: Directory) -> tuple[list[SegmentEntry], BuildSummary]:
        entries: list[SegmentEntry] = []
        empty: list[str] = []
        for place, segment in _segments(parts, manifests):
            entry = _copied(parts[place], segment, folder / f"{SEGMENT}-{len(entries)}")
            entries.append(entry._replace(shard=shards[place].name if as_cluster else ""))
            empty += map(segment.docno, np.flatnonzero((segment.lengths == 0) & ~segment.dead).tolist())
            progress(_documents(entries))
        summary = BuildSummary(read=_documents(entries), indexed=_documents(entries), empty=empty)
        _note_left(summary, manifests)
        return entries, summary

    shards = tuple(ShardEntry(shard_name(place + 1), 1) for place in range(len(parts)))
    new = _like(manifests[0], shards if as_cluster else ())
    return make_index(root, "cluster build" if as_cluster else "join", new, write, overwrite)


def split(
    root: Path, parts: Sequence[Path], workers: int, overwrite: bool = False, progress: Progress = lambda docs: None
) -> list[BuildSummary]:
    """Write the documents of an index to the new indexes `parts`, in ranges of nearly equal size. Return their summaries.

    The index itself stays unchanged.
    """
    manifest = read_manifest(root)
    refuse_if_attached(root, manifest, "split it")
    docs = manifest.statistics.docs
    if len(parts) < 2:
        raise InputError("Name at least two indexes that get the documents.")
    if len(set(map(_place, (root, *parts)))) <= len(parts):
        raise InputError("An index is named twice; give each part a name of its own.")
    if len(parts) > docs:
        raise InputError(f"{root} has {docs:,} documents, too few for {len(parts):,} parts.")
    for part in parts:
        existing_index(part, overwrite)
    segments = [open_segment(root, entry, manifest.fields) for entry in manifest.segments]
    summaries, end = [], 0
    for part, share in zip(parts, shares(segments, len(parts)), strict=True):

        def write(folder: Directory, share: list[SegmentShare] = share) -> tuple[list[SegmentEntry], BuildSummary]:
            with Workers(workers) as pool:
                entry = merge_segments([*share], folder / SEGMENT, pool)
            summary = BuildSummary(read=entry.docs, indexed=entry.docs)
            _note_left(summary, [manifest])
            return [entry], summary

        summaries.append(make_index(part, "split", _like(manifest), write, overwrite))
        end += summaries[-1].indexed
        progress(end)
    return summaries


def _place(root: Path) -> object:
    """Return a value that identifies a folder: it is equal for all paths to it, also by links, `..` or mounts."""
    try:
        status = root.stat()
    except OSError:
        return root.resolve()
    return status.st_dev, status.st_ino


def _documents(entries: Sequence[SegmentEntry]) -> int:
    """Return the number of live documents of segments."""
    return sum(entry.live.docs for entry in entries)


def _note_left(summary: BuildSummary, manifests: Sequence[Manifest]) -> None:
    """Add a note on the fitted models of the parts, which are not copied, if there are any."""
    models = {model.expression for manifest in manifests for model in manifest.fitted.values()}
    if models:
        summary.note(f"Models are not taken along: {', '.join(sorted(models))}; fit them again with sublex fit")


def _read_part(root: Path, part: Path) -> Manifest:
    """Return the manifest of a part. Raise an error if it is attached, or if it is the index to make."""
    manifest = read_manifest(part)
    refuse_if_attached(part, manifest, "join it with others")
    if _place(root) == _place(part):
        raise InputError(f"{root} cannot be a part of itself; give the joined index another name.")
    return manifest


def _like(manifest: Manifest, shards: tuple[ShardEntry, ...] = ()) -> Manifest:
    """Return the manifest of a new index without segments, with the settings of another index, and with these shards."""
    return new_manifest(
        manifest.profile,
        manifest.store,
        manifest.analyzer,
        columns=manifest.columns,
        fields=manifest.fields,
        shards=shards,
    )


def _expect_alike(first: Path, one: Manifest, part: Path, other: Manifest) -> None:
    """Raise InputError if two indexes were built with different settings. The message names the setting."""
    settings = [
        ("the analyzer", one.analyzer.settings, other.analyzer.settings),
        ("the versions of libraries behind the analyzer", dict(one.analyzer.versions), dict(other.analyzer.versions)),
        ("the profile", one.profile, other.profile),
        ("the stored parts", one.store, other.store),
        ("the fields", one.fields, other.fields),
        ("the columns", dict(one.columns), dict(other.columns)),
    ]
    for name, ours, theirs in settings:
        if ours != theirs:
            raise InputError(
                f"{part} was built otherwise than {first}: {name} of the one differ from those of the other "
                f"({theirs} and {ours}). Build both alike to join them."
            )


def _segments(parts: Sequence[Path], manifests: Sequence[Manifest]) -> Iterator[tuple[int, Segment]]:
    """Yield the segments of all parts, each with the place of its part."""
    for place, (part, manifest) in enumerate(zip(parts, manifests, strict=True)):
        for entry in manifest.segments:
            yield place, open_segment(part, entry)


def _expect_distinct(parts: Sequence[Path], manifests: Sequence[Manifest]) -> None:
    """Raise InputError if two documents have the same docno."""
    docnos, owners = Interner(), []
    for own, segment in _segments(parts, manifests):
        part = parts[own]
        data, sizes = live_docnos(segment)
        known = docnos.size
        numbers = docnos.add(data, np.cumsum(sizes) - sizes, sizes.astype(np.int32))
        owners.append((docnos.size, part))
        if docnos.size < known + len(sizes):
            place = int(np.flatnonzero(numbers < np.arange(known, known + len(numbers)))[0])
            first = next(owner for end, owner in owners if numbers[place] < end)
            docno = Strings.joined(data, sizes)[place]
            both = f"twice in {part}" if first == part else f"in {first} and in {part}"
            raise InputError(f"Document {docno} is {both}; delete it from one of them to join them.")


def _copied(part: Path, segment: Segment, to: Directory) -> SegmentEntry:
    """Copy a segment of another index to the new folder `to`, and return its entry there."""
    entry = segment.entry._replace(name=to.name, shard="")
    try:
        copy_folder(segment.directory, entry.data, to)
        if entry.deleted:
            copy_folder(segment.directory / entry.deleted.name, entry.deleted.data, to / COPIED_TOMBSTONES)
            entry = entry._replace(deleted=entry.deleted._replace(name=COPIED_TOMBSTONES))
    except IndexCorrupt as error:
        raise InputError(f"{part} is damaged, or was changed meanwhile: {error}") from None
    return entry
