"""Open files, plain or compressed, and standard input; list folders.

Readers get plain bytes from here. This module decompresses, and turns damaged files into errors that name them; it does
not know formats of documents.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import math
import os
import sys
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO, NoReturn

from sublex.contracts.base import Report
from sublex.errors import InputError

COMPRESSED = (".gz", ".bz2", ".xz", ".zst")
# A format is detected from this number of first bytes.
HEAD = 64 * 1024
# The first bytes of each compressed format, and the length of the longest of them.
GZIP, BZIP2, XZ, ZSTANDARD = b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd"
PACKINGS = (GZIP, BZIP2, XZ, ZSTANDARD)
LONGEST_MAGIC = 6
# The number of bytes in one read.
CHUNK = 1 << 20
# Where nothing else limits memory, this number of compressed bytes is unpacked at a time. With Zstandard, they unpack
# to at most 128 MiB.
PACKED = 4096
# gzip packs at most this number of bytes into one byte, as zlib's documentation says.
GZIP_RATIO = 1032


class FileSource:
    """A source for readers: a file, a folder, the name of a dataset, or `-` for standard input."""

    def __init__(self, path: str | os.PathLike[str]):
        self.path = os.fspath(path)
        self._raw: BinaryIO | None = None
        self._peeked: BinaryIO | None = None

    def open(self) -> BinaryIO:
        """Return a buffered stream of the decompressed bytes. Its errors are InputErrors that name the file."""
        if self._peeked is not None:
            stream, self._peeked = self._peeked, None
            return stream
        try:
            self._raw = self._stdin() if self.path == "-" else open(self.path, "rb", buffering=CHUNK)  # noqa: SIM115
        except OSError as error:
            raise InputError(f"Cannot read {self.path}: {error.strerror}.") from None
        return io.BufferedReader(Guarded(self._raw, self.path), CHUNK)

    def most_bytes(self) -> float:
        """Return an upper bound on the bytes of a file's stream; infinity if its size or its compression gives no bound."""
        if not os.path.isfile(self.path):
            return math.inf
        with open(self.path, "rb") as file:
            magic, size = file.read(LONGEST_MAGIC), os.fstat(file.fileno()).st_size
        if magic.startswith(GZIP):
            return size * GZIP_RATIO
        return math.inf if magic.startswith(PACKINGS) else size

    def _stdin(self) -> BinaryIO:
        if self._raw is not None:
            raise InputError("Standard input can be read only once; write it to a file and name the file.")
        # A pipe may deliver its first bytes one by one. Wait for enough of them to recognise a compressed stream.
        first = sys.stdin.buffer.read(LONGEST_MAGIC)
        return io.BufferedReader(_Resumed(first, sys.stdin.buffer), CHUNK)

    def head(self) -> bytes:
        """Return the first bytes, from which a format is detected; they are empty for a folder or a dataset name.

        `open` still returns a pipe or standard input from its first byte on afterwards.
        """
        if os.path.isfile(self.path):
            with self.open() as stream:
                return stream.read(HEAD)
        if self.path != "-" and (os.path.isdir(self.path) or not os.path.exists(self.path)):
            return b""
        stream = self.open()
        head = stream.read(HEAD)
        self._peeked = io.BufferedReader(_Resumed(head, stream), CHUNK)
        return head


class Guarded(io.RawIOBase):
    """A stream of the decompressed bytes of another stream. Read errors become InputErrors that name the file."""

    def __init__(self, raw: BinaryIO, path: str):
        self.raw, self.stream, self.path = raw, raw, path
        try:
            self.stream = _decompressed(raw)
        except BaseException:
            self.close()
            raise

    def readable(self) -> bool:
        return True

    def readinto(self, buffer) -> int:
        try:
            data = self.stream.read(min(len(buffer), CHUNK))
        except EOFError:
            raise InputError(f"{self.path} is cut short: the compressed data ends before its end mark.") from None
        except (OSError, zlib.error, lzma.LZMAError, ValueError) as error:
            raise InputError(f"{self.path} cannot be decompressed or read: {error}.") from None
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        if not self.closed:
            # Python's decompressors do not close the file that they read.
            self.stream.close()
            self.raw.close()
        super().close()


class _Resumed(io.RawIOBase):
    """A stream of the bytes that were already read from another stream, followed by the other stream's remaining bytes.

    It never closes standard input.
    """

    def __init__(self, first: bytes, stream: BinaryIO):
        self.first, self.stream = first, stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer) -> int:
        data = self.first[: len(buffer)] or self.stream.read(len(buffer))
        self.first = self.first[len(data) :]
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        if not self.closed and self.stream is not sys.stdin.buffer:
            self.stream.close()
        super().close()


def _decompressed(raw: BinaryIO) -> Any:
    """Return a stream of the decompressed bytes. The compression is recognised by the first bytes, not by the file's name."""
    magic = raw.peek(LONGEST_MAGIC)[:LONGEST_MAGIC] if hasattr(raw, "peek") else b""
    if magic.startswith(GZIP):
        return gzip.GzipFile(fileobj=raw)
    if magic.startswith(BZIP2):
        return bz2.BZ2File(raw)
    if magic.startswith(XZ):
        return lzma.LZMAFile(raw)
    if magic.startswith(ZSTANDARD):
        return _Zstd(raw)
    return raw


class _Zstd:
    """A stream that decompresses Zstandard frames, and raises EOFError for a frame that is cut short.

    The reader of the package zstandard does not notice such a frame.
    """

    def __init__(self, raw: BinaryIO):
        import zstandard

        self.raw, self.new = raw, zstandard.ZstdDecompressor
        self.frame: Any = None
        self.error, self.ready, self.offset = zstandard.ZstdError, b"", 0

    def read(self, size: int) -> bytes:
        while self.offset >= len(self.ready):
            data = self.frame.unused_data if self.frame and self.frame.eof else b""
            data = data or self.raw.read(PACKED)
            if not data:
                if self.frame and not self.frame.eof:
                    raise EOFError
                return b""
            if self.frame is None or self.frame.eof:
                self.frame = self.new().decompressobj()
            try:
                self.ready, self.offset = self.frame.decompress(data), 0
            except self.error as error:
                raise OSError(str(error)) from None
        part = self.ready[self.offset : self.offset + size]
        self.offset += len(part)
        return part

    def close(self) -> None:
        self.raw.close()


def without_compression(path: str) -> str:
    """Return the path without the ending of a compressed file, such as `.gz`."""
    stem, suffix = os.path.splitext(path)
    return stem if suffix.lower() in COMPRESSED else path


def files_below(folder: str, report: Report | None = None) -> Iterator[str]:
    """Yield the path of every file below a folder, sorted by path.

    Hidden files and folders are left out.

    Links to folders are not followed, because links can form a circle. `report` gets a note about them.
    """
    paths: list[str] = []
    for parent, folders, files in os.walk(os.path.normpath(folder), onerror=_unreadable):
        folders[:] = [name for name in folders if not name.startswith(".")]
        paths += [os.path.join(parent, name) for name in files if not name.startswith(".")]
        for path in (os.path.join(parent, name) for name in folders):
            if report and os.path.islink(path):
                report.note(f"{path} was left out: it is a link to a folder; name the folder that it points to")
    yield from (path.removeprefix("./") for path in sorted(paths) if os.path.isfile(path))


def _unreadable(error: OSError) -> NoReturn:
    raise InputError(f"Cannot read {error.filename}: {error.strerror}.") from None


def decode(data: bytes | bytearray, path: str, report: Report) -> str:
    """Return bytes as text.

    The bytes are read as UTF-8. If they are not UTF-8, they are read as Latin-1, and the report gets a note.
    """
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        report.note(f"{path}: records that are not UTF-8 were read as Latin-1")
        return data.decode("latin-1")
