"""Read vectors from NumPy's files: `.npy`, and `.npz` with an array of ids.

Headers are checked against the sizes of files before memory depends on them. Nothing is unpickled. Arrays that are not
compressed are mapped from the file, so they need no memory.
"""

from __future__ import annotations

import io
import lzma
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import prod
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from sublex.errors import InputError
from sublex.tools.messages import counted
from sublex.tools.plain_files import open_plain
from sublex.vectors.batch import ROWS_PER_BATCH, VectorsBatch, expect_numbers, expect_shape, expect_sizes, expect_tokens

MAGIC = b"\x93NUMPY"
# The names of arrays in a `.npz` file, in the order in which they are looked for.
ID_ARRAYS = ("docnos", "ids", "docids", "docno", "doc_ids", "qids", "qid", "id")
TERM_ARRAYS = ("terms", "vocabulary")
# The names of arrays of matrices: for the tokens, for the number of rows of each matrix, and for the places where they begin.
TOKEN_ARRAYS = ("tokens",)
SIZE_ARRAYS, OFFSET_ARRAYS = ("sizes", "lengths", "doclens"), ("offsets", "starts")
ROW_ARRAYS = ("rows", "vectors", "embeddings", "embedding", "vector")
# Endings of the file of ids beside a `.npy` file.
ID_FILES = (".docnos", ".ids", ".txt")
# The part of a zip file's local header before the name. It has the sizes of the name and of the extra field.
LOCAL_HEADER = struct.Struct("<4s22xHH")
LONGEST_HEADER = 10_000
# The largest number of dimensions, and of bytes, of an array of NumPy.
MOST_AXES, MOST_BYTES = 32, 1 << 62
# The exceptions that Python raises for a wrong header of an array.
HEADER_ERRORS = (
    ValueError, KeyError, TypeError, OSError, SyntaxError, RecursionError, MemoryError, struct.error, tokenize.TokenError,
)  # fmt: skip
# The exceptions that Python raises for a damaged zip file.
ZIP_ERRORS = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, NotImplementedError, RuntimeError, UnicodeDecodeError,
    struct.error,
)  # fmt: skip


class ArrayHeader(NamedTuple):
    """The header of an array in NumPy's format, and its size in bytes."""

    shape: tuple[int, ...]
    by_columns: bool
    dtype: np.dtype[Any]
    bytes: int

    @property
    def data_bytes(self) -> int:
        """The bytes of the array after the header."""
        return prod(self.shape) * self.dtype.itemsize


def read_header(stream: BinaryIO, place: str) -> ArrayHeader:
    """Read the header of an array from a stream. Raise InputError unless the array is one of numbers or texts."""
    try:
        version = np.lib.format.read_magic(stream)
        read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}[version]
        start = stream.tell()
        (length,) = struct.unpack("<H" if version == (1, 0) else "<I", stream.read(2 if version == (1, 0) else 4))
        stream.seek(start)
        if length > LONGEST_HEADER:
            raise ValueError
        shape, by_columns, dtype = read(stream, max_header_size=LONGEST_HEADER)
    except HEADER_ERRORS:
        raise InputError(f"{place} is no array of NumPy, or its header is damaged; write it by numpy.save.") from None
    if dtype.hasobject:
        raise InputError(f"{place} holds pickled Python objects, which Sublex never loads; save plain numbers.")
    if dtype.fields or dtype.subdtype or not dtype.itemsize:
        raise InputError(f"{place} holds values of the type {dtype}; Sublex reads numbers, and texts as ids.")
    # An array without values has a 0 in its shape, and may claim any other sizes beside it.
    whole = len(shape) <= MOST_AXES and all(type(size) is int and size >= 0 for size in shape)
    if not whole or prod(size or 1 for size in shape) * dtype.itemsize > MOST_BYTES:
        raise InputError(f"{place} claims a shape that no array has; write it by numpy.save.")
    return ArrayHeader(shape, by_columns, dtype, stream.tell())


def expect_size(header: ArrayHeader, found: int, place: str) -> None:
    """Raise InputError if an array has another number of bytes than its header claims."""
    if header.data_bytes != found:
        claimed = " × ".join(f"{size:,}" for size in header.shape)
        raise InputError(
            f"{place} claims {claimed} values of {header.dtype.itemsize} bytes and has {found:,} bytes; is it whole?"
        )


def read_npy(path: str, ids_file: str | None, memory: int) -> Iterator[VectorsBatch]:
    """Yield the vectors of a `.npy` file. Their ids come from another file, by default the file of ids beside it."""
    rows = _mapped(path, 0, None, path)
    expect_shape(rows.shape, path)
    expect_numbers(rows.dtype, path)
    ids = read_ids(ids_file or _beside(path), memory)
    _expect_ids(len(ids), len(rows), path)
    yield VectorsBatch(ids, rows, path, mapped=True)


def read_ids(path: str, memory: int) -> list[str]:
    """Return the ids in a file: one on each line, or the texts or whole numbers of a `.npy` file."""
    try:
        with open_plain(path) as stream:
            size = Path(path).stat().st_size
            if stream.read(len(MAGIC)) == MAGIC:
                stream.seek(0)
                header = read_header(stream, path)
                expect_size(header, size - header.bytes, path)
                return _ids(header, stream, memory, path)
            # In a list of texts, a line takes at most 60 bytes in addition to its text.
            _expect_memory(size + 60 * size // 2, memory, path)
            stream.seek(0)
            lines = stream.read().decode("utf-8-sig").split("\n")
    except UnicodeDecodeError:
        raise InputError(f"{path} is not UTF-8; write one id on each line.") from None
    except OSError as error:
        raise InputError(f"Cannot read {path}: {error.strerror}.") from None
    return [line.removesuffix("\r") for line in (lines[:-1] if lines[-1] == "" else lines)]


def _beside(path: str) -> str:
    """Return the file of ids beside a `.npy` file."""
    tried = [str(Path(path).with_suffix(ending)) for ending in ID_FILES]
    found = next((each for each in tried if Path(each).is_file()), None)
    if found is None:
        raise InputError(
            f"{path} has no ids: put one on each line of {tried[0]}, or name their file (--ids FILE, in Python ids=…)."
        )
    return found


def _mapped(path: str, begin: int, size: int | None, place: str) -> np.ndarray:
    """Map the array that begins at the byte `begin` of a file.

    `size` is its number of bytes with the header; None means all bytes up to the end of the file.
    """
    try:
        with open_plain(path) as stream:
            stream.seek(0, io.SEEK_END)
            found = stream.tell() - begin
            if size is not None and found < size:
                raise InputError(f"{place} has {size:,} bytes, and its file ends after {max(0, found):,}; is it whole?")
            stream.seek(begin)
            header = read_header(stream, place)
            expect_size(header, (found if size is None else size) - (header.bytes - begin), place)
            order = "F" if header.by_columns else "C"
            if not header.data_bytes:
                return np.zeros(header.shape, header.dtype)
            return np.memmap(stream, header.dtype, "r", header.bytes, header.shape, order)  # type: ignore[call-overload, no-any-return]
    except OSError as error:
        raise InputError(f"Cannot read {path}: {error.strerror or error}.") from None


def read_npz(path: str, ids_file: str | None, memory: int) -> Iterator[VectorsBatch]:
    """Yield the vectors of a `.npz` file, which has an array of ids and an array of rows.

    If the file also has the sizes of matrices, or the places where they begin, the rows are rows of matrices.
    """
    with _opened(path) as (stream, archive, members):
        rows = _member(members, ROW_ARRAYS, "vectors", path)
        place = f"{path}: {rows.filename}"
        if ids_file is not None:
            ids = read_ids(ids_file, memory)
        else:
            ids = _member_ids(archive, _member(members, ID_ARRAYS, "ids", path), path, memory)
        begins = next((members[name] for name in (*SIZE_ARRAYS, *OFFSET_ARRAYS) if name in members), None)
        sizes = None if begins is None else _sizes(archive, begins, path, memory)
        named = members.get(TOKEN_ARRAYS[0]) if sizes is not None else None
        tokens = _member_ids(archive, named, path, memory) if named is not None else []
        if rows.compress_type == zipfile.ZIP_STORED and not rows.flag_bits & 1:
            values = _mapped(path, _begin_of(stream, rows, place), rows.file_size, place)
            expect_shape(values.shape, place)
            expect_numbers(values.dtype, place)
            if sizes is None:
                _expect_ids(len(ids), len(values), place)
            else:
                sizes = expect_sizes(sizes, ids, len(values), place)
            expect_tokens(tokens, len(values), place)
            yield VectorsBatch(ids, values, place, mapped=True, sizes=sizes, tokens=tokens)
        else:
            yield from _unpacked(archive, rows, ids, place, sizes, tokens, memory)


@contextmanager
def _opened(path: str) -> Iterator[tuple[BinaryIO, zipfile.ZipFile, dict[str, zipfile.ZipInfo]]]:
    """Open a `.npz` file, and yield its stream, the archive, and its members by name. Errors become InputErrors."""
    try:
        with open_plain(path) as stream, zipfile.ZipFile(stream) as archive:
            yield stream, archive, {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
    except ZIP_ERRORS as error:
        raise InputError(f"{path} is damaged or cut short ({error}); write it again by numpy.savez.") from None
    except OSError as error:
        raise InputError(f"Cannot read {path}: {error.strerror or error}.") from None


def has_arrays(path: str, names: Sequence[str]) -> bool:
    """Return whether a `.npz` file has arrays of all these names."""
    try:
        with open_plain(path) as stream, zipfile.ZipFile(stream) as archive:
            members = {info.filename.removesuffix(".npy") for info in archive.infolist()}
    except (*ZIP_ERRORS, OSError):
        return False
    return members.issuperset(names)


def _sizes(archive: zipfile.ZipFile, info: zipfile.ZipInfo, path: str, memory: int) -> np.ndarray:
    """Return the number of rows of each matrix, from an array of sizes or of offsets. They may still be impossible."""
    place = f"{path}: {info.filename}"
    values = _whole(archive, info, place, memory)
    if values.ndim != 1 or values.dtype.kind not in "iu":
        raise InputError(f"{place} is no list of whole numbers.")
    if info.filename.removesuffix(".npy") in SIZE_ARRAYS:
        return values
    # The offsets become int64 below, because differences of unsigned numbers are never below 0.
    if not len(values) or values[0] != 0 or values.max() > np.iinfo(np.int64).max:
        raise InputError(
            f"{place} has places that do not lead from 0 to the number of rows; save one for each id, and the end."
        )
    return np.diff(values.astype(np.int64))


def _whole(archive: zipfile.ZipFile, info: zipfile.ZipInfo, place: str, memory: int) -> np.ndarray:
    """Return an array of numbers of a `.npz` file. Raise InputError if it takes more than `memory` bytes."""
    with archive.open(info) as member:
        header = read_header(member, place)  # type: ignore[arg-type]
        expect_size(header, info.file_size - header.bytes, place)
        expect_numbers(header.dtype, place)
        _expect_memory(header.data_bytes, memory, place)
        data = member.read(header.data_bytes)
    if len(data) != header.data_bytes:
        raise InputError(f"{place} is cut short; write it again.")
    return np.frombuffer(data, header.dtype).reshape(header.shape)


def read_arrays(path: str, names: Sequence[str], ids_file: str | None, memory: int) -> dict[str, Any]:
    """Return the arrays `names` of a `.npz` file by name, together with the lists of texts `ids` and `terms`.

    Raise InputError if one of these is missing, or if an array takes more than `memory` bytes.
    """
    with _opened(path) as (_, archive, members):
        found: dict[str, Any] = {
            "ids": read_ids(ids_file, memory)
            if ids_file is not None
            else _member_ids(archive, _member(members, ID_ARRAYS, "ids", path), path, memory),
            "terms": _member_ids(archive, _member(members, TERM_ARRAYS, "terms", path), path, memory),
        }
        for name in names:
            info = _member(members, (name, name), name, path)
            place = f"{path}: {info.filename}"
            found[name] = _whole(archive, info, place, memory)
        return found


def _member(members: dict[str, Any], names: tuple[str, ...], what: str, path: str) -> Any:
    found = next((members[name] for name in names if name in members), None)
    if found is None:
        there = ", ".join(sorted(members)[:8]) or "none"
        raise InputError(f"{path} has no array of {what}: call it {names[0]} or {names[1]}; it has {there}.")
    return found


def _begin_of(stream: BinaryIO, info: zipfile.ZipInfo, place: str) -> int:
    """Return the place in a file where the bytes of a member begin. The member must not be compressed."""
    stream.seek(info.header_offset)
    signature, name, extra = LOCAL_HEADER.unpack(stream.read(LOCAL_HEADER.size))
    if signature != b"PK\x03\x04":
        raise InputError(f"{place} is damaged; write it again by numpy.savez.")
    return info.header_offset + LOCAL_HEADER.size + name + extra


def _member_ids(archive: zipfile.ZipFile, info: zipfile.ZipInfo, path: str, memory: int) -> list[str]:
    place = f"{path}: {info.filename}"
    with archive.open(info) as member:
        header = read_header(member, place)  # type: ignore[arg-type]
        expect_size(header, info.file_size - header.bytes, place)
        return _ids(header, member, memory, place)


def _ids(header: ArrayHeader, stream: Any, memory: int, place: str) -> list[str]:
    """Read the ids of an array. Its header has been read from the stream already."""
    if len(header.shape) != 1 or header.dtype.kind not in "USiu":
        raise InputError(f"{place} is no list of ids; save texts or whole numbers in an array of one dimension.")
    # A text takes about 60 bytes in addition to its letters.
    _expect_memory(2 * header.data_bytes + 64 * header.shape[0], memory, place)
    data = stream.read(header.data_bytes)
    if len(data) != header.data_bytes:
        raise InputError(f"{place} is cut short; write it again.")
    values = np.frombuffer(data, header.dtype)
    try:
        if header.dtype.kind == "S":
            return [value.decode() for value in values.tolist()]
        return list(map(str, values.tolist()))
    except ValueError:
        raise InputError(f"{place} holds an id that is not UTF-8; correct it.") from None


def _expect_memory(needed: int, memory: int, place: str) -> None:
    if needed > memory:
        raise InputError(
            f"The values of {place} take {needed >> 20:,} MB and memory allows {memory >> 20:,}; allow more (--memory)."
        )


def _unpacked(
    archive: zipfile.ZipFile,
    info: zipfile.ZipInfo,
    ids: list[str],
    place: str,
    sizes: np.ndarray | None,
    tokens: Sequence[str],
    memory: int,
) -> Iterator[VectorsBatch]:
    """Yield the rows of a compressed member, in batches.

    `sizes` has the number of rows of each matrix; it is None for vectors. `tokens` has the token of each row, or is
    empty.

    Raise InputError if the rows of one batch take more than `memory`.
    """
    with archive.open(info) as member:
        header = read_header(member, place)  # type: ignore[arg-type]
        expect_size(header, info.file_size - header.bytes, place)
        expect_shape(header.shape, place)
        expect_numbers(header.dtype, place)
        if header.by_columns:
            raise InputError(f"{place} is compressed and stored by columns; save numpy.ascontiguousarray of it.")
        count, width = header.shape
        if sizes is None:
            _expect_ids(len(ids), count, place)
        else:
            sizes = expect_sizes(sizes, ids, count, place)
        expect_tokens(tokens, count, place)
        begin = done = 0
        for end in batch_ends(len(ids), sizes):
            own = None if sizes is None else sizes[begin:end]
            rows = end - begin if own is None else int(own.sum())
            needed = rows * width * header.dtype.itemsize
            _expect_memory(needed, memory, place)
            data = member.read(needed)
            if len(data) != needed:
                raise InputError(f"{place} is cut short; write it again.")
            values = np.frombuffer(data, header.dtype).reshape(-1, width)
            yield VectorsBatch(ids[begin:end], values, place, sizes=own, tokens=tokens[done : done + rows])
            begin, done = end, done + rows


def batch_ends(count: int, sizes: np.ndarray | None) -> list[int]:
    """Divide `count` vectors, or matrices with these numbers of rows, into batches of some thousand rows.

    Return the end of each batch, as a number of vectors or matrices.
    """
    if sizes is None:
        return [min(begin + ROWS_PER_BATCH, count) for begin in range(0, count, ROWS_PER_BATCH)]
    ends = np.cumsum(sizes)
    last = np.flatnonzero(np.diff(ends // ROWS_PER_BATCH, append=-1))
    return (last + 1).tolist()


def _expect_ids(ids: int, rows: int, place: str) -> None:
    if ids != rows:
        raise InputError(f"{place} has {counted(rows, 'vector')} and {counted(ids, 'id')}; give each vector one id.")
