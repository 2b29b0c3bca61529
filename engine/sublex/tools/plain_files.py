"""Open files and list folders that other programs write, without waiting for a pipe or leaving the folder."""

from __future__ import annotations

import errno
import os
import stat
from typing import BinaryIO

from sublex.errors import InputError


def open_plain(path: str | os.PathLike[str], make: bool = False) -> BinaryIO:
    """Open a plain file to read it. Raise OSError for a pipe, a socket or a device, without waiting for it.

    With `make`, the file is made if it is missing, and can be written.

    The kind of the file is looked up before the file is opened, because to open a device may have an effect. It is
    looked up again afterwards, because the file may have been replaced meanwhile.
    """
    name = os.fspath(path)
    try:
        is_plain = stat.S_ISREG(os.stat(name).st_mode)
    except FileNotFoundError:
        is_plain = True
    if is_plain:
        flags = os.O_RDWR | os.O_CREAT if make else os.O_RDONLY
        descriptor = os.open(name, flags | os.O_NONBLOCK | os.O_CLOEXEC, 0o666)
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            return open(descriptor, "r+b" if make else "rb")
        os.close(descriptor)
    raise OSError(errno.EINVAL, "it is not a plain file", name)


def read_text(path: str | os.PathLike[str], most: int, what: str) -> str:
    """Return the text of a file in UTF-8 of at most `most` bytes. `what` names the right kind of file for messages.

    Raise InputError, in one sentence, for a file that cannot be read, is larger, or is no text.
    """
    try:
        with open_plain(path) as opened:
            data = opened.read(most + 1)
        if len(data) > most:
            raise InputError(f"{path} has more than {most:,} bytes; give {what}.")
        return data.decode("utf-8-sig")
    except OSError as error:
        raise InputError(f"Cannot read {path}: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise InputError(f"{path} is not text in UTF-8; give {what}.") from None


def plain_names(folder: str) -> list[str]:
    """Return the names of the entries of a folder that another program will open.

    The program could wait for a pipe for ever. So raise `InputError` if an entry is neither a plain file nor a folder,
    or if it is a link that leads out of the folder. A link to a missing file is allowed.
    """
    try:
        with os.scandir(folder) as entries:
            listed = [entry for entry in entries if os.path.exists(entry.path)]
        for entry in sorted(listed, key=lambda entry: entry.name):
            if not (entry.is_file() or entry.is_dir()):
                raise InputError(f"{folder} holds {entry.name}, which is not a plain file; remove it.")
            if entry.is_symlink() and not _is_within(entry.path, folder):
                raise InputError(
                    f"{folder} holds {entry.name}, a link that leads out of the folder; put a copy in its place."
                )
    except OSError as error:
        raise InputError(f"Cannot read {folder}: {error.strerror}.") from None
    return [entry.name for entry in listed]


def _is_within(path: str, folder: str) -> bool:
    return os.path.realpath(path).startswith(os.path.join(os.path.realpath(folder), ""))
