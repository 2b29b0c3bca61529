"""Add vectors that other programs computed to an index, and remove them.

The vectors of documents become the rows of a fitted model, such as `dense(NAME)`, in one commit. Their identity is a
hash of the values. So different values under the same name make a different model. Files are read by `vectors/`; the
plugin of the model scores documents.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sublex.errors import IndexProblem, InputError
from sublex.index.directory import Directory
from sublex.index.entries import Manifest, ModelEntry, VectorsEntry
from sublex.index.lock import locked
from sublex.index.manifest import BUILDING, commit, read_manifest, remove_leftovers
from sublex.index.schema import ABSENT
from sublex.index.snapshot import Snapshot
from sublex.language.expression import KEYWORDS, Call
from sublex.representations.fitting import Fitting
from sublex.representations.given_matrices import FoundMatrices, NewMatrices
from sublex.representations.given_rows import DENSE, Before, MatchedVectors, NewRows
from sublex.representations.given_weights import SPARSE, FoundWeights, NewWeights
from sublex.representations.job import Options
from sublex.tools.messages import Message, Step, counted, near_names
from sublex.vectors.batch import VectorsBatch
from sublex.vectors.sparse import SparseBatch
from sublex.vectors.stored import TYPES, GivenSet

# The functions that match vectors with documents and store them, by the component that ranks by the vectors.
KINDS: dict[str, tuple[type[MatchedVectors], type[NewRows]]] = {
    DENSE: (MatchedVectors, NewRows),
    NewMatrices.kind: (FoundMatrices, NewMatrices),
    SPARSE: (FoundWeights, NewWeights),
}
# The names of the kinds of vectors in messages.
WORDS = {DENSE: "vectors", NewMatrices.kind: "matrices", SPARSE: "weights of terms"}


class NamedEncoder(NamedTuple):
    """The encoder of queries that a user names: its expression, the kind of its vectors, and its hash."""

    name: str
    kind: str
    identity: str


class VectorsSummary(NamedTuple):
    """A summary of `add`: the numbers of vectors and documents.

    `read` counts the vectors in the files, and `matched` those with a document. `without_vector` counts the documents
    without a vector, and `zeros` those whose vector is 0. `rows` counts the rows of matrices, or the weights of terms;
    it is 0 for vectors. `width` is the width of the vectors; for weights, it is the number of distinct terms. `changed`
    tells whether the index changed. `lost` is the largest relative distance between a vector and its stored form.
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
    rows: int = 0
    kind: str = DENSE

    @property
    def without_document(self) -> int:
        """The number of vectors whose id is not the docno of any document."""
        return self.read - self.matched


def add(
    root: Path,
    name: str,
    batches: Iterable[VectorsBatch | SparseBatch],
    options: Options = Options(),  # noqa: B008
    stored: str | None = None,
    replace: bool = False,
    encoder: NamedEncoder | None = None,
) -> VectorsSummary:
    """Store vectors of documents under a name, and return a summary.

    If the name has vectors already, the new ones are added to them; with `replace`, they take their place. `stored` is
    the type of the stored numbers, by default that of the name's vectors, or float32. `encoder` is the encoder of
    queries; without it, the recorded encoder stays, unless vectors are replaced. Raise `SublexError`, and leave the
    index unchanged, for vectors that cannot be used, or if a document already has another vector.
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
        with _scratch(root) as scratch:
            snapshot = Snapshot(root, lambda: fitting.namer.registry)
            found: MatchedVectors | None = None
            for batch in batches:
                kind = _kind_of(batch)
                if found is None:
                    before = None if replace else _before(fitting, name, kind, stored)
                    matched, made = KINDS[kind]
                    found = matched(snapshot, name, scratch, options.memory, before)
                elif found.kind != kind:
                    both = " and ".join(words for known, words in WORDS.items() if known in (found.kind, kind))
                    raise InputError(f"{batch.place} has {both}; give documents the one or the other.")
                found.take(batch)  # type: ignore[arg-type]
                options.progress(found.read, found.read)
            if found is None:
                raise InputError("The files hold no vector.")
            if encoder and encoder.kind != found.kind:
                raise InputError(
                    f"{encoder.name} gives {encoder.kind} vectors, and {name} are {found.kind} vectors; name their own encoder."
                )
            if found.matched == 0:
                raise InputError(_none_matched(found, snapshot))
            rows = made(snapshot, found, stored or "float32")
            known_encoder = encoder.identity if encoder else (manifest.vectors[name].encoder if before else "")
            rows.given = GivenSet(rows.layout, rows.digest(), rows.tokens)
            entry = VectorsEntry(made.kind, rows.given.hash, found.read, found.matched, known_encoder)
            changed = manifest.vectors.get(name) != entry
            known = {**manifest.vectors, name: entry}
            fitting = Fitting(root, manifest._replace(vectors=known), options)
            fitting.given = rows
            expression = Call(made.kind, (name,), {})
            identity = fitting.fit_and_encode(fitting.namer.resolve(expression))
            outdated = _of_vectors(manifest, name) - {identity.model}
            again = Step("vectors add", root, name), " FILE"
            remaining = _without(root, fitting.fitted, outdated, name, again)
            if changed or fitting.changed:
                commit(root, manifest.next(fitted=remaining, vectors=known))
    return VectorsSummary(
        name, str(expression), found.width, rows.layout.stored, found.read, found.matched, rows.without_vector, rows.zeros,
        rows.lost, changed or fitting.changed, rows.row_count, made.kind,
    )  # fmt: skip


def _kind_of(batch: VectorsBatch | SparseBatch) -> str:
    """Return the name of the component that ranks by the vectors of a batch."""
    if isinstance(batch, SparseBatch):
        return SPARSE
    return DENSE if batch.sizes is None else NewMatrices.kind


def _before(fitting: Fitting, name: str, kind: str, stored: str | None) -> Before | None:
    """Return the vectors that an index has under a name. Raise InputError if new vectors cannot be added to them."""
    entry = fitting.manifest.vectors.get(name)
    if entry is None:
        return None
    if entry.kind != kind:
        raise InputError(f"{name} is ranked by {entry.kind}({name}), and these are of {kind}({name}); --replace them.")
    before = Before.of(fitting, kind, name)
    if before and stored not in (None, before.layout.stored):
        raise InputError(f"The vectors {name} are stored as {before.layout.stored}; leave --as out, or --replace them.")
    return before


@contextmanager
def _scratch(root: Path) -> Iterator[Directory]:
    """Yield a folder of the index for vectors that were read.

    If the process is killed, the next writer removes the folder.
    """
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
    """Return the names on disk of the models of the vectors `name`."""
    if name not in manifest.vectors:
        return set()
    content = manifest.vectors[name].hash
    return {model for model, entry in manifest.fitted.items() if entry.resources.get(name) == content}


def _without(
    root: Path, fitted: Mapping[str, ModelEntry], dropped: set[str], name: str, again: tuple[Any, ...] = ()
) -> dict[str, ModelEntry]:
    """Return the entries `fitted` without the models in `dropped`, which belong to the vectors `name`.

    Raise IndexProblem if a remaining model depends on a dropped one. The message names the steps to take: forget the
    dependent models, do the step in `again`, and fit the models once more.
    """
    remaining = {model: entry for model, entry in fitted.items() if model not in dropped}
    users = sorted(entry.expression for entry in remaining.values() if dropped.intersection(entry.depends))
    if users:
        depend = f"{', '.join(users)} {'depends' if len(users) == 1 else 'depend'} on the vectors {name}"
        steps = [", then: ", *again, ", then: ", Step("fit", root, *users)] if again else []
        raise IndexProblem(Message(depend, "; run: ", Step("forget", root, *users), *steps))
    return remaining


def _none_matched(found: MatchedVectors, snapshot: Snapshot) -> str:
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
