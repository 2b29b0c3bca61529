"""Cut streams into lines, or read whole streams, within the limit for the size of a record.

A small compressed file can unpack to many gigabytes without a line break. So reading of a line, record or file stops at
LONGEST_RECORD bytes. All readers use this limit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import BinaryIO

import numpy as np

from sublex.contracts.base import Report
from sublex.errors import InputError
from sublex.readers.signatures import BOM
from sublex.readers.source import CHUNK, decode

# The longest record, in bytes. A record is a line, a document, a topic, a row of a table, or a file that is read whole.
LONGEST_RECORD = 1 << 30

# A function that reports a record that is too long, or raises an error. It takes the number of the record's first line,
# and the reason.
TooLong = Callable[[int, str], object]


def too_long(what: str) -> str:
    """Return the reason, for messages, that a record is above the limit. `what` names the record, such as "line"."""
    return f"{what} has more than {LONGEST_RECORD:,} bytes; break it up"


def refuse(path: str) -> TooLong:
    """Return a function that raises InputError for a record that is too long in the file at `path`."""

    def refused(line: int, reason: str) -> None:
        raise InputError(f"{path}:{line}: {reason}.")

    return refused


def numbered_lines(stream: BinaryIO, report_long: TooLong) -> Iterator[tuple[int, bytes]]:
    """Yield a stream's lines with their numbers, from 1. A byte order mark is left out.

    A line of more than LONGEST_RECORD bytes is reported to `report_long` and left out.
    """
    longest = LONGEST_RECORD
    for number, line in enumerate(iter(partial(stream.readline, longest + 1), b""), 1):
        if len(line) > longest and not line.endswith(b"\n"):
            line = b""
            skip_line(stream)
            report_long(number, too_long("a line"))
        else:
            yield number, line.removeprefix(BOM) if number == 1 else line


def skip_line(stream: BinaryIO) -> None:
    """Read a stream up to the end of its line, and keep nothing."""
    while (part := stream.readline(CHUNK)) and not part.endswith(b"\n"):
        pass


def whole_lines(stream: BinaryIO, size: int, report_long: TooLong) -> Iterator[tuple[int, bytes]]:
    """Yield a stream's whole lines in pieces of about `size` bytes, each with the number of its first line.

    A byte order mark is left out. A line of more than LONGEST_RECORD bytes is reported to `report_long` and left out.
    """
    rest: list[bytes | memoryview] = []
    line, pending = 1, 0
    while data := stream.read(size):
        end = data.find(b"\n")
        if pending + (end if end >= 0 else len(data)) > LONGEST_RECORD:
            rest, pending = [], 0
            if end < 0:
                skip_line(stream)
            report_long(line, too_long("a line"))
            data, line = data[end + 1 :] if end >= 0 else b"", line + 1
        cut = data.rfind(b"\n") + 1
        rest.append(memoryview(data)[:cut] if cut else data)
        pending += len(data)
        if cut:
            whole = b"".join(rest)
            yield line, whole.removeprefix(BOM) if line == 1 else whole
            line += count_lines(whole)
            rest = [data[cut:]]
            pending = len(rest[0])
    if whole := b"".join(rest):
        yield line, whole.removeprefix(BOM) if line == 1 else whole


def count_lines(data: bytes) -> int:
    """Return the number of line feeds. NumPy counts them five times as fast as `bytes.count`."""
    return int(np.count_nonzero(np.frombuffer(data, np.uint8) == 10))


def read_upto(stream: BinaryIO, size: int) -> bytes:
    """Return the next `size` bytes of a stream, or fewer at its end.

    The memory depends on the bytes that the stream has, not on `size`.
    """
    parts: list[bytes] = []
    while size > 0 and (part := stream.read(min(size, CHUNK))):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def read_whole(pieces: Iterable[bytes], path: str) -> bytes:
    """Return the pieces of a file, joined. Raise InputError if the file is above the limit."""
    parts, size = list[bytes](), 0
    for piece in pieces:
        parts.append(piece)
        size += len(piece)
        if size > LONGEST_RECORD:
            raise InputError(f"{path}: {too_long('the file')}.")
    return b"".join(parts)


def utf8_lines(data: bytes, path: str, report: Report) -> bytes:
    """Return lines as bytes in UTF-8. Lines that are not UTF-8 are read as Latin-1, and the report notes this."""
    try:
        if not data.isascii():
            data.decode()
        return data
    except UnicodeDecodeError:
        return b"\n".join(decode(line, path, report).encode() for line in data.split(b"\n"))
