"""Run a study: build missing indexes, run and compare the systems on each set of topics, and write the results."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from sublex.errors import SublexError
from sublex.evaluation.collapsing import collapsed
from sublex.evaluation.comparison import Comparison, Plan, compare
from sublex.evaluation.measures import parse_measures
from sublex.evaluation.run_evaluation import Evaluation, evaluate
from sublex.forms.parts import Part
from sublex.forms.tables import Table
from sublex.language.plugins import Registry
from sublex.pipeline.index import Index
from sublex.report import svg
from sublex.report.page import render_page
from sublex.studies.experiments import (
    MadeExperiment,
    experiments_on,
    make_experiments,
    measure_experiment,
    models_of_experiment,
    with_experiments,
)
from sublex.studies.expressions import check_models
from sublex.studies.identity import hash_of_value, qrels_hash
from sublex.studies.outputs import write_outputs
from sublex.studies.places import StudyPlaces
from sublex.studies.results import StudyResult, SystemResult, TopicsResult
from sublex.studies.steps import (
    Made,
    StudyTopics,
    StudyWork,
    build,
    fit,
    models_of,
    models_on,
    part_as_json,
    read_asked,
    run,
    versions_of_measures,
)
from sublex.studies.store import REPORTS, StudyStore, file_name
from sublex.studies.study_lock import first_lock, lock_of, read_lock
from sublex.studies.study_plans import IndexPlan, Study, SystemPlan, TopicPlan
from sublex.tools.messages import clean_lines
from sublex.tools.outputs import expect_replaceable, write_output

# The version of the records of comparisons. It is a part of their identity: a new version makes all comparisons again.
FORMAT = 2


def run_study(
    study: Study,
    store: StudyStore,
    places: StudyPlaces,
    registry: Registry,
    watch: Any = None,
    workers: int | None = None,
) -> StudyResult:
    """Run the steps of a study whose results are missing or outdated, write its folder, and return the results.

    If a system fails, the others are run, and the results have a sentence about the failure. Raise InputError for a
    study that cannot run at all. `watch` receives messages and progress, as `StudyWatch` does.
    """
    begin = time.perf_counter()
    check_models(study, registry)
    store.check()
    read_lock(store)
    work = StudyWork(study, store, places, registry, workers=workers)
    if watch is not None:
        work.watch = watch
    with store.opened(first_lock(study)):
        _expect_own_reports(store, study)
        experiments = make_experiments(work)
        work.study = study = with_experiments(study, experiments)
        asked = {name: read_asked(work, plan) for name, plan in study.topics.items()}
        indexes = {plan.name: build(work, plan) for plan in study.indexes_in_use()}
        work.keep_hashes()
        for name, index in indexes.items():
            _fit(work, study.indexes[name], index, experiments)
        sets = tuple(_topics(work, indexes[plan.index], plan, asked[plan.name]) for plan in study.topics.values())
        measured = tuple(
            measure_experiment(work, made, name, indexes.get(study.experiments[name].index))
            for name, made in experiments.items()
        )
        result = StudyResult(study, store.folder, sets, measured, tuple(work.done), tuple(work.kept))
        result.compared = partial(_comparison_again, work, indexes, asked)
        result.seconds = time.perf_counter() - begin
        work.keep_hashes()
        result.lock = lock_of(work, result, indexes, asked)
        write_outputs(store, result)
    return result


def _expect_own_reports(store: StudyStore, study: Study) -> None:
    """Raise InputError, before any work is done, if an existing report was changed by hand."""
    for file in ("report.html", *(_report(plan) for plan in study.topics.values())):
        expect_replaceable(store.folder / file)


def _report(plan: TopicPlan) -> str:
    return f"{REPORTS}/{file_name(plan.name)}.html"


def _fit(work: StudyWork, plan: IndexPlan, index: Index, experiments: Mapping[str, MadeExperiment | str]) -> None:
    """Fit the models that systems and experiments need.

    Errors are kept: a system that needs a failed model fails when it is run.
    """
    wanted = dict.fromkeys(models_on(work, plan, index))
    for made in experiments_on(experiments, plan.name):
        wanted |= dict.fromkeys(models_of_experiment(index, made))
    for model in wanted:
        try:
            fit(work, plan, index, model)
        except SublexError as error:
            work.failed_models[plan.name, model] = str(error)


def _made(work: StudyWork, index: Index, topics: TopicPlan, asked: StudyTopics, system: SystemPlan) -> Made | str:
    """Return a system with its run on a set of topics. If it fails, return a sentence with the reason."""
    where = f"{work.study.where(('systems', system.name))}: "
    try:
        if system.expression:
            for model in models_of(work, index, system):
                if failure := work.failed_models.get((topics.index, model)):
                    return where + failure
        return run(work, index, topics, asked, system)
    except SublexError as error:
        text = clean_lines(str(error))
        return text if text.startswith(where) else where + text


def _topics(work: StudyWork, index: Index, plan: TopicPlan, asked: StudyTopics) -> TopicsResult:
    """Run the systems on a set of topics, and compare them."""
    made = {system.name: _made(work, index, plan, asked, system) for system in work.study.systems_on(plan.name)}
    whole = {name: each for name, each in made.items() if isinstance(each, Made)}
    failures = {name: each for name, each in made.items() if isinstance(each, str)}
    measures = parse_measures(work.study.compare.measures)
    if not whole:
        none = np.empty((0, len(measures)))
        systems = tuple(SystemResult(name, "", {}, none, (), failure) for name, failure in failures.items())
        return TopicsResult(
            plan.name, plan.index, len(index), (), tuple(map(str, measures)), (False,) * len(measures), systems
        )
    identity = _comparison_identity(work, index, plan, asked, whole)
    record = work.known("comparison", plan.name, identity, [_report(plan)])
    found = None if record is None else _kept_result(record.data, plan, index, whole, failures, made)
    if found is None:
        record = _compare(work, index, plan, asked, whole, identity)
        found = _result(record.data, plan, index, whole, failures, made)
    return found


def _kept_result(data: Mapping[str, Any], *given: Any) -> TopicsResult | None:
    """Return `_result` of a record's data and of `given`; None if the data do not have the form that a study writes."""
    try:
        return _result(data, *given)
    except (KeyError, IndexError, TypeError, ValueError):
        return None


def _result(
    data: Mapping[str, Any],
    plan: TopicPlan,
    index: Index,
    whole: Mapping[str, Made],
    failures: Mapping[str, str],
    names: Iterable[str],
) -> TopicsResult:
    """Return the result on a set of topics from the data of its record. The plot is drawn again from the numbers.

    `whole` has the systems that ran, `failures` a sentence for each of the others, and `names` the names of all in
    their order.
    """
    measures, qids = [str(name) for name in data["measures"]], [str(qid) for qid in data["qids"]]
    values = {name: np.array(data["values"][name], np.float64).reshape(len(qids), len(measures)) for name in whole}
    means = {name: {measure: float(data["means"][name][measure]) for measure in measures} for name in whole}
    ends = np.array([data["intervals"][name] for name in whole], np.float64).reshape(len(whole), 2)
    main = str(data["main"])
    plot = svg.intervals(list(whole), [means[name][main] for name in whole], ends, main)
    systems = tuple(
        SystemResult(
            name, whole[name].expression, means[name], values[name], tuple(map(part_of, whole[name].tuning))
        ) if name in whole else SystemResult(name, "", {}, np.empty((0, len(measures))), (), failures[name])
        for name in names
    )  # fmt: skip
    return TopicsResult(
        plan.name, plan.index, len(index), tuple(qids), tuple(measures), tuple(map(bool, data["counts"])), systems,
        tuple(map(part_of, data["parts"])), plot, tuple(map(str, data["notes"])),
    )  # fmt: skip


def part_of(value: Any) -> Part:
    """Return the part of a result that `part_as_json` turned into a value for JSON."""
    if isinstance(value, Mapping):
        return Table(
            value["head"],
            [tuple(row) for row in value["rows"]],
            value["labels"],
            {tuple(cell) for cell in value["bold"]},
            value["raised"],
        )
    return value if isinstance(value, str) else tuple(value)


def _comparison_identity(
    work: StudyWork, index: Index, plan: TopicPlan, asked: StudyTopics, made: Mapping[str, Made]
) -> dict[str, Any]:
    compared = dict(work.study.compare.__dict__) | {"k": 0}
    return {
        "format": FORMAT,
        "index": index.fingerprint,
        # The first system is the baseline, so the order counts.
        "runs": [[name, each.identity] for name, each in made.items()],
        "topics": asked.topics_hash,
        "judgements": asked.qrels_hash,
        "groups": hash_of_value(asked.groups),
        "options": {key: list(value) if isinstance(value, tuple) else value for key, value in compared.items()},
        # Slices may read models of the index.
        "models": index.generation if work.study.compare.by else 0,
        "code": versions_of_measures(),
    }


def comparison_of(
    work: StudyWork, index: Index, asked: StudyTopics, plan: TopicPlan, made: Sequence[Made]
) -> Comparison:
    """Compare systems. The measures of a run that was measured before are read from its record."""
    options = work.study.compare
    systems, qrels, left_out = collapsed([each.system for each in made], asked.qrels, asked.groups)
    runs = {each.system.name: each.identity for each in made}
    notes = [*asked.notes, *left_out, *dict.fromkeys(note for each in made for note in each.notes)]
    return compare(
        systems, qrels, asked.topics, options.measures, index, Plan(options.test, options.correction, options.alpha, options.seed),
        notes, options.by, options.groups, partial(_measured, work, plan, asked, runs),
    )  # fmt: skip


def _measured(
    work: StudyWork,
    plan: TopicPlan,
    asked: StudyTopics,
    runs: Mapping[str, str],
    qrels: Any,
    run: Any,
    measures: Sequence[Any],
    name: str,
) -> Evaluation:
    """Return the measures of the run `run` of the system `name`.

    If it was measured before, they are read from its record. `runs` has the hash of each system's run.
    """
    identity = {
        "run": runs[name], "judgements": qrels_hash(qrels), "groups": hash_of_value(asked.groups),
        "measures": list(map(str, measures)), "code": versions_of_measures(),
    }  # fmt: skip
    label = f"{plan.name}/{name}"
    record = work.known("measures", label, identity)
    if record is not None:
        if (kept := _kept_evaluation(record.data, name, measures)) is not None:
            return kept
        work.kept.pop()
    begin = time.perf_counter()
    found = evaluate(qrels, run, measures, name)
    data = {"qids": list(found.qids), "values": found.values.tolist(), "missing": list(found.missing)}
    work.keep("measures", label, identity, [], data, time.perf_counter() - begin)
    return found


def _kept_evaluation(data: Mapping[str, Any], name: str, measures: Sequence[Any]) -> Evaluation | None:
    """Return the evaluation in the data of a record; None if the data do not have the form that a study writes."""
    try:
        qids, missing = ([str(qid) for qid in data[part]] for part in ("qids", "missing"))
        values = np.array(data["values"], np.float64).reshape(len(qids), len(measures))
    except (KeyError, TypeError, ValueError):
        return None
    return Evaluation(name, measures, qids, values, missing) if np.isfinite(values).all() else None


def _compare(
    work: StudyWork,
    index: Index,
    plan: TopicPlan,
    asked: StudyTopics,
    made: Mapping[str, Made],
    identity: Mapping[str, Any],
) -> Any:
    """Compare systems, write the report of the comparison, and return a record of the figures that the study shows."""
    begin = time.perf_counter()
    with work.watch.step(f"Measured and tested the systems on {plan.name}"):
        done = comparison_of(work, index, asked, plan, list(made.values()))
        write_output(work.store.folder / _report(plan), render_page(done, f"sublex study {work.study.file}".strip()))
    data = {
        "qids": list(done.qids),
        "measures": list(done.measures),
        "counts": list(done.evaluations[0].counts),
        "means": {each.name: each.mean for each in done.evaluations},
        "values": {each.name: each.values.tolist() for each in done.evaluations},
        "parts": [part_as_json(part) for part in done.parts() if part],
        "main": done.main,
        "intervals": dict(zip(done.names, done.intervals[done.main].tolist(), strict=True)),
        "notes": list(done.notes),
    }
    return work.keep("comparison", plan.name, identity, [_report(plan)], data, time.perf_counter() - begin)


def _comparison_again(
    work: StudyWork, indexes: Mapping[str, Index], asked: Mapping[str, StudyTopics], name: str
) -> Comparison:
    """Return the comparison on the set of topics `name`. The runs are read from the folder of the study."""
    plan = work.study.topics[name]
    made = [_made(work, indexes[plan.index], plan, asked[name], system) for system in work.study.systems_on(name)]
    return comparison_of(
        work, indexes[plan.index], asked[name], plan, [each for each in made if isinstance(each, Made)]
    )
