"""Impacts kept on disk, as derived data.

A segment's documents, decoded, stand once for all rankers; beside them four bytes a posting for each ranker.
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
from sublex.index.derived import DERIVED
from sublex.index.segment import Segment
from sublex.index.snapshot import Snapshot

DECLARED = "declared.json"


def impacts_folder(index: Snapshot, ranker: str, code: str) -> Path:
    """Where a ranker's impacts belong: they depend on the documents, the ranker with its parameters, and the versions of the code."""
    key = xxhash.xxh3_128_hexdigest(json.dumps([VERSION, code, index.fingerprint, ranker]).encode())
    return index.path / DERIVED / f"impacts-{key}"


def documents_folder(index: Snapshot, segment: Segment) -> Path:
    """Where a segment's decoded documents belong."""
    return index.path / DERIVED / f"documents-{segment.entry['data']['checksum']}"


def declared(root: Path) -> list[str]:
    """The rankers whose impacts are to be kept, whatever becomes of the index."""
    try:
        found = json.loads((root / DERIVED / DECLARED).read_bytes())
    except (OSError, ValueError):
        return []
    return [name for name in found if isinstance(name, str)] if isinstance(found, list) else []


def declare(root: Path, rankers: Sequence[str]) -> None:
    """Say whose impacts are to be kept; those of others go."""
    folder = root / DERIVED
    if not rankers:
        shutil.rmtree(folder, ignore_errors=True)
        return
    try:
        folder.mkdir(exist_ok=True)
        (folder / DECLARED).write_text(json.dumps(list(rankers)), encoding="utf-8")
    except OSError as error:
        raise IndexProblem(f"Cannot store impacts in {folder}: {error.strerror or error}.") from None


def sweep(index: Snapshot, kept: Set[Path]) -> None:
    """Remove what was derived for rankers whose impacts are not among the kept, or from other documents."""
    wanted = kept | {documents_folder(index, segment) for segment in index.segments}
    with suppress(OSError):
        for folder in (index.path / DERIVED).iterdir():
            if folder.is_dir() and folder not in wanted:
                shutil.rmtree(folder, ignore_errors=True)
