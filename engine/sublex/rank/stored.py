"""Impacts kept on disk: derived data, outside manifest and fingerprint, used only where its key fits and made again at will.

A segment's documents, decoded, stand once for all rankers; beside them four bytes a posting for each ranker.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np
import xxhash

from sublex.base import VERSION
from sublex.errors import IndexCorrupt, IndexProblem
from sublex.index.format import Folder, FolderWriter
from sublex.index.index import Index
from sublex.index.segment import Segment

DERIVED = "derived"
ENTRY = "entry.json"
DECLARED = "declared.json"


def impacts_folder(index: Index, ranker: str) -> Path:
    """Where a ranker's impacts belong: they depend on the documents, the ranker with its parameters, and the code."""
    key = xxhash.xxh3_128_hexdigest(json.dumps([VERSION, index.fingerprint, ranker]).encode())
    return index.path / DERIVED / f"impacts-{key}"


def documents_folder(index: Index, segment: Segment) -> Path:
    """Where a segment's decoded documents belong."""
    return index.path / DERIVED / f"documents-{segment.entry['data']['checksum']}"


def read(path: Path) -> Folder | None:
    """What is stored there, if it is whole."""
    try:
        return Folder(path, json.loads((path / ENTRY).read_bytes()), private=True)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, IndexCorrupt, IndexProblem):
        return None


def write(path: Path, arrays: Mapping[str, np.ndarray]) -> None:
    """Store arrays, all or nothing."""
    temporary = path.with_name(f"{path.name}.new-{os.getpid()}")
    try:
        shutil.rmtree(temporary, ignore_errors=True)
        with FolderWriter(temporary) as folder:
            for name, values in arrays.items():
                folder.put(name, values.ravel())
            entry = folder.finish()
        (temporary / ENTRY).write_text(json.dumps(entry), encoding="utf-8")
        shutil.rmtree(path, ignore_errors=True)
        temporary.rename(path)
    except OSError as error:
        raise IndexProblem(f"Cannot store impacts in {path}: {error.strerror or error}.") from None
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


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


def sweep(index: Index) -> None:
    """Remove what was derived for rankers not declared, or from other documents."""
    wanted = {impacts_folder(index, ranker) for ranker in declared(index.path)}
    wanted |= {documents_folder(index, segment) for segment in index.segments}
    with suppress(OSError):
        for folder in (index.path / DERIVED).iterdir():
            if folder.is_dir() and folder not in wanted:
                shutil.rmtree(folder, ignore_errors=True)
