"""Operations on whole files: atomic replacement, flushing to the disk, hashing, and the limit on open files.

A reader sees either the old file or the new one, never a part of the new one.
"""

from __future__ import annotations

import hashlib
import os
import resource
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from itertools import count
from pathlib import Path
from typing import BinaryIO

import xxhash


@contextmanager
def replacing(path: Path, buffering: int = -1, dir_fd: int | None = None) -> Iterator[BinaryIO]:
    """Yield a new binary file that takes the place of `path`, in one rename, when the block ends.

    The new file stands next to `path` as `NAME.new-PROCESS`; its `name` attribute is its full path. If the block raises an
    error, the new file is removed and `path` stays as it was. A symbolic link at `path` is replaced, not followed. With
    `dir_fd`, a descriptor of a folder, `path` is the name of an entry of that folder. The rename itself is durable only
    after an fsync of the parent folder.
    """
    file, temporary = _new_file(path, buffering, dir_fd)
    try:
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.rename(temporary, path, src_dir_fd=dir_fd, dst_dir_fd=dir_fd)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary, dir_fd=dir_fd)
        raise


def _new_file(path: Path, buffering: int, dir_fd: int | None) -> tuple[BinaryIO, Path]:
    """Open a new file next to `path`, and return the file and its path. A file that a killed process left there stays."""
    for number in count():
        # A long name is cut: the file system limits the length of names.
        name = f"{path.name[:200]}.new-{os.getpid()}{f'-{number}' if number else ''}"
        with suppress(FileExistsError):
            place = path.with_name(name)
            return open(place, "xb", buffering, opener=partial(os.open, mode=0o666, dir_fd=dir_fd)), place
    raise AssertionError("count() ends")


def replace_file(path: Path, data: bytes) -> None:
    """Write `data` to `path` in one atomic step. The new file gets the permissions of the file that it replaces."""
    with replacing(path) as file:
        with suppress(FileNotFoundError):
            mode = os.lstat(path).st_mode
            if stat.S_ISREG(mode):
                os.fchmod(file.fileno(), stat.S_IMODE(mode))
        file.write(data)


def hash_of(path: Path) -> str:
    """Return the 128-bit xxh3 hash of a whole file, in hexadecimal."""
    with open(path, "rb") as file:
        return hash_of_stream(file)


def hash_of_stream(file: BinaryIO) -> str:
    """Return the 128-bit xxh3 hash of the rest of an open file, in hexadecimal."""
    return hashlib.file_digest(file, xxhash.xxh3_128).hexdigest()  # type: ignore[arg-type]


def allow_many_files() -> None:
    """Raise this process's limit on open files as far as the system permits.

    Every memory map holds a file open, and a merge may map thousands of files.
    """
    _, hard_limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard_limit, hard_limit))
