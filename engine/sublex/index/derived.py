"""Derived data: arrays beside the index that its key makes, used only where the key fits and made again at will.

They stand outside of manifest and fingerprint; who cannot write them, or finds them damaged, works without.
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
    """What is stored there, if it is whole."""
    try:
        return Folder(path, json.loads((path / ENTRY).read_bytes()), private=True)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, IndexCorrupt, IndexProblem):
        return None


def check(root: Path) -> Iterator[str]:
    """What is wrong with an index's derived data, one sentence a folder."""
    for folder in sorted(entry.parent for entry in (root / DERIVED).rglob(ENTRY)):
        try:
            found = read(folder)
            for _, component in found or ():
                component.all()
        except IndexCorrupt:
            found = None
        if found is None:
            yield f"{folder} is damaged; delete that folder, which Sublex does without and makes again."


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
        raise IndexProblem(f"Cannot store derived data in {path}: {error.strerror or error}.") from None
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
