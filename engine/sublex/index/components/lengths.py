"""Document lengths: the number of terms in each document, with and without repetitions."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from sublex.index.entries import MOST
from sublex.index.format import UNSIGNED, ComponentFolder, FolderWriter


class LengthsWriter:
    """Writes `lengths` and `uniques`."""

    def __init__(self, folder: FolderWriter):
        self._lengths, self._uniques = folder.collect("lengths"), folder.collect("uniques")

    def add(self, lengths: np.ndarray, uniques: np.ndarray) -> None:
        """Append the numbers of terms, with repetitions and without, of the next documents."""
        self._lengths.write(lengths)
        self._uniques.write(uniques)


class LengthsReader:
    """Reads document lengths."""

    def __init__(self, folder: ComponentFolder, docs: int):
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
