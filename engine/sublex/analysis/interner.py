"""A hash table that numbers byte strings in the order of their first appearance.

The index builder numbers raw tokens and docnos with it; the run reader numbers topic ids, docnos and tags.
`Interner.strings` returns the strings as `Strings`, the immutable sequence in `sublex.tools.strings`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sublex.tools.strings import Strings, read_only


class Numbered(NamedTuple):
    """The strings of an `Interner` at one moment. Other threads may read them while the `Interner` adds more.

    Adding never changes these entries: the `Interner` writes new entries after them, or copies all entries to larger
    arrays. `arena` holds the strings end to end, each followed by a newline, and `ends[k]` is the index after the
    newline of string k. `keys` has the key of each string, as `interner_kernels.describe` computes it.
    """

    size: int
    keys: np.ndarray
    ends: np.ndarray
    arena: np.ndarray

    def ascending(self, numbers: np.ndarray) -> np.ndarray:
        """Return the numbers of distinct strings in the ascending order of the strings' bytes."""
        from sublex.analysis import interner_kernels

        heads = self.keys[numbers, 0].byteswap()
        order = np.argsort(heads)
        numbers, heads = numbers[order].astype(np.int64), heads[order]
        interner_kernels.sort_alike(numbers, heads, self.keys, self.ends, self.arena)
        return numbers

    def copies(self, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the bytes of strings, end to end, and the size of each string. A number below 0 means an empty string."""
        from sublex.analysis import interner_kernels

        sizes = np.where(numbers >= 0, self.keys[numbers, 2].astype(np.int64), 0)
        data = np.empty(int(sizes.sum()), np.uint8)
        interner_kernels.copy_strings(numbers, sizes, self.ends, self.arena, data)
        return data, sizes


class Interner:
    """Number byte strings 0, 1, 2, … by first appearance, and keep the bytes of each distinct string once.

    The table only grows. `arena` holds the strings end to end, each followed by a newline, and `ends[k]` is the index
    after the newline of string k. `keys` and `hashes` have the key and the hash of each string, as
    `interner_kernels.describe` computes them. `slots` is an open-addressing hash table of string numbers; an empty slot
    has -1.
    """

    def __init__(self) -> None:
        self.size = 0
        self.ends = np.empty(1 << 12, np.int64)
        self.hashes = np.empty(1 << 12, np.uint64)
        self.keys = np.empty((1 << 12, 3), np.uint64)
        self.arena = np.empty(1 << 16, np.uint8)
        self.slots = np.full(1 << 13, -1, np.int32)

    @property
    def nbytes(self) -> int:
        """The bytes of memory that the table's arrays take."""
        return self.ends.nbytes + self.hashes.nbytes + self.keys.nbytes + self.arena.nbytes + self.slots.nbytes

    def add(self, text: np.ndarray, starts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
        """Return the numbers (int32) of the strings `text[start : start + length]`. Add new strings to the table."""
        from sublex.analysis import interner_kernels

        return self.add_padded(np.concatenate([text, np.zeros(interner_kernels.SPARE, np.uint8)]), starts, lengths)

    def add_padded(self, text: np.ndarray, starts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
        """Return the numbers of strings, and add new strings.

        The arguments are as for `add`, but `text` must have SPARE further bytes after its last string.
        """
        from sublex.analysis import interner_kernels

        starts = np.ascontiguousarray(starts, np.int64)
        lengths = np.ascontiguousarray(lengths, np.int64)
        return self.add_described(text, starts, *interner_kernels.describe(text, starts, lengths))

    def add_described(self, text: np.ndarray, starts: np.ndarray, keys: np.ndarray, hashes: np.ndarray) -> np.ndarray:
        """Return the numbers of strings whose keys and hashes `describe` has computed. Add new strings to the table.

        String k begins at text[starts[k]].
        """
        from sublex.analysis import interner_kernels

        self._make_room(len(starts), int(keys[:, 2].sum()) + len(starts))
        numbers, self.size = interner_kernels.intern(
            read_only(text), starts, keys, hashes, self.slots, self.keys, self.hashes, self.ends, self.arena, self.size
        )
        return numbers

    def numbered(self) -> Numbered:
        """Return the strings that the table holds now, without a copy."""
        return Numbered(self.size, self.keys, self.ends, self.arena)

    def strings(self) -> Strings:
        """Return a copy of all strings, in the order of their numbers."""
        ends = self.ends[: self.size]
        starts = np.concatenate([[0], ends])[: self.size]
        return Strings(self.arena[: ends[-1] if self.size else 0].copy(), starts, ends - starts - 1)

    def lines(self, first: int = 0) -> bytes:
        """Return the strings from number `first` on as bytes, each followed by a newline."""
        begin = self.ends[first - 1] if first else 0
        return self.arena[begin : self.ends[self.size - 1] if self.size else 0].tobytes()

    def _make_room(self, strings: int, size: int) -> None:
        """Enlarge the arrays so that `strings` more strings of `size` bytes in all fit, newlines included."""
        from sublex.analysis import interner_kernels

        if self.size + strings > len(self.ends):
            self.ends = longer(self.ends, self.size + strings)
            self.hashes = longer(self.hashes, self.size + strings)
            self.keys = longer(self.keys, self.size + strings)
        used = int(self.ends[self.size - 1]) if self.size else 0
        if used + size > len(self.arena):
            self.arena = longer(self.arena, used + size)
        if 2 * (self.size + strings) > len(self.slots):
            self.slots = interner_kernels.refill(self.hashes, self.size, 1 << (2 * (self.size + strings)).bit_length())


def longer(values: np.ndarray, least: int) -> np.ndarray:
    """Return a longer copy of an array, with at least `least` entries and at least twice as many as before.

    The entries after the copied ones are not set.
    """
    copy = np.empty((max(least, 2 * len(values)), *values.shape[1:]), values.dtype)
    copy[: len(values)] = values
    return copy
