"""Many strings as one arena of bytes: docnos by the million, handed on without a Python object for each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, overload

import numpy as np

if TYPE_CHECKING:
    from sublex.analysis.interner import Interner


class Strings(Sequence[str]):
    """Strings in UTF-8: string k is `arena[starts[k] : starts[k] + sizes[k]]`; several may share bytes."""

    def __init__(self, arena: np.ndarray, starts: np.ndarray, sizes: np.ndarray):
        self.arena = np.ascontiguousarray(arena, np.uint8)
        self.starts = np.ascontiguousarray(starts, np.int64)
        self.sizes = np.ascontiguousarray(sizes, np.int64)

    @classmethod
    def of(cls, strings: Iterable[str]) -> Strings:
        """Lay strings end to end; what are Strings already stays as it is."""
        if isinstance(strings, Strings):
            return strings
        encoded = [string.encode(errors="surrogatepass") for string in strings]
        sizes = np.fromiter(map(len, encoded), np.int64, len(encoded))
        return cls(np.frombuffer(b"".join(encoded), np.uint8), np.cumsum(sizes) - sizes, sizes)

    def take(self, places: np.ndarray) -> Strings:
        """The strings at these places, over the same bytes."""
        return Strings(self.arena, self.starts[places], self.sizes[places])

    def __len__(self) -> int:
        return len(self.starts)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> Strings: ...
    def __getitem__(self, place: int | slice) -> str | Strings:
        if isinstance(place, slice):
            return Strings(self.arena, self.starts[place], self.sizes[place])
        start = self.starts[place]
        return self.arena[start : start + self.sizes[place]].tobytes().decode(errors="surrogatepass")

    def tobytes(self) -> list[bytes]:
        """Each string's bytes."""
        view = self.arena.data
        ends = (self.starts + self.sizes).tolist()
        return [bytes(view[start:end]) for start, end in zip(self.starts.tolist(), ends, strict=True)]

    def tolist(self) -> list[str]:
        """Each string."""
        return [data.decode(errors="surrogatepass") for data in self.tobytes()]

    def order(self) -> np.ndarray:
        """The places of the strings in ascending order of their bytes."""
        data = self.tobytes()
        return np.fromiter(sorted(range(len(data)), key=data.__getitem__), np.int64, len(data))


def strings(table: Interner) -> Strings:
    """What a table holds, in the order of its numbers."""
    ends = table.ends[: table.size]
    starts = np.concatenate([[0], ends])[: table.size]
    return Strings(table.arena[: ends[-1] if table.size else 0].copy(), starts, ends - starts - 1)
