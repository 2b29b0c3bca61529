"""Tell whether a folder belongs to Sublex: it is an index with a valid manifest, or an interrupted build left it.

A command makes an index only in such a folder, in an empty folder, or in a new one. It never touches another folder, so
that a wrong path costs a user no file.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from sublex.errors import IndexProblem, InputError, SublexError
from sublex.index.directory import Directory
from sublex.index.lookup import CLUSTER
from sublex.index.manifest import (
    BUILDING,
    MANIFEST,
    REPRESENTATIONS,
    RESOURCES,
    SEGMENTS,
    SHARDS,
    is_manifest,
    is_temporary,
)

LOCK = "lock"
# The number of bytes of the lock file that are read. They name its holder.
HOLDER_BYTES = 200
# The entries that a killed first build leaves beside the lock file.
LEFT = (BUILDING, SEGMENTS, SHARDS)
# The folders of an index from which a writer removes what the manifest does not name. Shards of a build lie in BUILDING.
KEPT = (SEGMENTS, SHARDS, REPRESENTATIONS, RESOURCES)
_HOLDER = re.compile(rb"sublex [^\n]{1,150}, process [0-9]{1,20}")


def signature(action: str, process: int) -> bytes:
    """Return the signature that a process writes into the lock file. Messages of other processes show it."""
    return f"sublex {action}, process {process}".encode()


def expect_own(root: Path, left: Collection[str] = LEFT) -> None:
    """Raise IndexProblem if the folder `root` holds anything that is not Sublex's.

    The folder may be missing or empty. It may have a manifest of any format. It may have the entries of a killed build: a
    signed lock file, and entries with the names in `left`.
    """
    if root.exists() and not root.is_dir():
        raise IndexProblem(f"{root} is a file, not a folder for an index.")
    index = Directory(root)
    names = index.entries()
    if MANIFEST in names:
        if not is_manifest(root):
            raise IndexProblem(
                f"{root} is not replaced, because its {MANIFEST} is damaged or not that of an index; choose another place, or "
                f"move {root} away."
            )
        return
    others = [name for name in names if name != LOCK and name not in left and not is_temporary(name)]
    if names and (others or not _is_signed(index, empty=names == [LOCK])):
        raise IndexProblem(f"{root} holds other files and is not an index; choose another place.")


def refuse_place(root: Path) -> None:
    """Raise an error for a place at which no index may be made.

    Within a folder of another index, the next writer of that index would remove it as a leftover. A name that begins with
    "cluster:" finds clusters, so it would not find the new index.
    """
    if root.parts and CLUSTER in (root.parts[0][: len(CLUSTER)], root.name[: len(CLUSTER)]):
        raise InputError(f"{root} begins with {CLUSTER}, which names a cluster that exists; leave it out.")
    try:
        place = root.resolve()
    except (OSError, RuntimeError):
        return
    for folder in place.parents:
        if folder.name in KEPT and is_manifest(folder.parent):
            raise IndexProblem(
                f"{root} is within the folder {folder.name} of the index {folder.parent}, which removes what is not its own; "
                "choose another place."
            )


def _is_signed(index: Directory, empty: bool) -> bool:
    """Return whether the lock file has the signature of a process of Sublex. With `empty`, it may also be empty."""
    with suppress(OSError, SublexError), index.open_to_read(LOCK) as file:
        text = file.read(HOLDER_BYTES)
        return bool(_HOLDER.fullmatch(text)) or (empty and not text)
    return False
