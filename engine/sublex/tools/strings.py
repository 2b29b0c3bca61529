"""`Strings`: many strings in one array of bytes, such as the millions of docnos of a run or an index.

Sublex has three containers of byte strings. `Strings` is an immutable sequence in memory, passed between functions.
`analysis.interner.Interner` is a growing table that numbers the strings put into it, and hands them out as `Strings`.
`index.components.strings.StringsReader` reads strings from the files of an index when they are asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, overload

import numpy as np

from sublex.tools.copies import Uncopied

NUL_FAULT = "has a NUL character, at which trec_eval and other programs cut it off"
# Half of a surrogate pair in UTF-8 has SURROGATE as its first byte, and a second byte of at least FIRST_HALF.
SURROGATE, FIRST_HALF = 0xED, 0xA0


class Strings(Uncopied, Sequence[str]):
    """A sequence of strings kept as UTF-8 in one array, without a Python object for each.

    String k is `arena[starts[k] : starts[k] + sizes[k]]`. The strings need not be in the order of the arena, and several
    may share bytes. `starts` and `sizes` are int64; `arena` is uint8 and read-only. The arrays are not copied if they have
    these types.
    """

    def __init__(self, arena: np.ndarray, starts: np.ndarray, sizes: np.ndarray):
        self.arena = read_only(np.ascontiguousarray(arena, np.uint8))
        self.starts = np.ascontiguousarray(starts, np.int64)
        self.sizes = np.ascontiguousarray(sizes, np.int64)

    @classmethod
    def of(cls, strings: Iterable[str]) -> Strings:
        """Return the strings as `Strings`. An argument that is a `Strings` already is returned unchanged."""
        if isinstance(strings, Strings):
            return strings
        return cls.joined(*end_to_end([string.encode(errors="surrogatepass") for string in strings]))

    @classmethod
    def joined(cls, data: np.ndarray, sizes: np.ndarray) -> Strings:
        """Return the strings that lie end to end in `data` and have these sizes."""
        return cls(data, np.cumsum(sizes) - sizes, sizes)

    def take(self, places: np.ndarray) -> Strings:
        """Return the strings at `places`, in the order of `places`; the bytes are shared, not copied."""
        return Strings(self.arena, self.starts[places], self.sizes[places])

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle these strings alone, end to end, without other strings that share their arena."""
        return Strings.joined, end_to_end(self.tobytes())

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
        """Return a list of the strings as bytes."""
        view = self.arena.data
        ends = (self.starts + self.sizes).tolist()
        return [bytes(view[start:end]) for start, end in zip(self.starts.tolist(), ends, strict=True)]

    def tolist(self) -> list[str]:
        """Return a list of the strings as Python strings."""
        return [data.decode(errors="surrogatepass") for data in self.tobytes()]

    def order(self) -> np.ndarray:
        """Return the places of the strings in ascending order of their bytes, like `argsort`."""
        data = self.tobytes()
        return np.fromiter(sorted(range(len(data)), key=data.__getitem__), np.int64, len(data))


def id_fault(text: str) -> str:
    """Return the reason why a text cannot be the id of a document or topic; an empty string if it can.

    The C code of trec_eval cuts an id off at a NUL character, and crashes on half of a surrogate pair.
    """
    if "\0" in text:
        return NUL_FAULT
    try:
        text.encode()
    except UnicodeEncodeError:
        return "has half of a surrogate pair, which is no character"
    return ""


def first_faulty_id(ids: Strings) -> str | None:
    """Return the first of the ids with an `id_fault`; None if all can be ids."""
    arena = ids.arena
    at = np.flatnonzero(arena == 0)
    halves = np.flatnonzero(arena[:-1] == SURROGATE)
    halves = halves[arena[halves + 1] >= FIRST_HALF]
    if not len(at) and not len(halves):
        return None
    at = np.sort(np.concatenate([at, halves]))
    # The arena may hold other strings too.
    found = np.searchsorted(at, ids.starts) < np.searchsorted(at, ids.starts + ids.sizes)
    return ids[int(np.argmax(found))] if found.any() else None


def end_to_end(strings: Sequence[bytes]) -> tuple[np.ndarray, np.ndarray]:
    """Return the bytes of strings, end to end, and the size of each."""
    return np.frombuffer(b"".join(strings), np.uint8), np.fromiter(map(len, strings), np.int64, len(strings))


def read_only(values: np.ndarray) -> np.ndarray:
    """Return a read-only view of an array, or the array itself if it is read-only already.

    Kernels are compiled for read-only bytes of text, so that one piece of machine code fits texts of any origin.
    """
    if not values.flags.writeable:
        return values
    view = values.view()
    view.flags.writeable = False
    return view
