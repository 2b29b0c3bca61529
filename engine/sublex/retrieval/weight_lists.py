"""Posting lists of the columns of sparse rows: for each column the documents that have a weight there, in one segment.

A column is a term of a term space, such as a term of learned sparse weights. The weights take the place of a ranker's
impacts, so the retrieval kernel reads both in the same way.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from sublex.index.format import ComponentFolder
from sublex.retrieval.coded_lists import CodedLists
from sublex.vectors.matrices import places

if TYPE_CHECKING:
    from scipy.sparse import csc_array, csr_array


class WeightLists(CodedLists):
    """The posting list of each column: the documents that have a weight there, without deleted ones.

    `rows` has a row of weights (float32, above 0) for each document of the segment, and `dead` marks deleted documents.
    `stored` is the folder with the lists, if they are on disk.
    """

    def __init__(self, rows: csr_array, dead: np.ndarray, stored: ComponentFolder | None = None):
        self._rows, self._dead = rows, dead if dead.any() else None
        # The number of live documents that have a weight in each column.
        self.df = np.bincount(_columns(rows, self._dead), minlength=rows.shape[1]).astype(np.int64)
        super().__init__(self.df, rows.shape[0], None if stored is None else (stored, stored))

    @cached_property
    def _by_column(self) -> csc_array:
        rows = self._rows
        if self._dead is not None:
            from scipy.sparse import csr_array

            kept = np.repeat(~self._dead, np.diff(rows.indptr))
            counts = np.where(self._dead, 0, np.diff(rows.indptr))
            starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts, dtype=np.int64)])
            rows = csr_array((rows.data[kept], rows.indices[kept], starts), shape=rows.shape)
        return rows.tocsc()

    def fill(self, terms: np.ndarray) -> None:
        """Write the posting lists of some columns, given by their numbers."""
        columns = self._by_column
        begins, sizes = columns.indptr[terms].astype(np.int64), self.df[terms]
        wanted = places(begins, sizes)
        docs, weights = columns.indices[wanted].astype(np.int32), columns.data[wanted].astype(np.float32)
        # Weights are above 0, so as whole numbers their bits have the same order. Equal weights of a column share a pair.
        keys = np.repeat(np.arange(len(terms), dtype=np.uint64) << np.uint64(32), sizes) | weights.view(np.uint32)
        pairs, numbers, live = np.unique(keys, return_inverse=True, return_counts=True)
        ends = np.searchsorted(pairs, np.arange(1, len(terms) + 1, dtype=np.uint64) << np.uint64(32))
        firsts = np.repeat(np.concatenate([np.zeros(1, np.int64), ends[:-1]]), sizes)
        values = (pairs & np.uint64(0xFFFFFFFF)).astype(np.uint32).view(np.float32)
        self.postings.put(
            terms, docs, (numbers - firsts).astype(np.int32), ends.astype(np.int64), values, live.astype(np.int32), self.bounds
        )  # fmt: skip

    def release(self) -> None:
        """Free the memory of the weights sorted by column, once the lists of all columns are written."""
        if not self._state.tobytes().count(0):
            vars(self).pop("_by_column", None)

    def arrays(self) -> dict[str, Any]:
        """Return the arrays of all lists to store, by name. A long array is an iterator of pieces."""
        self.compute(np.arange(len(self.df)))
        return {**self.postings.stored_documents(), **self.postings.stored_impacts(), **self.bounds.arrays()}


def _columns(rows: csr_array, dead: np.ndarray | None) -> np.ndarray:
    """Return the column of each weight, without the weights of deleted documents; `dead` is None if there are none."""
    return rows.indices if dead is None else rows.indices[np.repeat(~dead, np.diff(rows.indptr))]
