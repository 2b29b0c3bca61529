"""Components on disk: one-dimensional `.npy` files with a checksum for every 64 KiB, verified at the first access.

`FolderWriter` and `ComponentWriter` stream arrays to files; `ComponentFolder` and `ComponentFile` map them. This module does not know what
a component means: `sublex.index.components` does.
"""

from __future__ import annotations

import errno
import json
import mmap
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import xxhash

from sublex.errors import IndexCorrupt, IndexProblem
from sublex.index.directory import Directory, open_file
from sublex.index.entries import FolderEntry

# The formats of an index. An index with fields or columns has format 3. Any other index has format 2 if it stores positions,
# and format 1 if it does not.
FORMAT, WITH_POSITIONS, WITH_FIELDS, WITH_SHARDS = 1, 2, 3, 4
FORMATS = (FORMAT, WITH_POSITIONS, WITH_FIELDS, WITH_SHARDS)
# The number of bytes that one checksum covers.
CHUNK = 1 << 16
# Bytes of the `.npy` header, which is padded to a fixed size because it is rewritten when the length is known.
HEADER = 128
CHECKSUMS = "checksums"
# Up to this number of parts of a component are verified one by one, which is then faster than all at once.
FEW = 16
# The types of arrays that a component may hold.
DTYPES = ("|u1", "<u2", "<u4", "<u8", "|i1", "<i2", "<i4", "<i8", "<f2", "<f4", "<f8")
# The types of sizes, counts and numbers, which are stored in the smallest type that holds them.
UNSIGNED = ("|u1", "<u2", "<u4", "<u8")
Content = bytes | bytearray | mmap.mmap


def with_smallest_dtype(values: np.ndarray) -> np.ndarray:
    """Return non-negative numbers in the smallest unsigned type that holds all of them."""
    return values.astype(np.min_scalar_type(int(values.max()) if len(values) else 0), copy=False)


def header(dtype: np.dtype, count: int) -> bytes:
    """Return the `.npy` header of a one-dimensional array, padded to `HEADER` bytes."""
    descr = np.lib.format.dtype_to_descr(dtype)
    text = f"{{'descr': {descr!r}, 'fortran_order': False, 'shape': ({count},), }}"
    return b"\x93NUMPY\x01\x00" + (HEADER - 10).to_bytes(2, "little") + text.ljust(HEADER - 11).encode() + b"\n"


class ComponentWriter:
    """Streams one array to its file and computes the checksum of each chunk; the header is written last."""

    def __init__(self, directory: Directory, name: str, dtype: Any):
        self.dtype = np.dtype(dtype).newbyteorder("<")
        self.file = directory.create(f"{name}.npy", buffering=0)
        self.bytes = HEADER
        self.checksums: list[int] = []
        self._buffer = bytearray(HEADER)
        self._first_chunk: bytearray | None = None

    def write(self, values: np.ndarray) -> None:
        """Append values, converted to the component's type."""
        data = np.ascontiguousarray(values, self.dtype).data.cast("B")
        self.bytes += len(data)
        begin = 0
        if len(self._buffer) + len(data) >= CHUNK:
            begin = CHUNK - len(self._buffer)
            self._write_chunk(self._buffer + data[:begin])
            while len(data) - begin >= CHUNK:
                self._write_chunk(data[begin : begin + CHUNK])
                begin += CHUNK
            self._buffer = bytearray()
        self._buffer += data[begin:]

    def _write_chunk(self, data: Any) -> None:
        if self._first_chunk is None:
            self._first_chunk = bytearray(data)
        self.checksums.append(xxhash.xxh3_64_intdigest(data))
        _write_all(self.file, data)

    def close(self) -> None:
        """Write the rest of the values and the header, flush the file to the disk, and close it. A second call does nothing."""
        if self.file.closed:
            return
        if self._buffer or self._first_chunk is None:
            self._write_chunk(self._buffer)
        head = header(self.dtype, (self.bytes - HEADER) // self.dtype.itemsize)
        assert self._first_chunk is not None
        self._first_chunk[:HEADER] = head
        self.checksums[0] = xxhash.xxh3_64_intdigest(self._first_chunk)
        self.file.seek(0)
        _write_all(self.file, head)
        os.fsync(self.file.fileno())
        self.file.close()


class NumbersWriter:
    """Collects non-negative numbers, which `FolderWriter.finish` writes in the smallest type that holds all of them."""

    def __init__(self) -> None:
        self.parts = [np.empty(0, np.uint8)]

    def write(self, values: np.ndarray) -> None:
        """Append numbers."""
        self.parts.append(with_smallest_dtype(values))


def _write_all(file: Any, data: Any) -> None:
    """Write all bytes; an unbuffered file may take only a part of them in one call."""
    view = memoryview(data)
    while len(view):
        view = view[file.write(view) :]


class FolderWriter:
    """Creates a folder and writes its components and their checksums."""

    def __init__(self, directory: Directory):
        self.directory = directory
        directory.make_new()
        self._writers: dict[str, ComponentWriter] = {}
        self._numbers: dict[str, NumbersWriter] = {}

    def stream(self, name: str, dtype: Any) -> ComponentWriter:
        """Return the writer of a component that is written in several pieces."""
        self._writers[name] = ComponentWriter(self.directory, name, dtype)
        return self._writers[name]

    def collect(self, name: str) -> NumbersWriter:
        """Return the writer of a component of sizes, counts or numbers, which stay in memory until `finish`."""
        self._numbers[name] = NumbersWriter()
        return self._numbers[name]

    def put(self, name: str, values: np.ndarray) -> None:
        """Write a whole component."""
        self.stream(name, values.dtype).write(values)

    def finish(self) -> FolderEntry:
        """Close all files and return the entry that describes the folder in the manifest.

        The folder can then be read. More components may be written to it later; another call of `finish` then returns
        an entry with all components.
        """
        for name, numbers in self._numbers.items():
            self.put(name, np.concatenate(numbers.parts))
        self._numbers = {}
        checksums: list[int] = []
        for name in sorted(self._writers):
            self._writers[name].close()
            checksums += self._writers[name].checksums
        components = {name: self._writers[name].bytes for name in sorted(self._writers)}
        self.directory.delete(f"{CHECKSUMS}.npy")
        writer = self.stream(CHECKSUMS, np.uint64)
        writer.write(np.array(checksums, np.uint64))
        writer.close()
        del self._writers[CHECKSUMS]
        self.directory.sync()
        return FolderEntry(components, _summary(components, np.array(checksums, np.uint64)))

    def close(self) -> None:
        """Close all files. The folder can be read only if `finish` was called."""
        for writer in list(self._writers.values()):
            writer.file.close()

    def __enter__(self) -> FolderWriter:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def _summary(components: Mapping[str, int], checksums: np.ndarray) -> str:
    """Return one hash of the names, sizes and checksums of components."""
    named = json.dumps([*components.items()]).encode()
    return xxhash.xxh3_128_hexdigest(named + checksums.astype("<u8").tobytes())


def copy_folder(source: Directory, entry: FolderEntry, to: Directory) -> None:
    """Copy the components that `entry` names from the folder `source` to the new folder `to`. Copy no other file.

    Raise `IndexCorrupt` if a checksum differs, before anything is copied.
    """
    for _, component in ComponentFolder(source, entry):
        component.all()
        component.release()
    to.make_new()
    for name in (*entry.components, CHECKSUMS):
        with source.open_to_read(f"{name}.npy") as file, to.create(f"{name}.npy") as copy:
            shutil.copyfileobj(file, copy)
            copy.flush()
            os.fsync(copy.fileno())
    to.sync()


class ComponentFile:
    """One array of a folder. A large file is mapped, a small one is read.

    `values` is the array, not yet verified. `part`, `all` and `touch` compare chunks with their checksums at the first
    access. With `private`, `values` is writable, and writing to it does not change the file. Then Numba needs no
    second version of kernels, for read-only arrays.
    """

    def __init__(
        self, directory: Directory, descriptor: int, name: str, size: int, checksums: np.ndarray, private: bool = False
    ):
        """Open the component `name` of the folder `directory`. Its file must have `size` bytes.

        `descriptor` is an open descriptor of the folder. `checksums` has one number for each chunk of the file.
        """
        file_name = f"{name}.npy"
        self.path = path = directory.path / file_name
        try:
            file, found = open_file(file_name, descriptor, directory)
            try:
                if found != size or size < HEADER:
                    raise IndexCorrupt(
                        f"{path} has {found:,} bytes, but the manifest says {size:,}; rebuild the index."
                    )
                self._data = _content(file, size, private)
            finally:
                os.close(file)
        except FileNotFoundError:
            raise IndexCorrupt(f"{path} is missing; rebuild the index.") from None
        except OSError as error:
            raise IndexProblem(f"Cannot read {path}: {error.strerror}.") from None
        self._private = private
        self.values = _array(self._data, path)
        self._checksums, self._verified = checksums, bytearray(len(checksums))

    def __len__(self) -> int:
        return len(self.values)

    def all(self) -> np.ndarray:
        """Return the whole array, verified. Raise `IndexCorrupt` if a checksum differs."""
        return self.part(0, len(self.values))

    def numbers(self, most: int) -> np.ndarray:
        """Return the whole array, verified.

        Raise `IndexCorrupt` if a value is above `most`. The type must be unsigned.
        """
        values = self.all()
        if len(values) and int(values.max()) > most:
            raise self.damaged(f"has a number above {most:,}")
        # NumPy's bincount and repeat accept all unsigned types except uint64.
        return values.astype(np.int64) if values.dtype == np.uint64 else values

    def damaged(self, why: str) -> IndexCorrupt:
        """Return the error for a component whose values cannot be right."""
        return IndexCorrupt(f"{self.path} {why}; rebuild the index.")

    def part(self, begin: int, end: int) -> np.ndarray:
        """Return `values[begin:end]`, verified. Raise `IndexCorrupt` if a checksum differs."""
        size = self.values.itemsize
        first, last = (HEADER + begin * size) // CHUNK, (HEADER + max(end, begin + 1) * size - 1) // CHUNK
        last = min(last, len(self._verified) - 1)
        chunk = self._verified.find(0, first, last + 1)
        while chunk >= 0:
            self._verify(chunk)
            chunk = self._verified.find(0, chunk, last + 1)
        return self.values[begin:end]

    def touch(self, begins: np.ndarray, ends: np.ndarray) -> None:
        """Verify many parts at once: part k is `values[begins[k]:ends[k]]`."""
        if len(begins) <= FEW:
            for begin, end in zip(begins.tolist(), ends.tolist(), strict=True):
                self.part(begin, end)
            return
        size, count = self.values.itemsize, len(self._verified)
        first = np.minimum((HEADER + begins * size) // CHUNK, count)
        last = np.minimum((HEADER + np.maximum(ends, begins + 1) * size - 1) // CHUNK + 1, count)
        needed = np.cumsum(np.bincount(first, minlength=count + 1) - np.bincount(last, minlength=count + 1))[:count] > 0
        for chunk in np.flatnonzero(needed & ~np.frombuffer(self._verified, np.bool_)).tolist():
            self._verify(chunk)

    def release(self) -> None:
        """Let the system take back the memory of a mapped file.

        Later reads come from the system's cache, or from the disk.
        """
        if isinstance(self._data, mmap.mmap) and not self._private and hasattr(mmap, "MADV_DONTNEED"):
            self._data.madvise(mmap.MADV_DONTNEED)

    def _verify(self, chunk: int) -> None:
        begin = chunk * CHUNK
        data = memoryview(self._data)[begin : begin + CHUNK]
        if xxhash.xxh3_64_intdigest(data) != self._checksums[chunk]:
            raise IndexCorrupt(
                f"{self.path} is damaged between bytes {begin:,} and {begin + len(data):,}; rebuild the index."
            )
        self._verified[chunk] = 1


def _content(file: int, size: int, private: bool) -> Content:
    """Return the content of an open file: a large file is mapped into memory, a small one is read.

    Each mapped file keeps a file descriptor open, and a process may have only some thousands of descriptors.
    """
    if size > CHUNK:
        return mmap.mmap(file, size, access=mmap.ACCESS_COPY if private else mmap.ACCESS_READ)
    data = os.read(file, size)
    if len(data) != size:
        raise OSError(errno.EIO, "the file was cut while it was read")
    return bytearray(data) if private else data


def _array(data: Content, path: Path) -> np.ndarray:
    """Return the array of a `.npy` file. The header must have exactly the bytes that `ComponentWriter` would write."""
    head = data[:HEADER]
    for descr in DTYPES:
        dtype = np.dtype(descr)
        if len(data) >= HEADER and head == header(dtype, (len(data) - HEADER) // dtype.itemsize):
            return np.frombuffer(data, dtype, offset=HEADER)
    raise IndexCorrupt(f"{path} has a damaged header; rebuild the index.")


class ComponentFolder:
    """The components of one folder, opened as its entry in the manifest describes them."""

    def __init__(self, directory: Directory, entry: FolderEntry, private: bool = False):
        self.directory, self.path = directory, directory.path
        sizes = entry.components
        chunks = [-(-size // CHUNK) for size in sizes.values()]
        self._components: dict[str, ComponentFile] = {}
        self._checksum_bytes = HEADER + 8 * sum(chunks)
        try:
            with directory.opened() as descriptor:
                # The checksums are verified as a whole, by the manifest.
                none = np.empty(0, np.uint64)
                checksums = ComponentFile(directory, descriptor, CHECKSUMS, self._checksum_bytes, none).values
                if _summary(sizes, checksums) != entry.checksum:
                    raise IndexCorrupt(f"{self.path / CHECKSUMS}.npy is damaged; rebuild the index.")
                begin = 0
                for (name, size), count in zip(sizes.items(), chunks, strict=True):
                    own = checksums[begin : begin + count]
                    self._components[name] = ComponentFile(directory, descriptor, name, size, own, private)
                    begin += count
        except (FileNotFoundError, NotADirectoryError):
            raise IndexCorrupt(f"{self.path} is missing; rebuild the index.") from None
        except OSError as error:
            raise IndexProblem(f"Cannot read {self.path}: {error.strerror}.") from None

    def __getitem__(self, name: str) -> ComponentFile:
        if name not in self._components:
            raise IndexCorrupt(f"{self.path} has no component {name}; rebuild the index.")
        return self._components[name]

    def expect(self, name: str, types: Sequence[str], count: int | None = None) -> None:
        """Raise `IndexCorrupt` unless the component `name` has one of the `types` and `count` values.

        If `count` is None, any number of values is allowed.
        """
        component = self[name]
        if component.values.dtype.str not in types:
            raise component.damaged(f"has values of the type {component.values.dtype}")
        if count is not None and len(component) != count:
            raise component.damaged(f"has {len(component):,} values, and not {count:,}")

    def __contains__(self, name: str) -> bool:
        return name in self._components

    def __iter__(self) -> Iterator[tuple[str, ComponentFile]]:
        return iter(self._components.items())

    def nbytes(self) -> dict[str, int]:
        """Return the bytes on disk of each component, and of the checksums."""
        sizes = {name: component.values.nbytes + HEADER for name, component in self._components.items()}
        return sizes | {CHECKSUMS: self._checksum_bytes}
