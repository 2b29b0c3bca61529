"""Document lengths: the number of terms in each document, with and without repetitions."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from sublex.index.entries import MOST
from sublex.index.format import UNSIGNED, Folder, FolderWriter, with_smallest_dtype


class LengthsWriter:
    """Writes `lengths` and `uniques`. `tokens` is the sum of the lengths so far."""

    def __init__(self, folder: FolderWriter):
        self._folder = folder
        self._lengths, self._uniques = [np.empty(0, np.int64)], [np.empty(0, np.int64)]

    def add(self, lengths: np.ndarray, uniques: np.ndarray) -> None:
        """Append the numbers of terms, with repetitions and without, of the next documents."""
        self._lengths.append(lengths)
        self._uniques.append(uniques)

    @property
    def docs(self) -> int:
        """The number of documents so far."""
        return sum(map(len, self._lengths))

    @property
    def tokens(self) -> int:
        """The sum of the lengths so far."""
        return sum(int(lengths.sum(dtype=np.int64)) for lengths in self._lengths)

    def finish(self) -> None:
        """Write both components."""
        self._folder.put("lengths", with_smallest_dtype(np.concatenate(self._lengths)))
        self._folder.put("uniques", with_smallest_dtype(np.concatenate(self._uniques)))


class LengthsReader:
    """Reads document lengths."""

    def __init__(self, folder: Folder, docs: int):
        self._folder = folder
        for name in ("lengths", "uniques"):
            folder.expect(name, UNSIGNED, docs)

    @cached_property
    def lengths(self) -> np.ndarray:
        """Each document's number of terms, with repetitions."""
        return self._folder["lengths"].numbers(MOST)

    @cached_property
    def uniques(self) -> np.ndarray:
        """Each document's number of distinct terms."""
        return self._folder["uniques"].numbers(MOST)
