"""Access to the files within an index, safe against symbolic links. Only this module opens files there.

The path of an index is the user's choice and may lead through links. Below it, `Directory` opens every folder by its name in the
folder above and refuses links. It opens only plain files, because opening a pipe may wait, and opening a device may
have an effect.
"""

from __future__ import annotations

import errno
import mmap
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from sublex.errors import IndexCorrupt
from sublex.tools import files

# The largest size in bytes of a file that is read whole. Manifests and journals are far smaller.
MOST_BYTES = 1 << 28
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_INNER = _FOLDER | os.O_NOFOLLOW
_OLD = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW = os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_KINDS = {
    stat.S_IFLNK: "a symbolic link",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFDIR: "a folder",
    stat.S_IFREG: "a file",
}


def is_plain(name: str) -> bool:
    """Return whether `name` can be the name of an entry of a folder. A path, "." and ".." cannot.

    A name with a control character is refused, because it would break a message into lines. A name that the system cannot
    encode is refused too.
    """
    try:
        os.fsencode(name)
    except UnicodeEncodeError:
        return False
    return name not in ("", ".", "..") and not any(
        letter in "/\\" or letter < " " or "\x7f" <= letter < "\xa0" for letter in name
    )


@dataclass(frozen=True)
class Directory:
    """A folder of an index: the path of the index, and the names of the folders that lead from there to this one.

    The object keeps no file or folder open. Each method walks from the index to the folder, and raises `IndexCorrupt` where
    it finds a link or a file in the place of a folder, or anything but a plain file in the place of a file. An `OSError`
    names the whole path.
    """

    root: Path
    names: tuple[str, ...] = ()

    def __truediv__(self, name: str) -> Directory:
        return Directory(self.root, (*self.names, _plain(name)))

    @property
    def path(self) -> Path:
        """The path, for messages. The engine opens no file by this path."""
        return self.root.joinpath(*self.names)

    @property
    def name(self) -> str:
        """The name of the folder."""
        return self.names[-1] if self.names else self.root.name

    @property
    def parent(self) -> Directory:
        """The folder that holds this one, within the index."""
        return Directory(self.root, self.names[:-1])

    # Folders.

    @contextmanager
    def opened(self) -> Iterator[int]:
        """Yield a descriptor of the folder."""
        descriptor = os.open(self.root, _FOLDER)
        try:
            for depth, name in enumerate(self.names, 1):
                try:
                    inner = os.open(name, _INNER, dir_fd=descriptor)
                except OSError as error:
                    raise _explained(
                        error, name, descriptor, self.root.joinpath(*self.names[:depth]), "folder"
                    ) from None
                # Both names change in one statement, so that an interrupt cannot close a descriptor twice.
                outer, descriptor = descriptor, inner
                os.close(outer)
            yield descriptor
        finally:
            os.close(descriptor)

    @contextmanager
    def _holding(self, name: str) -> Iterator[int]:
        """Yield a descriptor of the folder for work on its entry `name`.

        An OSError that is raised in the block gets the whole path of the entry.
        """
        _plain(name)
        with self.opened() as descriptor:
            try:
                yield descriptor
            except OSError as error:
                error.filename, error.filename2 = str(self.path / name), None
                raise

    def exists(self) -> bool:
        """Return whether the folder is there."""
        try:
            with self.opened():
                return True
        except (FileNotFoundError, NotADirectoryError):
            return False

    def make(self) -> None:
        """Make the folder and the folders above it, if they do not exist."""
        with suppress(FileExistsError):
            self.make_new()
        with self.opened():
            pass

    def make_new(self) -> None:
        """Make the folder, and missing folders above it. Raise `FileExistsError` if the folder itself exists."""
        if not self.names:
            self.root.mkdir(parents=True)
            return
        self.parent.make()
        with self.parent._holding(self.name) as descriptor:
            os.mkdir(self.name, dir_fd=descriptor)

    def entries(self) -> list[str]:
        """Return the names of all entries, sorted; an empty list if the folder does not exist."""
        try:
            with self.opened() as descriptor:
                return sorted(os.listdir(descriptor))
        except (FileNotFoundError, NotADirectoryError):
            return []

    def folders(self) -> list[Directory]:
        """Return the folders within this folder, sorted by name, without links to folders."""
        try:
            with self.opened() as descriptor, os.scandir(descriptor) as found:
                names = sorted(entry.name for entry in found if entry.is_dir(follow_symlinks=False))
        except (FileNotFoundError, NotADirectoryError):
            return []
        return [self / name for name in names if is_plain(name)]

    def remove(self) -> None:
        """Remove the folder with everything in it, as far as that is possible. Links in it are removed and not followed."""
        with suppress(OSError, RecursionError, IndexCorrupt), self.parent._holding(self.name) as descriptor:
            # `rmtree` would wait for a pipe in the place of the folder.
            with self.opened():
                pass
            shutil.rmtree(self.name, ignore_errors=True, dir_fd=descriptor)

    def remove_empty_index(self) -> None:
        """Remove the folder of the index itself, which must be empty."""
        self.root.rmdir()

    def move(self, to: Directory) -> None:
        """Rename the folder to `to`. If `to` exists, it must be an empty folder."""
        with self.parent._holding(self.name) as here, to.parent._holding(to.name) as there:
            os.rename(self.name, to.name, src_dir_fd=here, dst_dir_fd=there)

    def sync(self) -> None:
        """Flush the folder's entries to the disk."""
        with self.opened() as descriptor:
            os.fsync(descriptor)

    def mark_used(self) -> None:
        """Set the folder's time of change to now."""
        with self.opened() as descriptor:
            os.utime(descriptor)

    def changed(self) -> int:
        """Return the folder's time of change in nanoseconds."""
        with self.opened() as descriptor:
            return os.fstat(descriptor).st_mtime_ns

    def nbytes(self) -> int:
        """Return the bytes of all files in the folder and in the folders below it; 0 if the folder does not exist."""
        try:
            with self.opened() as top:
                levels = os.fwalk(".", dir_fd=top, follow_symlinks=False)
                return sum(_size(name, descriptor) for _, _, names, descriptor in levels for name in names)
        except (FileNotFoundError, NotADirectoryError, IndexCorrupt, RecursionError):
            return 0

    # Files.

    def has(self, name: str) -> bool:
        """Return whether there is an entry of this name, of any kind; False if the folder may not be read."""
        with suppress(OSError), self._holding(name) as descriptor:
            os.stat(name, dir_fd=descriptor, follow_symlinks=False)
            return True
        return False

    def open_to_read(self, name: str) -> BinaryIO:
        """Open a file to read it."""
        with self._holding(name) as descriptor:
            return os.fdopen(open_file(name, descriptor, self)[0], "rb")

    def read(self, name: str) -> bytes:
        """Return the bytes of a file."""
        with self.open_to_read(name) as file:
            size = os.fstat(file.fileno()).st_size
            if size > MOST_BYTES:
                raise IndexCorrupt(f"{self.path / name} has {size:,} bytes, more than such a file may have.")
            return file.read()

    def hash(self, name: str) -> tuple[int, str]:
        """Return the size of a file, and the 128-bit xxh3 hash of its bytes in hexadecimal."""
        with self.open_to_read(name) as file:
            return os.fstat(file.fileno()).st_size, files.hash_of_stream(file)

    def create(self, name: str, buffering: int = -1) -> BinaryIO:
        """Make a new file and open it to write. Raise `FileExistsError` if there is an entry of this name."""
        with self._holding(name) as descriptor:
            return open(os.open(name, _NEW | os.O_WRONLY, 0o666, dir_fd=descriptor), "wb", buffering)

    def map_new(self, name: str, size: int) -> mmap.mmap:
        """Make a new file of `size` zero bytes, and map it into memory to read and write it."""
        with self._holding(name) as descriptor:
            file = os.open(name, _NEW | os.O_RDWR, 0o666, dir_fd=descriptor)
            try:
                os.truncate(file, size)
                return mmap.mmap(file, size)
            finally:
                os.close(file)

    def map_old(self, name: str) -> mmap.mmap:
        """Map a file into memory to read it. The file must not be empty."""
        with self.open_to_read(name) as file:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)

    def open_or_make(self, name: str) -> BinaryIO:
        """Open the file `name`, without a buffer, to read it and to append to it. Make the file if it is missing."""
        with self._holding(name) as descriptor:
            try:
                return open(open_file(name, descriptor, self, os.O_RDWR | os.O_APPEND)[0], "r+b", 0)
            except FileNotFoundError:
                return open(os.open(name, _NEW | os.O_RDWR | os.O_APPEND, 0o666, dir_fd=descriptor), "r+b", 0)

    def holds(self, name: str, file: BinaryIO) -> bool:
        """Return whether an open file is still the entry of this name."""
        try:
            with self._holding(name) as descriptor:
                status = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
        except FileNotFoundError:
            return False
        return os.path.samestat(os.fstat(file.fileno()), status)

    @contextmanager
    def replacing(self, name: str) -> Iterator[BinaryIO]:
        """Yield a new file. When the block ends, one rename puts it in the place of the entry `name`.

        A link in that place is replaced and not followed. The attribute `name` of the yielded file is the file's
        temporary name in this folder. `files.replacing` describes what happens after an error.
        """
        with self._holding(name) as descriptor, files.replacing(Path(name), dir_fd=descriptor) as file:
            yield file

    def replace(self, name: str, data: bytes) -> None:
        """Write `data` to the file `name` in one atomic step."""
        with self.replacing(name) as file:
            file.write(data)

    def delete(self, name: str) -> None:
        """Remove an entry that is not a folder. If it is missing, do nothing."""
        with suppress(FileNotFoundError), self._holding(name) as descriptor:
            os.unlink(name, dir_fd=descriptor)


def open_file(name: str, descriptor: int, directory: Directory, flags: int = os.O_RDONLY) -> tuple[int, int]:
    """Open the plain file `name` in a folder, and return the file's descriptor and size.

    `descriptor` is an open descriptor of the folder, and `directory` the folder's path for messages. Raises
    `IndexCorrupt` if the entry is not a plain file. The kind of the entry is looked up before it is opened,
    because to open a device may have an effect. It is looked up again afterwards, because the entry may have been
    replaced meanwhile.
    """
    _plain(name)
    if stat.S_ISREG(os.stat(name, dir_fd=descriptor, follow_symlinks=False).st_mode):
        try:
            file = os.open(name, flags | _OLD, dir_fd=descriptor)
        except OSError as error:
            raise _explained(error, name, descriptor, directory.path / name, "file") from None
        status = os.fstat(file)
        if stat.S_ISREG(status.st_mode):
            return file, status.st_size
        os.close(file)
    raise _out_of_place(name, descriptor, directory.path / name, "file")


def _plain(name: str) -> str:
    if not is_plain(name):
        raise IndexCorrupt(f"{name!r} is the name of nothing within an index; do not trust this index.")
    return name


def _explained(error: OSError, name: str, descriptor: int, path: Path, wanted: str) -> Exception:
    """Return the exception to raise in place of `error`, which the system raised when the entry `name` was opened.

    It is `IndexCorrupt` if the entry is a link or of another kind than `wanted`, otherwise `error` with the whole path.
    """
    if error.errno in (errno.ENOTDIR, errno.ELOOP, errno.ENXIO):
        return _out_of_place(name, descriptor, path, wanted)
    error.filename = str(path)
    return error


def _out_of_place(name: str, descriptor: int, path: Path, wanted: str) -> IndexCorrupt:
    """Return the error for an entry of a wrong kind, such as a link in the place of a file."""
    mode = os.stat(name, dir_fd=descriptor, follow_symlinks=False).st_mode
    kind = _KINDS.get(stat.S_IFMT(mode), "a device")
    return IndexCorrupt(f"{path} is {kind}, where an index has a {wanted} of its own; remove it, or rebuild the index.")


def _size(name: str, descriptor: int) -> int:
    """Return the size of a file, 0 for anything else."""
    status = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
    return status.st_size if stat.S_ISREG(status.st_mode) else 0
