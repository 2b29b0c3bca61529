"""Stored impacts: the impacts of chosen rankers on disk, as derived data that can be deleted and made again.

For each segment the document numbers of all postings are stored once for all rankers, and four bytes a posting for each ranker.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence, Set
from contextlib import suppress
from pathlib import Path

import xxhash

from sublex.base import VERSION
from sublex.errors import IndexProblem
from sublex.files import replace_file
from sublex.index.derived import DERIVED
from sublex.index.segment import Segment
from sublex.index.snapshot import Snapshot

DECLARED = "declared.json"


def impacts_folder(snapshot: Snapshot, ranker: str, code: str) -> Path:
    """Return the folder of a ranker's impacts. Its name depends on the documents, the ranker's parameters, and the versions of the code."""
    key = xxhash.xxh3_128_hexdigest(json.dumps([VERSION, code, snapshot.fingerprint, ranker]).encode())
    return snapshot.path / DERIVED / f"impacts-{key}"


def documents_folder(snapshot: Snapshot, segment: Segment) -> Path:
    """Return the folder of a segment's decoded document numbers."""
    return snapshot.path / DERIVED / f"documents-{segment.entry['data']['checksum']}"


def declared(root: Path) -> list[str]:
    """Return the rankers whose impacts are stored and made again after every commit; none when the list cannot be read."""
    try:
        names = json.loads((root / DERIVED / DECLARED).read_bytes())
    except (OSError, ValueError):
        return []
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


def declare(root: Path, rankers: Sequence[str]) -> None:
    """Replace the list of rankers whose impacts are stored. Without rankers, all derived data is removed."""
    folder = root / DERIVED
    if not rankers:
        shutil.rmtree(folder, ignore_errors=True)
        return
    try:
        folder.mkdir(exist_ok=True)
        replace_file(folder / DECLARED, json.dumps(list(rankers)).encode())
    except OSError as error:
        raise IndexProblem(f"Cannot store impacts in {folder}: {error.strerror or error}.") from None


def remove_others(snapshot: Snapshot, kept: Set[Path]) -> None:
    """Remove all derived data but the folders in `kept` and the decoded documents of the snapshot's segments."""
    wanted = kept | {documents_folder(snapshot, segment) for segment in snapshot.segments}
    with suppress(OSError):
        for folder in (snapshot.path / DERIVED).iterdir():
            if folder.is_dir() and folder not in wanted:
                shutil.rmtree(folder, ignore_errors=True)
