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
from sublex.errors import IndexCorrupt, IndexProblem, InputError, contract
from sublex.fitted import Fitted, Representation, Rows
from sublex.index import manifest as files
from sublex.index.format import FolderWriter, sync
from sublex.index.index import Index
from sublex.index.manifest import FITTED, Manifest
from sublex.index.segment import Segment
from sublex.represent import rows as kept
from sublex.represent.identity import Identity, Namer
from sublex.represent.inputs import READINGS, inputs_of, size_of
from sublex.represent.job import Job, Options, working
from sublex.represent.resources import Resources
from sublex.represent.store import StoreReader, StoreWriter

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
    with files.locked(root, "fit"):
        old = files.read(root)
        files.sweep(root, old)
        work = Fitting(root, old, options, source)
        try:
            found = work.need(work.namer.resolve(expression))
            if work.changed:
                files.succeed(root, old, {FITTED: work.fitted})
        finally:
            # What is the index by now says what stays: it may be interrupted just after the commit.
            files.sweep(root, files.read(root))
    return found


def forget(root: Path, expression: str) -> None:
    """Drop a fitted model, by its expression or by its own name, and its rows, unless another model depends on it."""
    with files.locked(root, "forget"):
        old = files.read(root)
        fitted = old.get(FITTED, {})
        name = expression if expression in fitted else namer(root, old).model_of(expression)
        if name not in fitted:
            raise IndexProblem(absent(root, expression, fitted))
        users = [entry["expression"] for entry in fitted.values() if name in entry["depends"]]
        if users:
            raise IndexProblem(f"{', '.join(users)} depends on {expression}; forget it first.")
        rest = {other: entry for other, entry in fitted.items() if other != name}
        files.succeed(root, old, {FITTED: rest})


def namer(root: Path, manifest: Manifest) -> Namer:
    """What names the models of an index."""
    return Namer(plugins.load(), Resources(root, manifest))


def absent(root: Path, call: Any, fitted: Manifest) -> str:
    """The sentence for a model that is not there."""
    there = sorted({entry["expression"] for entry in fitted.values()})
    fit = f"Run: sublex fit {root.name} '{call}'"
    if str(call) in there:
        return f"{call} was fitted in {root.name} to something else, a file since changed or another version. {fit}"
    few = ", ".join(there[:NAMED]) + (f" and {len(there) - NAMED:,} more" if len(there) > NAMED else "")
    return f"No {call} in {root.name}; fitted: {few or 'nothing'}. {fit}"


def seen(entry: Manifest, segments: Collection[str] = ()) -> tuple[Manifest, Manifest]:
    """Tokens and unknown tokens of some segments, by default of all, and of these what was added after the fit."""
    own = [counts for name, counts in entry["seen"].items() if not segments or name in segments]
    whole = {count: sum(one[count] for one in own) for count in NONE}
    return whole, {count: sum(one["added"][count] for one in own) for count in NONE}


def loaded(root: Path, entry: Manifest, found: Identity, made: Model) -> Model:
    """The model as it was kept."""
    with contract(found.kind, found.expression), mending(root, entry["expression"]):
        made.load(StoreReader(root / files.REPRESENTATIONS / found.model / MODEL, entry["model"]))
    return made


@contextmanager
def mending(root: Path, expression: str) -> Iterator[None]:
    """Damage to a model or its rows is said with what mends it."""
    try:
        yield
    except IndexCorrupt as error:
        what = str(error).rpartition(";")[0] or str(error)
        raise IndexCorrupt(
            f"{what}; run: sublex forget {root.name} '{expression}', then: sublex fit {root.name} '{expression}'"
        ) from None


class Fitting:
    """The models of an index on their way into its next generation."""

    def __init__(self, root: Path, manifest: Manifest, options: Options, source: Path | None = None):
        self.root, self.options, self.source = root, options, source
        self.namer = namer(root, manifest)
        self.manifest = manifest
        self.fitted: Manifest = dict(manifest.get(FITTED, {}))
        self.changed = False
        self._models: dict[str, Fitted] = {}

    @cached_property
    def _analyzer(self) -> Analyzer:
        settings = self.manifest["analyzer"]["settings"]
        return self.namer.registry.build("analyzer", settings["name"], settings["params"])

    def need(self, resolved: plugins.Resolved) -> Identity:
        """Have a component fitted and all documents encoded."""
        made = self.namer.make(resolved)
        found = self.namer.identity(resolved, made)
        for dependency in made.depends():
            self.need(self.namer.resolve(dependency))
        self._models[found.model] = made
        fresh = found.model not in self.fitted and self.source is None
        if found.model in self.fitted:
            loaded(self.root, self.fitted[found.model], found, made)
            if self.source is not None:
                self.options.say(
                    f"{found.expression} is fitted here already; forget it first to have that of {self.source}."
                )
        else:
            self.fitted[found.model] = self._fresh(resolved, made, found)
            self.changed = True
        if isinstance(made, Representation):
            self.cover(made, found, fresh)
        return found

    def _fresh(self, resolved: plugins.Resolved, made: Fitted, found: Identity) -> Manifest:
        """Fit a model, or copy it from another index, and keep it."""
        place = self.root / files.REPRESENTATIONS / found.model / MODEL
        place.parent.mkdir(parents=True, exist_ok=True)
        if self.source is not None:
            return self._copied(resolved, made, found, place)
        index = Index(self.root)
        self._check_store(index, made)
        if not len(index):
            raise InputError(f"{self.root} has no document to fit {found.expression} to.")
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
        return {
            "expression": found.expression,
            "version": made.version,
            "depends": [self.namer.model_of(dependency) for dependency in made.depends()],
            "resources": self.namer.used(resolved),
            "origin": index.fingerprint,
            "model": model,
            "rows": {},
            "seen": {},
        }

    def _check_store(self, index: Index, made: Fitted) -> None:
        """Say it before the work is done when an index keeps too little for it."""
        if isinstance(made, Representation):
            index.need(READINGS[made.reads].needs, "documents are encoded by")

    def _copied(self, resolved: plugins.Resolved, made: Fitted, found: Identity, place: Path) -> Manifest:
        assert self.source is not None
        theirs = files.read(self.source).get(FITTED, {})
        self._check_store(Index(self.root), made)
        if files.read(self.source)["analyzer"]["settings"] != self.manifest["analyzer"]["settings"]:
            self.options.say(f"{self.source} was analysed otherwise; the model will know fewer of the words here.")
        if found.model not in theirs:
            raise IndexProblem(absent(self.source, found.expression, theirs))
        shutil.copytree(self.source / files.REPRESENTATIONS / found.model / MODEL, place)
        for path in (*place.rglob("*"), place):
            sync(path)
        entry = theirs[found.model] | {"rows": {}, "seen": {}, "resources": self.namer.used(resolved)}
        loaded(self.root, entry, found, made)
        return entry

    def _job(self) -> AbstractContextManager[Job]:
        return working(self.options, lambda call: self._models[self.namer.model_of(call)], self.namer.resources.path)

    def cover(self, made: Representation, found: Identity, fresh: bool = False) -> None:
        """Encode the documents of every segment that has no rows yet; to a fresh model they are no additions."""
        entry = self.fitted[found.model]
        covered = dict(entry["rows"].get(found.rows, {"segments": {}})["segments"])
        seen = dict(entry["seen"])
        lacking = [segment for segment in self.manifest["segments"] if segment["name"] not in covered]
        for described in lacking:
            segment = Segment(self.root / files.SEGMENTS / described["name"], described)
            covered[segment.name], counts = self._encoded(made, found, segment)
            seen.setdefault(segment.name, counts | {"added": NONE if fresh else counts})
        if lacking:
            sync(self.root / files.REPRESENTATIONS / found.model)
            sync(self.root / files.REPRESENTATIONS)
            rows = {"expression": found.encoded, "segments": covered}
            self.fitted[found.model] = entry | {"rows": entry["rows"] | {found.rows: rows}, "seen": seen}
            self.changed = True

    def _encoded(self, made: Representation, found: Identity, segment: Segment) -> tuple[Manifest, Manifest]:
        """What the manifest says of the rows of a segment, and of its tokens how many there are and how many are unknown."""
        inputs, known = inputs_of(made, self._analyzer), 0
        place = self.root / files.REPRESENTATIONS / found.model / found.rows / segment.name
        with self._job() as job, contract(found.kind, found.expression):

            def encode(block: Any) -> tuple[Rows, int]:
                return kept.checked(made.encode_documents(block), size_of(block), found.expression), inputs.known(block)

            def parts() -> Iterator[Rows]:
                nonlocal known
                done = 0
                for rows, tokens in job.map(encode, inputs.blocks(segment)):
                    yield rows
                    known += tokens
                    done += rows.shape[0]
                    job.progress(done, segment.docs)

            shutil.rmtree(place, ignore_errors=True)
            written = kept.write(place, parts())
        sync(place.parent)
        tokens = int(segment.lengths.sum(dtype="int64"))
        return {"data": written}, {"tokens": tokens, "unknown": tokens - known}
