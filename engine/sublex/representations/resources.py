"""Resources: files that models read when they are fitted, such as word vectors.

A file has a name in the index, if it was registered, or is named by its path. A model's identity includes the hash of
the file's content, but not its path. The module copies, checks and removes files; plugins read them.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

import xxhash

from sublex.errors import IndexCorrupt, IndexProblem, InputError
from sublex.index.directory import Directory, is_plain
from sublex.index.entries import Manifest, ModelEntry, ResourceEntry
from sublex.index.lock import locked
from sublex.index.manifest import RESOURCES, commit, read_manifest, remove_leftovers
from sublex.index.schema import ABSENT
from sublex.language.expression import KEYWORDS
from sublex.tools.files import hash_of
from sublex.tools.messages import Message, Step, counted, near_names


class Resources:
    """The files that expressions on one index can name: registered resources by name, other files by path.

    `manifest` is the manifest of the index. It is None if there is no index yet, or if all files are named by path.
    `other_resources` are the resources of another index from which models are copied. If a file no longer exists, the
    hash that the models recorded when they read it is used.
    """

    def __init__(self, root: Path, manifest: Manifest | None, other_resources: Mapping[str, ResourceEntry] = ABSENT):
        self.root, self.other_entries = root, other_resources
        self.entries: Mapping[str, ResourceEntry] = manifest.resources if manifest else ABSENT
        self.fitted: Mapping[str, ModelEntry] = manifest.fitted if manifest else ABSENT
        self._recorded: dict[str, set[str]] = {}
        for entry in self.fitted.values():
            for name, content_hash in entry.resources.items():
                self._recorded.setdefault(name, set()).add(content_hash)

    def path(self, name: str) -> Path:
        """Return the path of a file, given by its name as a resource or by its path. A registered file is verified."""
        if name in self.entries:
            entry = self.entries[name]
            folder = Directory(self.root) / RESOURCES / name
            path = folder.path / entry.file
            try:
                is_whole = folder.hash(entry.file) == (entry.bytes, entry.hash)
            except (OSError, IndexCorrupt):
                is_whole = False
            if not is_whole:
                raise IndexCorrupt(
                    f"{path} is missing or damaged; add the same file again: {Step('resource add', self.root, name)} FILE"
                )
            return path
        if not os.path.isfile(name):
            raise InputError(
                f"No file {name!r}, and {self.root.name} has no resource of that name; "
                f"add one: {Step('resource add', self.root)} NAME FILE"
            )
        return Path(name)

    def hash(self, name: str) -> str:
        """Return the hash of the content of a resource, by its name or path."""
        for entries in (self.entries, self.other_entries):
            if name in entries:
                return entries[name].hash
        if name in self._recorded and not os.path.exists(name):
            recorded = self._recorded[name]
            if len(recorded) > 1:
                files = counted(len(recorded), "file")
                advice = (
                    f"{name} is gone, and models were fitted to {files} of that name; put back the file you mean, or "
                )
                listed = Step("card", self.root)
                raise InputError(Message(advice, "forget a model by the name that ", listed, " lists."))
            return min(recorded)
        path = self.path(name)
        try:
            status = path.stat()
            return _hash(path.absolute(), status.st_size, status.st_mtime_ns)
        except OSError as error:
            raise InputError(f"Cannot read {path}: {error.strerror}.") from None

    def state(self, name: str) -> str:
        """Return the hash of a resource. For the folder of an encoder, return a text that changes with its files."""
        if name not in self.entries and os.path.isdir(os.path.expanduser(name)):
            return folder_state(name)
        return self.hash(os.path.expanduser(name))


def add(root: Path, name: str, file: Path) -> None:
    """Copy a file into an index and register it under a name. Adding the same content again repairs a damaged copy."""
    if not (name.isidentifier() and name.isascii()) or name in KEYWORDS:
        raise InputError(
            f"A resource cannot be called {name}; use a to z, digits and _, a letter first, and not true, false or inf."
        )
    if not file.is_file():
        raise InputError(f"{file} is no file; name a file to copy.")
    content_hash = Resources(root, None).hash(str(file))
    with locked(root, "resource add"):
        manifest = read_manifest(root)
        remove_leftovers(root, manifest)
        entries = manifest.resources
        if name in entries and entries[name].hash != content_hash:
            raise IndexProblem(
                f"{root.name} has another file as resource {name}; remove it first, or choose another name."
            )
        folder = Directory(root) / RESOURCES / name
        folder.make()
        file_name = file.name if is_plain(file.name) else name
        file_name = entries[name].file if name in entries else file_name
        with open(file, "rb") as source, folder.replacing(file_name) as copy:
            shutil.copyfileobj(source, copy)
            copy.flush()
            entry = ResourceEntry(file_name, content_hash, copy.tell())
            if folder.hash(copy.name) != (entry.bytes, content_hash):
                raise InputError(f"{file} changed while it was copied; try again.")
        for changed in (folder, folder.parent):
            changed.sync()
        commit(root, manifest.next(resources={**entries, name: entry}))


def remove(root: Path, name: str) -> None:
    """Remove a resource from an index. Raise `IndexProblem` if a model of the index was fitted with it."""
    with locked(root, "resource remove"):
        manifest = read_manifest(root)
        entries = manifest.resources
        if name not in entries:
            raise IndexProblem(
                f"{root.name} has no resource {name}; it has {near_names(name, sorted(entries)) or 'none'}."
            )
        users = [entry.expression for entry in manifest.fitted.values() if name in entry.resources]
        if users:
            raise IndexProblem(f"{', '.join(users)} was fitted with {name}; forget it first.")
        remaining = {other: entry for other, entry in entries.items() if other != name}
        commit(root, manifest.next(resources=remaining))


def folder_state(path: str) -> str:
    """Return a hash of the names, sizes and times of the files in a folder and in the folders within it.

    The hash is quick to compute, and changes when somebody writes or replaces a file. It covers two levels of folders.
    Raise `OSError` if the folder cannot be read.
    """
    found: list[tuple[str, int, int, int]] = []

    def look(folder: str, depth: int) -> None:
        with os.scandir(folder) as entries:
            for entry in entries:
                status = (
                    entry.stat(follow_symlinks=True)
                    if os.path.exists(entry.path)
                    else entry.stat(follow_symlinks=False)
                )
                found.append((entry.path, status.st_size, status.st_mtime_ns, status.st_ino))
                if depth and entry.is_dir():
                    look(entry.path, depth - 1)

    look(os.path.expanduser(path), 2)
    return xxhash.xxh3_128_hexdigest(repr(sorted(found)).encode())


@lru_cache(maxsize=64)
def _hash(path: Path, size: int, changed: int) -> str:
    """Return the hash of a file. Calls with the same size and time of change (in ns) read the file only once."""
    return hash_of(path)
