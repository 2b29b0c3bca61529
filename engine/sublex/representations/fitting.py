"""Fit models to an index, and encode its documents.

`fit` writes models and rows to new folders below `representations/`, and publishes them in one commit. `forget` drops
models. Plugins have the algorithms. This module scores no documents.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from sublex.contracts.base import Analyzer
from sublex.contracts.fitted import Fittable, Representation, Rows, Smoother
from sublex.errors import IndexCorrupt, IndexProblem, InputError, PluginError, UnknownName, contract
from sublex.index.directory import Directory
from sublex.index.entries import Manifest, ModelEntry, RowsEntry, SeenEntry, SegmentRows, TokenCounts
from sublex.index.format import FolderWriter, copy_folder
from sublex.index.lock import locked
from sublex.index.manifest import MANIFEST, REPRESENTATIONS, analyzer_of, commit, read_manifest, remove_leftovers
from sublex.index.schema import ABSENT
from sublex.index.segment import Segment, open_segment
from sublex.index.snapshot import Snapshot
from sublex.language import plugins
from sublex.language.expression import Expression
from sublex.language.parser import parse, parse_call
from sublex.language.plugins import Component, Registry
from sublex.representations import list_files
from sublex.representations.clusters import Clusters
from sublex.representations.identity import ModelIdentity, Namer
from sublex.representations.inputs import READINGS, ModelVocabulary, inputs_of, size_of
from sublex.representations.job import FittingJob, Options, open_job
from sublex.representations.model_store import StoreWriter
from sublex.representations.neighbours import (
    EXACT,
    NO_NEIGHBOUR,
    NeighbourLists,
    in_order,
    likely_nearest,
    write_lists,
)
from sublex.representations.rows import checked_rows, declared_rows, kind_of_rows, read_rows, rows_in, write_rows
from sublex.representations.sketch import VectorSource, similarity_of
from sublex.representations.sketch_files import has_sketch, key_of, read_sketch, write_sketch
from sublex.representations.sparse_neighbours import DocumentVectors, SparseVectors, nearest_of, vectors_of
from sublex.representations.stored_models import MODEL, load_model, load_values, not_fitted
from sublex.retrieval.weight_lists import WeightLists
from sublex.tools.messages import Message, Step
from sublex.vectors.stored import GivenSet


def fit(root: Path, expression: Expression, options: Options = Options(), source: Path | None = None) -> ModelIdentity:  # noqa: B008
    """Fit a component and the models that it needs, encode documents without rows, and return the component's identity.

    Fitted models and existing rows stay as they are. `source` may be the path of another index; the models are then
    copied from that index. After a `SublexError`, the index is unchanged.
    """
    if source is not None and source.exists() and source.samefile(root):
        raise InputError(f"{source} is the index itself; name another index to take models from.")
    with locked(root, "fit"):
        manifest = read_manifest(root)
        remove_leftovers(root, manifest)
        fitting = Fitting(root, manifest, options, source)
        identity = fitting.fit_and_encode(fitting.namer.resolve(expression))
        if fitting.changed:
            commit(root, manifest.next(fitted=fitting.fitted, labels=fitting.labels or ABSENT))
    return identity


def check_before_build(root: Path, rankers: Iterable[str], models: Iterable[str], store: str) -> None:
    """Raise an error if, after a build at `root`, a ranker would be unknown, or a model could not be fitted.

    `store` names the parts that the index will store. If the new index replaces an index at `root`, registered
    resources stay.
    """
    registry = plugins.load()
    for ranker in rankers:
        registry.resolve("ranker", parse_call(ranker))
    is_there = models and Directory(root).has(MANIFEST)
    names = Namer(root, read_manifest(root)._replace(fitted=ABSENT) if is_there else None, registry)
    for expression in models:
        resolved = names.resolve(expression)
        model = names.make(resolved)
        names.identity(resolved, model)
        part = READINGS[model.reads].stored_part if isinstance(model, Representation) else ""
        if part and part not in store.split(","):
            raise InputError(f"{expression} needs stored {part}; leave --store out, or name {part} in it.")


def forget(root: Path, *expressions: str, registry: Registry | None = None, labels: bool = False) -> None:
    """Drop fitted models with all their rows.

    Each model is named by its expression or by the name of its folder. With `labels`, drop also the decisions of people
    about their labels.

    Raise `IndexProblem` if a remaining model depends on a dropped model.
    """
    with locked(root, "forget"):
        manifest = read_manifest(root)
        fitted = manifest.fitted
        names = Namer(root, manifest, registry)
        meant = [text if text in fitted else str(names.written_out(parse(text))) for text in expressions]
        dropped = {_fitted_name(root, fitted, expression, names): expression for expression in meant}
        remaining = {name: entry for name, entry in fitted.items() if name not in dropped}
        for name, expression in dropped.items():
            users = sorted(entry.expression for entry in remaining.values() if name in entry.depends)
            if users:
                depend = f"{', '.join(users)} {'depends' if len(users) == 1 else 'depend'} on {expression}"
                raise IndexProblem(Message(depend, "; run: ", Step("forget", root, *users, expression)))
        gone = {fitted[name].expression for name in dropped} if labels else set()
        decisions = {text: own for text, own in manifest.labels.items() if text not in gone}
        used = {name for entry in remaining.values() for name in entry.resources}
        vectors = {name: entry for name, entry in manifest.vectors.items() if name in used}
        commit(root, manifest.next(fitted=remaining, labels=decisions or ABSENT, vectors=vectors or ABSENT))


def _fitted_name(root: Path, fitted: Mapping[str, ModelEntry], expression: str, names: Namer) -> str:
    """Return the folder name of a fitted model, given by its expression or by this name."""
    name = expression if expression in fitted else names.model_of(expression)
    if name in fitted:
        return name
    outdated = [name for name, entry in fitted.items() if entry.expression == expression]
    if outdated:
        state = f"{expression} was fitted with another version of the plugin, another default, or a file that has changed since"
        raise IndexProblem(Message(state, "; to drop that model, run: ", Step("forget", root, *outdated)))
    raise IndexProblem(not_fitted(root, expression, fitted, advise=False))


class GivenRows(Protocol):
    """Rows that a user gave to documents, in place of rows that a model computes.

    `given` has the values that the model of such rows stores.
    """

    given: GivenSet

    def blocks(self, segment: Segment) -> Iterator[Rows]:
        """Yield the rows of all documents of a segment, deleted ones included."""
        ...


class Fitting:
    """Fits models of one index and encodes its documents, without committing.

    `fitted` has the manifest's entries for all models, new models included. `changed` tells whether `fitted` differs
    from the manifest on disk. The caller holds the index's lock and commits.
    """

    def __init__(self, root: Path, manifest: Manifest, options: Options, source: Path | None = None):
        self.root, self.options, self.source = root, options, source
        self.namer = Namer(root, manifest, options.registry, read_manifest(source).resources if source else ABSENT)
        self.manifest = manifest
        self.fitted: dict[str, ModelEntry] = dict(manifest.fitted)
        # The decisions of people about labels are copied together with a model.
        self.labels = dict(manifest.labels)
        self.changed = False
        # The rows of documents, if they are given to the model.
        self.given: GivenRows | None = None
        self._models: dict[str, Fittable] = {}

    @cached_property
    def _analyzer(self) -> Analyzer:
        return analyzer_of(self.manifest, self.namer.registry)

    def _folder_of(self, model: str) -> Directory:
        """Return the folder of a model and its rows."""
        return Directory(self.root) / REPRESENTATIONS / model

    def fit_and_encode(self, component: Component, requested: bool = True) -> ModelIdentity:
        """Fit a component after the models that it depends on, encode documents without rows, and return its identity.

        `requested` is False for a model that is fitted only because another model depends on it.
        """
        model = self.namer.make(component)
        identity = self.namer.identity(component, model)
        for dependency in model.depends():
            try:
                resolved = self.namer.resolve(dependency)
            except UnknownName as error:
                raise UnknownName(f"{component} depends on {dependency}. {error}") from None
            self.fit_and_encode(resolved, requested=False)
        self._models[identity.model] = model
        fitted_before = identity.model in self.fitted
        if fitted_before:
            load_model(self.root, self.fitted[identity.model], identity, model)
            if self.source is not None and requested:
                self.options.say(
                    f"{identity.expression} is fitted here already; to take it from {self.source}, forget it first."
                )
        else:
            index = Snapshot(self.root, lambda: self.namer.registry)
            if isinstance(model, Representation) and (part := READINGS[model.reads].stored_part):
                # Check before the fit that the index stores the part that the model reads.
                index.need(part, "documents are encoded by")
            folder = self._folder_of(identity.model) / MODEL
            self.fitted[identity.model] = (
                self._fit(index, component, model, identity, folder)
                if self.source is None
                else self._copy(self.source, component, model, identity, folder)
            )
            self.changed = True
        if isinstance(model, Representation):
            self.encode_missing_rows(model, identity, just_fitted=not fitted_before and self.source is None)
        elif isinstance(model, Smoother):
            self.link_missing_documents(model, identity)
        return identity

    def _fit(
        self, index: Snapshot, component: Component, model: Fittable, identity: ModelIdentity, folder: Directory
    ) -> ModelEntry:
        """Fit a model to an index, write it to a folder, and return the manifest's entry for it."""
        if not len(index):
            raise InputError(f"{self.root} has no document to fit {identity.expression} to.")
        resources = self.namer.used(component)
        with self._job() as job, contract(identity.kind, identity.expression):
            needed, allowed = model.estimate(index.corpus, job), self.options.memory
            if needed > allowed:
                raise InputError(
                    f"Fitting {identity.expression} takes {needed >> 20:,} MB and memory allows {allowed >> 20:,}; allow more."
                )
            if self.given is None:
                self.options.say(f"Fitting {identity.expression}")
            job.given = None if self.given is None else self.given.given
            model.fit(index.corpus, job)
            with FolderWriter(folder) as writer:
                store = StoreWriter(writer)
                model.save(store)
                stored = store.finish()
            # Read the model from disk, because later documents will also be encoded by the model from disk.
            try:
                load_values(folder, stored, model)
            except IndexCorrupt as error:
                raise PluginError(f"It cannot load what it stored. {error}") from None
        if self.namer.used(component) != resources:
            raise InputError(f"A file that {identity.expression} reads changed while it was fitted; fit it again.")
        depends = tuple(self.namer.model_of(dependency) for dependency in model.depends())
        return ModelEntry(
            identity.expression, model.version, depends, resources, index.fingerprint, stored, rows={}, seen={}
        )

    def _copy(
        self, source: Path, component: Component, model: Fittable, identity: ModelIdentity, folder: Directory
    ) -> ModelEntry:
        """Copy a model from another index to a folder, load it, and return the manifest's entry for it."""
        theirs = read_manifest(source)
        if theirs.analyzer.settings != self.manifest.analyzer.settings:
            self.options.say(f"{source} has another analyzer; the model will know fewer of the words here.")
        if identity.model not in theirs.fitted:
            raise IndexProblem(not_fitted(source, identity.expression, theirs.fitted))
        their_entry = theirs.fitted[identity.model]
        copy_folder(Directory(source) / REPRESENTATIONS / identity.model / MODEL, their_entry.model, folder)
        if identity.expression in theirs.labels:
            self.labels.setdefault(identity.expression, theirs.labels[identity.expression])
        entry = their_entry._replace(rows={}, seen={}, resources=self.namer.used(component))
        load_model(self.root, entry, identity, model)
        return entry

    def _job(self) -> AbstractContextManager[FittingJob]:
        """Return a job whose `model` returns models that this object has fitted or loaded."""

        def model_of(expression: Expression) -> Fittable:
            name = self.namer.model_of(expression)
            if name not in self._models:
                raise PluginError(f"It asked for the model {expression}, which its depends() does not name.")
            return self._models[name]

        return open_job(self.options, model_of, self.namer.resources.path)

    def encode_missing_rows(self, model: Representation, identity: ModelIdentity, just_fitted: bool = False) -> None:
        """Encode the documents of every segment that has no rows of a model, and record the rows in `fitted`.

        The tokens of these segments count as added after the fit. If the model was `just_fitted`, they do not.
        """
        entry = self.fitted[identity.model]
        folder = self._folder_of(identity.model) / identity.rows
        covered = dict(entry.rows[identity.rows].segments) if identity.rows in entry.rows else {}
        seen = dict(entry.seen)
        missing = [segment for segment in self.manifest.segments if segment.name not in covered]
        if not missing:
            self.write_missing_sketches(model, identity, covered)
            self.write_missing_lists(model, identity, covered)
            return
        kind = next((kind_of_rows(rows_in(folder / name, rows.data)) for name, rows in covered.items()), None)
        for described in missing:
            segment = open_segment(self.root, described)
            covered[segment.name], counts = self._encode_segment(model, identity, segment, kind)
            seen.setdefault(segment.name, SeenEntry(*counts, TokenCounts(0, 0) if just_fitted else counts))
        self.write_missing_sketches(model, identity, covered)
        self.write_missing_lists(model, identity, covered)
        self._folder_of(identity.model).sync()
        self._folder_of(identity.model).parent.sync()
        rows = {**entry.rows, identity.rows: RowsEntry(identity.encoded, covered)}
        self.fitted[identity.model] = entry._replace(rows=rows, seen=seen)
        self.changed = True

    def link_missing_documents(self, model: Smoother, identity: ModelIdentity) -> None:
        """Find the neighbours of the documents in segments that a graph lacks, and record their lists in `fitted`.

        The folder of a new segment has the lists of its documents, and the lists that earlier segments have with
        nearest documents in the new one.
        """
        entry = self.fitted[identity.model]
        covered = dict(entry.rows[identity.rows].segments) if identity.rows in entry.rows else {}
        segments = {described.name: described for described in self.manifest.segments}
        linked = [name for name in segments if name in covered]
        missing = [name for name in segments if name not in covered]
        if not missing and identity.rows in entry.rows:
            return
        place = self._folder_of(identity.model) / identity.rows
        total = sum(segments[name].docs for name in missing)
        with self._job() as job, contract(identity.kind, identity.expression):
            find = _Neighbours(self, model, job, total)
            for name in missing:
                one, found = open_segment(self.root, segments[name]), {}
                for other in (*linked, name):
                    two = one if other == name else open_segment(self.root, segments[other])
                    found[name, other] = find.lists(one, two)
                    if other != name:
                        found[other, name] = find.lists(two, one)
                covered[name] = SegmentRows(write_lists(place / name, found))
                linked.append(name)
        place.sync()
        place.parent.sync()
        place.parent.parent.sync()
        rows = {**entry.rows, identity.rows: RowsEntry(identity.encoded, covered)}
        self.fitted[identity.model] = entry._replace(rows=rows)
        self.changed = True

    def source_of(self, over: Expression, segment: Segment) -> VectorSource:
        """Return the source of a segment's vectors by the representation `over`, which must be fitted.

        Raise InputError if the representation compares no vectors.
        """
        component = self.namer.resolve(over)
        model = self.namer.make(component)
        identity = self.namer.identity(component, model)
        load_model(self.root, self.fitted[identity.model], identity, model)
        # Topics are compared by their shares in documents, and terms by their weights, whatever their scores are.
        compared = isinstance(model, Representation) and (similarity_of(model) or model.sums or model.reads != "rows")
        if not isinstance(model, Representation) or not compared:
            raise InputError(f"Near documents are found by vectors, and {over} compares none; name lsi, for example.")
        rows = {}
        if model.reads == "rows":
            stored = self.fitted[identity.model].rows[identity.rows].segments
            if segment.name not in stored:
                raise IndexProblem(f"{over} has no vectors of these documents.")
            place = self._folder_of(identity.model) / identity.rows / segment.name
            rows = {segment.name: rows_in(place, stored[segment.name].data)}
        inputs = inputs_of(model, ModelVocabulary(model.vocabulary), self._analyzer, rows)
        return VectorSource(model, inputs, segment, identity.expression)

    def write_missing_sketches(
        self, model: Representation, identity: ModelIdentity, covered: Mapping[str, SegmentRows]
    ) -> None:
        """Make the missing sketches of segments.

        `covered` has the manifest's entry for the rows of each segment, by the name of the segment.
        """
        for described in self.manifest.segments:
            if not has_sketch(model, described.docs):
                continue
            folder = self._folder_of(identity.model) / identity.rows / described.name
            key = key_of(self.fitted[identity.model].model, covered[described.name].data)
            if read_sketch(folder, key, described.docs, not model.cosines) is None:
                segment = open_segment(self.root, described)
                rows = {segment.name: rows_in(folder, covered[described.name].data)} if model.reads == "rows" else {}
                inputs = inputs_of(model, ModelVocabulary(model.vocabulary), self._analyzer, rows)
                with self._job() as job:
                    write_sketch(folder, key, VectorSource(model, inputs, segment, identity.expression), job)

    def write_missing_lists(
        self, model: Representation, identity: ModelIdentity, covered: Mapping[str, SegmentRows]
    ) -> None:
        """Make the missing posting lists of segments, if the model's scores are sums over columns."""
        for described in self.manifest.segments if model.sums else ():
            folder = self._folder_of(identity.model) / identity.rows / described.name
            entry, dead = covered[described.name].data, open_segment(self.root, described).dead
            key = list_files.key_of(self.fitted[identity.model].model, entry, dead)
            if list_files.read_lists(folder, key) is not None:
                continue
            rows = read_rows(folder, entry, described.docs, declared_rows(model))
            if list_files.has_lists(model, rows):
                weights = list_files.weights_of(model, rows, identity.expression)
                list_files.write_lists(folder, key, WeightLists(weights, dead))

    def _encode_segment(
        self, model: Representation, identity: ModelIdentity, segment: Segment, kind: tuple[Any, ...] | None
    ) -> tuple[SegmentRows, TokenCounts]:
        """Write the rows of a segment, and return the manifest's entry for the rows and the segment's token counts.

        All rows must be of this `kind`. If it is None, they must be of the kind of the first block.
        """
        inputs = inputs_of(model, ModelVocabulary(model.vocabulary), self._analyzer)
        folder = self._folder_of(identity.model) / identity.rows / segment.name
        known_tokens = 0
        given = self.given

        def encode(block: Any) -> tuple[Rows, int]:
            if given is not None:
                return block, 0
            rows = checked_rows(model.encode_documents(block), size_of(block), identity.expression)
            return rows, inputs.count_known(block)

        def encoded_blocks(job: FittingJob) -> Iterator[Rows]:
            nonlocal known_tokens, kind
            done = 0
            for rows, tokens in job.map(encode, given.blocks(segment) if given else inputs.blocks(segment)):
                kind = kind or kind_of_rows(rows)
                if kind_of_rows(rows) != kind:
                    raise PluginError(
                        f"{identity.expression} encoded documents as rows of different shapes or types; all must be alike."
                    )
                yield rows
                known_tokens += tokens
                done += rows.shape[0]
                job.progress(done, segment.docs, "documents")

        with self._job() as job, contract(identity.kind, identity.expression):
            folder.remove()
            written = write_rows(folder, encoded_blocks(job))
        folder.parent.sync()
        tokens = int(segment.lengths.sum(dtype="int64"))
        known_tokens = tokens if given else known_tokens
        return SegmentRows(written), TokenCounts(tokens, tokens - known_tokens)


class _Neighbours:
    """Finds the nearest documents of pairs of segments for a graph, and reports progress, in documents out of `total`.

    The vectors of a segment are computed once. `job` has the threads, and limits the memory for vectors.
    """

    def __init__(self, fitting: Fitting, model: Smoother, job: FittingJob, total: int):
        self._fitting, self._model, self._job, self._total = fitting, model, job, total
        self._vectors: dict[str, DocumentVectors] = {}
        self._clusters: dict[str, Clusters] = {}

    def lists(self, one: Segment, other: Segment) -> NeighbourLists:
        """Return, for each document of `one`, its nearest documents in `other`, which may be the same segment."""
        some, others = self._vectors_of(one).units, self._vectors_of(other)
        first = 0 if one.name == other.name else NO_NEIGHBOUR
        found, done = NeighbourLists.empty(one.docs), 0
        blocks: Iterator[tuple[Any, NeighbourLists]]
        if isinstance(others, SparseVectors) or one.docs * other.docs <= EXACT:
            blocks = in_order(nearest_of(some, others, first, self._job.map))
        else:
            blocks = likely_nearest(some, others, self._clusters_of(other, others.units), first, self._job.map)
        for rows, lists in blocks:
            found.docs[rows], found.cosines[rows] = lists
            done += len(lists.docs)
            self._job.progress(min(done, self._total), max(done, self._total), "documents")
        return found

    def _vectors_of(self, segment: Segment) -> DocumentVectors:
        if segment.name not in self._vectors:
            source = self._fitting.source_of(self._model.over, segment)
            self._vectors[segment.name] = vectors_of(source, self._job.map)
            needed = sum(vectors.nbytes for vectors in self._vectors.values())
            if needed > self._job.memory:
                raise InputError(
                    f"The vectors of {self._model.over} take more than {self._job.memory >> 20:,} MB, "
                    "which is what memory allows; allow more."
                )
        return self._vectors[segment.name]

    def _clusters_of(self, segment: Segment, units: np.ndarray) -> Clusters:
        if segment.name not in self._clusters:
            self._clusters[segment.name] = Clusters.of(units, self._job.map)
        return self._clusters[segment.name]
