"""Vectors that a user gives to documents, on their way into an index.

They are matched with documents, joined with the vectors that the index has already, and hashed.

`vector_sets.py` commits them. `given_matrices.py` does the same for matrices, and `given_weights.py` for weights of terms.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Any, NamedTuple

import numpy as np

from sublex.contracts.fitted import Rows
from sublex.errors import InputError
from sublex.index.directory import Directory
from sublex.index.manifest import REPRESENTATIONS
from sublex.index.segment import Segment
from sublex.index.snapshot import Snapshot
from sublex.language.expression import Call
from sublex.representations.fitting import Fitting
from sublex.representations.inputs import DOCUMENTS_PER_BLOCK
from sublex.representations.rows import declared_rows, read_rows
from sublex.representations.stored_models import advising_refit, load_model
from sublex.vectors.batch import VectorsBatch, expect_numbers, expect_shape, single
from sublex.vectors.stored import GivenSet, RowLayout

# The component that scores documents by dense vectors.
DENSE = "dense"
# The file of vectors that were read, in the folder of an unfinished build.
SPOOL = "vectors"
# Bytes of the working memory for one document while vectors are matched: its place, and its docno in a table.
BYTES_PER_DOCUMENT = 200


class Before(NamedTuple):
    """The vectors that an index already has under a name.

    `layout` is the layout of their rows, `rows` has the rows of each segment, and `tokens` the tokens of matrices, or
    the terms of weights.
    """

    layout: Any
    rows: dict[str, Rows]
    tokens: Sequence[str]

    @classmethod
    def of(cls, fitting: Fitting, kind: str, name: str) -> Before | None:
        """Read the vectors `name`, by which the component `kind` ranks; None if the index has no model of them."""
        component = fitting.namer.resolve(Call(kind, (name,), {}))
        model: Any = fitting.namer.make(component)
        identity = fitting.namer.identity(component, model)
        entry = fitting.fitted.get(identity.model)
        if entry is None or identity.rows not in entry.rows:
            return None
        load_model(fitting.root, entry, identity, model)
        layout = model.layout
        place = Directory(fitting.root) / REPRESENTATIONS / identity.model / identity.rows
        stored = entry.rows[identity.rows].segments
        sizes = {segment.name: segment.docs for segment in fitting.manifest.segments}
        with advising_refit(fitting.root, entry.expression, name):
            rows = {
                each: read_rows(place / each, stored[each].data, docs, declared_rows(model))
                for each, docs in sizes.items()
                if each in stored
            }
        return cls(layout, rows, getattr(model, "tokens", ()))


class MatchedVectors:
    """The vectors of files that belong to documents of the index.

    Vectors that are not mapped from a file go to a scratch file. `name` is the name that the vectors will have in the
    index, and `before` has the vectors that already have this name.
    """

    kind = DENSE

    def __init__(self, snapshot: Snapshot, name: str, scratch: Directory, memory: int, before: Before | None):
        self._name, self._before = name, before
        self.width, self.read, self.matched, self.first = before.layout.width if before else 0, 0, 0, ""
        docs = int(snapshot.bases[-1])
        if docs * BYTES_PER_DOCUMENT > memory:
            needed = docs * BYTES_PER_DOCUMENT >> 20
            raise InputError(
                f"Matching vectors with documents takes {needed:,} MB and memory allows {memory >> 20:,}; allow more."
            )
        dead = np.concatenate([segment.dead for segment in snapshot.segments])
        # The docnos of all documents by number, and the numbers of live documents.
        self.docnos = snapshot.all_docnos.tolist()
        self._docs = {docno: doc for doc, docno in enumerate(self.docnos) if not dead[doc]}
        # For each document, the array that has its vector, and the row there; -1 for a document without a vector.
        self._source, self._row = np.full(docs, -1, np.int16), np.zeros(docs, np.int64)
        self._arrays: list[np.ndarray] = []
        self._scratch, self._spool = scratch, -1

    def take(self, batch: VectorsBatch) -> None:
        """Keep the vectors of a batch that belong to documents."""
        rows = batch.rows
        expect_shape(rows.shape, batch.place)
        expect_numbers(rows.dtype, batch.place)
        if self.width and rows.shape[1] != self.width:
            already = "the index already has" if self._before and not self.read else "those before have"
            raise InputError(
                f"{batch.place} has vectors of {rows.shape[1]:,} numbers, and {already} {self.width:,}; all must be alike."
            )
        self.width = rows.shape[1]
        known, docs = self._matching(batch.ids, batch.place)
        if batch.mapped:
            self._arrays.append(rows)
            if len(self._arrays) > np.iinfo(np.int16).max - 1:
                raise InputError("These are too many files; write their vectors into fewer.")
        if len(docs):
            self._keep(batch, known, docs)

    def layout(self, stored: str) -> Any:
        """Return the layout of the rows: that of the vectors `before`, or else one for numbers of the type `stored`."""
        return self._before.layout if self._before else RowLayout(self.width, stored)

    def _matching(self, ids: Sequence[str], place: str) -> tuple[np.ndarray, np.ndarray]:
        """Return the places of those ids that are docnos of live documents, and the numbers of these documents.

        Raise InputError if a document gets a second vector.
        """
        if not self.read and len(ids):
            self.first = ids[0]
        self.read += len(ids)
        docs = np.fromiter((self._docs.get(docno, -1) for docno in ids), np.int64, len(ids))
        known = np.flatnonzero(docs >= 0)
        docs = docs[known]
        again = np.flatnonzero(self._source[docs] >= 0)
        if not len(again) and len(docs) > 1:
            ordered = np.argsort(docs, kind="stable")
            again = ordered[1:][np.diff(docs[ordered]) == 0]
        if len(again):
            raise InputError(f"{place} has a second vector of {ids[int(known[again[0]])]}; give each document one.")
        self.matched += len(docs)
        return known, docs

    def _keep(self, batch: VectorsBatch, known: np.ndarray, docs: np.ndarray) -> None:
        """Remember where the vectors at the places `known` of a batch are. They belong to the documents `docs`.

        Vectors that are not mapped from a file are written to the scratch file.
        """
        ids, rows = batch.ids, batch.rows
        if batch.mapped:
            self._source[docs], self._row[docs] = len(self._arrays) - 1, known
        else:
            values = single(rows[known], [ids[place] for place in known.tolist()], batch.place)
            self._spool_rows(values, docs)

    def _spool_rows(self, values: np.ndarray, docs: np.ndarray) -> None:
        if self._spool < 0:
            shape = len(self._source), self.width
            self._spool = len(self._arrays)
            mapped = self._scratch.map_new(SPOOL, max(1, 4 * shape[0] * shape[1]))
            self._arrays.append(np.frombuffer(mapped, np.float32, shape[0] * shape[1]).reshape(shape))
        self._arrays[self._spool][docs] = values
        self._source[docs], self._row[docs] = self._spool, docs

    def vectors(self, begin: int, end: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the vectors of the documents from `begin` up to `end`, float32, and a mask of those that have one."""
        sources, places = self._source[begin:end], self._row[begin:end]
        vectors = np.zeros((end - begin, self.width), np.float32)
        for source in np.unique(sources[sources >= 0]).tolist():
            chosen = np.flatnonzero(sources == source)
            wanted = places[chosen]
            # A slice of a file is read faster than single rows.
            apart = len(wanted) > 1 and not (np.diff(wanted) == 1).all()
            rows = self._arrays[source][wanted] if apart else self._arrays[source][wanted[0] : wanted[-1] + 1]
            ids = (
                self.docnos[begin:end]
                if len(chosen) == end - begin
                else [self.docnos[begin + k] for k in chosen.tolist()]
            )
            vectors[chosen] = single(rows, ids, f"The vectors {self._name}")
        return vectors, sources >= 0


class NewRows:
    """The rows of all documents, made of the vectors that files have for them, and of those that the index has already.

    `kind` is the component that ranks by them. `stored` is the type of the stored numbers, unless the index has
    vectors already. After `digest`, `without_vector` counts the documents that have no vector, and `zeros` those whose
    vector is 0; `row_count` counts the rows of matrices, or the weights of terms. `lost` is the largest relative
    distance between a vector and its stored form.
    """

    kind = DENSE
    # The tokens of matrices, or the terms of weights, by number; empty for vectors.
    tokens: Sequence[str] = ()

    def __init__(self, snapshot: Snapshot, found: MatchedVectors, stored: str):
        self.layout, self._found, self._before = found.layout(stored), found, found._before
        self._bases = {s.name: int(base) for s, base in zip(snapshot.segments, snapshot.bases, strict=False)}
        self._segments = snapshot.segments
        self.given = GivenSet(self.layout, "")
        self.without_vector = self.zeros = self.row_count = 0
        self.lost = 0.0

    def blocks(self, segment: Segment) -> Iterator[Rows]:
        """Yield the rows of all documents of a segment, deleted ones included."""
        base = self._bases[segment.name]
        for begin in range(0, segment.docs or 1, DOCUMENTS_PER_BLOCK):
            end = min(begin + DOCUMENTS_PER_BLOCK, segment.docs)
            yield self._joined(segment, base, begin, end)

    def _joined(self, segment: Segment, base: int, begin: int, end: int) -> np.ndarray:
        layout = self.layout
        vectors, has = self._found.vectors(base + begin, base + end)
        rows = layout.rows(vectors)
        rows[~has] = layout.blank(1)
        if layout.stored != "float32":
            self._measure_loss(vectors, rows, self._found.docnos[base + begin : base + end])
        if self._before and segment.name in self._before.rows:
            old = self._before.rows[segment.name][begin:end]
            kept = (layout.scales(old) > 0) & ~segment.dead[begin:end]
            differs = kept & has & (old != rows).any(axis=1)
            if differs.any():
                docno = self._found.docnos[base + begin + int(np.argmax(differs))]
                raise InputError(f"{docno} has another vector already; --replace replaces all vectors of this name.")
            rows[kept] = old[kept]
        return rows

    def digest(self) -> str:
        """Return a hash of the layout and of the docnos and rows of all live documents. Compute the counts, too."""
        digests: list[bytes] = []
        for segment in self._segments:
            dead, base, done = segment.dead, self._bases[segment.name], 0
            for rows in self.blocks(segment):
                live = np.flatnonzero(~dead[done : done + rows.shape[0]])
                parts = self._bytes_of(rows[live])
                docnos = [
                    self._found.docnos[doc].encode("utf-8", "surrogatepass") for doc in (live + base + done).tolist()
                ]
                names = [len(docno).to_bytes(4, "little") + docno for docno in docnos]
                digests += [sha256(name + part).digest() for name, part in zip(names, parts, strict=True)]
                self._count(rows[live])
                done += rows.shape[0]
        digests.sort()
        whole = sha256(self._described.encode())
        whole.update(b"".join(digests))
        return whole.hexdigest()

    @property
    def _described(self) -> str:
        """The facts about the layout that the hash depends on, as text."""
        return f"{self.kind} {self.layout.stored} {self.layout.width}"

    def _bytes_of(self, rows: Rows) -> Iterator[bytes]:
        """Yield the bytes of each document's row."""
        data, size = np.ascontiguousarray(rows).tobytes(), rows.itemsize * rows.shape[1]
        yield from (data[begin : begin + size] for begin in range(0, len(data), size))

    def _measure_loss(self, vectors: np.ndarray, rows: np.ndarray, docnos: Sequence[str]) -> None:
        """Raise `lost` to the largest relative distance between a vector and the vector that its row keeps.

        `docnos` has the docno of each vector, for messages.
        """
        kept = self.layout.vectors(rows)
        if not np.isfinite(kept).all():
            docno = docnos[int(np.argmax(~np.isfinite(kept).all(axis=1)))]
            raise InputError(
                f"The vector of {docno} holds a number that is too large for {self.layout.stored}; leave --as out."
            )
        lengths = np.sqrt(np.square(vectors, dtype=np.float64).sum(axis=1))
        apart = np.sqrt(np.square(vectors.astype(np.float64) - kept).sum(axis=1))
        shares = np.divide(apart, lengths, out=np.zeros(len(rows)), where=lengths > 0)
        self.lost = max(self.lost, float(shares.max(initial=0.0)))

    def _count(self, rows: Rows) -> None:
        has = self.layout.scales(rows) > 0
        self.without_vector += int((~has).sum())
        self.zeros += int((has & ~rows[:, : self.layout.width].any(axis=1)).sum())
