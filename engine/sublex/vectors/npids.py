"""Read the docnos in a file of the package npids, which PyTerrier uses beside vectors. The package itself is not needed.

A file is a chain of blocks. A block has a header, settings in JSON, and docnos in one of six codings. The blocks after
them are tables to look up a docno, and are not read.
"""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Callable
from typing import Any, BinaryIO, NamedTuple
from uuid import UUID

import numpy as np

from sublex.errors import InputError
from sublex.tools.messages import counted
from sublex.tools.plain_files import open_plain

# The header of a block: its type, the place of the next block or -1, the number of docnos, and the bytes of the settings.
HEADER = struct.Struct("<IqqI")
MAGIC, DOCNOS = int.from_bytes(b"NPID", "little"), 0
VERSION = 1
# The largest number of bytes of a block's settings, of digits in a docno, and of bytes of a docno.
LONGEST_SETTINGS, MOST_DIGITS, LONGEST_DOCNO = 1 << 16, 64, 1 << 12
# The bytes of memory that a docno takes in addition to its letters.
PER_DOCNO = 64


class _Bad(ValueError):
    """A block with impossible settings."""


class _Settings(NamedTuple):
    """The settings of a block. A value of a wrong type, or beyond the limits, raises `_Bad`."""

    values: dict[str, Any]

    def text(self, name: str) -> str:
        value = self.values.get(name)
        if not isinstance(value, str) or len(value) > LONGEST_DOCNO:
            raise _Bad
        return value

    def number(self, name: str, low: int, high: int) -> int:
        value = self.values.get(name)
        if type(value) is not int or not low <= value <= high:
            raise _Bad
        return value


# A function for each coding. It takes the bytes of a block, the number of its docnos, and its settings.


def _fixed(data: bytes, count: int, settings: _Settings) -> list[str]:
    prefix = settings.text("prefix").encode()
    size = settings.number("length", len(prefix), LONGEST_DOCNO) - len(prefix)
    parts = _parts(data, count, size)
    return [(prefix + part.rstrip(b"\0")).decode() for part in parts]


def _digests(data: bytes, count: int, settings: _Settings) -> list[str]:
    prefix, upper = settings.text("prefix"), settings.values.get("upper")
    length = settings.number("length", 2, LONGEST_DOCNO)
    texts = [part.hex() for part in _parts(data, count, length // 2)]
    return [prefix + (text.upper() if upper else text) for text in texts]


def _uuids(data: bytes, count: int, settings: _Settings) -> list[str]:
    prefix, upper = settings.text("prefix"), settings.values.get("upper")
    texts = [str(UUID(bytes=part)) for part in _parts(data, count, 16)]
    return [prefix + (text.upper() if upper else text) for text in texts]


def _numbers(data: bytes, count: int, settings: _Settings) -> list[str]:
    prefix, size = settings.text("prefix"), settings.number("int_bytes", 1, 8)
    if size not in (1, 2, 4, 8):
        raise _Bad
    values = np.frombuffer(b"".join(_parts(data, count, size)), f"<u{size}")
    return [f"{prefix}{value}" for value in values.tolist()]


def _in_order(data: bytes, count: int, settings: _Settings) -> list[str]:
    prefix, start = settings.text("prefix"), settings.number("start", 0, 1 << 62)
    return [f"{prefix}{number}" for number in range(start, start + count)]


def _padded(data: bytes, count: int, settings: _Settings) -> list[str]:
    prefix, start = settings.text("prefix"), settings.number("start", 0, 1 << 62)
    pad = settings.number("pad", 1, MOST_DIGITS)
    return [f"{prefix}{number:0{pad}d}" for number in range(start, start + count)]


def _parts(data: bytes, count: int, size: int) -> list[bytes]:
    """Return bytes cut into parts of equal size."""
    if len(data) != count * size:
        raise _Bad
    return [data[begin : begin + size] for begin in range(0, len(data), size)] if size else [b""] * count


CODINGS: dict[str, Callable[[bytes, int, _Settings], list[str]]] = {
    "fixedbytes": _fixed, "hexdigest": _digests, "uuid": _uuids, "intstored": _numbers, "intsequence": _in_order,
    "intsequencepad": _padded,
}  # fmt: skip


def read_npids(path: str, expected: int, memory: int) -> list[str]:
    """Return the docnos in a file. Raise InputError if their number is not `expected`, or if the file is damaged."""
    found: list[str] = []
    try:
        with open_plain(path) as stream:
            size, begin = os.fstat(stream.fileno()).st_size, 0
            while begin >= 0:
                kind, following, count, settings = _header(stream, begin, size)
                place = stream.tell()
                if begin == 0 and (kind != MAGIC or settings.get("version") != VERSION):
                    raise InputError(
                        f"{path} is no list of docnos of npids in format {VERSION}; write the index of PyTerrier again."
                    )
                end = size if following < 0 else following
                if not place <= end <= size or count < 0:
                    raise _Bad
                if begin and kind == DOCNOS:
                    coding, prefix = CODINGS.get(str(settings.get("format"))), settings.get("prefix") or ""
                    # A coding of consecutive numbers needs no bytes for a docno. So the number of docnos is checked before
                    # memory depends on it.
                    if coding is None or len(found) + count > expected:
                        raise _Bad
                    _expect_memory(count * (len(prefix) + PER_DOCNO) + 4 * (end - place), memory, path)
                    found += coding(stream.read(end - place), count, _Settings(settings))
                begin = following
    except (_Bad, ValueError, TypeError, RecursionError, struct.error):
        raise InputError(f"{path} is damaged or cut short; write the index of PyTerrier again.") from None
    except OSError as error:
        raise InputError(f"Cannot read {path}: {error.strerror}.") from None
    if len(found) != expected:
        raise InputError(f"{path} has {counted(len(found), 'docno')} for {expected:,} vectors; is it whole?")
    return found


def _header(stream: BinaryIO, begin: int, size: int) -> tuple[int, int, int, dict[str, Any]]:
    """Return the type of the block at a place, the place of the next one, the number of its docnos, and its settings."""
    stream.seek(begin)
    kind, following, count, length = HEADER.unpack(stream.read(HEADER.size))
    # The next block must come later in the file, so a chain of blocks always ends.
    if length > LONGEST_SETTINGS or (following >= 0 and not begin < following < size):
        raise _Bad
    settings = json.loads(stream.read(length)) if length else {}
    if not isinstance(settings, dict):
        raise _Bad
    return kind, following, count, settings


def _expect_memory(needed: int, memory: int, path: str) -> None:
    if needed > memory:
        raise InputError(
            f"The docnos of {path} take {needed >> 20:,} MB and memory allows {memory >> 20:,}; allow more (--memory)."
        )
