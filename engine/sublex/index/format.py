"""Components on disk: one-dimensional `.npy` files with a checksum for every 64 KiB, verified when first touched.

Writing streams; reading maps. Nothing here knows what a component means.
"""

from __future__ import annotations

import json
import mmap
import os
import resource
import shutil
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import numpy as np
import xxhash

from sublex.errors import IndexCorrupt, IndexProblem

FORMAT = 1
CHUNK = 1 << 16
HEADER = 128
CHECKSUMS = "checksums"
# What a component may be made of.
DTYPES = ("|u1", "<u2", "<u4", "<u8", "|i1", "<i2", "<i4", "<i8", "<f2", "<f4", "<f8")
Content = bytes | bytearray | mmap.mmap


def smallest(values: np.ndarray) -> np.ndarray:
    """The same non-negative numbers in the smallest unsigned type that holds them."""
    return values.astype(np.min_scalar_type(int(values.max()) if len(values) else 0), copy=False)


def header(dtype: np.dtype, count: int) -> bytes:
    """The `.npy` header of a one-dimensional array, padded to a fixed size."""
    descr = np.lib.format.dtype_to_descr(dtype)
    text = f"{{'descr': {descr!r}, 'fortran_order': False, 'shape': ({count},), }}"
    return b"\x93NUMPY\x01\x00" + (HEADER - 10).to_bytes(2, "little") + text.ljust(HEADER - 11).encode() + b"\n"


class ComponentWriter:
    """Streams one array to its file, summing chunk by chunk; the header is written last."""

    def __init__(self, path: Path, dtype: Any):
        self.path, self.dtype = path, np.dtype(dtype).newbyteorder("<")
        self.file = open(path, "wb", buffering=0)  # noqa: SIM115
        self.bytes = HEADER
        self.sums: list[int] = []
        self._held = bytearray(HEADER)
        self._first: bytearray | None = None

    def write(self, values: np.ndarray) -> None:
        """Append values of the component's type."""
        data = np.ascontiguousarray(values, self.dtype).data.cast("B")
        self.bytes += len(data)
        begin = 0
        if len(self._held) + len(data) >= CHUNK:
            begin = CHUNK - len(self._held)
            self._chunk(self._held + data[:begin])
            while len(data) - begin >= CHUNK:
                self._chunk(data[begin : begin + CHUNK])
                begin += CHUNK
            self._held = bytearray()
        self._held += data[begin:]

    def _chunk(self, data: Any) -> None:
        if self._first is None:
            self._first = bytearray(data)
        self.sums.append(xxhash.xxh3_64_intdigest(data))
        _write_all(self.file, data)

    def close(self) -> None:
        """Write what is held and the header, and see it on the disk."""
        if self._held or self._first is None:
            self._chunk(self._held)
        head = header(self.dtype, (self.bytes - HEADER) // self.dtype.itemsize)
        assert self._first is not None
        self._first[:HEADER] = head
        self.sums[0] = xxhash.xxh3_64_intdigest(self._first)
        self.file.seek(0)
        _write_all(self.file, head)
        os.fsync(self.file.fileno())
        self.file.close()


def _write_all(file: Any, data: Any) -> None:
    view = memoryview(data)
    while len(view):
        view = view[file.write(view) :]


class FolderWriter:
    """Writes the components of one folder and their checksums."""

    def __init__(self, path: Path):
        self.path = path
        path.mkdir(parents=True)
        self._writers: dict[str, ComponentWriter] = {}

    def stream(self, name: str, dtype: Any) -> ComponentWriter:
        """A component to be written in pieces."""
        self._writers[name] = ComponentWriter(self.path / f"{name}.npy", dtype)
        return self._writers[name]

    def put(self, name: str, values: np.ndarray) -> None:
        """A component written at once."""
        self.stream(name, values.dtype).write(values)

    def finish(self) -> dict[str, Any]:
        """Close everything; what the manifest must say of this folder."""
        sums: list[int] = []
        for name in sorted(self._writers):
            self._writers[name].close()
            sums += self._writers[name].sums
        components = {name: self._writers[name].bytes for name in sorted(self._writers)}
        writer = self.stream(CHECKSUMS, np.uint64)
        writer.write(np.array(sums, np.uint64))
        writer.close()
        sync(self.path)
        return {"components": components, "checksum": _summary(components, np.array(sums, np.uint64))}

    def __enter__(self) -> FolderWriter:
        return self

    def __exit__(self, *error: object) -> None:
        """Close the files, also after a failure."""
        for writer in list(self._writers.values()):
            writer.file.close()


def _summary(components: Mapping[str, int], sums: np.ndarray) -> str:
    named = json.dumps([*components.items()]).encode()
    return xxhash.xxh3_128_hexdigest(named + sums.astype("<u8").tobytes())


def replace_file(path: Path, data: bytes) -> None:
    """Put a file in its place, whole, in one rename."""
    temporary = path.with_name(f"{path.name}.new")
    temporary.unlink(missing_ok=True)
    with open(temporary, "xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    temporary.rename(path)


def copy_folder(source: Path, entry: Mapping[str, Any], to: Path) -> None:
    """Copy the components that an entry names, and nothing else that may lie there."""
    Folder(source, entry)
    to.mkdir(parents=True)
    for name in (*entry["components"], CHECKSUMS):
        copy = to / f"{name}.npy"
        shutil.copyfile(source / f"{name}.npy", copy)
        sync(copy)
    sync(to)


def allow_many_files() -> None:
    """Let this process hold as many files open as it may: every map is one, and a merge may map thousands."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def hash_of(path: Path) -> str:
    """The hash of a whole file."""
    hasher = xxhash.xxh3_128()
    with open(path, "rb") as file:
        while chunk := file.read(CHUNK):
            hasher.update(chunk)
    return hasher.hexdigest()


def sync(folder: Path) -> None:
    """Make a folder's entries last."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class Component:
    """One array, mapped, or read where it is small; bytes are verified when first touched.

    A `private` one may be written to without a trace on disk; kernels need no second form for it beside that for arrays in memory.
    """

    def __init__(self, path: Path, size: int, private: bool = False):
        self.path = path
        try:
            with open(path, "rb", opener=_at_once) as file:
                status = os.fstat(file.fileno())
                found = status.st_size
                if not stat.S_ISREG(status.st_mode):
                    raise IndexCorrupt(f"{path} is no file; rebuild the index.")
                if found != size or size < HEADER:
                    raise IndexCorrupt(
                        f"{path} has {found:,} bytes where the manifest says {size:,}; rebuild the index."
                    )
                self._data = _content(file, size, private)
        except FileNotFoundError:
            raise IndexCorrupt(f"{path} is missing; rebuild the index.") from None
        except OSError as error:
            raise IndexProblem(f"Cannot read {path}: {error.strerror}.") from None
        self.values = _array(self._data, path)
        self._sums = np.empty(0, np.uint64)
        self._seen = bytearray()

    def expect(self, sums: np.ndarray) -> None:
        """The checksums the chunks must have."""
        self._sums, self._seen = sums, bytearray(len(sums))

    def __len__(self) -> int:
        return len(self.values)

    def all(self) -> np.ndarray:
        """The whole array, verified."""
        return self.part(0, len(self.values))

    def part(self, begin: int, end: int) -> np.ndarray:
        """values[begin:end], verified."""
        size = self.values.itemsize
        first, last = (HEADER + begin * size) // CHUNK, (HEADER + max(end, begin + 1) * size - 1) // CHUNK
        last = min(last, len(self._seen) - 1)
        at = self._seen.find(0, first, last + 1)
        while at >= 0:
            self._verify(at)
            at = self._seen.find(0, at, last + 1)
        return self.values[begin:end]

    def touch(self, begins: np.ndarray, ends: np.ndarray) -> None:
        """Verify many parts at once."""
        size, count = self.values.itemsize, len(self._seen)
        first = np.minimum((HEADER + begins * size) // CHUNK, count)
        last = np.minimum((HEADER + np.maximum(ends, begins + 1) * size - 1) // CHUNK + 1, count)
        asked = np.cumsum(np.bincount(first, minlength=count + 1) - np.bincount(last, minlength=count + 1))[:count] > 0
        for at in np.flatnonzero(asked & ~np.frombuffer(self._seen, np.bool_)).tolist():
            self._verify(at)

    def _verify(self, at: int) -> None:
        """Compare a chunk with its checksum."""
        if xxhash.xxh3_64_intdigest(memoryview(self._data)[at * CHUNK : (at + 1) * CHUNK]) != self._sums[at]:
            raise IndexCorrupt(f"{self.path} is damaged in its bytes from {at * CHUNK:,} on; rebuild the index.")
        self._seen[at] = 1


def _at_once(path: str, flags: int) -> int:
    """Open a file, or what somebody put in its place, without waiting for it."""
    return os.open(path, flags | os.O_NONBLOCK)


def _content(file: IO[bytes], size: int, private: bool) -> Content:
    """A file's bytes. A map holds a file descriptor, of which there are few, so small files are read instead."""
    if size > CHUNK:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY if private else mmap.ACCESS_READ)
    return bytearray(file.read()) if private else file.read()


def _array(data: Content, path: Path) -> np.ndarray:
    head = data[:HEADER]
    for descr in DTYPES:
        dtype = np.dtype(descr)
        if len(data) >= HEADER and head == header(dtype, (len(data) - HEADER) // dtype.itemsize):
            return np.frombuffer(data, dtype, offset=HEADER)
    raise IndexCorrupt(f"{path} has a damaged header; rebuild the index.")


class Folder:
    """The components of one folder, as the manifest's entry describes it."""

    def __init__(self, path: Path, entry: Mapping[str, Any], private: bool = False):
        self.path = path
        sizes = entry["components"]
        chunks = [-(-size // CHUNK) for size in sizes.values()]
        sums = Component(path / f"{CHECKSUMS}.npy", HEADER + 8 * sum(chunks)).values
        if _summary(sizes, sums) != entry["checksum"]:
            raise IndexCorrupt(f"{path / CHECKSUMS}.npy is damaged; rebuild the index.")
        self._components: dict[str, Component] = {}
        begin = 0
        for (name, size), count in zip(sizes.items(), chunks, strict=True):
            component = self._components[name] = Component(path / f"{name}.npy", size, private)
            component.expect(sums[begin : begin + count])
            begin += count

    def __getitem__(self, name: str) -> Component:
        return self._components[name]

    def __contains__(self, name: str) -> bool:
        return name in self._components

    def __iter__(self):
        return iter(self._components.items())

    def nbytes(self) -> dict[str, int]:
        """Bytes on disk of each component, checksums included."""
        sums = {CHECKSUMS: HEADER + 8 * sum(len(c._sums) for c in self._components.values())}
        return {name: c.values.nbytes + HEADER for name, c in self._components.items()} | sums
