"""Resources: files that models read when they are fitted, such as word vectors. What a file holds counts, not where it lies."""

from __future__ import annotations

import os
import shutil
from functools import lru_cache
from pathlib import Path

from sublex.errors import IndexCorrupt, IndexProblem, InputError
from sublex.expression import KEYWORDS
from sublex.files import hash_of, sync
from sublex.index.manifest import (
    FITTED,
    RESOURCES,
    Manifest,
    commit_changes,
    is_plain,
    locked,
    read_manifest,
    remove_leftovers,
)
from sublex.messages import command, counted


class Resources:
    """The registered resources of an index, and any file by its path; of files that are gone, what they held when models read them.

    `elsewhere` are resources of another index, for models that are taken from there.
    """

    def __init__(self, root: Path, manifest: Manifest, elsewhere: Manifest | None = None):
        self.root, self.entries, self.elsewhere = root, manifest.get(RESOURCES, {}), elsewhere or {}
        self.fitted: Manifest = manifest.get(FITTED, {})
        self._read: dict[str, set[str]] = {}
        for entry in self.fitted.values():
            for text, held in entry["resources"].items():
                self._read.setdefault(text, set()).add(held)

    def path(self, text: str) -> Path:
        """The file that a name or a path stands for, whole as it was."""
        if text in self.entries:
            entry = self.entries[text]
            path = self.root / RESOURCES / text / entry["file"]
            if not path.is_file() or path.stat().st_size != entry.get("bytes") or hash_of(path) != entry["hash"]:
                raise IndexCorrupt(
                    f"{path} is missing or damaged; add the same file again: {command('resource', 'add', self.root, text)} FILE"
                )
            return path
        if not os.path.isfile(text):
            raise InputError(
                f"No file {text!r}, and {self.root.name} has no resource of that name; "
                f"give it one: {command('resource', 'add', self.root)} NAME FILE"
            )
        return Path(text)

    def hash(self, text: str) -> str:
        """What stands for its content."""
        if text in self.entries:
            return self.entries[text]["hash"]
        if text in self.elsewhere:
            return self.elsewhere[text]["hash"]
        if text in self._read and not os.path.exists(text):
            if len(self._read[text]) > 1:
                raise InputError(
                    f"{text} is gone, and models were fitted to {counted(len(self._read[text]), 'file')} of that name; put back the "
                    f"one you mean, or forget a model by its own name, which {command('card', self.root)} lists."
                )
            return min(self._read[text])
        path = self.path(text)
        try:
            found = path.stat()
            return _hash(path.absolute(), found.st_size, found.st_mtime_ns)
        except OSError as error:
            raise InputError(f"Cannot read {path}: {error.strerror}.") from None


def add(root: Path, name: str, file: Path) -> None:
    """Copy a file into an index under a name."""
    if not (name.isidentifier() and name.isascii()) or name in KEYWORDS:
        raise InputError(
            f"A resource cannot be called {name}; take a to z, digits and _, a letter first, and not true, false or inf."
        )
    if not file.is_file():
        raise InputError(f"{file} is no file.")
    found = Resources(root, {}).hash(str(file))
    with locked(root, "resource add"):
        old = read_manifest(root)
        remove_leftovers(root, old)
        there = old.get(RESOURCES, {})
        if name in there and there[name]["hash"] != found:
            raise IndexProblem(
                f"{root.name} has another file as resource {name}; remove it first, or take another name."
            )
        place = root / RESOURCES / name
        place.mkdir(parents=True, exist_ok=True)
        copy = place / f"{name}.new"
        try:
            copy.unlink(missing_ok=True)
            with open(file, "rb") as source, open(copy, "xb") as target:
                shutil.copyfileobj(source, target)
            if hash_of(copy) != found:
                raise InputError(f"{file} changed while it was copied; try again.")
            own = file.name if is_plain(file.name) else name
            entry = {"file": there.get(name, {}).get("file", own), "hash": found, "bytes": copy.stat().st_size}
            sync(copy)
            copy.replace(place / entry["file"])
            for path in (place, place.parent):
                sync(path)
            commit_changes(root, old, {RESOURCES: there | {name: entry}})
        finally:
            copy.unlink(missing_ok=True)


def remove(root: Path, name: str) -> None:
    """Drop a resource that no model was fitted with."""
    with locked(root, "resource remove"):
        old = read_manifest(root)
        there = old.get(RESOURCES, {})
        if name not in there:
            raise IndexProblem(f"{root.name} has no resource {name}; it has {', '.join(sorted(there)) or 'none'}.")
        users = [entry["expression"] for entry in old.get(FITTED, {}).values() if name in entry["resources"]]
        if users:
            raise IndexProblem(f"{', '.join(users)} was fitted with {name}; forget it first.")
        rest = {other: entry for other, entry in there.items() if other != name}
        commit_changes(root, old, {RESOURCES: rest})


@lru_cache(maxsize=64)
def _hash(path: Path, size: int, changed: int) -> str:
    """The hash of a file, made again when its size or its time of change is another."""
    return hash_of(path)
