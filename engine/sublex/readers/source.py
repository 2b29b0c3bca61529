"""Where bytes come from: files plain or compressed, folders, standard input.

Opening, decompressing and telling damage apart from format happen here, so that readers see plain bytes only.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import sys
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO, NoReturn

from sublex.base import Report
from sublex.errors import InputError
from sublex.readers.signatures import BOM

COMPRESSED = (".gz", ".bz2", ".xz", ".zst")
HEAD = 64 * 1024
LONGEST_MAGIC = 6
CHUNK = 1 << 20
LONGEST_LINE = 1 << 30


class FileSource:
    """A file, a folder, a dataset name, or `-` for standard input."""

    def __init__(self, path: str | os.PathLike[str]):
        self.path = os.fspath(path)
        self._raw: BinaryIO | None = None
        self._kept: BinaryIO | None = None

    def open(self) -> BinaryIO:
        """The decompressed bytes as a buffered stream; its errors name the file."""
        if self._kept is not None:
            kept, self._kept = self._kept, None
            return kept
        try:
            self._raw = self._stdin() if self.path == "-" else open(self.path, "rb", buffering=CHUNK)  # noqa: SIM115
        except OSError as error:
            raise InputError(f"Cannot read {self.path}: {error.strerror}.") from None
        return io.BufferedReader(_Guarded(self._raw, self.path), CHUNK)

    def _stdin(self) -> BinaryIO:
        if self._raw is not None:
            raise InputError("Standard input can be read only once: write it to a file and name that.")
        # A pipe may deliver its first bytes one by one: enough of them are awaited to tell a compressed stream.
        first = sys.stdin.buffer.read(LONGEST_MAGIC)
        return io.BufferedReader(_Resumed(first, sys.stdin.buffer), CHUNK)

    def head(self) -> bytes:
        """The first bytes, for detecting the format; empty for what is not a file. A pipe can still be read whole."""
        if os.path.isfile(self.path):
            with self.open() as stream:
                return stream.read(HEAD)
        if self.path != "-" and (os.path.isdir(self.path) or not os.path.exists(self.path)):
            return b""
        stream = self.open()
        head = stream.read(HEAD)
        self._kept = io.BufferedReader(_Resumed(head, stream), CHUNK)
        return head


class _Guarded(io.RawIOBase):
    """A raw stream whose decompression errors become one sentence that names the file."""

    def __init__(self, raw: BinaryIO, path: str):
        self.raw, self.stream, self.path = raw, _decompressed(raw), path

    def readable(self) -> bool:
        return True

    def readinto(self, buffer) -> int:
        try:
            data = self.stream.read(len(buffer))
        except EOFError:
            raise InputError(f"{self.path} is cut short: the compressed data ends before its end mark.") from None
        except (OSError, zlib.error, lzma.LZMAError, ValueError) as error:
            raise InputError(f"{self.path} cannot be decompressed or read: {error}.") from None
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        if not self.closed:
            # The standard library's decompressors leave the file they read from open.
            self.stream.close()
            self.raw.close()
        super().close()


class _Resumed(io.RawIOBase):
    """Bytes already taken from a stream, then the rest of it; closing it leaves standard input open."""

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
    magic = raw.peek(LONGEST_MAGIC)[:LONGEST_MAGIC] if hasattr(raw, "peek") else b""
    if magic.startswith(b"\x1f\x8b"):
        return gzip.GzipFile(fileobj=raw)
    if magic.startswith(b"BZh"):
        return bz2.BZ2File(raw)
    if magic.startswith(b"\xfd7zXZ\x00"):
        return lzma.LZMAFile(raw)
    if magic.startswith(b"\x28\xb5\x2f\xfd"):
        return _Zstd(raw)
    return raw


class _Zstd(io.RawIOBase):
    """Zstandard frames one after another; unlike the library's own reader it notices a frame that is cut short."""

    def __init__(self, raw: BinaryIO):
        import zstandard

        self.raw, self.new = raw, zstandard.ZstdDecompressor
        self.frame: Any = None
        self.error, self.ready, self.offset = zstandard.ZstdError, b"", 0

    def read(self, size: int = -1) -> bytes:  # type: ignore[override]
        while self.offset >= len(self.ready):
            data = self.frame.unused_data if self.frame and self.frame.eof else b""
            data = data or self.raw.read(CHUNK // 4)
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
        part = self.ready[self.offset : self.offset + size] if size >= 0 else self.ready[self.offset :]
        self.offset += len(part)
        return part

    def close(self) -> None:
        self.raw.close()
        super().close()


def without_compression(path: str) -> str:
    """The path without `.gz` and its like."""
    stem, suffix = os.path.splitext(path)
    return stem if suffix.lower() in COMPRESSED else path


def files_below(folder: str, report: Report | None = None) -> Iterator[str]:
    """Every file below a folder, hidden ones left out, in an order that does not depend on the file system.

    Folders that are links are not entered, or a circle of them would have no end; `report` notes them.
    """
    found: list[str] = []
    for parent, folders, files in os.walk(os.path.normpath(folder), onerror=_unreadable):
        folders[:] = [name for name in folders if not name.startswith(".")]
        found += [os.path.join(parent, name) for name in files if not name.startswith(".")]
        for path in (os.path.join(parent, name) for name in folders):
            if report and os.path.islink(path):
                report.note(f"{path} was left out: it is a link to a folder; name what it points to")
    yield from (path.removeprefix("./") for path in sorted(found) if os.path.isfile(path))


def _unreadable(error: OSError) -> NoReturn:
    raise InputError(f"Cannot read {error.filename}: {error.strerror}.") from None


def whole_lines(stream: BinaryIO, path: str, size: int) -> Iterator[tuple[int, bytes]]:
    """A stream's lines in pieces of about this size, without a byte order mark, and the number of each piece's first line."""
    rest: list[bytes] = []
    line, held = 1, 0
    while data := stream.read(size):
        cut = data.rfind(b"\n") + 1
        rest.append(data[:cut] if cut else data)
        held += len(rest[-1])
        if held > LONGEST_LINE:
            raise InputError(f"{path}:{line}: a line of more than {LONGEST_LINE:,} bytes; break it up.")
        if cut:
            whole = b"".join(rest)
            yield line, whole.removeprefix(BOM) if line == 1 else whole
            line += whole.count(b"\n")
            rest = [data[cut:]]
            held = len(rest[0])
    if whole := b"".join(rest):
        yield line, whole.removeprefix(BOM) if line == 1 else whole


def utf8_lines(data: bytes, path: str, report: Report) -> bytes:
    """The same lines, those that are not UTF-8 read as Latin-1."""
    try:
        if not data.isascii():
            data.decode()
        return data
    except UnicodeDecodeError:
        return b"\n".join(decode(line, path, report).encode() for line in data.split(b"\n"))


def decode(data: bytes, path: str, report: Report) -> str:
    """UTF-8, or Latin-1 with a note where the bytes are not UTF-8."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        report.note(f"{path}: records that are not UTF-8 were read as Latin-1")
        return data.decode("latin-1")
