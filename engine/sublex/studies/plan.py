"""The plan of a study: the files that it reads, the steps that are done already, and estimates for the others."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from sublex.errors import InputError, SublexError
from sublex.language.plugins import Registry
from sublex.pipeline.index import Index
from sublex.readers.irds import PREFIX
from sublex.studies.experiments import (
    MadeExperiment,
    experiments_on,
    make_experiments,
    models_of_experiment,
    unit_identity,
    unit_name,
    with_experiments,
)
from sublex.studies.expressions import check_models
from sublex.studies.places import StudyPlaces
from sublex.studies.steps import (
    StudyTopics,
    StudyWork,
    build_seconds,
    files_of_run,
    fit_identity,
    index_identity,
    kept_index,
    models_of,
    models_on,
    read_asked,
    run_file,
    run_identity,
    settings,
    source_of,
)
from sublex.studies.store import StudyStore, changes
from sublex.studies.study_plans import IndexPlan, Study, SystemPlan, TopicPlan
from sublex.tools.arguments import threads

# Rough estimates for steps that were never done before: the seconds per topic, the seconds per topic and document, and
# the size of an index divided by the size of its documents.
TOPIC_SECONDS, DOCUMENT_SECONDS, INDEX_SHARE = 2e-3, 2e-8, 1.0
# The endings of compressed files, and an estimate of their content's size divided by their own.
PACKED, UNPACKED = (".gz", ".xz", ".bz2", ".zst"), 4
KEPT = "kept"


class Planned(NamedTuple):
    """A step of a study: its name, its state or the reason to run it, and estimates of its seconds and bytes.

    Seconds and bytes are None if they are not known, as before another step is done.
    """

    step: str
    state: str
    seconds: float | None = None
    nbytes: int | None = None


class Read(NamedTuple):
    """A file or folder that a study reads: its purpose, its path, and its bytes.

    Bytes are None for a data set of ir_datasets.
    """

    what: str
    path: str
    nbytes: int | None


class StudyPlan(NamedTuple):
    """The files that a study reads, its steps, and sentences about what it cannot or may not read.

    With these, no steps are planned.
    """

    reads: tuple[Read, ...]
    steps: tuple[Planned, ...]
    problems: tuple[str, ...]

    @property
    def seconds(self) -> float:
        """The estimated seconds of all steps, without those whose time is unknown."""
        return sum(step.seconds or 0.0 for step in self.steps)

    @property
    def nbytes(self) -> int:
        """The estimated bytes that all steps write, without those whose size is unknown."""
        return sum(step.nbytes or 0 for step in self.steps)


def plan_study(
    study: Study, store: StudyStore, places: StudyPlaces, registry: Registry, workers: int | None = None
) -> StudyPlan:
    """Return the plan of a study. Nothing is written, and no data set is downloaded."""
    check_models(study, registry)
    store.check()
    work = StudyWork(study, store, places, registry, workers=workers)
    experiments = make_experiments(work)
    work.study = with_experiments(study, experiments)
    reads, problems = _reads(work, experiments)
    steps = [] if problems else list(_steps(work, experiments))
    return StudyPlan(tuple(reads), tuple(steps), tuple(problems))


def _reads(work: StudyWork, experiments: Mapping[str, MadeExperiment | str]) -> tuple[list[Read], list[str]]:
    """Return what a study reads, and a sentence for each thing that it cannot or may not read."""
    study, reads, problems = work.study, [], list[str]()
    wanted: list[tuple[str, str, tuple[str, ...]]] = [
        (f"collection {c.name}", text, ("collections", c.name))
        for c in study.collections.values()
        for text in c.documents
    ]
    wanted += [(f"index {i.name}", i.path, ("indexes", i.name)) for i in study.indexes.values() if i.path]
    for topics in study.topics.values():
        where = ("topics", topics.name) if len(study.topics) > 1 else ("topics",)
        given = (("topics", topics.file), ("judgements", topics.qrels), ("groups", topics.collapse))
        wanted += [(f"{what} {topics.name}", text, where) for what, text in given if text]
    for system in study.systems.values():
        wanted += [(f"run {system.name}", text, ("systems", system.name)) for text in system.runs.values()]
    for made in experiments.values():
        if isinstance(made, str):
            problems.append(made)
        else:
            reads += [Read(f"experiment {made.plan.name}", file, os.path.getsize(file)) for file in made.files]
    for what, text, path in wanted:
        try:
            if text.startswith(PREFIX):
                reads.append(Read(what, text, None))
                if what.startswith("collection") or not work.places.download:
                    work.places.find(text, study.where(path))
                continue
            files = work.places.files(text, study.where(path))
            reads.append(Read(what, work.places.find(text, study.where(path)), sum(map(os.path.getsize, files))))
        except InputError as error:
            problems.append(str(error))
    return reads, problems


def _steps(work: StudyWork, experiments: Mapping[str, MadeExperiment | str]) -> Iterator[Planned]:
    """Yield the steps of a study, as far as they can be foreseen."""
    study = work.study
    asked = {name: read_asked(work, plan) for name, plan in study.topics.items()}
    yield from _experiment_steps(work, None, [each for each in experiments.values() if not is_on_an_index(each)])
    for plan in study.indexes_in_use():
        index = kept_index(work, plan)
        yield _index_step(work, plan, index)
        own = list(experiments_on(experiments, plan.name))
        if index is not None:
            yield from _fits(work, plan, index, own)
        yield from _experiment_steps(work, index, own)
        for topics in study.topics_of(plan.name):
            for system in study.systems_on(topics.name):
                if system.expression:
                    yield _run_step(work, index, topics, asked[topics.name], system)


def _index_step(work: StudyWork, plan: IndexPlan, index: Index | None) -> Planned:
    step = f"index {plan.name}"
    if index is not None:
        return Planned(step, KEPT if not plan.path else "read")
    before = work.store.record("index", plan.name)
    why = changes(before, index_identity(work, plan))
    files = [path for _, path in source_of(work, plan.collection).files if not path.startswith(PREFIX)]
    size = sum(os.path.getsize(path) * (UNPACKED if path.endswith(PACKED) else 1) for path in files)
    if before is not None:
        return Planned(step, why, before.seconds, int(before.data.get("bytes", 0)) or None)
    return Planned(step, why, build_seconds(size, threads(work.workers)) or None, int(INDEX_SHARE * size) or None)


def is_on_an_index(made: MadeExperiment | str) -> bool:
    """Return whether an experiment measures on an index."""
    return isinstance(made, MadeExperiment) and bool(made.plan.index)


def _experiment_steps(
    work: StudyWork, index: Index | None, experiments: Iterable[MadeExperiment | str]
) -> Iterator[Planned]:
    for made in experiments:
        if isinstance(made, str):
            continue
        for unit in made.experiment.units:
            name = unit_name(made, unit)
            before = work.store.record("experiment", name)
            seconds, step = before.seconds if before else None, f"experiment {name}"
            if made.plan.index and index is None:
                yield Planned(step, "index changed" if before else "new", seconds)
            elif index and any(not index.is_fitted(model) for model in models_of_experiment(index, made)):
                yield Planned(step, "after its models", seconds)
            else:
                identity = unit_identity(work, made, index, unit)
                is_kept = work.store.done("experiment", name, identity) is not None
                yield Planned(step, KEPT) if is_kept else Planned(step, changes(before, identity), seconds)


def _fits(work: StudyWork, plan: IndexPlan, index: Index, experiments: Iterable[MadeExperiment]) -> Iterator[Planned]:
    wanted = dict.fromkeys(models_on(work, plan, index))
    for made in experiments:
        wanted |= dict.fromkeys(models_of_experiment(index, made))
    for model in wanted:
        name, identity = f"{plan.name}/{model}", fit_identity(work, index, model)
        if (plan.path and index.is_fitted(model)) or (
            work.store.done("fit", name, identity) and index.is_fitted(model)
        ):
            yield Planned(f"fit {name}", KEPT)
            continue
        cost, before = index.cost_of(model), work.store.record("fit", name)
        seconds = before.seconds if before else cost.seconds / threads(work.workers) if cost else None
        yield Planned(f"fit {name}", changes(before, identity), seconds, int(cost.nbytes) if cost else None)


def _run_step(
    work: StudyWork, index: Index | None, topics: TopicPlan, asked: StudyTopics, system: SystemPlan
) -> Planned:
    name, step = f"{topics.name}/{system.name}", f"{'tune' if system.is_tuned else 'run'} {topics.name}/{system.name}"
    before = work.store.record("run", name)
    nbytes = (
        sum((work.store.folder / file).stat().st_size for file in before.files if (work.store.folder / file).is_file())
        if before
        else 0
    )
    if index is None:
        return Planned(step, "index changed" if before else "new", before.seconds if before else None, nbytes or None)
    seconds = before.seconds if before else None
    try:
        if any(not index.is_fitted(model) for model in models_of(work, index, system)):
            return Planned(step, "after its models", seconds, nbytes or None)
        identity = run_identity(work, index, topics, asked, system)
        number = len(settings(work, index, system)) if system.is_tuned else 1
    except SublexError as error:
        return Planned(step, f"fails: {str(error).partition(';')[0].rstrip('.')}", seconds)
    if work.store.done("run", name, identity, files_of_run(run_file(topics, system))):
        return Planned(step, KEPT)
    about = number * len(asked.topics) * (TOPIC_SECONDS + DOCUMENT_SECONDS * len(index)) / threads(work.workers)
    return Planned(step, changes(before, identity), about if seconds is None else seconds, nbytes or None)
