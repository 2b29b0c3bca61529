"""The experiments of a study: make the objects that plugins register, and measure their cases, unit by unit."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from sublex.contracts.base import Folder, Resource
from sublex.contracts.experiments import Experiment, ExperimentWork
from sublex.errors import InputError, PluginError, SublexError, contract
from sublex.language.expression import Expression
from sublex.language.parser import parse_call
from sublex.language.plugins import Component
from sublex.pipeline.index import Index
from sublex.representations.export import vectors_of_index
from sublex.studies.expressions import experiment_of
from sublex.studies.identity import code_of, versions
from sublex.studies.results import ExperimentResult, SystemResult
from sublex.studies.steps import StudyWork, model_fingerprint
from sublex.studies.study_plans import ClaimPlan, ExperimentPlan, PlotPlan, Study, TablePlan
from sublex.tools.arguments import threads
from sublex.tools.messages import clean_lines, near_names

# Packages whose versions count for the figures of experiments.
PACKAGES = ("numpy", "scipy", "numba", "scikit-learn")
# The least number of units on which a claimed order of cases can be tested.
LEAST_UNITS = 5
# The largest number of units of an experiment, and of its cases or measures.
MOST_UNITS, MOST_CASES = 1_000, 1_000


class MadeExperiment(NamedTuple):
    """An experiment of a study: its plan, the resolved call, the files that it reads, and the object of the plugin."""

    plan: ExperimentPlan
    component: Component
    files: tuple[str, ...]
    experiment: Experiment

    @property
    def models(self) -> list[Expression]:
        """The models among the parameters."""
        return [value for value in self.component.values.values() if isinstance(value, Expression)]


# Making.


def make_experiments(work: StudyWork) -> dict[str, MadeExperiment | str]:
    """Return the experiments of a study by name.

    In place of an experiment that cannot be made, there is a sentence with the reason.
    """
    found: dict[str, MadeExperiment | str] = {}
    for name, plan in work.study.experiments.items():
        try:
            found[name] = _made(work, plan)
        except SublexError as error:
            found[name] = failure_of(work, name, error)
    return found


def failure_of(work: StudyWork, name: str, error: SublexError) -> str:
    """Return a sentence that says why the experiment `name` failed, and names its line in the study file."""
    where, text = f"{work.study.where(('experiments', name))}: ", clean_lines(str(error))
    return text if text.startswith(where) else where + text


def _made(work: StudyWork, plan: ExperimentPlan) -> MadeExperiment:
    where = work.study.where(("experiments", plan.name))
    component = experiment_of(parse_call(plan.call, unnamed=True), work.study, work.registry, work.places, where)
    with contract("experiment", component.name):
        made = component.make()
    _check(made, component.name)
    if made.needs_index and not plan.index:
        raise InputError(f'{component.name} measures on an index, and none is named; add index = "…", the name of one.')
    params = {param.name: param.type for param in component.registration.params}
    files = [value for name, value in component.values.items() if params[name] in (Resource, Folder) and value]
    return MadeExperiment(plan, component, tuple(map(str, files)), made)


def _check(made: Any, name: str) -> None:
    """Raise PluginError for an object that is no experiment."""
    if not isinstance(made, Experiment):
        raise PluginError(f"{name} is no experiment: it lacks cases, measures, units, needs_index or measure.")
    for what, texts, most in (
        ("cases", made.cases, MOST_CASES),
        ("measures", made.measures, MOST_CASES),
        ("units", made.units, MOST_UNITS),
    ):
        are_texts = isinstance(texts, (list, tuple)) and all(isinstance(text, str) and text for text in texts)
        if not are_texts or not 0 < len(texts) <= most or len(set(texts)) < len(texts):
            raise PluginError(f"The {what} of {name} should be 1 to {most:,} different texts.")


def with_experiments(study: Study, made: Mapping[str, MadeExperiment | str]) -> Study:
    """Return a study whose tables, plots and claims have the cases and measures of the experiments written out.

    Raise InputError for a case or a measure that the experiment does not have. The tables of an experiment that cannot be
    made stay as they are.
    """

    def whole(plan: Any, kind: str) -> Any:
        where, known = study.where((kind, plan.name)), []
        for name, cases, measures in _named(plan):
            experiment = made.get(name)
            if not isinstance(experiment, MadeExperiment):
                continue
            own = experiment.experiment
            for what, given, there in (("case", cases, own.cases), ("measure", measures, own.measures)):
                for each in given:
                    if each not in there:
                        raise InputError(f"{where}: no {what} {each} of {name}; there are: {near_names(each, there)}.")
            if isinstance(plan, ClaimPlan) and len(own.units) < LEAST_UNITS:
                raise InputError(
                    f"{where}: {name} has {len(own.units)} units, and an order is claimed over five or more; raise their number."
                )
            known.append(own)
        if not known:
            return plan
        if isinstance(plan, TablePlan):
            return replace(
                plan, systems=plan.systems or tuple(known[0].cases), measures=plan.measures or tuple(known[0].measures)
            )
        return replace(plan, measure=plan.measure or known[0].measures[0])

    kinds: dict[str, Any] = {
        kind: tuple(whole(plan, kind) for plan in getattr(study, kind)) for kind in ("tables", "plots", "claims")
    }
    return replace(study, **kinds)


def _named(plan: TablePlan | PlotPlan | ClaimPlan) -> list[tuple[str, list[str], list[str]]]:
    """Return each experiment that a table, a plot or a claim is about, with the cases and the measures that it names."""
    if isinstance(plan, PlotPlan):
        measures = [plan.measure] if plan.measure else []
        points = [point for line in plan.lines for point in line.points]
        return [(name, [case for topics, case, _ in points if topics == name], measures) for name in plan.experiments]
    if isinstance(plan, TablePlan):
        figures = [*plan.published, *plan.expected]
        cases = [*plan.systems, *(case for case, _ in figures)]
        return [(plan.experiment, cases, [*plan.measures, *(measure for _, measure in figures)])]
    return [(plan.experiment, [*plan.higher, *plan.lower], [plan.measure] if plan.measure else [])]


# Measuring.


def unit_identity(work: StudyWork, made: MadeExperiment, index: Index | None, unit: str) -> dict[str, Any]:
    """Return all that the figures of a unit depend on: call, unit, files, the index with its models, and code."""
    component = made.component
    code = {**code_of([component], work.registry, "experiment"), **code_of(made.models, work.registry)}
    models = models_of_experiment(index, made) if index else []
    return {
        "experiment": f"{component.name}({ {name: str(value) for name, value in sorted(_values(made).items())} })",
        "unit": unit,
        "files": [work.hashes.of(file) for file in made.files],
        "index": index.fingerprint if index else "",
        "models": {model: model_fingerprint(index, model) for model in models} if index else {},
        "code": {**versions(PACKAGES), **code},
    }


def _values(made: MadeExperiment) -> dict[str, Any]:
    """Return the values of the parameters without paths of files, because only the content of a file counts."""
    return {name: value for name, value in made.component.values.items() if value not in made.files}


def models_of_experiment(index: Index, made: MadeExperiment) -> list[str]:
    """Return the fitted models that an experiment needs, each once."""
    return list(dict.fromkeys(model for tree in made.models for model in index.models_in(tree)))


def unit_name(made: MadeExperiment, unit: str) -> str:
    """Return the name of the step that measures a unit."""
    return f"{made.plan.name}/{unit}"


def measure_experiment(work: StudyWork, made: MadeExperiment | str, name: str, index: Index | None) -> ExperimentResult:
    """Return the figures of an experiment. Units that were measured before are read from their records."""
    if isinstance(made, str):
        return ExperimentResult(name, "", (), (), (), made)
    own, index_name = made.experiment, made.plan.index
    try:
        for model in models_of_experiment(index, made) if index else ():
            if failure := work.failed_models.get((index_name, model)):
                raise InputError(failure)
        by_unit = [_unit(work, made, index, unit) for unit in own.units]
    except SublexError as error:
        return ExperimentResult(name, str(made.component), (), tuple(own.measures), (), failure_of(work, name, error))
    values = np.array([[figures[case] for case in own.cases] for figures in by_unit], np.float64)
    systems = tuple(
        SystemResult(
            case, "", dict(zip(own.measures, values[:, place].mean(axis=0).tolist(), strict=True)), values[:, place]
        )
        for place, case in enumerate(own.cases)
    )
    return ExperimentResult(name, str(made.component), tuple(own.units), tuple(own.measures), systems)


def _unit(work: StudyWork, made: MadeExperiment, index: Index | None, unit: str) -> dict[str, list[float]]:
    """Return the figures of each case on a unit."""
    name, identity, own = unit_name(made, unit), unit_identity(work, made, index, unit), made.experiment
    record = work.known("experiment", name, identity)
    if record is not None:
        try:
            return _checked(record.data["figures"], own, made.component.name)
        except (KeyError, PluginError):
            work.kept.pop()
    begin = time.perf_counter()
    with work.watch.step(f"Measured {name}"), work.watch.progress(name, "steps") as advance:
        with contract("experiment", made.component.name):
            found = own.measure(unit, ExperimentWork(index, threads(work.workers), partial(_vectors, index), advance))
        figures = _checked(found, own, made.component.name)
    work.keep("experiment", name, identity, [], {"figures": figures}, time.perf_counter() - begin)
    return figures


def _vectors(index: Index | None, model: Expression, texts: Sequence[str] | None = None) -> Any:
    """Return the vectors of texts, or of all live documents of an index, by a fitted model, one in each row."""
    from scipy.sparse import issparse, vstack

    if index is None:
        raise InputError("An experiment without an index asked for the vectors of a model.")
    representation = index.representation(model)
    if texts is not None:
        return representation.vectors(representation.inputs.of_texts(texts))
    blocks = [rows for _, rows in vectors_of_index(index.snapshot, representation)]
    return vstack(blocks, format="csr") if issparse(blocks[0]) else np.concatenate(blocks)


def _checked(found: Any, own: Experiment, name: str) -> dict[str, list[float]]:
    """Return the figures of each case as floats.

    Raise PluginError unless each case has one finite number for each measure.
    """
    figures: dict[str, list[float]] = {}
    for case in own.cases:
        given: Sequence[Any] = found.get(case, ()) if isinstance(found, Mapping) else ()
        try:
            figures[case] = [float(value) for value in given]
        except (TypeError, ValueError):
            figures[case] = []
        if len(figures[case]) != len(own.measures) or not all(map(math.isfinite, figures[case])):
            raise PluginError(f"{name} did not give {case} one finite number for each measure.")
    return figures


def experiments_on(made: Mapping[str, MadeExperiment | str], index_name: str) -> Iterator[MadeExperiment]:
    """Yield the experiments that measure on an index."""
    return (each for each in made.values() if isinstance(each, MadeExperiment) and each.plan.index == index_name)
