"""The manifest, the lock, and what is on disk around them: how a generation becomes the index, all or nothing."""

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
from sublex.index.format import FORMAT, replace_file, sync
from sublex.messages import command

MANIFEST = "index.json"
LOCK = "lock"
BUILDING = "building"
SEGMENTS = "segments"
REPRESENTATIONS = "representations"
RESOURCES = "resources"
FITTED = "fitted"
Manifest = dict[str, Any]


def read_manifest(root: Path) -> Manifest:
    """The manifest of an index, checked."""
    path = root / MANIFEST
    if path.exists() and not path.is_file():
        raise IndexCorrupt(f"{path} is no file; rebuild the index.")
    try:
        text = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        raise IndexProblem(_absent(root)) from None
    except OSError as error:
        raise IndexProblem(f"Cannot read {path}: {error.strerror}.") from None
    try:
        manifest = json.loads(text)
        found = manifest["format"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise IndexCorrupt(f"{path} is damaged; rebuild the index.") from None
    if found != FORMAT:
        raise IndexProblem(
            f"{root} has index format {found}, and this Sublex reads {FORMAT}: update Sublex or rebuild it."
        )
    if manifest.pop("checksum", None) != _checksum(manifest):
        raise IndexCorrupt(f"{path} is damaged; rebuild the index.")
    try:
        places = list(_places(manifest))
        if not all(isinstance(name, str) for name in places):
            raise TypeError("a name that is none")
    except (AttributeError, KeyError, TypeError):
        raise IndexCorrupt(f"{path} is damaged; rebuild the index.") from None
    for name in places:
        if not is_plain(name):
            raise IndexCorrupt(f"{path} names {name!r}, which lies outside the index; do not trust it.")
    return manifest


def is_plain(name: str) -> bool:
    """Whether a name stands for something right within a folder."""
    return name not in ("", ".", "..") and not set(name) & set("/\\\0")


def _places(manifest: Manifest) -> Iterator[str]:
    """The names of files and folders that a manifest gives."""
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
        for place, rows in entry["rows"].items():
            yield place
            _expect(rows, expression=str)
            for segment, kept in rows["segments"].items():
                yield segment
                yield from kept["data"]["components"]
    for name, entry in manifest.get(RESOURCES, {}).items():
        yield name
        yield entry["file"]
        _expect(entry, hash=str)


def _expect(entry: Manifest, **kinds: type) -> None:
    for name, kind in kinds.items():
        if not isinstance(entry[name], kind):
            raise TypeError(name)


def _absent(root: Path) -> str:
    if not root.exists():
        return f"No index at {root}; make one by: {command('index', root)} FILE…"
    if (root / BUILDING).exists():
        if is_being_written(root):
            return f"{root} holds no finished index yet: it is being built; try again when that is done."
        return f"{root} holds no finished index: its build was interrupted; run it again, with --resume to go on."
    return f"{root} is not an index: it has no {MANIFEST}."


def commit(root: Path, manifest: Manifest) -> None:
    """Make this the index, in one rename."""
    manifest["statistics"] = _statistics(manifest["segments"])
    manifest["fingerprint"] = _fingerprint(manifest)
    text = json.dumps(manifest | {"checksum": _checksum(manifest)}, indent=1, sort_keys=True)
    replace_file(root / MANIFEST, text.encode() + b"\n")
    # From here on this is the index: nothing may fail that would say otherwise.
    with suppress(OSError):
        sync(root)


def commit_changes(root: Path, old: Manifest, changes: Manifest) -> None:
    """Make the next generation, which differs in these entries, and remove what it does not name."""
    new = old | {"generation": old["generation"] + 1} | changes
    commit(root, new)
    remove_leftovers(root, new)


def _checksum(manifest: Manifest) -> str:
    return xxhash.xxh3_128_hexdigest(json.dumps(manifest, sort_keys=True).encode())


def _fingerprint(manifest: Manifest) -> str:
    """A hash of everything that can change a score: analysis, contents and deletions of the segments."""
    segments = [
        [segment["data"]["checksum"], segment["deleted"]["data"]["checksum"] if segment.get("deleted") else None]
        for segment in manifest["segments"]
    ]
    return xxhash.xxh3_128_hexdigest(json.dumps([FORMAT, manifest["analyzer"], segments], sort_keys=True).encode())


def _statistics(segments: list[Manifest]) -> dict[str, int]:
    """Live documents, tokens and postings."""
    names = ("docs", "tokens", "postings")
    return {name: sum(s[name] - (s["deleted"][name] if s.get("deleted") else 0) for s in segments) for name in names}


def next_segment(root: Path) -> str:
    """A folder name that no segment has."""
    used = [int(folder.name) for folder in (root / SEGMENTS).glob("*") if folder.name.isdecimal()]
    return f"{max(used, default=0) + 1:06}"


def remove_leftovers(root: Path, manifest: Manifest, building: bool = True) -> None:
    """Remove what no manifest names: the leavings of interrupted writers and of older generations."""
    if building:
        shutil.rmtree(root / BUILDING, ignore_errors=True)
    with suppress(OSError):
        (root / f"{MANIFEST}.new").unlink()
    live = {segment["name"]: segment for segment in manifest["segments"]}
    for folder in _within(root / SEGMENTS):
        if folder.name not in live:
            shutil.rmtree(folder, ignore_errors=True)
            continue
        deleted = live[folder.name].get("deleted")
        for losses in _within(folder):
            if losses.name.startswith("deleted-") and (not deleted or losses.name != deleted["name"]):
                shutil.rmtree(losses, ignore_errors=True)
    _sweep_models(root / REPRESENTATIONS, manifest.get(FITTED, {}))
    for folder in _within(root / RESOURCES):
        if folder.name not in manifest.get(RESOURCES, {}):
            shutil.rmtree(folder, ignore_errors=True)


def _within(folder: Path) -> list[Path]:
    """What lies in a folder; nothing behind a link, which is somebody else's."""
    return (
        []
        if folder.is_symlink() or not folder.is_dir()
        else [path for path in folder.iterdir() if not path.is_symlink()]
    )


def _sweep_models(root: Path, fitted: Manifest) -> None:
    """Remove models and rows that no manifest names."""
    for folder in _within(root):
        rows = fitted.get(folder.name, {}).get("rows", {})
        if folder.name not in fitted:
            shutil.rmtree(folder, ignore_errors=True)
            continue
        for kept in _within(folder):
            if not kept.name.startswith("rows-"):
                continue
            if kept.name not in rows:
                shutil.rmtree(kept, ignore_errors=True)
                continue
            for segment in _within(kept):
                if segment.name not in rows[kept.name]["segments"]:
                    shutil.rmtree(segment, ignore_errors=True)


@contextmanager
def locked(root: Path, what: str, create: bool = False) -> Iterator[None]:
    """Be the only writer; with `create` the folder is made where it is absent, and removed if nothing came of it."""
    try:
        if not create:
            read_manifest(root)
        if root.exists() and not root.is_dir():
            raise IndexProblem(f"{root} is a file, not a folder for an index.")
        if root.is_dir() and any(root.iterdir()) and not any((root / name).exists() for name in (LOCK, MANIFEST)):
            raise IndexProblem(f"{root} holds other files and is not an index; choose another place.")
        with _lock(root) as file:
            file.truncate(0)
            file.write(f"sublex {what}, process {os.getpid()}")
            file.flush()
            try:
                yield
            except BaseException:
                # What was not finished makes room at once; what is the index by now says what stays.
                with suppress(SublexError, OSError):
                    remove_leftovers(root, read_manifest(root), building=False)
                raise
            finally:
                if create and {path.name for path in root.iterdir()} == {LOCK}:
                    (root / LOCK).unlink()
                    root.rmdir()
    except OSError as error:
        raise _plainly(error, root) from None


def is_being_written(root: Path) -> bool:
    """Whether someone is writing the index at this moment."""
    try:
        with open(root / LOCK, "rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        pass
    return False


def _lock(root: Path) -> IO[str]:
    """The lock file, locked; one that its last holder has removed meanwhile locks nothing, so another is made."""
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


def _plainly(error: OSError, root: Path) -> IndexProblem:
    place = error.filename or root
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return IndexProblem(f"The disk is full; {root} is as it was before. Make room and try again.")
    return IndexProblem(f"Cannot write {place}: {error.strerror or error}; the index is as it was before.")
