"""The steps of a study: build an index, fit a model, tune a system, run it. Each step writes a record of its result."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sublex.building.indexing import build_index
from sublex.building.journal import resumable
from sublex.errors import IndexCorrupt, IndexProblem, InputError, SublexError
from sublex.evaluation.collapsing import read_groups
from sublex.evaluation.systems import System, run_system
from sublex.language.expression import Expression
from sublex.language.learned import notes_on_topics
from sublex.language.plugins import Registry
from sublex.pipeline.index import Index
from sublex.pipeline.query_forms import topics_notes
from sublex.pipeline.run_metadata import describe
from sublex.studies.expressions import call_with_whole_paths, expression_of
from sublex.studies.identity import STATISTICS, FileHashes, code_of, hash_of_value, qrels_hash, topics_hash, versions
from sublex.studies.places import StudyPlaces
from sublex.studies.store import INDEXES, RUNS, Record, StudyStore, file_name
from sublex.studies.study_plans import IndexPlan, Study, SystemPlan, TopicPlan
from sublex.tools.arguments import threads
from sublex.trec.metadata import sidecar_path
from sublex.trec.qrels import Qrels
from sublex.trec.qrels_reader import read_qrels
from sublex.trec.run_names import tag_of
from sublex.trec.run_reader import read_run
from sublex.trec.run_writer import write_run
from sublex.trec.runs import Run
from sublex.trec.topics import Topics, read_topics
from sublex.tuning.result import Tuning
from sublex.tuning.search import settings_of, tune

# The bytes of memory that fitting a model may take.
FIT_MEMORY = 4 << 30
# A rough estimate of the bytes of documents that one core indexes in a second.
BUILD_RATE = 8e6


class StudyWatch:
    """Passes the messages of a study to a function, and ignores steps and progress.

    An `OperationContext` can take its place.
    """

    def __init__(self, tell: Callable[[str], None] = lambda message: None):
        self._tell = tell

    def say(self, *messages: str) -> None:
        """Tell the user something while the study runs."""
        for message in messages:
            self._tell(message)

    def step(self, what: str) -> AbstractContextManager[None]:
        """Run a block that does a part of the study."""
        return nullcontext()

    def progress(
        self, label: str, unit: str = "documents", total: int | None = None
    ) -> AbstractContextManager[Callable[..., None]]:
        """Run a block that reports its progress by the function `advance(done, total, unit)`."""
        return nullcontext(lambda done, total=None, unit=None: None)

    def prepare(self, tasks: str = "", index: Index | None = None, once: bool = False) -> None:
        """Compile the kernels that tasks need."""


@dataclass
class StudyWork:
    """The data that the steps of a study share.

    `done` has the names of the steps that were done in this run, and `kept` those whose results were there already.
    `failed_models` has the error of each model that could not be fitted, by the names of the index and of the model.
    """

    study: Study
    store: StudyStore
    places: StudyPlaces
    registry: Registry
    watch: Any = field(default_factory=StudyWatch)
    workers: int | None = None
    done: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    failed_models: dict[tuple[str, str], str] = field(default_factory=dict)

    @cached_property
    def hashes(self) -> FileHashes:
        """The hashes of files, among them those that an earlier run of the study recorded."""
        known = self.store.record("files", "all")
        return FileHashes(known.data if known else None)

    def keep_hashes(self) -> None:
        """Keep the hashes of files for the next run."""
        self.store.keep("files", "all", {}, [], self.hashes.known, 0.0)

    def known(self, kind: str, name: str, identity: Mapping[str, Any], files: Sequence[str] = ()) -> Record | None:
        """Return the record of a result with this identity and these files, and add its name to `kept`; or None."""
        found = self.store.done(kind, name, identity, files)
        if found is not None:
            self.kept.append(f"{kind} {name}")
        return found

    def keep(
        self,
        kind: str,
        name: str,
        identity: Mapping[str, Any],
        files: Sequence[str],
        data: Mapping[str, Any],
        seconds: float,
    ) -> Record:
        """Write the record of a result that was made in this run, and add it to `done`."""
        self.done.append(f"{kind} {name}")
        return self.store.keep(kind, name, identity, files, data, seconds)


# Indexes.


class StudySource(NamedTuple):
    """The documents of a collection: the paths to read, and their files with the hash of each."""

    paths: list[str]
    files: list[tuple[str, str]]


def source_of(work: StudyWork, name: str) -> StudySource:
    """Return the documents of a collection, all of which the study may read."""
    plan, where = work.study.collections[name], work.study.where(("collections", name))
    paths, files = [], []
    for text in plan.documents:
        path = work.places.find(text, where)
        paths.append(path)
        files += [(each.removeprefix(path) or text, each) for each in work.places.files(text, where)]
    return StudySource(paths, files)


def index_identity(work: StudyWork, plan: IndexPlan) -> dict[str, Any]:
    """Return all that a built index depends on: its documents, the options of the build, and code."""
    collection, source = work.study.collections[plan.collection], source_of(work, plan.collection)
    calls = [("analyzer", plan.options.get("analyzer")), ("reader", collection.reader)]
    code: dict[str, str] = {}
    for kind, text in calls:
        if text:
            code |= code_of([expression_call(text)], work.registry, kind)
    return {
        "documents": [[shown, work.hashes.of(path)] for shown, path in source.files],
        "options": dict(plan.options),
        "reader": collection.reader or "",
        "strict": collection.strict,
        "code": {**versions(), **code},
    }


def expression_call(text: str) -> Expression:
    """Return the call of an analyzer or a reader."""
    from sublex.language.parser import parse_call

    return parse_call(text, unnamed=True)


def index_path(work: StudyWork, plan: IndexPlan) -> Path:
    """Return the path of an index: below the study's folder, or the path that the study file names."""
    if plan.path:
        return Path(work.places.find(plan.path, work.study.where(("indexes", plan.name))))
    return work.store.folder / INDEXES / file_name(plan.name)


def open_index(work: StudyWork, plan: IndexPlan) -> Index:
    """Open the index of a plan, which must exist."""
    return Index(index_path(work, plan), load_registry=lambda: work.registry)


def kept_index(work: StudyWork, plan: IndexPlan) -> Index | None:
    """Return the index of a plan if it exists, is unchanged, and has the same identity; None if it has to be built."""
    if plan.path:
        return open_index(work, plan)
    record = work.store.done("index", plan.name, index_identity(work, plan))
    if record is None:
        return None
    try:
        index = open_index(work, plan)
    except (IndexProblem, IndexCorrupt):
        return None
    return index if index.fingerprint == record.data.get("fingerprint") else None


def build(work: StudyWork, plan: IndexPlan) -> Index:
    """Return the index of a plan. It is built if it does not exist, or if its identity has changed."""
    index = kept_index(work, plan)
    if index is not None:
        work.kept.append(f"index {plan.name}")
        return index
    path, collection, begin = index_path(work, plan), work.study.collections[plan.collection], time.perf_counter()
    where, identity = work.study.where(("indexes", plan.name)), index_identity(work, plan)
    options: dict[str, Any] = {key: value for key, value in plan.options.items() if key != "analyzer"}
    for key, text in (("analyzer", plan.options.get("analyzer")), ("reader", collection.reader)):
        if text:
            options[key] = call_with_whole_paths(text, work.places, where)
    with work.watch.step(f"Built {path}"), work.watch.progress(f"Indexing {plan.name}") as advance:
        options |= {
            "workers": work.workers, "strict": collection.strict, "progress": advance, "say": work.watch.say,
            "registry": work.registry,
        }  # fmt: skip
        paths, is_there = source_of(work, plan.collection).paths, (path / "index.json").exists()
        try:
            summary = build_index(path, paths, overwrite=True, resume=not is_there and resumable(path), **options)
        except InputError:
            # A killed build left files of other sources or settings, so it cannot be continued.
            if is_there or not resumable(path):
                raise
            summary = build_index(path, paths, overwrite=True, **options)
    work.watch.say(*summary.warnings(f"{path / 'last-build.tsv'}"))
    index = open_index(work, plan)
    data = {"fingerprint": index.fingerprint, "documents": len(index), "bytes": bytes_below(path)}
    work.keep("index", plan.name, identity, [], data, time.perf_counter() - begin)
    return index


def bytes_below(folder: Path) -> int:
    """Return the bytes of all files below a folder."""
    return sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file())


# Topics.


class StudyTopics(NamedTuple):
    """The topics and judgements of a plan, their hashes, the groups of near duplicates, and notes about them."""

    topics: Topics
    qrels: Qrels
    topics_hash: str
    qrels_hash: str
    groups: dict[str, str] | None
    notes: list[str]


def read_asked(work: StudyWork, plan: TopicPlan) -> StudyTopics:
    """Read the topics and the judgements of a plan."""
    where = work.study.where(("topics", plan.name) if plan.name in work.study.topics else ("topics",))
    topics = read_topics(work.places.find(plan.file, where), plan.fields)
    qrels = read_qrels(work.places.find(plan.qrels, where), plan.contradictions)
    groups = read_groups(work.places.find(plan.collapse, where)) if plan.collapse else None
    return StudyTopics(topics, qrels, topics_hash(topics), qrels_hash(qrels), groups, [*topics.notes, *qrels.notes])


# Models.


def tree_of(work: StudyWork, system: SystemPlan) -> Expression:
    """Return the expression of a system, with the names of models written out and absolute paths of files."""
    where = work.study.where(("systems", system.name))
    return expression_of(system.expression, work.study, work.registry, work.places, where)


def models_of(work: StudyWork, index: Index, system: SystemPlan) -> list[str]:
    """Return the models that a system needs, each once."""
    tree = tree_of(work, system)
    if not system.is_tuned:
        return index.models_in(tree)
    return list(dict.fromkeys(model for setting in settings(work, index, system) for model in index.models_in(setting)))


def models_on(work: StudyWork, plan: IndexPlan, index: Index) -> list[str]:
    """Return the models that the systems on an index need, each once. Systems with a faulty expression are left out."""
    found: dict[str, None] = {}
    for topics in work.study.topics_of(plan.name):
        for system in work.study.systems_on(topics.name):
            if system.expression:
                # The error of a faulty expression is reported when the system is run.
                with suppress(SublexError):
                    found |= dict.fromkeys(models_of(work, index, system))
    return list(found)


def settings(work: StudyWork, index: Index, system: SystemPlan) -> list[Expression]:
    """Return the expressions that tuning a system tries."""
    plan = work.study.tune
    return settings_of(index, tree_of(work, system), plan.search, plan.steps, plan.samples, plan.seed, system.profile)


def fit_identity(work: StudyWork, index: Index, model: str) -> dict[str, Any]:
    """Return all that a fitted model depends on: the index, the expression, and code."""
    tree = work.registry.resolve_all(expression_call(model))
    return {"index": index.fingerprint, "model": model, "code": {**versions(), **code_of([tree], work.registry)}}


def fit(work: StudyWork, plan: IndexPlan, index: Index, model: str) -> None:
    """Fit a model to an index, unless it is already fitted with the same identity.

    An index that the study file names by its path does not change: raise InputError if the model is not fitted there.
    """
    name, identity = f"{plan.name}/{model}", fit_identity(work, index, model)
    if plan.path:
        # An index that the user names is read, and never changed.
        if not index.is_fitted(model):
            raise InputError(f"{model} is not fitted to {index.path}; run: sublex fit {index.path} {model!r}")
        return
    if work.store.done("fit", name, identity) and index.is_fitted(model):
        work.kept.append(f"fit {name}")
        return
    if index.is_fitted(model):
        # Other models may have been fitted on top of this one; they are fitted again when they are asked for.
        try:
            index.forget(model)
        except IndexProblem:
            index.forget(*(entry.expression for entry in index.fitted.values()))
    begin, counted = time.perf_counter(), list[str]()
    with work.watch.step(f"Fitted {model}"), work.watch.progress(f"Fitting {model}", "steps") as advance:
        index.fit(
            model, workers=threads(work.workers), memory=FIT_MEMORY, say=work.watch.say, counting=counted.append,
            progress=lambda done, total: advance(done, total, *counted[-1:]),
        )  # fmt: skip
    work.keep("fit", name, identity, [], {}, time.perf_counter() - begin)


# Runs.


class Made(NamedTuple):
    """A system with its run.

    `identity` is the hash of the run file, and `expression` has the values of all parameters. `tuning` has the numbers
    that tuning chose, as parts of the report.
    """

    system: System
    identity: str
    expression: str
    tuning: Sequence[Any] = ()
    notes: tuple[str, ...] = ()


def run_file(topics: TopicPlan, system: SystemPlan) -> str:
    """Return the path of a run file, relative to the study's folder."""
    return f"{RUNS}/{file_name(topics.name)}/{file_name(system.name)}.run.gz"


def files_of_run(file: str) -> list[str]:
    """Return the two files of a run: the one with its lines, and the one with its metadata."""
    return [file, sidecar_path(file)]


def run_identity(
    work: StudyWork, index: Index, topics: TopicPlan, asked: StudyTopics, system: SystemPlan
) -> dict[str, Any]:
    """Return all that a run depends on: the index, the expression with its models, the topics, and code.

    A run of a tuned system also depends on the judgements and the options of tuning.
    """
    tree = tree_of(work, system)
    shared = {
        "index": index.fingerprint, "topics": asked.topics_hash, "language": topics.language, "k": work.study.compare.k,
        "profile": system.profile or index.profile,
    }  # fmt: skip
    if not system.is_tuned:
        pipeline = index.pipeline(tree, system.profile)
        code = {**versions(), **code_of([pipeline.expression], work.registry)}
        return {**shared, "expression": str(pipeline), "models": pipeline.models, "code": code}
    tried = settings(work, index, system)
    models = {model: model_fingerprint(index, model) for setting in tried for model in index.models_in(setting)}
    code = {**versions(), **versions_of_measures(), **code_of(tried[:1], work.registry)}
    return {
        **shared, "expression": str(tree), "models": models, "code": code, "judgements": asked.qrels_hash,
        "tuning": dict(work.study.tune.__dict__),
    }  # fmt: skip


def versions_of_measures() -> dict[str, str]:
    """Return the versions of the packages that compute measures and significance tests."""
    return versions(STATISTICS)


def model_fingerprint(index: Index, model: str) -> str:
    """Return a hash of the checksums of a fitted model and of its rows; "" if it is not fitted."""
    entry = next((entry for entry in index.fitted.values() if entry.expression == model), None)
    return "" if entry is None else hash_of_value(repr((entry.model, sorted(entry.rows.items()))))


def run(work: StudyWork, index: Index, topics: TopicPlan, asked: StudyTopics, system: SystemPlan) -> Made:
    """Return a system with its run. A run of the same identity that was made before is read from the study's folder."""
    if system.runs:
        return _given(work, topics, system)
    name, file = f"{topics.name}/{system.name}", run_file(topics, system)
    identity = run_identity(work, index, topics, asked, system)
    record = work.known("run", name, identity, files_of_run(file))
    if record is None:
        record = _make_run(work, index, topics, asked, system, name, file, identity)
        made = record.data.pop("made", None)
    else:
        made = None
    done = made or System(system.name, read_run(work.store.folder / file))
    milliseconds = record.data.get("milliseconds")
    timed = np.array([milliseconds], np.float32) if isinstance(milliseconds, (int, float)) else None
    return Made(
        done._replace(name=system.name, milliseconds=timed), record.files.get(file, ""), str(record.data.get("expression", "")),
        record.data.get("tuning") or [], tuple(record.data.get("notes") or ()),
    )  # fmt: skip


def _make_run(
    work: StudyWork,
    index: Index,
    topics: TopicPlan,
    asked: StudyTopics,
    system: SystemPlan,
    name: str,
    file: str,
    identity: dict[str, Any],
) -> Record:
    begin, k = time.perf_counter(), work.study.compare.k
    path = work.store.folder / file
    path.parent.mkdir(parents=True, exist_ok=True)
    tuning: Tuning | None = None
    if system.is_tuned:
        tuning, made, notes = _tuned(work, index, topics, asked, system)
        expression = tuning.expression
    else:
        pipeline = index.pipeline(tree_of(work, system), system.profile)
        with work.watch.step(f"Ran {name}"), work.watch.progress(name, "topics", len(asked.topics)) as advance:
            made = run_system(
                index, asked.topics, pipeline, k, work.workers, advance, cache=False, language=topics.language
            )
        expression, texts = str(pipeline), [topic.text for topic in asked.topics]
        notes = [*pipeline.notes, *topics_notes(asked.topics, index, topics.language)]
        notes += notes_on_topics(pipeline.expression, texts)
    # Metadata show that Sublex wrote a run. A killed study may have left a run without them; then this record shows it.
    is_own = work.store.record("writing", name) is not None
    work.store.keep("writing", name, {}, [], {}, 0.0)
    about = {**made.run.metadata, "tag": tag_of(system.name)}
    write_run(path, made.run.rows(), tag_of(system.name), about, overwrite=is_own)
    data = {
        "expression": expression, "milliseconds": made.mean_milliseconds, "notes": notes,
        "tuning": [part_as_json(part) for part in tuning.parts()[:-1]] if tuning else [],
    }  # fmt: skip
    record = work.keep("run", name, identity, files_of_run(file), data, time.perf_counter() - begin)
    work.store.drop("writing", name)
    record.data["made"] = made
    return record


def _given(work: StudyWork, topics: TopicPlan, system: SystemPlan) -> Made:
    """Return a system whose run is a file that the study file names."""
    where = work.study.where(("systems", system.name))
    path = work.places.find(system.runs[topics.name], where)
    read = read_run(path)
    return Made(System(system.name, read.top(work.study.compare.k)), work.hashes.of(path), "", [], tuple(read.notes))


def _tuned(
    work: StudyWork, index: Index, topics: TopicPlan, asked: StudyTopics, system: SystemPlan
) -> tuple[Tuning, System, list[str]]:
    """Tune a system, and return its run. Each topic is ranked by the setting that was best on the other folds."""
    plan, name = work.study.tune, f"{topics.name}/{system.name}"
    with work.watch.step(f"Tuned {name}"), work.watch.progress(name, "queries") as advance:
        tuning = tune(
            index, asked.topics, asked.qrels, tree_of(work, system), plan.measure, folds=plan.folds, search=plan.search,
            steps=plan.steps, samples=plan.samples, seed=plan.seed, k=work.study.compare.k, workers=work.workers,
            profile=system.profile, progress=advance, language=topics.language,
        )  # fmt: skip
    found: dict[str, tuple[np.ndarray, np.ndarray]] = {}
    for fold in tuning.folds:
        held_out = Topics(topic for topic in asked.topics if topic.qid in set(fold.qids))
        part = index.run(held_out, fold.setting.tree, work.study.compare.k, work.workers, language=topics.language)
        found |= {qid: (part.docs[part.slice(qid)], part.scores[part.slice(qid)]) for qid in part.qids}
    qids = [topic.qid for topic in asked.topics if topic.qid in found]
    sizes = np.cumsum([0, *(len(found[qid][0]) for qid in qids)])
    docs, scores = (np.concatenate([found[qid][place] for qid in qids]) for place in (0, 1))
    metadata = describe(
        asked.topics, index.pipeline(tuning.folds[0].setting.tree), work.study.compare.k, topics.language
    )
    metadata["method"] |= {
        "expression": tuning.expression,
        "folds": [{"topics": list(fold.qids), "expression": fold.setting.expression} for fold in tuning.folds],
    }
    whole = Run(qids, sizes, docs, scores, index.snapshot.all_docnos, tag_of(system.name), metadata)
    return tuning, System(system.name, whole), tuning.left_out(len(asked.topics))


def part_as_json(part: Any) -> Any:
    """Return a part of a result as a value for JSON: a table becomes an object, a text or a list of sentences stays."""
    from sublex.forms.tables import Table

    if not isinstance(part, Table):
        return part if isinstance(part, str) else list(part)
    bold = [list(cell) for cell in sorted(part.bold)]
    return {
        "head": list(part.head),
        "rows": [list(row) for row in part.rows],
        "labels": part.labels,
        "bold": bold,
        "raised": part.raised,
    }


def build_seconds(nbytes: int, cores: int) -> float:
    """Return an estimate of the seconds for building an index of documents that have `nbytes` bytes."""
    return nbytes / (BUILD_RATE * cores)
