"""Read the parts of a study file that present figures: tables, plots, published orders, and untestable results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sublex.errors import InputError
from sublex.evaluation.measures import parse_measures
from sublex.studies.study_plans import (
    ClaimPlan,
    ComparePlan,
    ExperimentPlan,
    PlotLine,
    PlotPlan,
    TablePlan,
    UntestedPlan,
)
from sublex.studies.study_values import StudyValues
from sublex.tools.messages import near_names

# The values of the key `better`: which figures are better.
BETTER = ("higher", "lower")


class StudyTables(StudyValues):
    """Reads the tables [tables.NAME], [plots.NAME], [claims.NAME] and [untested.NAME] of a study file.

    The methods take a table of the file as `own`, and its path, such as ("tables", "main"), for messages. The cases and
    measures of an experiment are known only when the experiment is made, so they are not checked here.
    """

    def _experiment_of(
        self, own: Mapping[str, Any], path: Sequence[str], experiments: Mapping[str, ExperimentPlan]
    ) -> str:
        """Return the name of the experiment whose figures a table, a plot or a claim has; "" for figures of topics."""
        name = str(self.text(own, path, "experiment", ""))
        if name and "topics" in own:
            self.refuse((*path, "topics"), "topics does not go with experiment; leave one of them out.")
        if name:
            self.known(name, (*path, "experiment"), "experiment", list(experiments))
        return name

    def _tables(
        self, given: Any, systems: Mapping[str, Any], topics: Mapping[str, Any], compare: ComparePlan,
        experiments: Mapping[str, ExperimentPlan],
    ) -> tuple[TablePlan, ...]:  # fmt: skip
        table = self.table(given, ("tables",))
        self.names(table, ("tables",))
        found = []
        for name, value in table.items():
            path = ("tables", name)
            own = self.table(value, path, tuple(key for key in TablePlan.__dataclass_fields__ if key != "name"))
            experiment = self._experiment_of(own, path, experiments)
            plan = TablePlan(
                name,
                self.text(own, path, "title", name),
                self._systems_of(own, path, "systems", systems, experiment),
                (experiment,)
                if experiment
                else self.known(own.get("topics"), (*path, "topics"), "topics", list(topics)),
                self._measures_of(own, path, "measures", compare, experiment),
                {},
                {},
                None if "tolerance" not in own else self.number(own["tolerance"], (*path, "tolerance"), 0),
                self.text(own, path, "source", ""),
                experiment,
                self.choice(own, path, "better", BETTER) if "better" in own else "",
            )
            figures = {key: self._figures(own.get(key, {}), (*path, key), plan) for key in ("published", "expected")}
            if figures["published"] and plan.tolerance is None:
                self.refuse(
                    path,
                    f"[{'.'.join(path)}] has published figures and no tolerance; add tolerance = 0.005, or another.",
                )
            found.append(TablePlan(**{**plan.__dict__, **figures}))
        return tuple(found)

    def _systems_of(
        self, own: Mapping[str, Any], path: Sequence[str], key: str, systems: Mapping[str, Any], experiment: str
    ) -> tuple[str, ...]:
        """Return the names of systems under a key, or the cases of an experiment.

        Without the key, return all systems, or ().
        """
        if experiment:
            return self.texts(own[key], (*path, key)) if key in own else ()
        return self.known(own.get(key), (*path, key), "system", list(systems))

    def _measures_of(
        self, own: Mapping[str, Any], path: Sequence[str], key: str, compare: ComparePlan, experiment: str
    ) -> tuple[str, ...]:
        """Return the measures under a key; without the key, all of [compare], or for an experiment ()."""
        if experiment:
            return self.texts(own[key], (*path, key)) if key in own else ()
        return self._measures(own.get(key), (*path, key), compare)

    def _measures(self, value: Any, path: Sequence[str], compare: ComparePlan) -> tuple[str, ...]:
        """Return the measures of a table or a plot, by default all of [compare]. Refuse any that [compare] lacks."""
        if value is None:
            return compare.measures
        try:
            wanted = [str(measure) for measure in parse_measures(self.texts(value, path))]
        except InputError as error:
            self.refuse(path, str(error))
        return self.known(wanted, path, "measure among those of [compare]", compare.measures)

    def _figures(self, value: Any, path: Sequence[str], plan: TablePlan) -> dict[tuple[str, str], float]:
        """Return the published or expected figures of a table by system and column."""
        columns, is_open = [column for column, _, _ in plan.columns()], bool(plan.experiment)
        found = {}
        for system, given in self.table(value, path).items():
            if system not in plan.systems and not (is_open and not plan.systems):
                self.refuse(
                    (*path, system), f"no system {system} in this table; there are: {near_names(system, plan.systems)}."
                )
            if not isinstance(given, Mapping):
                if not columns:
                    self.refuse(
                        (*path, system),
                        f'{system} has one figure, and the table names no measures; add measures = ["…"].',
                    )
                if len(columns) != 1:
                    self.refuse(
                        (*path, system),
                        f'{system} has {len(columns)} columns; write {path[-1]}.{system}."{columns[0]}" = …',
                    )
                given = {columns[0]: given}
            for column, number in given.items():
                if column not in columns and not (is_open and not columns):
                    self.refuse(
                        (*path, system, column), f"no column {column}; there are: {near_names(column, columns)}."
                    )
                found[system, column] = self.number(number, (*path, system, column))
        return found

    def _claims(
        self, given: Any, systems: Mapping[str, Any], topics: Mapping[str, Any], compare: ComparePlan,
        experiments: Mapping[str, ExperimentPlan],
    ) -> tuple[ClaimPlan, ...]:  # fmt: skip
        table = self.table(given, ("claims",))
        self.names(table, ("claims",))
        found = []
        for name, value in table.items():
            path = ("claims", name)
            own = self.table(value, path, tuple(key for key in ClaimPlan.__dataclass_fields__ if key != "name"))
            sides = []
            experiment = self._experiment_of(own, path, experiments)
            for side in ("higher", "lower"):
                if side not in own:
                    self.refuse(path, f'[{".".join(path)}] has no {side}; add {side} = ["…"], the names of systems.')
                sides.append(self._systems_of(own, path, side, systems, experiment))
            if both := set(sides[0]) & set(sides[1]):
                self.refuse((*path, "lower"), f"{min(both)} cannot be above itself; name it on one side.")
            measure = self._measure_of(own, path, compare, experiment)
            found.append(
                ClaimPlan(
                    name,
                    self.text(own, path, "title", name),
                    sides[0],
                    sides[1],
                    measure,
                    (experiment,)
                    if experiment
                    else self.known(own.get("topics"), (*path, "topics"), "topics", list(topics)),
                    self.text(own, path, "source", ""),
                    experiment,
                )
            )
        return tuple(found)

    def _measure_of(self, own: Mapping[str, Any], path: Sequence[str], compare: ComparePlan, experiment: str) -> str:
        """Return the measure of a plot or a claim; by default the first of [compare], or "" for an experiment."""
        if experiment:
            return str(self.text(own, path, "measure", ""))
        return self._measures(own.get("measure", compare.measures[0]), (*path, "measure"), compare)[0]

    def _untested(self, given: Any) -> tuple[UntestedPlan, ...]:
        table = self.table(given, ("untested",))
        found = []
        for name, value in table.items():
            path = ("untested", name)
            own = self.table(value, path, ("title", "why", "source"))
            texts = self.text(own, path, "title", name), self.text(own, path, "why"), self.text(own, path, "source", "")
            found.append(UntestedPlan(name, *texts))
        return tuple(found)

    def _plots(
        self, given: Any, systems: Mapping[str, Any], topics: Mapping[str, Any], compare: ComparePlan,
        experiments: Mapping[str, ExperimentPlan],
    ) -> tuple[PlotPlan, ...]:  # fmt: skip
        table = self.table(given, ("plots",))
        self.names(table, ("plots",))
        found = []
        for name, value in table.items():
            path = ("plots", name)
            own = self.table(value, path, ("title", "measure", "x", "lines", "cases", "label", "topics", "experiment"))
            if "cases" in own:
                lines = self._lines_over_experiments(own, path, experiments)
                names = tuple(dict.fromkeys(experiment for line in lines for experiment, _, _ in line.points))
            else:
                experiment = self._experiment_of(own, path, experiments)
                names = (experiment,) if experiment else ()
                sets = names or self.known(own.get("topics"), (*path, "topics"), "topics", list(topics))
                lines = self._lines(own, path, sets, None if experiment else list(systems))
            measure = self._measure_of(own, path, compare, names[0] if names else "")
            title, label = self.text(own, path, "title", name), self.text(own, path, "label", "x")
            found.append(PlotPlan(name, title, measure, label, lines, names))
        return tuple(found)

    def _lines(
        self, own: Mapping[str, Any], path: Sequence[str], sets: Sequence[str], systems: Sequence[str] | None
    ) -> tuple[PlotLine, ...]:
        """Return the lines of a plot: one for each pair of a set of topics and an entry of the key `lines`.

        An entry has the x value of each system. The key `x` has the x values of a single line without a name. If
        `systems` is None, the names are cases of an experiment.
        """
        if "lines" in own and "x" in own:
            self.refuse(
                (*path, "x"), "x does not go with lines, which have places of their own; leave one of them out."
            )
        given = self.table(own["lines"], (*path, "lines")) if "lines" in own else {"": own.get("x", {})}
        found = []
        for name, value in given.items():
            at = (*path, "lines", name) if name else (*path, "x")
            x = self.table(value, at)
            if systems is not None:
                self.known(list(x) or None, at, "system", systems)
            if len(x) < 2:
                what = f"{name} needs" if name else f"[{'.'.join(path)}] needs x,"
                self.refuse(at if name else path, f"{what} a number for each of two systems or more.")
            places = [(system, self.number(number, (*at, system))) for system, number in x.items()]
            for each in sets:
                title = ", ".join(part for part in (each if len(sets) > 1 or not name else "", name) if part)
                found.append(PlotLine(title, tuple((each, system, place) for system, place in places)))
        return tuple(found)

    def _lines_over_experiments(
        self, own: Mapping[str, Any], path: Sequence[str], experiments: Mapping[str, ExperimentPlan]
    ) -> tuple[PlotLine, ...]:
        """Return a line for each case in `cases`. Its points are the experiments in `x`, each with its x value."""
        for key in ("lines", "topics", "experiment"):
            if key in own:
                self.refuse(
                    (*path, key),
                    f"{key} does not go with cases, whose x has a number for each experiment; leave one out.",
                )
        x = self.table(own.get("x", {}), (*path, "x"))
        self.known(list(x) or None, (*path, "x"), "experiment", list(experiments))
        if len(x) < 2:
            self.refuse(path, f"[{'.'.join(path)}] needs x, a number for each of two experiments or more.")
        places = [(name, self.number(number, (*path, "x", name))) for name, number in x.items()]
        cases = self.texts(own["cases"], (*path, "cases"))
        return tuple(PlotLine(case, tuple((name, case, place) for name, place in places)) for case in cases)
