"""Byte strings on disk: the bytes of all strings end to end in one component, and the size of each string in another.

Strings in memory are `sublex.tools.strings.Strings`; the reader here maps the bytes of a file and verifies them at the
first access.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from sublex.errors import IndexCorrupt
from sublex.index.format import UNSIGNED, ComponentFile, ComponentFolder, FolderWriter
from sublex.index.offsets import starts_of
from sublex.tools.strings import Strings


class StringsWriter:
    """Writes the components `NAMEs` (bytes) and `NAME_sizes`."""

    def __init__(self, folder: FolderWriter, name: str):
        self._bytes, self._sizes = folder.stream(f"{name}s", np.uint8), folder.collect(f"{name}_sizes")

    def add(self, data: np.ndarray, sizes: np.ndarray) -> None:
        """Append strings that lie end to end in `data`."""
        self._bytes.write(data)
        self._sizes.write(sizes)


class StringsReader:
    """Reads strings by their numbers. Each access verifies the bytes that it needs."""

    def __init__(self, folder: ComponentFolder, name: str, count: int | None = None):
        """Read the strings `name` of a folder; if `count` is given, there must be this number of strings."""
        folder.expect(f"{name}s", ("|u1",))
        folder.expect(f"{name}_sizes", UNSIGNED, count)
        self._bytes, self._sizes = folder[f"{name}s"], folder[f"{name}_sizes"]

    def __len__(self) -> int:
        return len(self._sizes)

    @cached_property
    def starts(self) -> np.ndarray:
        """The place where each string starts in the bytes. The last value is the place where the last string ends."""
        return piece_starts(self._sizes, self._bytes)

    @cached_property
    def sizes(self) -> np.ndarray:
        """The number of bytes of each string."""
        return np.diff(self.starts)

    @cached_property
    def accented(self) -> np.ndarray:
        """The numbers of the strings with a letter that may be Latin with an accent: a byte from C3 to C9, or E1 (U+1E00 on)."""
        data = self.data
        places = np.flatnonzero(((data >= 0xC3) & (data <= 0xC9)) | (data == 0xE1))
        return np.unique(np.searchsorted(self.starts, places, "right") - 1)

    @property
    def data(self) -> np.ndarray:
        """The bytes of all strings, end to end."""
        return self._bytes.all()

    @cached_property
    def text_data(self) -> np.ndarray:
        """The bytes of all strings, end to end. Raise `IndexCorrupt` unless each string is UTF-8."""
        data, starts = self.data, self.starts[:-1]
        if len(data) and data.max() >= 128:
            self._decoded(data.tobytes())
            # All bytes together are UTF-8. If no string begins inside a character, each string is UTF-8 too.
            firsts = data[starts[starts < len(data)]]
            if ((firsts & 0xC0) == 0x80).any():
                raise self._bytes.damaged("has a string that is not UTF-8")
        return data

    def __getitem__(self, number: int) -> bytes:
        begin, end = int(self.starts[number]), int(self.starts[number + 1])
        return self._bytes.part(begin, end).tobytes()

    def text(self, number: int) -> str:
        """Return a string as text."""
        return self._decoded(self[number])

    def texts_of(self, numbers: np.ndarray) -> list[str]:
        """Return the strings with these numbers as texts."""
        begins, ends = self.starts[numbers], self.starts[numbers + 1]
        self._bytes.touch(begins, ends)
        data = self._bytes.values.data
        pairs = zip(begins.tolist(), ends.tolist(), strict=True)
        return [self._decoded(data[begin:end].tobytes()) for begin, end in pairs]

    def part(self, begin: int, end: int) -> Strings:
        """Return the strings of a range as `Strings`. Nothing checks that they are UTF-8."""
        starts = self.starts[begin : end + 1]
        return Strings(self._bytes.part(int(starts[0]), int(starts[-1])), starts[:-1] - starts[0], np.diff(starts))

    def list(self, begin: int = 0, end: int | None = None) -> list[bytes]:
        """Return the strings of a range; by default all."""
        starts = self.starts[begin : (len(self) if end is None else end) + 1]
        data = self._bytes.part(int(starts[0]), int(starts[-1])).tobytes()
        cuts = (starts - starts[0]).tolist()
        return [data[a:b] for a, b in zip(cuts, cuts[1:], strict=False)]

    def texts(self) -> Sequence[str]:
        """Return all strings as texts."""
        return [self._decoded(string) for string in self.list()]

    @cached_property
    def beyond_ascii(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The strings with characters outside of ASCII, as three arrays.

        The arrays are the numbers of these strings, their code points end to end, and the place in the code points where
        each string starts. The last array also has the end of the last string. Raise `IndexCorrupt` unless each string is
        UTF-8.
        """
        data = self.text_data
        # For each byte outside of ASCII, the number of its string.
        numbers = np.searchsorted(self.starts, np.flatnonzero(data >= 128), "right") - 1
        numbers = numbers[np.diff(numbers, prepend=-1) > 0]
        texts = [data[self.starts[n] : self.starts[n + 1]].tobytes().decode() for n in numbers.tolist()]
        letters = np.frombuffer("".join(texts).encode("utf-32-le"), "<u4")
        return numbers, letters, np.concatenate([[0], np.cumsum([len(text) for text in texts], dtype=np.int64)])

    def _decoded(self, string: bytes) -> str:
        try:
            return string.decode()
        except UnicodeDecodeError:
            raise self._bytes.damaged("has a string that is not UTF-8") from None

    def arrays(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the bytes of all strings, end to end, and the size of each string."""
        return self.text_data, self.sizes

    def bisect(self, wanted: bytes, order: np.ndarray | None = None) -> int:
        """Return how many strings are smaller than `wanted`.

        The strings must ascend. With `order`, they must ascend when they are read in this order of their numbers.
        """
        low, high = 0, len(self)
        while low < high:
            middle = (low + high) // 2
            if self[middle if order is None else int(order[middle])] < wanted:
                low = middle + 1
            else:
                high = middle
        return low


def piece_starts(sizes: ComponentFile, pieces: ComponentFile) -> np.ndarray:
    """Return the place where each piece starts in the component `pieces`. The last value is the end of the last piece.

    The pieces lie end to end and have the sizes in the component `sizes`. Raises `IndexCorrupt` unless the sizes add up
    to the length of `pieces`.
    """
    starts = starts_of(sizes.numbers(len(pieces)))
    if starts[-1] != len(pieces):
        raise IndexCorrupt(f"{sizes.path} does not fit {pieces.path}; rebuild the index.")
    return starts
