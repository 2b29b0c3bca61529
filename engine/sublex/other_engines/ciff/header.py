"""The header of a CIFF file: its values, and its bytes as a protobuf message."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

# The version of the format that Sublex reads and writes.
VERSION = 1
# The begin of the description in a file that Sublex wrote. The analyzer's expression follows.
DESCRIPTION = "Written by Sublex. Analyzer: "
_MASK = 2**64 - 1


class CiffHeader(NamedTuple):
    """The header of a CIFF file.

    Its attributes have the names of the format's fields. `num_postings_lists` and `num_docs` count the posting lists
    and documents in the file. The fields that begin with `total_` count those of the whole collection; the file may
    have only a part of the collection. `description` is a text for people.
    """

    version: int = 0
    num_postings_lists: int = 0
    num_docs: int = 0
    total_postings_lists: int = 0
    total_docs: int = 0
    total_terms_in_collection: int = 0
    average_doclength: float = 0.0
    description: str = ""

    @property
    def analyzer(self) -> str | None:
        """The expression of the analyzer that made the terms, if Sublex wrote the file."""
        return self.description.removeprefix(DESCRIPTION) if self.description.startswith(DESCRIPTION) else None

    def encoded(self) -> bytes:
        """Return the length of the header's message, followed by the message.

        As in protobuf, fields that are 0 or empty are left out.
        """
        out = b"".join(_tag(n, 0) + _varint(value) for n, value in enumerate(self[:6], 1) if value)
        if self.average_doclength:
            out += _tag(7, 1) + struct.pack("<d", self.average_doclength)
        if self.description:
            text = self.description.encode()
            out += _tag(8, 2) + _varint(len(text)) + text
        return _varint(len(out)) + out


def decoded(message: bytes) -> CiffHeader:
    """Return the header in a message. Raise `ValueError` if the message is damaged."""
    values: dict[int, int | float | str] = {}
    for number, value in _fields(message):
        if (number <= 6 and isinstance(value, int)) or (number == 7 and isinstance(value, float)):
            values[number] = value
        elif number == 8 and isinstance(value, bytes):
            values[number] = value.decode()
        elif number <= 8:
            raise ValueError(f"field {number} has a value of another kind")
    names = CiffHeader._fields
    return CiffHeader(**{names[number - 1]: value for number, value in values.items()})  # type: ignore[arg-type]


def _fields(message: bytes) -> Iterator[tuple[int, int | float | bytes]]:
    """Yield the number and the value of each field of a message."""
    at = 0
    while at < len(message):
        tag, at = read_varint(message, at)
        kind, number = tag & 7, tag >> 3
        value: int | float | bytes
        if kind == 0:
            value, at = read_varint(message, at)
        else:
            size, at = read_varint(message, at) if kind == 2 else ({1: 8, 5: 4}.get(kind, -1), at)
            data = message[at : at + size] if size >= 0 else b""
            at += size
            if size < 0 or at > len(message):
                raise ValueError("a field runs past the end")
            value = struct.unpack("<d", data)[0] if kind == 1 else data
        if number < 1:
            raise ValueError("a field has no number")
        yield number, value


def _tag(number: int, kind: int) -> bytes:
    return _varint(number << 3 | kind)


def _varint(value: int) -> bytes:
    """Return a number as a varint. A negative number is written as its two's complement of 64 bits."""
    value &= _MASK
    out = bytearray()
    while value >= 128:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    """Return the varint at `data[at]` as a signed number, and the place where it ends.

    Raise `ValueError` if the varint is damaged.
    """
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(data):
            break
        value |= (data[at] & 127) << shift
        at += 1
        if data[at - 1] < 128:
            value &= _MASK
            return value - (value >> 63 << 64), at
    raise ValueError("a number is damaged")
