"""Tombstones: which documents of a segment are deleted, and how much each term's frequencies shrink by that.

With tombstones, statistics are exact at once, and the posting lists stay as they are until the segment is merged.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from sublex.errors import IndexCorrupt
from sublex.index.format import Folder, FolderWriter, with_smallest_dtype


def write_tombstones(folder: FolderWriter, dead: np.ndarray, df: np.ndarray, cf: np.ndarray) -> dict[str, Any]:
    """Write tombstones and return the entry that describes them in the manifest.

    `dead` is a mask of documents; `df` and `cf` are, for every term, its frequencies within these documents.
    """
    terms = np.flatnonzero(df)
    for name, values in (("docs", np.flatnonzero(dead)), ("terms", terms), ("df", df[terms]), ("cf", cf[terms])):
        folder.put(name, with_smallest_dtype(values))
    totals = {"docs": int(dead.sum()), "tokens": int(cf.sum()), "postings": int(df.sum())}
    return {"name": folder.directory.name} | totals | {"data": folder.finish()}


class TombstonesReader:
    """Reads the tombstones of a segment of `docs` documents; without an entry no document is deleted."""

    def __init__(self, folder: Folder | None, entry: Mapping[str, Any] | None, docs: int):
        self._folder, self._docs = folder, docs
        self.count: int = entry["docs"] if entry else 0

    @cached_property
    def dead(self) -> np.ndarray:
        """The deleted documents, as a mask."""
        mask = np.zeros(self._docs, np.bool_)
        if self._folder:
            docs = self._folder["docs"].all()
            if len(docs) and int(docs.max()) >= self._docs:
                raise IndexCorrupt(
                    f"{self._folder['docs'].path} names a document that does not exist; rebuild the index."
                )
            mask[docs] = True
        return mask

    def subtract(self, values: np.ndarray, name: str) -> np.ndarray:
        """Return the frequencies of all terms, `df` or `cf`, without the deleted documents."""
        if not self._folder:
            return values
        live = values.astype(np.int64)
        terms = self._folder["terms"].all()
        if len(terms) and int(terms.max()) >= len(live):
            raise IndexCorrupt(f"{self._folder['terms'].path} names a term that does not exist; rebuild the index.")
        live[terms] -= self._folder[name].all().astype(np.int64)
        return live

    def nbytes(self) -> int:
        """Return the bytes on disk."""
        return sum(self._folder.nbytes().values()) if self._folder else 0
