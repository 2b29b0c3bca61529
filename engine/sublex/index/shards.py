"""The shards of a cluster: the manifest of each follows from the cluster's, and is compared with the one on disk.

A cluster is an index whose segments lie in shards. Each shard is an index of its own, which opens alone with its own
statistics. The cluster's manifest is the authority: a change is committed when it is renamed into its place. The manifests
of the changed shards are written afterwards. If the writer is killed in between, a shard has its earlier manifest, and the
next writer catches up.
"""

from __future__ import annotations

from pathlib import Path

from sublex.errors import IndexCorrupt, IndexProblem, InputError, SublexError
from sublex.index.directory import Directory
from sublex.index.entries import Manifest, SegmentEntry, ShardEntry
from sublex.index.manifest import (
    MANIFEST,
    SHARDS,
    fingerprint_of,
    identity_of,
    new_manifest,
    read_manifest,
    read_manifest_in,
    statistics_of,
    write_manifest,
)
from sublex.tools.messages import Message, Step, unknown

# The most shards of a new cluster.
MOST_SHARDS = 1000


def shard_name(number: int) -> str:
    """Return the name of the shard with this number; the first has the number 1."""
    return f"{number:03}"


def shard_folder(root: Path, name: str) -> Directory:
    """Return the folder of a shard."""
    return Directory(root) / SHARDS / name


def segments_of(manifest: Manifest, name: str) -> tuple[SegmentEntry, ...]:
    """Return the segments of a shard, as the cluster's manifest has them. Of an index that is no cluster, "" has all."""
    return tuple(segment for segment in manifest.segments if segment.shard == name)


def shard_manifest(manifest: Manifest, shard: ShardEntry) -> Manifest:
    """Return the manifest that a shard has by itself, which follows from the manifest of its cluster."""
    segments = tuple(segment._replace(shard="") for segment in segments_of(manifest, shard.name))
    new = new_manifest(
        manifest.profile, manifest.store, manifest.analyzer, columns=manifest.columns, fields=manifest.fields
    )
    new = new._replace(generation=shard.generation, segments=segments, statistics=statistics_of(segments))
    return new._replace(fingerprint=fingerprint_of(new))


def is_current(root: Path, manifest: Manifest, name: str) -> bool:
    """Return whether the manifest of a shard on disk is the one that follows from the cluster's manifest."""
    shard = next(shard for shard in manifest.shards if shard.name == name)
    try:
        return _identity(root, name) == identity_of(shard_manifest(manifest, shard))
    except (OSError, SublexError):
        return False


def _identity(root: Path, name: str) -> str:
    """Return the identity of the manifest of a shard on disk, "" if there is none."""
    folder = shard_folder(root, name)
    return identity_of(read_manifest_in(folder)) if folder.has(MANIFEST) else ""


def expect_shard(root: Path, manifest: Manifest, shard: ShardEntry) -> bool:
    """Return whether the manifest of a shard is the present one; False if a killed writer left the one before.

    Only manifests are read. Raise `IndexCorrupt` if the shard is missing or damaged, has another generation, or if another
    index is in its place.
    """
    folder, which = shard_folder(root, shard.name), f"Shard {shard.name} of {root}"
    mend = "bring it back from a copy, or build the cluster again"
    try:
        if not folder.exists():
            raise IndexCorrupt(f"{which} is missing; {mend}.")
        if not folder.has(MANIFEST):
            if shard.before:
                raise IndexCorrupt(f"{which} has no {MANIFEST}; {mend}.")
            return False
        found = read_manifest_in(folder)
    except IndexProblem as error:
        raise IndexCorrupt(f"{which} cannot be read ({str(error).rstrip('.')}); {mend}.") from None
    except IndexCorrupt as error:
        if str(error).startswith(which):
            raise
        raise IndexCorrupt(f"{which} is damaged ({str(error).rpartition(';')[0] or error}); {mend}.") from None
    except OSError as error:
        raise IndexProblem(f"Cannot read {folder.path}: {error.strerror}.") from None
    identity = identity_of(found)
    if identity == identity_of(shard_manifest(manifest, shard)):
        return True
    if identity == shard.before:
        return False
    if found.generation != shard.generation:
        raise IndexCorrupt(
            f"{which} is at generation {found.generation:,}, and the cluster has its generation {shard.generation:,}; {mend}."
        )
    raise IndexCorrupt(f"{which} is another index than the one that the cluster has; {mend}.")


def expect_shards(root: Path, manifest: Manifest) -> None:
    """Raise an error that names the shard, unless every shard of a cluster is there in the state that the manifest has."""
    for shard in manifest.shards:
        expect_shard(root, manifest, shard)


def catch_up(root: Path, manifest: Manifest) -> None:
    """Write the manifests of shards that are behind the cluster's manifest, which a commit or a killed writer left."""
    for shard in manifest.shards:
        if not expect_shard(root, manifest, shard):
            folder = shard_folder(root, shard.name)
            write_manifest(folder, shard_manifest(manifest, shard))
            folder.sync()


def advanced(root: Path, manifest: Manifest) -> Manifest:
    """Return the manifest of a cluster that is about to be committed: with its segments in the order of the shards.

    Each shard whose segments changed gets the new generation, and the identity of its manifest on disk. An index that is no
    cluster is returned unchanged.
    """
    if not manifest.shards:
        return manifest
    place = {shard.name: place for place, shard in enumerate(manifest.shards)}
    new = manifest._replace(segments=tuple(sorted(manifest.segments, key=lambda segment: place[segment.shard])))
    shards = []
    for shard in manifest.shards:
        before = _identity(root, shard.name)
        if before == identity_of(shard_manifest(new, shard)):
            shards.append(shard._replace(before=""))
        else:
            shards.append(shard._replace(generation=manifest.generation, before=before))
    return new._replace(shards=tuple(shards))


def shard_for_new_documents(root: Path, manifest: Manifest, name: str | None) -> str:
    """Return the shard that new documents go to: `name`, or the shard with the fewest documents. "" for an index without shards.

    Raise InputError if there is no shard of this name.
    """
    if not manifest.shards:
        if name is not None:
            raise InputError(f"{root} is not a cluster, so it has no shard {name}; leave the shard out.")
        return ""
    names = [shard.name for shard in manifest.shards]
    if name is None:
        return min(names, key=lambda each: statistics_of(segments_of(manifest, each)).docs)
    if name not in names:
        raise InputError(unknown("shard", name, names))
    return name


def cluster_of(root: Path) -> Path | None:
    """Return the path of the cluster that an index is a shard of; None if it is not a shard."""
    try:
        place = root.resolve()
        if place.parent.name != SHARDS:
            return None
        cluster = place.parent.parent
        is_shard = any(shard.name == place.name for shard in read_manifest(cluster).shards)
    except (OSError, RuntimeError, SublexError):
        return None
    return cluster if is_shard else None


def refuse_if_shard(root: Path, action: str) -> None:
    """Raise IndexProblem if an index is a shard of a cluster, which alone changes it. `action` is the name of the command."""
    cluster = cluster_of(root)
    if cluster is None:
        return
    name = root.resolve().name
    state = f"{root} is shard {name} of the cluster {cluster}, and changes only with it; "
    if action == "add":
        raise IndexProblem(Message(f"{state}run: ", Step("cluster add", cluster, shard=name), " SOURCE…"))
    if action == "delete":
        raise IndexProblem(Message(f"{state}run: ", Step("cluster delete", cluster), " DOCNO…"))
    if action == "merge":
        raise IndexProblem(Message(f"{state}run: ", Step("merge", cluster)))
    raise IndexProblem(f"{state}name the cluster, or a copy of the shard in another place.")
