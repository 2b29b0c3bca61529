"""Tombstones: the deleted documents of a segment, and the frequencies of terms in them, to subtract from the totals.

With tombstones, statistics are exact at once, and the posting lists stay as they are until the segment is merged.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from sublex.index.directory import Directory
from sublex.index.entries import MOST, DeletedEntry, SegmentEntry
from sublex.index.format import UNSIGNED, ComponentFile, ComponentFolder, FolderWriter, with_smallest_dtype


def write_tombstones(folder: FolderWriter, dead: np.ndarray, df: np.ndarray, cf: np.ndarray) -> DeletedEntry:
    """Write tombstones and return the entry that describes them in the manifest.

    `dead` is the mask of the deleted documents. `df` and `cf` have, for every term, its document frequency and its
    collection frequency within the deleted documents alone.
    """
    terms = np.flatnonzero(df)
    for name, values in (("docs", np.flatnonzero(dead)), ("terms", terms), ("df", df[terms]), ("cf", cf[terms])):
        folder.put(name, with_smallest_dtype(values))
    return DeletedEntry(folder.directory.name, int(dead.sum()), int(cf.sum()), int(df.sum()), folder.finish())


class TombstonesReader:
    """Reads the tombstones of the segment in a folder, if it has any."""

    def __init__(self, segment: Directory, entry: SegmentEntry):
        self._folder: ComponentFolder | None = None
        self._docs = entry.docs
        self.count = entry.deleted.docs if entry.deleted else 0
        if entry.deleted:
            self._folder = folder = ComponentFolder(segment / entry.deleted.name, entry.deleted.data)
            folder.expect("docs", UNSIGNED, self.count)
            for name in ("terms", "df", "cf"):
                folder.expect(name, UNSIGNED, len(folder["terms"]))

    @cached_property
    def dead(self) -> np.ndarray:
        """The deleted documents, as a mask."""
        mask = np.zeros(self._docs, np.bool_)
        if self._folder:
            mask[_places(self._folder["docs"], self._docs)] = True
        return mask

    def subtract(self, values: np.ndarray, name: str) -> np.ndarray:
        """Return the frequencies `values` of all terms less their frequencies in the deleted documents.

        `name` says which frequencies they are: "df" or "cf".
        """
        if not self._folder:
            return values
        live = values.astype(np.int64)
        live[_places(self._folder["terms"], len(live))] -= self._folder[name].numbers(MOST).astype(np.int64)
        if len(live) and live.min() < 0:
            raise self._folder[name].damaged("exceeds the frequencies of the segment")
        return live

    def nbytes(self) -> int:
        """Return the bytes on disk."""
        return sum(self._folder.nbytes().values()) if self._folder else 0


def _places(component: ComponentFile, count: int) -> np.ndarray:
    """Return the values of a component. Raise `IndexCorrupt` unless they ascend and lie from 0 to `count` - 1."""
    places = component.numbers(max(0, count - 1))
    if (places[1:] <= places[:-1]).any():
        raise component.damaged("does not ascend")
    return places
