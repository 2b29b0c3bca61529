"""Find out whether others may write to a folder whose files run as code, such as the folder of compiled kernels.

Reading a file of Numba's cache can run code that is in it. So a user who can write a file there can run code in this process.
"""

from __future__ import annotations

import grp
import os
import pwd
import stat
from functools import cache
from pathlib import Path

WRITE_GROUP, WRITE_OTHERS = stat.S_IWGRP, stat.S_IWOTH


def why_shared(folder: Path, beside_source: bool = False) -> str:
    """Return in words who else may write to a folder or replace it; an empty string if only this user and root may.

    A folder counts as replaceable if others may write to a folder above it, unless that folder has the sticky bit, as
    /tmp has. `beside_source` says that the folder is in the folder of the source code. Users who may write to the
    folder of the source do not count then, because they can change the code anyway.
    """
    if beside_source:
        status, source = os.lstat(folder), os.lstat(folder.parent)
        trusted = {0, os.geteuid(), source.st_uid}
        more = status.st_mode & ~source.st_mode & (WRITE_GROUP | WRITE_OTHERS)
        return _owner(status, trusted, folder) or (_mode(status, folder) if more else "")
    # Both the path as it is written and the path after all links are resolved must be safe.
    return _chain(Path(os.path.abspath(folder))) or _chain(Path(os.path.realpath(folder)))


@cache
def _chain(folder: Path) -> str:
    """Return who else may write to a folder or replace a folder above it; an empty string if nobody may."""
    status = os.lstat(folder)
    why = _owner(status, {0, os.geteuid()}, folder)
    if not why and not stat.S_ISLNK(status.st_mode):
        why = _mode(status, folder)
    if why or folder == folder.parent:
        return why
    return _parents(folder.parent)


@cache
def _parents(folder: Path) -> str:
    """Return who else may replace `folder`, a folder above it, or an entry of `folder` that this user or root owns."""
    status = os.lstat(folder)
    if not status.st_mode & stat.S_ISVTX or stat.S_ISLNK(status.st_mode):
        return _chain(folder)
    why = _owner(status, {0, os.geteuid()}, folder)
    return why or ("" if folder == folder.parent else _parents(folder.parent))


def _owner(status: os.stat_result, trusted: set[int], folder: Path) -> str:
    if status.st_uid in trusted:
        return ""
    try:
        return f"{folder} belongs to {pwd.getpwuid(status.st_uid).pw_name}"
    except KeyError:
        return f"{folder} belongs to user {status.st_uid}"


def _mode(status: os.stat_result, folder: Path) -> str:
    """Return in words who else may write to a folder by its mode. A group whose only member is this user does not count."""
    if status.st_mode & WRITE_OTHERS:
        return f"everybody may write to {folder}"
    if status.st_mode & WRITE_GROUP and not _is_own_group(status.st_gid):
        return f"a group may write to {folder}"
    return ""


@cache
def _is_own_group(group: int) -> bool:
    """Return whether a group is the group of root, or the private group of this user, which has the user's name."""
    try:
        found, user = grp.getgrgid(group), pwd.getpwuid(os.geteuid())
    except KeyError:
        return False
    if group == 0:
        return set(found.gr_mem) <= {"root", user.pw_name}
    return found.gr_name == user.pw_name and set(found.gr_mem) <= {user.pw_name}
