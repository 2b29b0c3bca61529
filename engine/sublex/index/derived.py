"""Derived data: arrays computed from an index, stored next to it for speed, such as impacts.

They are outside of the manifest and the fingerprint. The folder's name is a key of everything that the data depend on, so data
for another state are never used. If they are missing or damaged, or cannot be written, Sublex computes them in memory.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from sublex.errors import IndexCorrupt, IndexProblem
from sublex.index.format import Folder, FolderWriter

DERIVED = "derived"
ENTRY = "entry.json"


def read(path: Path) -> Folder | None:
    """Return the stored arrays, or None if they are missing or damaged. Their values are verified at the first access."""
    try:
        return Folder(path, json.loads((path / ENTRY).read_bytes()), private=True)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, IndexCorrupt, IndexProblem):
        return None


def check(root: Path) -> Iterator[str]:
    """Verify all derived data of an index. Yield one sentence for each damaged folder."""
    for path in sorted(entry.parent for entry in (root / DERIVED).rglob(ENTRY)):
        try:
            folder = read(path)
            for _, component in folder or ():
                component.all()
        except IndexCorrupt:
            folder = None
        if folder is None:
            yield f"{path} is damaged; delete that folder. Sublex works without it and makes it again."


def write(path: Path, arrays: Mapping[str, np.ndarray]) -> None:
    """Write arrays to the folder `path`, all or none; an existing folder is replaced. Arrays are flattened."""
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
        raise IndexProblem(f"Cannot store derived data in {path}: {error.strerror or error}.") from None
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
