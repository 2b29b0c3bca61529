"""Fitting models to an index and encoding its documents: models and rows are written aside and published in one commit."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from sublex import plugins
from sublex.base import Analyzer
from sublex.errors import IndexCorrupt, IndexProblem, InputError, PluginError, UnknownName, contract
from sublex.expression import Expression
from sublex.fitted import Fitted, Representation, Rows
from sublex.index.format import FolderWriter, copy_folder, sync
from sublex.index.manifest import (
    FITTED,
    REPRESENTATIONS,
    RESOURCES,
    SEGMENTS,
    Manifest,
    commit_changes,
    locked,
    read_manifest,
    remove_leftovers,
)
from sublex.index.segment import Segment
from sublex.index.snapshot import Snapshot
from sublex.messages import command
from sublex.representations.identity import Identity, Namer
from sublex.representations.inputs import READINGS, Vocabulary, inputs_of, size_of
from sublex.representations.job import Job, Options, working
from sublex.representations.model_store import StoreReader, StoreWriter
from sublex.representations.resources import Resources
from sublex.representations.rows import checked_rows, kind_of_rows, rows_in, write_rows

MODEL = "model"
Model = TypeVar("Model", bound=Fitted)
# When so much more of the tokens added since are unknown to a model than of those that it was fitted on, it should be fitted again.
UNKNOWN = 0.2
NONE = {"tokens": 0, "unknown": 0}
# So many models are named where one is missing.
NAMED = 8


def fit(root: Path, expression: str, options: Options = Options(), source: Path | None = None) -> Identity:  # noqa: B008
    """Fit a component and whatever it depends on, unless that is done; documents without rows get them.

    With `source` the model is taken from another index, which has it fitted.
    """
    if source is not None and source.exists() and source.samefile(root):
        raise InputError(f"{source} is the index itself; name another one to take models from.")
    with locked(root, "fit"):
        old = read_manifest(root)
        remove_leftovers(root, old)
        work = Fitting(root, old, options, source)
        found = work.need(work.namer.resolve(expression))
        if work.changed:
            commit_changes(root, old, {FITTED: work.fitted})
    return found


def forget(root: Path, *expressions: str) -> None:
    """Drop fitted models, by their expressions or by their own names, and their rows, unless others depend on them."""
    with locked(root, "forget"):
        old = read_manifest(root)
        fitted = old.get(FITTED, {})
        gone = {_own_name(root, old, expression): expression for expression in expressions}
        rest = {name: entry for name, entry in fitted.items() if name not in gone}
        for name, expression in gone.items():
            users = sorted(entry["expression"] for entry in rest.values() if name in entry["depends"])
            if users:
                raise IndexProblem(
                    f"{', '.join(users)} {'depends' if len(users) == 1 else 'depend'} on {expression}; run: "
                    f"{command('forget', root, *users, expression)}"
                )
        commit_changes(root, old, {FITTED: rest})


def _own_name(root: Path, manifest: Manifest, expression: str) -> str:
    """The name of a fitted model, which is what an expression stands for, or is given."""
    fitted = manifest.get(FITTED, {})
    name = expression if expression in fitted else namer(root, manifest).model_of(expression)
    if name in fitted:
        return name
    there = [own for own, entry in fitted.items() if entry["expression"] == expression]
    if there:
        raise IndexProblem(
            f"{expression} is now something else than what was fitted, a file since changed or another version; to drop that, run: "
            f"{command('forget', root, *there)}"
        )
    raise IndexProblem(absent(root, expression, fitted, advise=False))


def namer(root: Path, manifest: Manifest, elsewhere: Manifest | None = None) -> Namer:
    """What names the models of an index; `elsewhere` are resources of another."""
    return Namer(plugins.load(), Resources(root, manifest, elsewhere))


def absent(root: Path, call: Any, fitted: Manifest, advise: bool = True) -> str:
    """The sentence for a model that is not there, with the advice to fit it."""
    there = sorted({entry["expression"] for entry in fitted.values()})
    run = f" Run: {command('fit', root, call)}" if advise else ""
    if str(call) in there:
        return f"{call} was fitted in {root.name} to something else, a file since changed or another version.{run}"
    few = ", ".join(there[:NAMED]) + (f" and {len(there) - NAMED:,} more" if len(there) > NAMED else "")
    return f"No {call} in {root.name}; fitted: {few or 'nothing'}.{run}"


def seen(entry: Manifest, segments: Collection[str] = ()) -> tuple[Manifest, Manifest]:
    """Tokens and unknown tokens of some segments, by default of all, and of these what was added after the fit."""
    own = [counts for name, counts in entry["seen"].items() if not segments or name in segments]
    whole = {count: sum(one[count] for one in own) for count in NONE}
    return whole, {count: sum(one["added"][count] for one in own) for count in NONE}


def loaded(root: Path, entry: Manifest, found: Identity, made: Model) -> Model:
    """The model as it was kept."""
    with contract(found.kind, found.expression), mending(root, entry["expression"]):
        made.load(StoreReader(root / REPRESENTATIONS / found.model / MODEL, entry["model"]))
    return made


@contextmanager
def mending(root: Path, expression: str) -> Iterator[None]:
    """Damage to a model or its rows is said with what mends it."""
    try:
        yield
    except IndexCorrupt as error:
        what = str(error).rpartition(";")[0] or str(error)
        raise IndexCorrupt(
            f"{what}; run: {command('forget', root, expression)}, then: {command('fit', root, expression)}"
        ) from None


class Fitting:
    """The models of an index on their way into its next generation."""

    def __init__(self, root: Path, manifest: Manifest, options: Options, source: Path | None = None):
        self.root, self.options, self.source = root, options, source
        self.namer = namer(root, manifest, read_manifest(source).get(RESOURCES) if source else None)
        self.manifest = manifest
        self.fitted: Manifest = dict(manifest.get(FITTED, {}))
        self.changed = False
        self._models: dict[str, Fitted] = {}

    @cached_property
    def _analyzer(self) -> Analyzer:
        settings = self.manifest["analyzer"]["settings"]
        return self.namer.registry.build("analyzer", settings["name"], settings["params"])

    def need(self, resolved: plugins.Component, asked: bool = True) -> Identity:
        """Have a component fitted and all documents encoded; `asked` for by the user, or only by what depends on it."""
        made = self.namer.make(resolved)
        found = self.namer.identity(resolved, made)
        for dependency in made.depends():
            self.need(self._dependency(resolved, dependency), asked=False)
        self._models[found.model] = made
        fresh = found.model not in self.fitted and self.source is None
        if found.model in self.fitted:
            loaded(self.root, self.fitted[found.model], found, made)
            if self.source is not None and asked:
                self.options.say(
                    f"{found.expression} is fitted here already; forget it first to have that of {self.source}."
                )
        else:
            self.fitted[found.model] = self._fresh(resolved, made, found)
            self.changed = True
        if isinstance(made, Representation):
            self.cover(made, found, fresh)
        return found

    def _dependency(self, resolved: plugins.Component, dependency: Any) -> plugins.Component:
        """What a component depends on."""
        try:
            return self.namer.resolve(dependency)
        except UnknownName as error:
            raise UnknownName(f"{resolved} depends on {dependency}. {error}") from None

    def _fresh(self, resolved: plugins.Component, made: Fitted, found: Identity) -> Manifest:
        """Fit a model, or copy it from another index, and keep it."""
        place = self.root / REPRESENTATIONS / found.model / MODEL
        place.parent.mkdir(parents=True, exist_ok=True)
        if self.source is not None:
            return self._copied(resolved, made, found, place)
        index = Snapshot(self.root)
        self._check_store(index, made)
        if not len(index):
            raise InputError(f"{self.root} has no document to fit {found.expression} to.")
        resources = self.namer.used(resolved)
        with self._job() as job, contract(found.kind, found.expression):
            need = made.estimate(index.corpus, job)
            if need > self.options.memory:
                raise InputError(
                    f"Fitting {found.expression} takes {need >> 20:,} MB and --memory allows {self.options.memory >> 20:,}; allow more."
                )
            self.options.say(f"Fitting {found.expression}")
            made.fit(index.corpus, job)
            with FolderWriter(place) as folder:
                store = StoreWriter(folder)
                made.save(store)
                model = store.finish()
            made.load(StoreReader(place, model))
        if self.namer.used(resolved) != resources:
            raise InputError(f"What {found.expression} reads changed while it was fitted; fit it again.")
        return {
            "expression": found.expression,
            "version": made.version,
            "depends": [self.namer.model_of(dependency) for dependency in made.depends()],
            "resources": resources,
            "origin": index.fingerprint,
            "model": model,
            "rows": {},
            "seen": {},
        }

    def _check_store(self, index: Snapshot, made: Fitted) -> None:
        """Say it before the work is done when an index keeps too little for it."""
        if isinstance(made, Representation):
            index.need(READINGS[made.reads].needs, "documents are encoded by")

    def _copied(self, resolved: plugins.Component, made: Fitted, found: Identity, place: Path) -> Manifest:
        assert self.source is not None
        theirs = read_manifest(self.source).get(FITTED, {})
        self._check_store(Snapshot(self.root), made)
        if read_manifest(self.source)["analyzer"]["settings"] != self.manifest["analyzer"]["settings"]:
            self.options.say(f"{self.source} was analysed otherwise; the model will know fewer of the words here.")
        if found.model not in theirs:
            raise IndexProblem(absent(self.source, found.expression, theirs))
        copy_folder(self.source / REPRESENTATIONS / found.model / MODEL, theirs[found.model]["model"], place)
        entry = theirs[found.model] | {"rows": {}, "seen": {}, "resources": self.namer.used(resolved)}
        loaded(self.root, entry, found, made)
        return entry

    def _job(self) -> AbstractContextManager[Job]:
        def model(expression: Expression) -> Fitted:
            name = self.namer.model_of(expression)
            if name not in self._models:
                raise PluginError(f"It asked for the model {expression}, which its depends() does not name.")
            return self._models[name]

        return working(self.options, model, self.namer.resources.path)

    def cover(self, made: Representation, found: Identity, fresh: bool = False) -> None:
        """Encode the documents of every segment that has no rows yet; to a fresh model they are no additions."""
        entry = self.fitted[found.model]
        covered = dict(entry["rows"].get(found.rows, {"segments": {}})["segments"])
        seen = dict(entry["seen"])
        place = self.root / REPRESENTATIONS / found.model / found.rows
        kind = next((kind_of_rows(rows_in(place / name, own["data"])) for name, own in covered.items()), None)
        lacking = [segment for segment in self.manifest["segments"] if segment["name"] not in covered]
        for described in lacking:
            segment = Segment(self.root / SEGMENTS / described["name"], described)
            covered[segment.name], counts = self._encoded(made, found, segment, kind)
            seen.setdefault(segment.name, counts | {"added": NONE if fresh else counts})
        if lacking:
            sync(self.root / REPRESENTATIONS / found.model)
            sync(self.root / REPRESENTATIONS)
            rows = {"expression": found.encoded, "segments": covered}
            self.fitted[found.model] = entry | {"rows": entry["rows"] | {found.rows: rows}, "seen": seen}
            self.changed = True

    def _encoded(
        self, made: Representation, found: Identity, segment: Segment, kind: tuple[Any, ...] | None
    ) -> tuple[Manifest, Manifest]:
        """What the manifest says of the rows of a segment, and of its tokens how many there are and how many are unknown."""
        inputs, known = inputs_of(made, Vocabulary(made.vocabulary), self._analyzer), 0
        place = self.root / REPRESENTATIONS / found.model / found.rows / segment.name
        with self._job() as job, contract(found.kind, found.expression):

            def encode(block: Any) -> tuple[Rows, int]:
                return checked_rows(made.encode_documents(block), size_of(block), found.expression), inputs.known(block)

            def parts() -> Iterator[Rows]:
                nonlocal known, kind
                done = 0
                for rows, tokens in job.map(encode, inputs.blocks(segment)):
                    kind = kind or kind_of_rows(rows)
                    if kind_of_rows(rows) != kind:
                        raise PluginError(
                            f"{found.expression} encoded documents as rows of different shapes or types, which cannot be kept together."
                        )
                    yield rows
                    known += tokens
                    done += rows.shape[0]
                    job.progress(done, segment.docs)

            shutil.rmtree(place, ignore_errors=True)
            written = write_rows(place, parts())
        sync(place.parent)
        tokens = int(segment.lengths.sum(dtype="int64"))
        return {"data": written}, {"tokens": tokens, "unknown": tokens - known}
