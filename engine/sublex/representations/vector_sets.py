"""Vectors from elsewhere: adding them to an index, and removing them.

The vectors of documents become the rows of a fitted model, such as `dense(NAME)`, in one commit. Their identity is a hash of
the values, so other values under the same name are another model. Files are read by `vectors/`; the plugin of the model
scores documents.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import numpy as np

from sublex.errors import IndexProblem, InputError
from sublex.index.directory import Directory
from sublex.index.entries import Manifest, ModelEntry, VectorsEntry
from sublex.index.lock import locked
from sublex.index.manifest import BUILDING, REPRESENTATIONS, commit, read_manifest, remove_leftovers
from sublex.index.schema import ABSENT
from sublex.index.segment import Segment
from sublex.index.snapshot import Snapshot
from sublex.language.expression import KEYWORDS, Call
from sublex.representations.fitting import Fitting
from sublex.representations.inputs import DOCUMENTS_PER_BLOCK
from sublex.representations.job import Options
from sublex.representations.rows import read_rows
from sublex.representations.stored_models import advising_refit, load_model
from sublex.tools.messages import Message, Step, counted, near_names
from sublex.vectors.batch import VectorsBatch, expect_numbers, expect_shape, single
from sublex.vectors.stored import TYPES, GivenSet, Layout

# The component that scores documents by dense vectors.
DENSE = "dense"
# The file of vectors that were read, in the folder of an unfinished build.
SPOOL = "vectors"
# Bytes of the working memory for one document while vectors are matched: its place, and its docno in a table.
BYTES_PER_DOCUMENT = 200


class VectorsSummary(NamedTuple):
    """What `add` did with vectors: the numbers of vectors and documents.

    `read` and `matched` count the vectors in the files, and those with a document. `without_vector` counts the documents
    that have none, and `zeros` those whose vector is 0. `changed` tells whether the index changed. `lost` is the largest
    relative distance between a vector and what is stored of it.
    """

    name: str
    expression: str
    width: int
    stored: str
    read: int
    matched: int
    without_vector: int
    zeros: int
    lost: float
    changed: bool

    @property
    def without_document(self) -> int:
        """The number of vectors whose id is the docno of no document."""
        return self.read - self.matched


def add(
    root: Path,
    name: str,
    batches: Iterable[VectorsBatch],
    options: Options = Options(),  # noqa: B008
    stored: str | None = None,
    replace: bool = False,
    encoder: str = "",
) -> VectorsSummary:
    """Store vectors of documents under a name, and return a summary.

    If the name has vectors already, those of documents without one are added, unless `replace` is set. `stored` is the
    type of the stored numbers, by default float32. `encoder` is the hash of the encoder of queries; without it, the one
    that is recorded stays. Raise `SublexError` for vectors that cannot be used; the index is then
    as it was.
    """
    if not (name.isidentifier() and name.isascii()) or name in KEYWORDS:
        raise InputError(
            f"Vectors cannot be called {name}; use a to z, digits and _, a letter first, and not true, false or inf."
        )
    if stored is not None and stored not in TYPES:
        raise InputError(f"Vectors are stored as {', '.join(TYPES)}, and not as {stored}.")
    with locked(root, "vectors add"):
        manifest = read_manifest(root)
        remove_leftovers(root, manifest)
        if name in manifest.resources:
            raise IndexProblem(f"{root.name} has a resource {name}; choose another name for the vectors.")
        fitting = Fitting(root, manifest, options)
        before = None if replace or name not in manifest.vectors else _Before.of(fitting, name)
        if before and stored not in (None, before.layout.stored):
            raise InputError(
                f"The vectors {name} are stored as {before.layout.stored}; leave --as out, or --replace them."
            )
        with _scratch(root) as scratch:
            snapshot = Snapshot(root, lambda: fitting.namer.registry)
            found = _Found(snapshot, name, scratch, options.memory, before)
            for batch in batches:
                found.take(batch)
                options.progress(found.read, found.read)
            if found.matched == 0:
                raise InputError(_none_matched(found, snapshot))
            rows = _Rows(snapshot, found, Layout(found.width, before.layout.stored if before else stored or "float32"))
            known_encoder = encoder or (manifest.vectors[name].encoder if before else "")
            rows.given = GivenSet(rows.layout, rows.digest())
            entry = VectorsEntry(DENSE, rows.given.hash, found.read, found.matched, known_encoder)
            changed = manifest.vectors.get(name) != entry
            known = {**manifest.vectors, name: entry}
            fitting = Fitting(root, manifest._replace(vectors=known), options)
            fitting.given = rows
            expression = Call(DENSE, (name,), {})
            identity = fitting.fit_and_encode(fitting.namer.resolve(expression))
            outdated = _of_vectors(manifest, name) - {identity.model}
            remaining = _without(root, fitting.fitted, outdated, name)
            if changed or fitting.changed:
                commit(root, manifest.next(fitted=remaining, vectors=known))
    return VectorsSummary(
        name, str(expression), found.width, rows.layout.stored, found.read, found.matched, rows.without_vector, rows.zeros,
        rows.lost, changed or fitting.changed,
    )  # fmt: skip


@contextmanager
def _scratch(root: Path) -> Iterator[Directory]:
    """Yield a folder of the index for vectors that were read. If the process is killed, the next writer removes it."""
    folder = Directory(root) / BUILDING
    folder.make_new()
    try:
        yield folder
    finally:
        folder.remove()


def remove(root: Path, name: str) -> None:
    """Remove vectors of an index, and the model that scores by them."""
    with locked(root, "vectors remove"):
        manifest = read_manifest(root)
        if name not in manifest.vectors:
            known = near_names(name, sorted(manifest.vectors)) or "none"
            raise IndexProblem(f"{root.name} has no vectors {name}; it has {known}.")
        remaining = _without(root, manifest.fitted, _of_vectors(manifest, name), name)
        vectors = {other: entry for other, entry in manifest.vectors.items() if other != name}
        commit(root, manifest.next(fitted=remaining, vectors=vectors or ABSENT))


def _of_vectors(manifest: Manifest, name: str) -> set[str]:
    """Return the names on disk of the models of some vectors."""
    if name not in manifest.vectors:
        return set()
    content = manifest.vectors[name].hash
    return {model for model, entry in manifest.fitted.items() if entry.resources.get(name) == content}


def _without(root: Path, fitted: Mapping[str, ModelEntry], dropped: set[str], name: str) -> dict[str, ModelEntry]:
    """Return models without some. Raise IndexProblem if a model that stays depends on one of them."""
    remaining = {model: entry for model, entry in fitted.items() if model not in dropped}
    users = sorted(entry.expression for entry in remaining.values() if dropped.intersection(entry.depends))
    if users:
        depend = f"{', '.join(users)} {'depends' if len(users) == 1 else 'depend'} on the vectors {name}"
        raise IndexProblem(Message(depend, "; run: ", Step("forget", root, *users)))
    return remaining


def _none_matched(found: _Found, snapshot: Snapshot) -> str:
    """Return the sentence for vectors whose ids are all unknown."""
    if not found.read:
        return "The files hold no vector."
    live = next((s.docno(d) for s in snapshot.segments for d in np.flatnonzero(~s.dead)[:1].tolist()), None)
    example = f" such as {live}" if live is not None else ""
    if found.read == 1:
        return f"The only id, {found.first}, is no docno of {snapshot.path.name}{example}; are these vectors of another collection?"
    return (
        f"None of the {counted(found.read, 'id')}, the first of them {found.first}, is a docno of {snapshot.path.name}"
        f"{example}; are these vectors of another collection?"
    )


class _Before(NamedTuple):
    """Vectors that an index has: the layout of their rows, and the rows by segment."""

    layout: Layout
    rows: dict[str, np.ndarray]

    @classmethod
    def of(cls, fitting: Fitting, name: str) -> _Before | None:
        """Read the rows of vectors; None if no model of them is there."""
        component = fitting.namer.resolve(Call(DENSE, (name,), {}))
        model = fitting.namer.make(component)
        identity = fitting.namer.identity(component, model)
        entry = fitting.fitted.get(identity.model)
        if entry is None or identity.rows not in entry.rows:
            return None
        load_model(fitting.root, entry, identity, model)
        layout: Layout = model.layout  # type: ignore[attr-defined]
        place = Directory(fitting.root) / REPRESENTATIONS / identity.model / identity.rows
        stored = entry.rows[identity.rows].segments
        sizes = {segment.name: segment.docs for segment in fitting.manifest.segments}
        with advising_refit(fitting.root, entry.expression, name):
            rows = {
                each: read_rows(place / each, stored[each].data, docs, layout.declared)
                for each, docs in sizes.items()
                if each in stored
            }
        return cls(layout, rows)


class _Found:
    """The vectors of files that belong to documents. Vectors that are not in a mapped file go to a scratch file."""

    def __init__(self, snapshot: Snapshot, name: str, scratch: Directory, memory: int, before: _Before | None):
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
        ids, rows = batch.ids, batch.rows
        expect_shape(rows.shape, batch.place)
        expect_numbers(rows.dtype, batch.place)
        if self.width and rows.shape[1] != self.width:
            already = "the index already has" if self._before and not self.read else "those before have"
            raise InputError(
                f"{batch.place} has vectors of {rows.shape[1]:,} numbers, and {already} {self.width:,}; all must be alike."
            )
        if not self.read and len(ids):
            self.first = ids[0]
        self.width = rows.shape[1]
        self.read += len(ids)
        docs = np.fromiter((self._docs.get(docno, -1) for docno in ids), np.int64, len(ids))
        known = np.flatnonzero(docs >= 0)
        docs = docs[known]
        again = np.flatnonzero(self._source[docs] >= 0)
        if not len(again) and len(docs) > 1:
            ordered = np.argsort(docs, kind="stable")
            again = ordered[1:][np.diff(docs[ordered]) == 0]
        if len(again):
            raise InputError(
                f"{batch.place} has a second vector of {ids[int(known[again[0]])]}; give each document one."
            )
        self.matched += len(docs)
        if batch.mapped:
            self._arrays.append(rows)
            self._source[docs], self._row[docs] = len(self._arrays) - 1, known
            if len(self._arrays) > np.iinfo(np.int16).max - 1:
                raise InputError("These are too many files; write their vectors into fewer.")
        elif len(docs):
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
        """Return the vectors of the documents `begin` to `end`, float32, and a mask of those that have one."""
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


class _Rows:
    """The rows of all documents, made of the vectors that were found and of those that the index has."""

    def __init__(self, snapshot: Snapshot, found: _Found, layout: Layout):
        self.layout, self._found, self._before = layout, found, found._before
        self._bases = {s.name: int(base) for s, base in zip(snapshot.segments, snapshot.bases, strict=False)}
        self._segments = snapshot.segments
        self.given = GivenSet(layout, "")
        self.without_vector = self.zeros = 0
        self.lost = 0.0

    def blocks(self, segment: Segment) -> Iterator[np.ndarray]:
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
            self._measure_loss(vectors, rows, base + begin)
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
        """Return the hash of the layout and of the docnos and rows of all live documents, and count what the rows hold."""
        digests: list[bytes] = []
        for segment in self._segments:
            dead, base, done = segment.dead, self._bases[segment.name], 0
            for rows in self.blocks(segment):
                live = np.flatnonzero(~dead[done : done + len(rows)])
                data, size = np.ascontiguousarray(rows[live]).tobytes(), rows.itemsize * rows.shape[1]
                docnos = [
                    self._found.docnos[doc].encode("utf-8", "surrogatepass") for doc in (live + base + done).tolist()
                ]
                names = [len(docno).to_bytes(4, "little") + docno for docno in docnos]
                begins = range(0, len(data), size)
                digests += [sha256(n + data[b : b + size]).digest() for n, b in zip(names, begins, strict=True)]
                self._count(rows[live])
                done += len(rows)
        digests.sort()
        whole = sha256(f"{DENSE} {self.layout.stored} {self.layout.width}".encode())
        whole.update(b"".join(digests))
        return whole.hexdigest()

    def _measure_loss(self, vectors: np.ndarray, rows: np.ndarray, first: int) -> None:
        """Note the largest relative distance between vectors and what their rows keep. `first` is the first document."""
        kept = self.layout.vectors(rows)
        if not np.isfinite(kept).all():
            docno = self._found.docnos[first + int(np.argmax(~np.isfinite(kept).all(axis=1)))]
            raise InputError(
                f"The vector of {docno} holds a number that is too large for {self.layout.stored}; leave --as out."
            )
        lengths = np.sqrt(np.square(vectors, dtype=np.float64).sum(axis=1))
        apart = np.sqrt(np.square(vectors.astype(np.float64) - kept).sum(axis=1))
        shares = np.divide(apart, lengths, out=np.zeros(len(rows)), where=lengths > 0)
        self.lost = max(self.lost, float(shares.max(initial=0.0)))

    def _count(self, rows: np.ndarray) -> None:
        has = self.layout.scales(rows) > 0
        self.without_vector += int((~has).sum())
        self.zeros += int((has & ~rows[:, : self.layout.width].any(axis=1)).sum())
