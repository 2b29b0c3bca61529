"""The manifest and the lock: how a generation of an index is committed, and how writers exclude one another.

The manifest `index.json` names every file that belongs to the index. Replacing it is the one step that makes a new generation
visible. Files that it does not name are leftovers, and the next writer removes them.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import xxhash

from sublex.errors import IndexCorrupt, IndexProblem, SublexError
from sublex.files import replace_file, sync
from sublex.index.format import FORMAT
from sublex.messages import command

# Names of files and folders within an index.
MANIFEST = "index.json"
LOCK = "lock"
BUILDING = "building"
SEGMENTS = "segments"
REPRESENTATIONS = "representations"
RESOURCES = "resources"
# The manifest's key for fitted models.
FITTED = "fitted"
# The manifest, or one of its entries, as JSON values.
Manifest = dict[str, Any]


def read_manifest(root: Path) -> Manifest:
    """Return the manifest of an index.

    Raises `IndexProblem` if there is no index or one of another format, and `IndexCorrupt` if the manifest is damaged or names
    files outside the index.
    """
    path = root / MANIFEST
    if path.exists() and not path.is_file():
        raise IndexCorrupt(f"{path} is not a file; rebuild the index.")
    try:
        text = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        raise IndexProblem(_no_index(root)) from None
    except OSError as error:
        raise IndexProblem(f"Cannot read {path}: {error.strerror}.") from None
    try:
        manifest = json.loads(text)
        version = manifest["format"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise IndexCorrupt(f"{path} is damaged; rebuild the index.") from None
    if version != FORMAT:
        raise IndexProblem(
            f"{root} has index format {version}, and this Sublex reads {FORMAT}: update Sublex or rebuild it."
        )
    if manifest.pop("checksum", None) != _checksum(manifest):
        raise IndexCorrupt(f"{path} is damaged; rebuild the index.")
    try:
        names = list(_names(manifest))
        if not all(isinstance(name, str) for name in names):
            raise TypeError("a name is not a string")
    except (AttributeError, KeyError, TypeError):
        raise IndexCorrupt(f"{path} is damaged; rebuild the index.") from None
    for name in names:
        if not is_plain(name):
            raise IndexCorrupt(f"{path} names {name!r}, which lies outside the index; do not trust it.")
    return manifest


def is_plain(name: str) -> bool:
    """Return whether a name is that of an entry of a folder, and not a path that leads elsewhere."""
    return name not in ("", ".", "..") and not set(name) & set("/\\\0")


def _names(manifest: Manifest) -> Iterator[str]:
    """Yield all names of files and folders in a manifest. Raise an error if an entry is missing or of a wrong type."""
    for segment in manifest["segments"]:
        yield segment["name"]
        yield from segment["data"]["components"]
        if segment.get("deleted"):
            yield segment["deleted"]["name"]
            yield from segment["deleted"]["data"]["components"]
    for name, entry in manifest.get(FITTED, {}).items():
        yield name
        yield from entry["model"]["components"]
        _expect(entry, expression=str, version=object, depends=list, resources=dict, origin=str, seen=dict)
        _expect({"checksum": entry["model"]["checksum"]}, checksum=str)
        for rows_name, rows in entry["rows"].items():
            yield rows_name
            _expect(rows, expression=str)
            for segment, stored in rows["segments"].items():
                yield segment
                yield from stored["data"]["components"]
    for name, entry in manifest.get(RESOURCES, {}).items():
        yield name
        yield entry["file"]
        _expect(entry, hash=str)


def _expect(entry: Manifest, **types: type) -> None:
    """Raise `KeyError` or `TypeError` unless the entry has values of these types under these names."""
    for name, expected in types.items():
        if not isinstance(entry[name], expected):
            raise TypeError(name)


def _no_index(root: Path) -> str:
    """Return the message for a path without an index."""
    if not root.exists():
        return f"No index at {root}; make one by: {command('index', root)} FILE…"
    if (root / BUILDING).exists():
        if is_being_written(root):
            return f"{root} holds no finished index yet: it is being built; try again when that is done."
        return f"{root} holds no finished index: its build was interrupted; run it again, with resume to go on."
    return f"{root} is not an index: it has no {MANIFEST}."


def commit(root: Path, manifest: Manifest) -> None:
    """Make this manifest the current one, in one rename; statistics, fingerprint and checksum are computed here."""
    manifest["statistics"] = _statistics(manifest["segments"])
    manifest["fingerprint"] = _fingerprint(manifest)
    text = json.dumps(manifest | {"checksum": _checksum(manifest)}, indent=1, sort_keys=True)
    replace_file(root / MANIFEST, text.encode() + b"\n")
    # The rename has committed the generation, so a failure from here on must not be reported as one of the commit.
    with suppress(OSError):
        sync(root)


def commit_changes(root: Path, old: Manifest, changes: Manifest) -> None:
    """Commit the next generation, with these entries of the manifest changed, and remove files that it does not name."""
    new = old | {"generation": old["generation"] + 1} | changes
    commit(root, new)
    remove_leftovers(root, new)


def _checksum(manifest: Manifest) -> str:
    return xxhash.xxh3_128_hexdigest(json.dumps(manifest, sort_keys=True).encode())


def _fingerprint(manifest: Manifest) -> str:
    """Return a hash of everything that can change a ranker's score: the analyzer, and the segments with their tombstones."""
    segments = [
        [segment["data"]["checksum"], segment["deleted"]["data"]["checksum"] if segment.get("deleted") else None]
        for segment in manifest["segments"]
    ]
    return xxhash.xxh3_128_hexdigest(json.dumps([FORMAT, manifest["analyzer"], segments], sort_keys=True).encode())


def _statistics(segments: list[Manifest]) -> dict[str, int]:
    """Return the numbers of documents, tokens and postings, without deleted documents."""
    names = ("docs", "tokens", "postings")
    return {name: sum(s[name] - (s["deleted"][name] if s.get("deleted") else 0) for s in segments) for name in names}


def next_segment(root: Path) -> str:
    """Return the name for a new segment: the number after the greatest one in use, which may be a leftover's."""
    used = [int(folder.name) for folder in (root / SEGMENTS).glob("*") if folder.name.isdecimal()]
    return f"{max(used, default=0) + 1:06}"


def remove_leftovers(root: Path, manifest: Manifest, building: bool = True) -> None:
    """Remove files that the manifest does not name, left by interrupted writers or older generations.

    With `building` this includes an interrupted build that could be resumed. Symbolic links are not followed.
    """
    if building:
        shutil.rmtree(root / BUILDING, ignore_errors=True)
    with suppress(OSError):
        for unfinished in root.glob(f"{MANIFEST}.new*"):
            unfinished.unlink()
    live = {segment["name"]: segment for segment in manifest["segments"]}
    for folder in _entries_of(root / SEGMENTS):
        if folder.name not in live:
            shutil.rmtree(folder, ignore_errors=True)
            continue
        deleted = live[folder.name].get("deleted")
        for tombstones in _entries_of(folder):
            if tombstones.name.startswith("deleted-") and (not deleted or tombstones.name != deleted["name"]):
                shutil.rmtree(tombstones, ignore_errors=True)
    _remove_left_models(root / REPRESENTATIONS, manifest.get(FITTED, {}))
    for folder in _entries_of(root / RESOURCES):
        if folder.name not in manifest.get(RESOURCES, {}):
            shutil.rmtree(folder, ignore_errors=True)


def _entries_of(folder: Path) -> list[Path]:
    """Return the entries of a folder except links. A folder that is itself a link has none: its files are not the index's."""
    if folder.is_symlink() or not folder.is_dir():
        return []
    return [path for path in folder.iterdir() if not path.is_symlink()]


def _remove_left_models(root: Path, fitted: Manifest) -> None:
    """Remove models and rows that the manifest does not name."""
    for folder in _entries_of(root):
        rows = fitted.get(folder.name, {}).get("rows", {})
        if folder.name not in fitted:
            shutil.rmtree(folder, ignore_errors=True)
            continue
        for rows_folder in _entries_of(folder):
            if not rows_folder.name.startswith("rows-"):
                continue
            if rows_folder.name not in rows:
                shutil.rmtree(rows_folder, ignore_errors=True)
                continue
            for segment in _entries_of(rows_folder):
                if segment.name not in rows[rows_folder.name]["segments"]:
                    shutil.rmtree(segment, ignore_errors=True)


@contextmanager
def locked(root: Path, action: str, create: bool = False) -> Iterator[None]:
    """Hold the lock of an index while the block runs. Raises `IndexProblem` if another process holds it.

    `action` is what that other process is told. With `create` the folder is made if it is missing, and removed again if the
    block leaves it without an index. An `OSError` of the block becomes an `IndexProblem` that says that the index is unchanged.
    """
    try:
        if not create:
            read_manifest(root)
        if root.exists() and not root.is_dir():
            raise IndexProblem(f"{root} is a file, not a folder for an index.")
        if root.is_dir() and any(root.iterdir()) and not any((root / name).exists() for name in (LOCK, MANIFEST)):
            raise IndexProblem(f"{root} holds other files and is not an index; choose another place.")
        with _lock(root) as file:
            file.truncate(0)
            file.write(f"sublex {action}, process {os.getpid()}")
            file.flush()
            try:
                yield
            except BaseException:
                # The manifest on disk decides what stays: the block may have committed before it failed.
                with suppress(SublexError, OSError):
                    remove_leftovers(root, read_manifest(root), building=False)
                raise
            finally:
                if create and {path.name for path in root.iterdir()} == {LOCK}:
                    (root / LOCK).unlink()
                    root.rmdir()
    except OSError as error:
        raise _write_problem(error, root) from None


def is_being_written(root: Path) -> bool:
    """Return whether a process holds the lock of the index."""
    try:
        with open(root / LOCK, "rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        pass
    return False


def _lock(root: Path) -> IO[str]:
    """Open and lock the lock file.

    Its last holder may remove the file before the lock is granted; a removed file locks nothing, so the loop makes a new one.
    """
    while True:
        root.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(root / LOCK, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666)
        file = os.fdopen(descriptor, "a+", encoding="utf-8")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(file.fileno()), os.stat(root / LOCK)):
                return file
        except BlockingIOError:
            with file:
                file.seek(0)
                holder = file.read().strip() or "another process"
            raise IndexProblem(f"{root} is being written by {holder}; wait until it has finished.") from None
        except FileNotFoundError:
            pass
        file.close()


def _write_problem(error: OSError, root: Path) -> IndexProblem:
    """Return the error for a failed write, in one sentence."""
    place = error.filename or root
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return IndexProblem(f"The disk is full; {root} is as it was before. Make room and try again.")
    return IndexProblem(f"Cannot write {place}: {error.strerror or error}; the index is as it was before.")
