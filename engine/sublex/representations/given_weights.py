"""Weights of terms that a user gives to documents, on their way into an index as sparse rows.

`given_rows.py` does the same for vectors.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from sublex.analysis.interner import Interner
from sublex.contracts.fitted import Rows
from sublex.errors import InputError
from sublex.index.directory import Directory
from sublex.index.segment import Segment
from sublex.index.snapshot import Snapshot
from sublex.representations.given_rows import SPOOL, Before, MatchedVectors, NewRows
from sublex.tools.strings import end_to_end
from sublex.vectors.matrices import places
from sublex.vectors.sparse import SparseBatch
from sublex.vectors.weight_rows import MOST_TERMS, WeightLayout

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# The component that scores documents by weights of terms.
SPARSE = "sparse"
# A weight in the scratch file, with the number of its term.
RECORD = np.dtype([("term", "<i4"), ("weight", "<f4")])


class FoundWeights(MatchedVectors):
    """The weights of files that belong to documents. They go to a scratch file."""

    kind = SPARSE

    def __init__(self, snapshot: Snapshot, name: str, scratch: Directory, memory: int, before: Before | None):
        super().__init__(snapshot, name, scratch, memory, before)
        # The number of weights of each document. `_row` has the place of the first.
        self._size = np.zeros(len(self._row), np.int64)
        self._written, self._largest, self._whole = 0, 0.0, True
        self._interner = Interner()
        self._records = np.empty(0, RECORD)
        # The terms in the order of their bytes; and for each term, by its number, its place in this order, or -1 if no
        # document has it.
        self.terms: list[str] = []
        self._places = np.empty(0, np.int32)

    def take(self, batch: SparseBatch) -> None:  # type: ignore[override]
        """Keep the weights of a batch that belong to documents."""
        self._interner = batch.terms
        known, docs = self._matching(batch.ids, batch.place)
        if not len(docs):
            return
        rows = batch.rows[known]
        self._largest = max(self._largest, float(rows.data.max(initial=0)))
        self._whole = self._whole and bool((rows.data == np.rint(rows.data)).all())
        records = np.empty(rows.nnz, RECORD)
        records["term"], records["weight"] = rows.indices, rows.data
        with self._scratch.open_or_make(SPOOL) as stream:
            rest = records.view(np.uint8).data
            while len(rest):
                rest = rest[stream.write(rest) :]
        self._size[docs] = np.diff(rows.indptr)
        self._source[docs], self._row[docs] = 0, self._written + rows.indptr[:-1]
        self._written += rows.nnz

    def layout(self, stored: str) -> WeightLayout:
        """Return the layout of the rows: that of the index's own weights, or else one that fits the new weights."""
        if self._before:
            return self._before.layout._replace(terms=len(self.terms))  # type: ignore[no-any-return]
        return WeightLayout.fitting(stored, self._largest, self._whole)._replace(terms=len(self.terms))

    def finish(self, old: csr_array | None) -> np.ndarray:
        """Map the scratch file and sort the terms. Return the new place of each term that the index already has.

        `old` has the index's own weights of live documents, or is None if there are none.
        """
        if self._written:
            self._records = np.frombuffer(self._scratch.map_old(SPOOL), RECORD)
        before = self._before.tokens if self._before else ()
        data, lengths = end_to_end([term.encode() for term in before])
        known = self._interner.add(data, np.cumsum(lengths) - lengths, lengths) if before else np.empty(0, np.int32)
        used = np.zeros(self._interner.size, np.bool_)
        used[self._records["term"]] = True
        if old is not None:
            used[known[np.unique(old.indices)]] = True
        order = self._interner.numbered().ascending(np.flatnonzero(used))
        self._places = np.full(self._interner.size, -1, np.int32)
        self._places[order] = np.arange(len(order), dtype=np.int32)
        strings = self._interner.strings()
        self.terms = [strings[number] for number in order.tolist()]
        if len(self.terms) > MOST_TERMS:
            raise InputError(f"The vectors have {len(self.terms):,} terms; the most are {MOST_TERMS:,}.")
        self.width = len(self.terms)
        return self._places[known]

    def weights(self, begin: int, end: int) -> tuple[csr_array, np.ndarray]:
        """Return the weights of the documents from `begin` up to `end`, and a mask of those that are in a file."""
        from scipy.sparse import csr_array

        sizes = self._size[begin:end]
        records = self._records[places(self._row[begin:end], sizes)]
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes, dtype=np.int64)])
        columns = self._places[records["term"]]
        rows = csr_array((records["weight"].astype(np.float32), columns, starts), shape=(end - begin, len(self.terms)))
        rows.sort_indices()
        return rows, self._source[begin:end] >= 0


class NewWeights(NewRows):
    """The weights of all documents: those that files have for them, and those that the index has already."""

    kind = SPARSE
    _found: FoundWeights  # type: ignore[assignment]

    def __init__(self, snapshot: Snapshot, found: FoundWeights, stored: str):
        self._old = self._old_rows(snapshot, found)
        moved = found.finish(self._staying(snapshot) if self._old else None)
        super().__init__(snapshot, found, stored)
        self.tokens = found.terms
        for name, rows in self._old.items():
            self._old[name] = self._moved(rows, moved)

    @staticmethod
    def _old_rows(snapshot: Snapshot, found: FoundWeights) -> dict[str, Any]:
        """Return the rows that the index has, by segment, without marks, and without those of deleted documents."""
        before = found._before
        if not before:
            return {}
        live = {segment.name: ~segment.dead for segment in snapshot.segments}
        return {name: _only(rows, live[name] & ~before.layout.marked(rows)) for name, rows in before.rows.items()}

    def _staying(self, snapshot: Snapshot) -> csr_array:
        from scipy.sparse import csr_array, vstack

        return csr_array(vstack(list(self._old.values())))

    def _moved(self, rows: csr_array, moved: np.ndarray) -> csr_array:
        """Return old rows whose terms have their new places as columns; moved[k] is the new place of column k."""
        from scipy.sparse import csr_array

        # The order of the terms stays, so the columns still ascend.
        columns = moved[rows.indices] if rows.nnz else rows.indices
        return csr_array((rows.data, columns, rows.indptr), shape=(rows.shape[0], self.layout.width))

    def _joined(self, segment: Segment, base: int, begin: int, end: int) -> Any:
        from scipy.sparse import csr_array, vstack

        weights, has = self._found.weights(base + begin, base + end)
        rows = self.layout.rows(weights)
        if self.layout.stored != "float32":
            self._measure_loss(weights, rows, [])
        if segment.name not in self._old:
            return rows
        old = self._old[segment.name][begin:end]
        kept = np.diff(old.indptr) > 0
        for doc in np.flatnonzero(kept & has).tolist():
            own, new = old[[doc]], rows[[doc]]
            if not (np.array_equal(own.indices, new.indices) and np.array_equal(own.data, new.data)):
                docno = self._found.docnos[base + begin + doc]
                raise InputError(f"{docno} has another vector already; --replace replaces all vectors of this name.")
        numbers = np.arange(end - begin)
        return csr_array(vstack([rows, old]))[np.where(kept, numbers + (end - begin), numbers)]

    @property
    def _described(self) -> str:
        # Terms that only deleted documents had do not count.
        return f"{self.kind} {self.layout.stored} {self.layout.step!r}"

    def _bytes_of(self, rows: Rows) -> Iterator[bytes]:
        terms, columns, bounds = self.tokens, rows.indices.tolist(), rows.indptr.tolist()
        data, size = np.ascontiguousarray(rows.data).tobytes(), rows.data.itemsize
        for begin, end in zip(bounds, bounds[1:], strict=False):
            names = "\0".join([terms[column] for column in columns[begin:end]])
            yield names.encode() + b"\0\0" + data[begin * size : end * size]

    def _measure_loss(self, vectors: Any, rows: Any, docnos: Any) -> None:
        """Raise `lost` to the largest relative distance between a document's weights and what its row keeps."""
        kept = self.layout.weights(rows).data
        squares, apart = (
            np.add.reduceat(np.append(np.square(values, dtype=np.float64), 0.0), vectors.indptr[:-1])
            for values in (vectors.data, vectors.data.astype(np.float64) - kept)
        )
        has = np.diff(vectors.indptr) > 0
        self.lost = max(self.lost, float(np.sqrt(apart[has] / squares[has]).max(initial=0.0)))

    def _count(self, rows: Rows) -> None:
        self.without_vector += int((np.diff(rows.indptr) == 0).sum())
        self.row_count += int(rows.nnz)


def _only(rows: csr_array, chosen: np.ndarray) -> csr_array:
    """Return `rows`, in which all rows outside of the mask `chosen` are empty."""
    from scipy.sparse import csr_array

    sizes = np.diff(rows.indptr)
    kept = np.repeat(chosen, sizes)
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.where(chosen, sizes, 0), dtype=np.int64)])
    return csr_array((rows.data[kept], rows.indices[kept], starts), shape=rows.shape)
