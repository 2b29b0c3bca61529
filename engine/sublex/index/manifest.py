"""The manifest: how it is read, and how a generation of an index is committed.

The manifest `index.json` names every file that belongs to the index. Replacing it is the one step that makes a new generation
visible. Files that it does not name are leftovers, and the next writer removes them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import xxhash

from sublex.analysis.stopwords import without_files
from sublex.contracts.base import Analyzer, Folder, Statistics
from sublex.contracts.fields import content_fields
from sublex.errors import IndexCorrupt, IndexProblem, SublexError
from sublex.index.components.fields import count_fields
from sublex.index.directory import Directory
from sublex.index.entries import MOST_DOCS, AnalyzerEntry, AttachedEntry, Manifest, SegmentEntry, ShardEntry
from sublex.index.format import FORMAT, FORMATS, WITH_FIELDS, WITH_POSITIONS, WITH_SHARDS
from sublex.index.lookup import MANIFEST as MANIFEST
from sublex.index.schema import ABSENT, SchemaMismatch, as_json, record_of
from sublex.language.plugins import Registry
from sublex.tools.messages import Step, in_short

# Names of files and folders within an index.
BUILDING = "building"
SEGMENTS = "segments"
REPRESENTATIONS = "representations"
RESOURCES = "resources"
# The folder of the shards of a cluster. Each shard is an index.
SHARDS = "shards"
# The component that each optional part of an index is stored in.
PARTS = {"text": "texts", "terms": "document_terms", "positions": "positions"}
# The names that Sublex gives to folders and temporary files. Sublex never removes an entry with another name.
_SEGMENT, _DELETED = re.compile(r"\d{6,}", re.ASCII), re.compile(r"deleted-\d+", re.ASCII)
_SHARD = re.compile(r"\d{3,9}", re.ASCII)
_MODEL, _ROWS = re.compile(r"[\w-]+-[0-9a-f]{16}"), re.compile("rows-[0-9a-f]{16}")
_RESOURCE = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_TEMPORARY = re.compile(r"(index\.json|last-build\.tsv)\.new-\d+(-\d+)?", re.ASCII)


def new_manifest(
    profile: str,
    store: Iterable[str],
    analyzer: AnalyzerEntry,
    attached: AttachedEntry | None = None,
    columns: Mapping[str, str] = ABSENT,
    fields: tuple[str, ...] = (),
    shards: tuple[ShardEntry, ...] = (),
) -> Manifest:
    """Return the manifest of the first generation of an index, without segments."""
    parts, nothing = tuple(sorted(store)), Statistics(0, 0, 0)
    new = Manifest(
        FORMAT,
        1,
        profile,
        parts,
        analyzer,
        (),
        nothing,
        "",
        attached=attached,
        columns=columns or ABSENT,
        fields=fields,
        shards=shards,
    )
    return new._replace(format=_format_of(new))


def _format_of(manifest: Manifest) -> int:
    """Return the format of an index that has the parts in a manifest.

    An earlier Sublex refuses formats 2 to 4, because it would drop positions, fields, columns or shards when it changes the
    index.
    """
    if manifest.shards:
        return WITH_SHARDS
    if manifest.columns or manifest.fields:
        return WITH_FIELDS
    return WITH_POSITIONS if "positions" in manifest.store else FORMAT


def read_manifest(root: Path) -> Manifest:
    """Return the manifest of an index.

    Raises `IndexProblem` if there is no index, or if its format is unknown. Raises `IndexCorrupt` if the manifest is damaged
    or names files outside the index.
    """
    return read_manifest_in(Directory(root))


def read_manifest_in(folder: Directory) -> Manifest:
    """Return the manifest of the index in a folder, which may be a shard within a cluster; see `read_manifest`."""
    root = folder.path
    path = root / MANIFEST
    try:
        text = folder.read(MANIFEST)
    except (FileNotFoundError, NotADirectoryError):
        raise IndexProblem(_no_index(root)) from None
    except OSError as error:
        raise IndexProblem(f"Cannot read {path}: {error.strerror}.") from None
    try:
        values = json.loads(text)
        version = values["format"]
    except (ValueError, KeyError, TypeError, RecursionError, MemoryError):
        raise IndexCorrupt(f"{path} is damaged; rebuild the index.") from None
    if version not in FORMATS:
        readable = f"{', '.join(map(str, FORMATS[:-1]))} and {FORMATS[-1]}"
        raise IndexProblem(
            f"{root} has index format {version}, and this Sublex reads {readable}: update Sublex or rebuild it."
        )
    if values.pop("checksum", None) != checksum_of(values):
        raise IndexCorrupt(f"{path} is damaged; rebuild the index.")
    try:
        manifest = record_of(values, Manifest)
        _expect_agreement(manifest)
    except (SchemaMismatch, RecursionError) as error:
        raise IndexCorrupt(f"{path} is damaged: {error}; rebuild the index.") from None
    return manifest


def is_manifest(root: Path) -> bool:
    """Return whether Sublex wrote the manifest of the folder, in any format. The checksum in the manifest shows this."""
    try:
        values = json.loads(Directory(root).read(MANIFEST))
        return "format" in values and values.pop("checksum", None) == checksum_of(values)
    except (OSError, SublexError, ValueError, TypeError, AttributeError, RecursionError, MemoryError):
        return False


def _expect_agreement(manifest: Manifest) -> None:
    """Raise `SchemaMismatch` if a manifest contradicts itself.

    The format must fit the stored parts. The statistics must be the sums over the segments. Each segment must have the
    components of the stored parts. No two segments may have the same name.
    """
    segments = manifest.segments
    if manifest.format != _format_of(manifest):
        raise SchemaMismatch("format does not fit store, columns and fields")
    if len(set(manifest.fields)) < len(manifest.fields):
        raise SchemaMismatch("fields names one field twice")
    fields = len(content_fields(manifest.fields)) if manifest.fields else 0
    if len({segment.name for segment in segments}) < len(segments):
        raise SchemaMismatch("segments name one folder twice")
    for number, segment in enumerate(segments):
        if min(segment.live) < 0:
            raise SchemaMismatch(f"segments[{number}].deleted exceeds the segment")
        if manifest.columns and "columns" not in segment.data.components:
            raise SchemaMismatch(f"segments[{number}] lacks the component columns")
        for part, component in PARTS.items():
            if part in manifest.store and component not in segment.data.components:
                raise SchemaMismatch(f"segments[{number}] lacks the component {component}")
        if count_fields(segment.data.components) != fields:
            raise SchemaMismatch(f"segments[{number}] has other fields")
    _expect_shards_agree(manifest)
    if manifest.statistics != statistics_of(segments):
        raise SchemaMismatch("statistics do not fit the segments")
    if manifest.attached and (len(segments) != 1 or segments[0].deleted or "text" in manifest.store):
        raise SchemaMismatch("an attached index has other segments or texts than its mirror")
    if sum(segment.docs for segment in segments) > MOST_DOCS:
        raise SchemaMismatch("segments have too many documents")


def _expect_shards_agree(manifest: Manifest) -> None:
    """Raise `SchemaMismatch` unless each segment is in a shard of the manifest, and segments are in the order of the shards."""
    if manifest.shards and manifest.attached:
        raise SchemaMismatch("an attached index has shards")
    places = {shard.name: place for place, shard in enumerate(manifest.shards)}
    if len(places) < len(manifest.shards):
        raise SchemaMismatch("shards names one shard twice")
    own = [places.get(segment.shard, -1) for segment in manifest.segments]
    if manifest.shards and (-1 in own or own != sorted(own) or len({*own}) < len(places)):
        raise SchemaMismatch("shards do not fit the segments")
    if not manifest.shards and any(segment.shard for segment in manifest.segments):
        raise SchemaMismatch("segments name shards, and there are none")
    if any(not 0 < shard.generation <= manifest.generation for shard in manifest.shards):
        raise SchemaMismatch("a shard has a generation that the cluster never had")


def _no_index(root: Path) -> str:
    """Return the message for a path without an index."""
    if not root.exists():
        return f"No index at {root}; make one by: {Step('index', root)} FILE…"
    if Directory(root).has(BUILDING):
        from sublex.index.lock import is_being_written

        if is_being_written(root):
            return f"{root} holds no finished index yet: it is being built; try again when that is done."
        return f"{root} holds no finished index: its build was interrupted; run it again, with resume to go on."
    return f"{root} is not an index: it has no {MANIFEST}."


def analyzer_of(manifest: Manifest, registry: Registry) -> Analyzer:
    """Return the analyzer that an index was built with, made again from its stored settings."""
    settings = manifest.analyzer.settings
    folders = [param.name for param in registry.find("analyzer", settings.name).params if param.type is Folder]
    if any(settings.params.get(name) for name in folders):
        raise IndexCorrupt("The analyzer of the index names a folder, which no index may do; rebuild the index.")
    try:
        with without_files():
            return registry.build("analyzer", settings.name, settings.params)
    except SublexError:
        raise
    except Exception as error:
        raise IndexCorrupt(
            f"The analyzer of the index cannot be made from its settings ({in_short(error)}); rebuild the index."
        ) from None


def commit(root: Path, manifest: Manifest) -> Manifest:
    """Make `manifest` the current one, in one rename, and remove the files that it does not name.

    Return the manifest with its statistics and fingerprint, which are computed here. The written file has a checksum
    too. The manifest of a cluster is committed first, then those of the shards that changed.
    """
    from sublex.index import shards

    manifest = shards.advanced(root, manifest)
    new = manifest._replace(statistics=statistics_of(manifest.segments), fingerprint=fingerprint_of(manifest))
    write_manifest(Directory(root), new)
    # The rename has committed the generation, so a later failure must not be reported as a failure of the commit. If the
    # manifest of a shard cannot be written, the next writer writes it.
    with suppress(OSError):
        Directory(root).sync()
    with suppress(OSError, SublexError):
        shards.catch_up(root, new)
    remove_leftovers(root, new)
    return new


def write_manifest(folder: Directory, manifest: Manifest) -> None:
    """Write a manifest, with its checksum, in one rename."""
    values = as_json(manifest)
    text = json.dumps(values | {"checksum": checksum_of(values)}, indent=1, sort_keys=True)
    folder.replace(MANIFEST, text.encode() + b"\n")


def checksum_of(values: Mapping[str, Any]) -> str:
    return xxhash.xxh3_128_hexdigest(json.dumps(values, sort_keys=True).encode())


def identity_of(manifest: Manifest) -> str:
    """Return a hash of everything in a manifest. Two indexes have different hashes even if their generations are numbered alike."""
    return checksum_of(as_json(manifest))


def fingerprint_of(manifest: Manifest) -> str:
    """Return a hash of everything that can change a ranker's score.

    A score depends on the analyzer, the segments with their tombstones, and the names of the fields.
    """
    segments = [
        [segment.data.checksum, segment.deleted.data.checksum if segment.deleted else None]
        # If another engine stated the number of tokens, no component has that number, so it is hashed here.
        + ([segment.tokens] if segment.stated else [])
        for segment in manifest.segments
    ]
    parts = [FORMAT, as_json(manifest.analyzer), segments]
    # An index without columns and fields keeps the fingerprint that earlier versions of Sublex computed.
    if manifest.columns:
        parts.append(dict(manifest.columns))
    if manifest.fields:
        parts.append(list(manifest.fields))
    return xxhash.xxh3_128_hexdigest(json.dumps(parts, sort_keys=True).encode())


def statistics_of(segments: Iterable[SegmentEntry]) -> Statistics:
    """Return the numbers of documents, tokens and postings, without deleted documents."""
    return Statistics(*map(sum, zip((0, 0, 0), *(segment.live for segment in segments), strict=True)))


def next_segment(root: Path) -> str:
    """Return the name for a new segment: the number after the greatest number that a folder of a segment has.

    Folders that the manifest does not name count too. No two shards of a cluster have a segment of the same name.
    """
    index = Directory(root)
    places = [index / SEGMENTS, *(shard / SEGMENTS for shard in (index / SHARDS).folders())]
    used = [int(name) for place in places for name in place.entries() if name.isdecimal()]
    return f"{max(used, default=0) + 1:06}"


def remove_leftovers(root: Path, manifest: Manifest | None, building: bool = True) -> None:
    """Remove files that the manifest does not name. Interrupted writers and older generations leave such files.

    If `manifest` is None, the files of all segments, models and resources are removed. With `building`, the files of an
    interrupted build are removed too, even if the build could be resumed. Symbolic links to folders are neither
    followed nor removed, and folders with other names than Sublex gives stay.
    """
    index = Directory(root)
    if building:
        (index / BUILDING).remove()
    with suppress(OSError):
        for name in index.entries():
            if is_temporary(name):
                index.delete(name)
    _remove_segments(index / SEGMENTS, "", manifest)
    for shard in _keep_only(index / SHARDS, [shard.name for shard in manifest.shards] if manifest else (), _SHARD):
        from sublex.index.shards import is_current

        assert manifest
        # The manifest of a shard may be older than the cluster's. It then still names these files.
        if is_current(root, manifest, shard.name):
            _remove_segments(shard / SEGMENTS, shard.name, manifest)
    fitted = manifest.fitted if manifest else {}
    for model in _keep_only(index / REPRESENTATIONS, fitted, _MODEL):
        rows = fitted[model.name].rows
        for folder in _keep_only(model, rows, _ROWS):
            _keep_only(folder, rows[folder.name].segments, _SEGMENT)
    _keep_only(index / RESOURCES, manifest.resources if manifest else (), _RESOURCE)


def _remove_segments(folder: Directory, shard: str, manifest: Manifest | None) -> None:
    """Remove segments and tombstones that the manifest does not name from a folder of segments. `shard` names its shard."""
    named = [segment for segment in manifest.segments if segment.shard == shard] if manifest else []
    live = {segment.name: segment.deleted for segment in named}
    for segment in _keep_only(folder, live, _SEGMENT):
        deleted = live[segment.name]
        _keep_only(segment, [deleted.name] if deleted else [], _DELETED)


def segment_folder(root: Path, entry: SegmentEntry) -> Directory:
    """Return the folder of a segment: within the index, or within the shard of a cluster that holds it."""
    index = Directory(root)
    return (index / SHARDS / entry.shard if entry.shard else index) / SEGMENTS / entry.name


def is_temporary(name: str) -> bool:
    """Return whether this is a name that `files.replacing` gives to a temporary file, which should replace a file of an index."""
    return bool(_TEMPORARY.fullmatch(name))


def _keep_only(folder: Directory, names: Collection[str], ours: re.Pattern[str]) -> list[Directory]:
    """Remove the folders within `folder`, except the folders with these `names`. Return the kept folders.

    Only folders with names that Sublex gives, which `ours` matches, are removed. If `folder` is a link, nothing is
    removed, because its files do not belong to the index.
    """
    found = []
    with suppress(IndexCorrupt, OSError):
        found = folder.folders()
    for inner in found:
        if inner.name not in names and ours.fullmatch(inner.name):
            inner.remove()
    return [inner for inner in found if inner.name in names]
