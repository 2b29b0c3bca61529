"""Write the files that users name, by one rule about which files may be replaced.

A file is replaced if Sublex wrote it and nobody has changed it since. Text files of Sublex end in a seal, a comment with a
hash of everything before it. Without a sound seal, only `overwrite` replaces a file. Sublex never follows a link to write.
"""

from __future__ import annotations

import gzip
import os
import stat
import zlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import xxhash

from sublex.errors import InputError
from sublex.tools.files import hash_of, replace_file

# The marks of comments around a seal: in YAML and runs, and in HTML, SVG and GraphML.
LINE, MARKUP = ("# ", "\n"), ("<!-- ", " -->\n")
# The endings of files that take a seal as markup.
MARKUP_FILES = (".html", ".htm", ".svg", ".graphml")
_WORD = "sublex.written"
_DIGITS = 32
# The number of bytes of a file that are hashed at a time.
_PIECE = 1 << 20


class Sealing:
    """A binary file to write, with the hash of everything that was written to it."""

    def __init__(self, file: IO[bytes]):
        self._file, self._hash = file, xxhash.xxh3_128()

    def write(self, data: Any) -> int:
        """Write bytes."""
        self._hash.update(data)
        return self._file.write(data)

    def seal(self) -> None:
        """Write the seal as a comment of YAML and runs. Nothing may follow it."""
        self._file.write(_seal(self._hash.hexdigest(), LINE))


def sealed(text: str, marks: tuple[str, str]) -> bytes:
    """Return a text in UTF-8 with its seal."""
    data = text.encode()
    return data + _seal(xxhash.xxh3_128_hexdigest(data), marks)


def _seal(digest: str, marks: tuple[str, str]) -> bytes:
    return f"{marks[0]}{_WORD} {digest}{marks[1]}".encode()


def is_sealed(path: Path) -> bool:
    """Return whether a file ends in a seal that fits the bytes before it. A file that ends in .gz is unpacked for this."""
    longest = max(len(_seal("0" * _DIGITS, marks)) for marks in (LINE, MARKUP))
    hashed, kept = xxhash.xxh3_128(), b""
    with suppress(OSError, EOFError, zlib.error), open(path, "rb", opener=without_links) as raw:
        file = gzip.GzipFile(fileobj=raw) if path.suffix == ".gz" else raw
        while piece := file.read(_PIECE):
            kept += piece
            hashed.update(kept[:-longest])
            kept = kept[-longest:]
        for marks in (LINE, MARKUP):
            size = len(_seal("0" * _DIGITS, marks))
            whole = hashed.copy()
            whole.update(kept[:-size])
            if kept[-size:] == _seal(whole.hexdigest(), marks):
                return True
    return False


def expect_folder(file: str | os.PathLike[str]) -> None:
    """Raise InputError if there is no folder in which a file could be written."""
    folder, name = os.path.split(file)
    if folder and not os.path.isdir(folder):
        there = (
            f"{folder} is no folder for {name}"
            if os.path.lexists(folder)
            else f"There is no folder {folder} for {name}"
        )
        raise InputError(f"{there}; make one, or choose another place.")


def expect_no_input(output: object, arguments: Mapping[str, Any]) -> None:
    """Raise InputError if a command would write to a file that one of its other arguments names, such as its topics."""
    for name, value in arguments.items():
        for given in value if isinstance(value, (list, tuple)) else (value,):
            if name != "output" and isinstance(output, str) and isinstance(given, str) and _is_same_file(output, given):
                raise InputError(f"{output} is read by this command; write to another file.")


def _is_same_file(first: str, second: str) -> bool:
    try:
        return os.path.isfile(first) and os.path.samefile(first, second)
    except (OSError, ValueError):  # Most arguments name no file.
        return False


def expect_output(file: str | os.PathLike[str], overwrite: bool = False) -> None:
    """Raise InputError if `file` cannot be written, or if it is there and may not be replaced."""
    expect_folder(file)
    expect_replaceable(Path(file), overwrite)
    if not os.access(Path(file).parent, os.W_OK):
        raise InputError(f"Cannot write {os.fspath(file)}; choose another place.")


def write_output(file: str | os.PathLike[str], text: str) -> None:
    """Write a text to a file that `expect_output` accepted, in one step: the file has all of it or is unchanged.

    A page or a drawing gets a seal, so that `expect_output` recognises it later. Raise InputError if the file cannot be written.
    """
    try:
        in_markup = Path(file).suffix in MARKUP_FILES
        replace_file(Path(file), sealed(text, MARKUP) if in_markup else text.encode())
    except OSError as error:
        raise InputError(f"Cannot write {os.fspath(file)}: {error.strerror}; choose another place.") from None


def expect_replaceable(path: Path, overwrite: bool = False, is_own: Callable[[Path], bool] = is_sealed) -> None:
    """Raise InputError if there is a file at `path` that an output may not replace.

    An empty file holds nothing, so it may be replaced. `is_own` tells whether Sublex wrote a file, and nobody changed it
    since.
    """
    try:
        status = os.lstat(path)
    except FileNotFoundError:
        return
    except OSError as error:
        raise InputError(f"Cannot write {path}: {error.strerror}; choose another place.") from None
    if stat.S_ISLNK(status.st_mode):
        raise InputError(f"{path} is a symbolic link, and Sublex writes through none; name the file itself.")
    if not stat.S_ISREG(status.st_mode):
        kind = "a folder" if stat.S_ISDIR(status.st_mode) else "a pipe or a device"
        raise InputError(f"Cannot write {path}, which is {kind}; name a file.")
    if status.st_size and not overwrite and not is_own(path):
        raise InputError(
            f"{path} is there, and nothing shows that Sublex wrote it as it is; choose another name, or replace it by "
            "--overwrite (in Python overwrite=True)."
        )


def without_links(name: str, flags: int) -> int:
    """Open a file; Python's `open` takes this function as its `opener`. If `name` is a symbolic link, raise an error."""
    return os.open(name, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)


def is_device(path: Path) -> bool:
    """Return whether a path is a pipe, a device or a stream of this process, to which an output is written directly."""
    if os.path.exists(path) and not os.path.isfile(path):
        return not os.path.isdir(path)
    folder = os.path.realpath(path.parent)
    return os.path.islink(path) and (folder == "/dev" or folder.startswith("/proc/"))


def content_hash(path: Path) -> str:
    """Return the hash of a file that is not a link; an empty string if it cannot be read."""
    with suppress(OSError):
        if not path.is_symlink():
            return hash_of(path)
    return ""
