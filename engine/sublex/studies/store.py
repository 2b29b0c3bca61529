"""The folder of a study: its lock against other processes, and the records of finished results.

A record has the name of a result, its identity, and its files with their hashes. It is written in one step, after its
files. So a result with a record of the right identity is complete, and a killed study loses no finished result.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from sublex.errors import InputError
from sublex.studies.identity import hash_of_value
from sublex.tools.files import hash_of, replace_file
from sublex.tools.outputs import LINE, is_sealed, sealed
from sublex.tools.plain_files import open_plain

LOCK = "study.lock"
# Folders within the folder of a study.
STATE, RUNS, INDEXES, REPORTS, CHECK = "state", "runs", "indexes", "reports", "check"
FOLDERS = (STATE, RUNS, INDEXES, REPORTS)
# The largest size of a record, in bytes.
MOST_BYTES = 1 << 28
_UNSAFE = re.compile(r"[^A-Za-z0-9.,=()+-]+")
_HASHED = re.compile(r"-[0-9a-f]{8}$")
# The largest number of characters of a name that `file_name` keeps.
SHOWN = 80


class Record(NamedTuple):
    """The record of a result: its kind and name, its identity, its files with hashes, its values, and its seconds.

    `kind` is the kind of the step, such as "run" or "fit".
    """

    kind: str
    name: str
    identity: dict[str, Any]
    files: dict[str, str]
    data: dict[str, Any]
    seconds: float


def file_name(name: str) -> str:
    """Return the name of a file or folder for a name of any characters.

    A hash follows if characters are changed or cut.
    """
    shown = _UNSAFE.sub("_", name).strip("._-")[:SHOWN].rstrip("._-")
    # A name that ends like a hash gets a hash too, so that no two names get the same file name.
    return shown if shown == name and not _HASHED.search(name) else f"{shown or 'system'}-{hash_of_value(name)[:8]}"


def _below(place: Path, folder: str) -> Iterator[str]:
    """Yield the names of all files and folders below a folder, without following links."""
    for root, folders, files in os.walk(place / folder):
        yield from (os.path.relpath(os.path.join(root, name), place) for name in (*folders, *files))


class StudyStore:
    """The folder of a study. While the block of `opened` runs, only this process writes to it."""

    def __init__(self, folder: Path):
        self.folder = folder

    def exists(self) -> bool:
        """Return whether a study has been run here."""
        return is_sealed(self.folder / LOCK)

    def check(self) -> None:
        """Raise InputError if the folder has files but no sound lock of a study, or if it has a symbolic link."""
        place = self.folder
        if not os.path.lexists(place):
            return
        if os.path.islink(place) or not os.path.isdir(place):
            raise InputError(f"{place} is no folder of a study; choose another place by --out.")
        entries = [name for name in os.listdir(place) if not name.startswith(f"{LOCK}.new-")]
        if entries and not self.exists():
            raise InputError(
                f"{place} holds files, and nothing shows that a study wrote them as they are; choose another folder by --out."
            )
        for path in (place / name for folder in (*FOLDERS, CHECK) for name in (folder, *_below(place, folder))):
            if os.path.islink(path):
                raise InputError(f"{path} is a symbolic link, and studies read and write through none; remove it.")

    @contextmanager
    def opened(self, first: str) -> Iterator[None]:
        """Make the folder if it is missing, and lock it against other processes while the block runs.

        `first` is the text of `study.lock` for a new study.
        """
        self.check()
        is_new, has_folder = not self.exists(), os.path.lexists(self.folder)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            handle = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            raise InputError(f"Cannot write {self.folder}: {error.strerror}; choose another folder by --out.") from None
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if not self.exists():
                self.write(LOCK, first)
            for name in FOLDERS:
                (self.folder / name).mkdir(exist_ok=True)
            try:
                yield
            except BaseException:
                if is_new:
                    self._withdraw(has_folder)
                raise
        except BlockingIOError:
            raise InputError(f"Another process runs a study in {self.folder}; wait until it has finished.") from None
        except OSError as error:
            raise InputError(
                f"Cannot write {error.filename or self.folder}: {error.strerror}; what was finished is kept."
            ) from None
        finally:
            os.close(handle)

    def _withdraw(self, has_folder: bool) -> None:
        """Remove the empty folders and the lock of a study that failed before its first result.

        `has_folder` says that the study's folder existed before; otherwise it is removed too.
        """
        with suppress(OSError):
            # A folder with anything in it cannot be removed.
            for name in FOLDERS:
                (self.folder / name).rmdir()
            (self.folder / LOCK).unlink()
            if not has_folder:
                self.folder.rmdir()

    def write(self, name: str, text: str) -> None:
        """Write a text, with a seal, to the file `name` of the folder."""
        replace_file(self.folder / name, sealed(text, LINE))

    # Records.

    def _place(self, kind: str, name: str) -> Path:
        return self.folder / STATE / f"{kind}-{file_name(name)}.json"

    def record(self, kind: str, name: str) -> Record | None:
        """Return the record of a result, whatever its identity; None if there is none, or if it cannot be read."""
        try:
            with open_plain(self._place(kind, name)) as file:
                found = json.loads(file.read(MOST_BYTES))
            record = Record(**found)
        except (OSError, ValueError, TypeError, RecursionError):
            return None
        kinds: tuple[Any, ...] = (str, str, dict, dict, dict, (int, float))
        is_sound = all(isinstance(value, kind) for value, kind in zip(record, kinds, strict=True))
        return record if is_sound and (record.kind, record.name) == (kind, name) else None

    def done(self, kind: str, name: str, identity: Mapping[str, Any], files: Sequence[str] = ()) -> Record | None:
        """Return the record of a result if it has this identity and these files, unchanged; otherwise None."""
        found = self.record(kind, name)
        if found is None or found.identity != as_json(identity) or set(found.files) != set(files):
            return None
        return found if all(self._hash(file) == known for file, known in found.files.items()) else None

    def _hash(self, file: str) -> str:
        path = self.folder / file
        if os.path.isabs(file) or ".." in Path(file).parts or os.path.islink(path) or not os.path.isfile(path):
            return "missing"
        return hash_of(path)

    def keep(
        self,
        kind: str,
        name: str,
        identity: Mapping[str, Any],
        files: Sequence[str],
        data: Mapping[str, Any],
        seconds: float,
    ) -> Record:
        """Write the record of a result that is finished, and return it."""
        hashes = {file: hash_of(self.folder / file) for file in files}
        record = Record(kind, name, as_json(identity), hashes, as_json(data), round(seconds, 3))
        text = json.dumps(record._asdict(), ensure_ascii=False)
        replace_file(self._place(kind, name), text.encode(errors="surrogatepass"))
        return record

    def drop(self, kind: str, name: str) -> None:
        """Remove the record of a result."""
        with suppress(FileNotFoundError):
            os.unlink(self._place(kind, name))


def as_json(value: Any) -> Any:
    """Return a value as it is after it was written as JSON and read again: tuples become lists, for example."""
    return json.loads(json.dumps(value))


def changes(before: Record | None, identity: Mapping[str, Any]) -> str:
    """Return the reason to compute a result in words: it is new, or parts of its identity or its files have changed."""
    if before is None:
        return "new"
    new = as_json(identity)
    changed = [key for key in {**before.identity, **new} if before.identity.get(key) != new.get(key)]
    return f"{' and '.join(changed)} changed" if changed else "its files changed"
