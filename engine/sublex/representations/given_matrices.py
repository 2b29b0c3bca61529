"""Matrices that a user gives to documents, on their way into an index. `given_rows.py` does the same for vectors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from sublex.contracts.fitted import Rows
from sublex.errors import IndexCorrupt, InputError
from sublex.index.directory import Directory
from sublex.index.segment import Segment
from sublex.index.snapshot import Snapshot
from sublex.representations.given_rows import SPOOL, Before, MatchedVectors, NewRows
from sublex.vectors.batch import Repeated, VectorsBatch, single
from sublex.vectors.matrices import Matrices, places

# The component that scores documents by matrices.
LATE = "late"
# Documents in a block. The matrix of a document takes some hundred times the memory of a vector.
DOCUMENTS = 256


class FoundMatrices(MatchedVectors):
    """The matrices, from the user's files, whose documents are in the index.

    Matrices that are not mapped from their file are copied to a scratch file.
    """

    kind = LATE

    def __init__(self, snapshot: Snapshot, name: str, scratch: Directory, memory: int, before: Before | None):
        super().__init__(snapshot, name, scratch, memory, before)
        # The number of rows of each document's matrix. `_row` has the place of the first.
        self._size = np.zeros(len(self._row), np.int64)
        self._written = 0
        # The number of each token, by its text; tokens that the index has already come first. `_numbers` has, for each
        # array, the numbers of its rows' tokens.
        self.tokens = {token: number for number, token in enumerate(before.tokens if before else ())}
        self._numbers: dict[int, np.ndarray] = {}
        self._spooled: list[np.ndarray] = []

    def _keep(self, batch: VectorsBatch, known: np.ndarray, docs: np.ndarray) -> None:
        assert batch.sizes is not None
        sizes = batch.sizes[known]
        begins = np.cumsum(batch.sizes) - batch.sizes
        self._size[docs] = sizes
        numbers = self._numbered(batch.tokens, len(batch.rows))
        if batch.mapped:
            self._numbers[len(self._arrays) - 1] = numbers
            self._source[docs], self._row[docs] = len(self._arrays) - 1, begins[known]
            return
        if self._spool < 0:
            self._spool = len(self._arrays)
            self._arrays.append(np.zeros((0, self.width), np.float32))
        ids = [batch.ids[place] for place in known.tolist()]
        rows = places(begins[known], sizes)
        values = single(batch.rows[rows], Repeated(ids, sizes), batch.place)
        self._spooled.append(numbers[rows])
        with self._scratch.open_or_make(SPOOL) as stream:
            rest = values.data.cast("B")
            while len(rest):
                rest = rest[stream.write(rest) :]
        self._source[docs], self._row[docs] = self._spool, self._written + np.cumsum(sizes) - sizes
        self._written += len(values)

    def _numbered(self, tokens: Sequence[str], rows: int) -> np.ndarray:
        """Return the number of the token of each of `rows` rows, -1 for a row without a token.

        New tokens get the next numbers.
        """
        known = self.tokens
        # Half of a surrogate pair cannot be written as UTF-8, so it is replaced.
        texts = (token if token.isascii() else token.encode("utf-8", "replace").decode() for token in tokens)
        if not len(tokens):
            return np.broadcast_to(np.int32(-1), rows)
        return np.fromiter((known.setdefault(text, len(known)) if text else -1 for text in texts), np.int32, rows)

    def finish(self) -> None:
        """Map the matrices that were written to the scratch file."""
        if self._spool >= 0:
            values = np.frombuffer(self._scratch.map_old(SPOOL), np.float32)
            self._arrays[self._spool] = values.reshape(self._written, self.width)
            self._numbers[self._spool] = np.concatenate(self._spooled)

    def matrices(self, begin: int, end: int) -> Matrices:
        """Return the matrices of the documents from `begin` up to `end`, float32."""
        sources, first, sizes = self._source[begin:end], self._row[begin:end], self._size[begin:end]
        found = Matrices.of_sizes(np.zeros((int(sizes.sum()), self.width), np.float32), sizes)
        found = found.with_tokens() if self.tokens else found
        for source in np.unique(sources[sources >= 0]).tolist():
            chosen = np.flatnonzero(sources == source)
            # A slice of a file is read faster than single rows.
            joined = (first[chosen[1:]] == first[chosen[:-1]] + sizes[chosen[:-1]]).all()
            last = int(first[chosen[-1]] + sizes[chosen[-1]])
            wanted = slice(int(first[chosen[0]]), last) if joined else places(first[chosen], sizes[chosen])
            ids = Repeated([self.docnos[begin + doc] for doc in chosen.tolist()], sizes[chosen])
            values = single(self._arrays[source][wanted], ids, f"The vectors {self._name}")
            rows = places(found.starts[chosen], sizes[chosen])
            found.data[rows] = values
            if found.tokens is not None:
                found.tokens[rows] = self._numbers[source][wanted]
        return found


class NewMatrices(NewRows):
    """The matrices of all documents: those that files have for them, and those that the index has already."""

    kind = LATE
    _found: FoundMatrices

    def __init__(self, snapshot: Snapshot, found: FoundMatrices, stored: str):
        super().__init__(snapshot, found, stored)
        found.finish()
        self.tokens = list(found.tokens)

    def blocks(self, segment: Segment) -> Iterator[Matrices]:
        """Yield the matrices of all documents of a segment, deleted ones included."""
        base = self._bases[segment.name]
        for begin in range(0, segment.docs or 1, DOCUMENTS):
            end = min(begin + DOCUMENTS, segment.docs)
            yield self._with_old(segment, base, begin, end)

    def _with_old(self, segment: Segment, base: int, begin: int, end: int) -> Matrices:
        layout, found = self.layout, self._found.matrices(base + begin, base + end)
        new = Matrices(layout.rows(found.data), found.starts, found.tokens)
        if layout.stored != "float32":
            ids = Repeated(self._found.docnos[base + begin : base + end], found.sizes)
            self._measure_loss(found.data, new.data, ids)
        if not (self._before and segment.name in self._before.rows):
            return new
        old = self._before.rows[segment.name][begin:end]
        kept = (old.sizes > 0) & ~layout.uncovered(old) & ~segment.dead[begin:end]
        for doc in np.flatnonzero(kept & (new.sizes > 0)).tolist():
            one = slice(doc, doc + 1)
            if not np.array_equal(old[one].data, new[one].data):
                docno = self._found.docnos[base + begin + doc]
                raise InputError(f"{docno} has another matrix already; --replace replaces all vectors of this name.")
        if old.tokens is not None and not ((old.tokens >= -1) & (old.tokens < len(self._before.tokens))).all():
            raise IndexCorrupt(f"The tokens of {segment.name} are not those of the model; --replace the vectors.")
        old = old.with_tokens() if self.tokens else old
        numbers = np.arange(end - begin)
        return Matrices.stacked([new, old])[np.where(kept, numbers + (end - begin), numbers)]

    def _bytes_of(self, rows: Rows) -> Iterator[bytes]:
        data, size = np.ascontiguousarray(rows.data).tobytes(), rows.dtype.itemsize * rows.shape[1]
        bounds = rows.starts.tolist()
        for begin, end in zip(bounds, bounds[1:], strict=False):
            part = data[begin * size : end * size]
            if rows.tokens is not None:
                numbers = rows.tokens[begin:end].tolist()
                part += b"".join(b"\0" + (self.tokens[number].encode() if number >= 0 else b"\0") for number in numbers)
            yield part

    def _count(self, rows: Rows) -> None:
        self.without_vector += int((rows.sizes == 0).sum())
        self.row_count += len(rows.data)
