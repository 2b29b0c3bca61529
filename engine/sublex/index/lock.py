"""The lock, which allows one writer of an index at a time, and the errors for a change that fails."""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from sublex.errors import IndexProblem, InputError, SublexError, is_interrupt
from sublex.index.directory import Directory
from sublex.index.manifest import (
    BUILDING,
    REPRESENTATIONS,
    RESOURCES,
    SEGMENTS,
    SHARDS,
    read_manifest,
    remove_leftovers,
)
from sublex.index.ownership import HOLDER_BYTES, LEFT, LOCK, expect_own, refuse_place, signature
from sublex.index.shards import catch_up, expect_shards, refuse_if_shard
from sublex.tools.confinement import may_change


@contextmanager
def locked(root: Path, action: str, create: bool = False, left: Collection[str] = LEFT) -> Iterator[None]:
    """Hold the lock of an index while the block runs. Raise `IndexProblem` if another process holds it.

    `action` names the change, for the message that other processes get. With `create`, the folder is made if it is
    missing, and removed again if the block makes no index in it; an existing folder must be an index, be empty, or
    hold only the entries `left` of a killed build. Without `create`, there must be an index. An `OSError` of the block
    becomes an `IndexProblem` that says that the index is unchanged. A shard of a cluster is refused. If the index is a
    cluster, the manifests of its shards are brought up to date before the block runs.
    """
    if not may_change():
        raise InputError(f"This request may only read, so {root} stays as it is.")
    index = Directory(root)
    try:
        refuse_if_shard(root, action)
        if create:
            refuse_place(root)
            expect_own(root, left)
        else:
            expect_shards(root, read_manifest(root))
        # A user's empty folder stays.
        is_own = not root.exists() or bool(index.entries())
        for name in (BUILDING, SEGMENTS, SHARDS, REPRESENTATIONS, RESOURCES):
            # If a link is in the place of a folder, this line raises an error before the work begins.
            (index / name).exists()
        with _lock(index) as file:
            _sign(file, action)
            if not create:
                catch_up(root, read_manifest(root))
            try:
                yield
            except BaseException as error:
                # The manifest on disk tells which files to keep: the block may have committed before it failed.
                with suppress(SublexError, OSError):
                    remove_leftovers(root, read_manifest(root), building=False)
                if is_interrupt(error):
                    raise KeyboardInterrupt from None
                raise
            finally:
                if create and index.entries() == [LOCK]:
                    index.delete(LOCK)
                    if is_own:
                        index.remove_empty_index()
    except OSError as error:
        raise _write_problem(error, root) from None


def is_being_written(root: Path) -> bool:
    """Return whether a process holds the lock of the index."""
    try:
        with Directory(root).open_to_read(LOCK) as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except (OSError, SublexError):
        pass
    return False


def _lock(index: Directory) -> BinaryIO:
    """Return the lock file, open and locked. Raise `IndexProblem` if another process holds the lock.

    The last holder of the lock may remove the file after it was opened here. A lock on a removed file stops nobody, so
    the function then tries again with a new file.
    """
    while True:
        index.make()
        file = index.open_or_make(LOCK)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if index.holds(LOCK, file):
                return file
        except BlockingIOError:
            with file:
                holder = file.read(HOLDER_BYTES).decode(errors="replace").strip() or "another process"
            raise IndexProblem(f"{index.root} is being written by {holder}; wait until it has finished.") from None
        file.close()


def _sign(file: BinaryIO, action: str) -> None:
    """Write `action` and the id of this process to the lock file, for the message that other writers get.

    If the file has a second name (a hard link), nothing is written, because it may belong to another program.
    """
    if os.fstat(file.fileno()).st_nlink == 1:
        file.truncate(0)
        file.write(signature(action, os.getpid()))


def _write_problem(error: OSError, root: Path) -> IndexProblem:
    """Return the error for a failed write, in one sentence."""
    place = error.filename or root
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return IndexProblem(f"The disk is full; {root} is as it was before. Make room and try again.")
    return IndexProblem(f"Cannot write {place}: {error.strerror or error}; the index is as it was before.")
