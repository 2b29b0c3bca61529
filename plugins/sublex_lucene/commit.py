"""Read `segments_N`, the file that names the newest commit of a Lucene index, without Java: the version of Lucene, and
a hash of the file.
"""

from __future__ import annotations

import hashlib
import os
import re
import struct
import zlib
from typing import NamedTuple

from sublex.errors import InputError
from sublex.tools.plain_files import open_plain, plain_names

# The major version of Lucene whose indexes can be read.
MAJOR = 9
# Magic numbers at the beginning and at the end of a file of Lucene.
_HEADER, _FOOTER = 0x3FD76C17, 0xC02893E8
# The header of segments_N: the magic number, the size of the word "segments", the word, the version of the format, an
# id of 16 bytes.
_HEAD = struct.Struct(">IB8sI16sB")
_TAIL = struct.Struct(">IIQ")
_NAME = re.compile(r"segments_([0-9a-z]{1,13})")
# The largest size of the file in bytes. Lucene writes some hundred bytes for each segment.
_MOST = 1 << 26


class Commit(NamedTuple):
    """The newest commit of a Lucene index: the name of its file, the file's hash, and the major version of Lucene that
    made the index.
    """

    name: str
    digest: str
    major: int

    @property
    def state(self) -> str:
        """A text that changes with every commit."""
        return f"{self.name}-{self.digest}"


def read_commit(path: str) -> Commit:
    """Return the newest commit of the index at `path`.

    Raise InputError if there is no commit, if the file of the commit is damaged, or if another version of Lucene made
    the index.
    """
    name = _newest(path)
    try:
        with open_plain(os.path.join(path, name)) as file:
            data = file.read(_MOST)
    except OSError as error:
        raise InputError(f"Cannot read {os.path.join(path, name)}: {error.strerror}.") from None
    commit = Commit(name, hashlib.sha256(data).hexdigest()[:32], _major(data, os.path.join(path, name)))
    if commit.major != MAJOR:
        raise InputError(
            f"{path} was made by Lucene {commit.major}, and Sublex reads indexes of Lucene {MAJOR}; "
            f"index the collection again, for example by sublex index NAME SOURCE --backend lucene."
        )
    return commit


def _newest(path: str) -> str:
    """Return the name of the newest file segments_N."""
    if not os.path.isdir(path):
        raise InputError(f"No folder {path}; name the folder of a Lucene index.")
    names = [name for name in plain_names(path) if _NAME.fullmatch(name)]
    if not names:
        busy = os.path.exists(os.path.join(path, "write.lock"))
        raise InputError(
            f"{path} holds no finished Lucene index, only a write.lock; wait for the program that writes it, or build it again."
            if busy
            else f"{path} is not a Lucene index: it has no file segments_N; name the folder that holds one."
        )
    return max(names, key=lambda name: int(_NAME.fullmatch(name)[1], 36))  # type: ignore[index]


def _major(data: bytes, path: str) -> int:
    """Return the major version of Lucene that made the index. Raise InputError if the file is damaged."""
    try:
        magic, size, word, _, _, suffix = _HEAD.unpack_from(data)
        footer, _, checksum = _TAIL.unpack_from(data, len(data) - _TAIL.size)
        place = _HEAD.size + suffix
        if (magic, size, word, footer) != (_HEADER, 8, b"segments", _FOOTER) or checksum != zlib.crc32(data[:-8]):
            raise ValueError
        # The file holds the version of Lucene that wrote the commit, then the major version that made the index.
        for _ in range(3):
            place = _number(data, place)[1]
        return _number(data, place)[0]
    except (struct.error, ValueError, IndexError):
        raise InputError(f"{path} is damaged or not of a known Lucene; build the Lucene index again.") from None


def _number(data: bytes, place: int) -> tuple[int, int]:
    """Return the number that begins at `place`, and the place after it. Each byte stores seven bits of the number."""
    number = shift = 0
    while data[place] & 128:
        number |= (data[place] & 127) << shift
        place, shift = place + 1, shift + 7
    return number | data[place] << shift, place + 1
