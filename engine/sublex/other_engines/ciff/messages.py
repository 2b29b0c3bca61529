"""Cut the stream of a CIFF file into messages. A wrong length in the file cannot make this use more memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

import numpy as np

from sublex.errors import InputError
from sublex.readers.lines import LONGEST_RECORD
from sublex.tools.messages import counted

# The number of bytes that are read at a time, and the highest number of messages that are found at a time.
CHUNK, MESSAGES = 1 << 22, 1 << 16


class MessageSpan(NamedTuple):
    """Consecutive messages: message k is `data[starts[k]:ends[k]]`. `first` is the number of the first message."""

    data: np.ndarray
    starts: np.ndarray
    ends: np.ndarray
    first: int


class Messages:
    """The messages of a stream. The length of each message stands before it. `path` names the file in errors."""

    def __init__(self, stream: BinaryIO, path: str):
        self.path = path
        self._stream = stream
        self._data, self._at = np.frombuffer(b"", np.uint8), 0

    def parts(self, count: int, kind: str) -> Iterator[MessageSpan]:
        """Yield the next `count` messages, many at a time.

        `kind` is the word for a message in errors, such as "document". Raise `InputError` if a message has more than
        `LONGEST_RECORD` bytes, or if the stream ends too early.
        """
        from sublex.other_engines.ciff import ciff_kernels

        found = 0
        while found < count:
            room = min(MESSAGES, count - found)
            starts, ends = np.empty(room, np.int64), np.empty(room, np.int64)
            number, at, needed = ciff_kernels.split(self._data, self._at, starts, ends)
            self._at = at
            if number:
                yield MessageSpan(self._data, starts[:number], ends[:number], found)
                found += number
            elif needed < 0:
                raise InputError(f"{self.path} is damaged: {kind} {found + 1:,} has an impossible length.")
            elif needed > LONGEST_RECORD:
                raise InputError(
                    f"{self.path}: {kind} {found + 1:,} claims {needed:,} bytes; Sublex reads at most {LONGEST_RECORD:,}."
                )
            elif not self._read(needed):
                raise InputError(f"{self.path} is cut short: it ends after {counted(found, kind)} of {count:,}.")

    def is_at_end(self) -> bool:
        """Return whether the stream is at its end."""
        return self._at == len(self._data) and not self._read(1)

    def _read(self, needed: int) -> bool:
        """Read until memory has `needed` bytes that are not cut into messages yet, or until the stream ends.

        Return whether any byte was read.
        """
        pieces = [self._data[self._at :].tobytes()]
        size, target = len(pieces[0]), max(needed, CHUNK)
        before = size
        while size < target and (piece := self._stream.read(min(CHUNK, target - size))):
            pieces.append(piece)
            size += len(piece)
        self._data, self._at = np.frombuffer(b"".join(pieces), np.uint8), 0
        return size > before
