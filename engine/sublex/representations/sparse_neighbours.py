"""Find the nearest documents of each document by sparse vectors, such as tf·idf, and choose between sparse and dense vectors.

The cosine of a pair of documents is the sum of the products of their weights, over the columns that both have, in the order
of the columns. So it depends on nothing but the two vectors. All pairs of documents are compared, of segments of any size.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from sublex.index.segment import Segment
from sublex.representations.neighbours import (
    PER_ENTRY,
    NeighbourLists,
    UnitVectors,
    nearest,
    ranks_of,
    unit_rows,
)
from sublex.representations.sketch import Run, VectorSource

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# Sparse vectors of at most this width are written out, and compared as dense ones.
WRITTEN_OUT = 1024
# A column is common if more than this share of the documents have it.
COMMON = 1 / 8
# The number of vectors whose nearest documents are looked for at a time.
PER_BLOCK = 512
# The relative error of a bound that is computed in float64 from weights in float32.
ROUNDED_UP = 1 + 1e-6


class SparseVectors:
    """The vectors of a segment's documents as sparse rows of float32, scaled to norm 1, and the order of the docnos.

    `ranks` is as in `UnitVectors`. The vector of a deleted document is 0.
    """

    def __init__(self, units: csr_array, ranks: np.ndarray):
        self.units, self.ranks = units, ranks
        self.starts = units.indptr.astype(np.int64)
        self.columns, self.weights = units.indices.astype(np.int32), units.data

    @classmethod
    def of(cls, blocks: list[Any], segment: Segment) -> SparseVectors:
        """Return the vectors of a segment's documents, given in blocks of sparse rows."""
        from scipy.sparse import csr_array, vstack

        units = csr_array(vstack([unit_weights(block) for block in blocks], format="csr"))
        units.data[np.repeat(segment.dead, np.diff(units.indptr))] = 0
        units.eliminate_zeros()
        return cls(units, ranks_of(segment))

    @property
    def nbytes(self) -> int:
        """The bytes of the vectors and of the posting lists."""
        return 16 * len(self.weights) + 8 * (len(self.starts) + self.units.shape[1])

    @cached_property
    def lists(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The posting lists of the columns: where each begins, the numbers of the documents, and their weights."""
        columns = self.units.tocsc()
        return columns.indptr.astype(np.int64), columns.indices.astype(np.int32), columns.data

    @cached_property
    def common(self) -> tuple[np.ndarray, np.ndarray]:
        """Whether each column is common, and the norm of the part of each vector that lies in common columns."""
        sizes = np.bincount(self.columns, minlength=self.units.shape[1])
        is_common = sizes > COMMON * len(self.ranks)
        squares = np.where(is_common[self.columns], np.square(self.weights, dtype=np.float64), 0.0)
        documents = np.repeat(np.arange(len(self.ranks)), np.diff(self.starts))
        norms = np.sqrt(np.bincount(documents, squares, minlength=len(self.ranks)))
        return is_common, norms * ROUNDED_UP

    def nearest(self, some: csr_array, first: int = -1, run: Run = map) -> Iterator[NeighbourLists]:
        """Yield, in blocks, the nearest documents of each of the vectors `some` among the documents of this segment.

        `first` is as in `neighbours.nearest`.
        """
        from sublex.representations import sparse_neighbour_kernels

        # They are made here, and not in several threads at once.
        lists, common = self.lists, self.common
        is_positive = bool((self.weights > 0).all() and (some.data > 0).all())

        def block(begin: int) -> NeighbourLists:
            rows = some[begin : begin + PER_BLOCK]
            found = NeighbourLists.empty(rows.shape[0])
            sparse_neighbour_kernels.nearest(
                rows.indptr.astype(np.int64),
                rows.indices.astype(np.int32),
                rows.data,
                self.starts,
                self.columns,
                self.weights,
                *lists,
                *common,
                is_positive,
                self.ranks,
                first + begin if first >= 0 else -1,
                np.empty(len(self.ranks), np.float32),
                np.zeros(rows.shape[1], np.float32),
                PER_ENTRY,
                *found,
            )
            return found

        yield from run(block, range(0, some.shape[0], PER_BLOCK))


DocumentVectors = UnitVectors | SparseVectors


def vectors_of(source: VectorSource, run: Run = map) -> DocumentVectors:
    """Return the vectors of the documents of a segment: sparse if the model gives wide sparse ones, and otherwise dense."""

    def read(block: Any) -> Any:
        rows = source.rows(block)
        return unit_rows(rows) if rows.shape[1] <= WRITTEN_OUT or not hasattr(rows, "indptr") else rows

    blocks = list(run(read, source.inputs.blocks(source.segment)))
    if hasattr(blocks[0], "indptr"):
        return SparseVectors.of(blocks, source.segment)
    return UnitVectors.of_blocks(blocks, source.segment)


def nearest_of(some: Any, others: DocumentVectors, first: int = -1, run: Run = map) -> Iterator[NeighbourLists]:
    """Yield, in blocks, the nearest documents of each of the vectors `some`, which are of the kind of `others`; see `nearest`."""
    return others.nearest(some, first, run) if isinstance(others, SparseVectors) else nearest(some, others, first, run)


def unit_weights(rows: csr_array) -> csr_array:
    """Return sparse rows scaled to norm 1 as float32, with their columns in order and without zeros.

    A row does not depend on the other rows.
    """
    from scipy.sparse import csr_array

    rows = csr_array(rows, dtype=np.float64, copy=True)
    rows.sum_duplicates()
    documents, count = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr)), rows.shape[0]
    # The largest weight becomes 1 first, so that no square is too large or too small for a float.
    largest = np.zeros(count)
    np.maximum.at(largest, documents, np.abs(rows.data))
    scaled = rows.data / np.where(largest > 0, largest, 1.0)[documents]
    norms = np.sqrt(np.bincount(documents, scaled * scaled, minlength=count))
    units = csr_array(
        ((scaled / np.where(norms > 0, norms, 1.0)[documents]).astype(np.float32), rows.indices, rows.indptr),
        shape=rows.shape,
    )
    units.eliminate_zeros()
    return units
