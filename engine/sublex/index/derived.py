"""Derived data: arrays computed from an index, stored next to it for speed, such as impacts.

They are outside of the manifest and the fingerprint. The name of a folder is a hash of everything that its data depend
on, so data for another state of the index are never used. If they are missing or damaged, or cannot be written, Sublex
computes them in memory.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from itertools import chain
from pathlib import Path

import numpy as np

from sublex.errors import IndexCorrupt, IndexProblem, SublexError
from sublex.index.directory import Directory
from sublex.index.entries import FolderEntry
from sublex.index.format import ComponentFolder, FolderWriter
from sublex.index.schema import as_json, record_of

DERIVED = "derived"
ENTRY = "entry.json"
# The pattern of names that Sublex gives to folders of derived data, and to such folders while they are being written.
_NAME = re.compile(r"[a-z]+-[0-9a-f]{32}(\.new-\d+)?", re.ASCII)
# Derived data lie in folders at most this number of levels below the folder `derived`.
DEPTH = 2


def folder_of(root: Path) -> Directory:
    """Return the folder of the derived data of an index."""
    return Directory(root) / DERIVED


def read(place: Directory) -> ComponentFolder | None:
    """Return the stored arrays of the folder `place`, or None if files are missing or cannot be read.

    The values of an array are verified at their first access.
    """
    try:
        return ComponentFolder(place, record_of(json.loads(place.read(ENTRY)), FolderEntry), private=True)
    except (OSError, ValueError, RecursionError, MemoryError, IndexCorrupt, IndexProblem):
        return None


def check(root: Path) -> Iterator[str]:
    """Verify all derived data of an index. Yield one sentence for each damaged folder."""
    try:
        places = list(_with_entries(folder_of(root), DEPTH))
    except (IndexCorrupt, OSError) as error:
        yield str(error)
        return
    for place in places:
        try:
            folder = read(place)
            for _, component in folder or ():
                component.all()
        except IndexCorrupt:
            folder = None
        if folder is None:
            yield f"{place.path} is damaged; delete that folder. Sublex works without it and makes it again."


def _with_entries(folder: Directory, depth: int) -> Iterator[Directory]:
    """Yield the folders that hold derived data, down to `depth` levels below `folder`."""
    for inner in folder.folders():
        if inner.has(ENTRY):
            yield inner
        if depth > 1:
            yield from _with_entries(inner, depth - 1)


def write(place: Directory, arrays: Mapping[str, np.ndarray | Iterator[np.ndarray]]) -> None:
    """Write all arrays to the folder `place`, which is replaced if it exists. Arrays are flattened.

    In place of an array, an iterator over the pieces of the array may be given. It must yield at least one piece, and
    all pieces must have the same type. If a write fails, raise IndexProblem.
    """
    temporary = place.parent / f"{place.name}.new-{os.getpid()}"
    try:
        temporary.remove()
        with FolderWriter(temporary) as folder:
            for name, values in arrays.items():
                pieces = iter([values.ravel()] if isinstance(values, np.ndarray) else values)
                first = next(pieces)
                writer = folder.stream(name, first.dtype)
                for piece in chain([first], pieces):
                    writer.write(piece)
            entry = folder.finish()
        temporary.replace(ENTRY, json.dumps(as_json(entry)).encode())
        place.remove()
        temporary.move(place)
    except (OSError, IndexCorrupt) as error:
        reason = (getattr(error, "strerror", None) or str(error)).rstrip(".")
        raise IndexProblem(f"Cannot store derived data in {place.path}: {reason}.") from None
    finally:
        temporary.remove()


def remove_all_but(root: Path, kept: Collection[Directory]) -> None:
    """Remove the folders of derived data of an index, except the folders in `kept`, and folders that Sublex did not name."""
    with suppress(OSError, SublexError):
        for folder in folder_of(root).folders():
            if folder not in kept and _NAME.fullmatch(folder.name):
                folder.remove()


def remove_oldest(root: Path, prefix: str, kept: int) -> None:
    """Remove folders of derived data whose names begin with `prefix`, except the `kept` folders that were used last."""
    with suppress(OSError, SublexError):
        folders = [folder for folder in folder_of(root).folders() if folder.name.startswith(prefix)]
        for folder in sorted(folders, key=Directory.changed)[:-kept]:
            folder.remove()
