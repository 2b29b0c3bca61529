"""Operations on whole files: atomic replacement, flushing to the disk, hashing, and the limit on open files.

A reader sees either the old file or the new one, never a part of the new one.
"""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

import xxhash

# Bytes read per call when a whole file is hashed.
READ_BYTES = 1 << 16


@contextmanager
def replacing(path: Path, buffering: int = -1) -> Iterator[BinaryIO]:
    """Yield a new binary file that takes the place of `path`, in one rename, when the block ends.

    The new file stands next to `path` as `NAME.new-PROCESS`; its `name` attribute is its full path. If the block raises an
    error, the new file is removed and `path` stays as it was. A symbolic link at `path` is replaced, not followed.
    The rename itself is durable only after `sync` of the parent folder.
    """
    # A long name is cut: the file system limits the length of names.
    temporary = path.with_name(f"{path.name[:200]}.new-{os.getpid()}")
    temporary.unlink(missing_ok=True)
    try:
        with open(temporary, "xb", buffering) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.rename(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise


def replace_file(path: Path, data: bytes) -> None:
    """Write `data` to `path` in one atomic step."""
    with replacing(path) as file:
        file.write(data)


def sync(path: Path) -> None:
    """Flush a file, or the entries of a folder, to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def hash_of(path: Path) -> str:
    """Return the 128-bit xxh3 hash of a whole file, in hexadecimal."""
    hasher = xxhash.xxh3_128()
    with open(path, "rb") as file:
        while chunk := file.read(READ_BYTES):
            hasher.update(chunk)
    return hasher.hexdigest()


def allow_many_files() -> None:
    """Raise this process's limit on open files as far as the system permits.

    Every memory map holds a file open, and a merge may map thousands of files.
    """
    _, hard_limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard_limit, hard_limit))
