"""Stored impacts: the impacts of chosen rankers on disk, as derived data that can be deleted and made again.

For each segment the document numbers of all postings are stored once for all rankers, in two bytes a posting, and for each ranker the
numbers of the impacts, in one or two bytes; `coding` says how.
"""

from __future__ import annotations

import json
from collections.abc import Sequence, Set
from pathlib import Path

import xxhash

from sublex.contracts.base import VERSION
from sublex.errors import IndexCorrupt, IndexProblem
from sublex.index import derived
from sublex.index.directory import Directory
from sublex.index.segment import Segment
from sublex.index.snapshot import Snapshot

DECLARED = "declared.json"


def impacts_folder(snapshot: Snapshot, ranker: str, code: str) -> Directory:
    """Return the folder of a ranker's impacts. Its name depends on the documents, the ranker's parameters, and the versions of the code."""
    key = xxhash.xxh3_128_hexdigest(json.dumps([VERSION, code, snapshot.fingerprint, ranker]).encode())
    return derived.folder_of(snapshot.path) / f"impacts-{key}"


def documents_folder(snapshot: Snapshot, segment: Segment) -> Directory:
    """Return the folder of a segment's document numbers. Its name depends on the segment and on Sublex's version."""
    key = xxhash.xxh3_128_hexdigest(json.dumps([VERSION, segment.entry.data.checksum]).encode())
    return derived.folder_of(snapshot.path) / f"documents-{key}"


def declared(root: Path) -> list[str]:
    """Return the rankers whose impacts are stored and made again after every commit; none when the list cannot be read."""
    try:
        names = json.loads(derived.folder_of(root).read(DECLARED))
    except (OSError, ValueError, RecursionError, IndexCorrupt):
        return []
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


def declare(root: Path, rankers: Sequence[str]) -> None:
    """Replace the list of rankers whose impacts are stored. Without rankers, all derived data is removed."""
    folder = derived.folder_of(root)
    if not rankers:
        folder.remove()
        return
    try:
        folder.make()
        folder.replace(DECLARED, json.dumps(list(rankers)).encode())
    except OSError as error:
        raise IndexProblem(f"Cannot store impacts in {folder.path}: {error.strerror or error}.") from None


def remove_others(snapshot: Snapshot, kept: Set[Directory]) -> None:
    """Remove all derived data but the folders in `kept` and the documents of the snapshot's segments."""
    derived.remove_all_but(snapshot.path, kept | {documents_folder(snapshot, segment) for segment in snapshot.segments})
