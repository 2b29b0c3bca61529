"""The results of a study: the figures of each system on each set of topics, the comparison of the systems, tables and plots."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sublex.errors import InputError
from sublex.forms.frames import data_frame
from sublex.forms.parts import InParts, Part
from sublex.forms.tables import Table
from sublex.statistics.corrections import CORRECTIONS
from sublex.statistics.sentences import p_cell
from sublex.statistics.significance import t
from sublex.studies.study_plans import ClaimPlan, Study, TablePlan
from sublex.tools.hints import resolve_hints
from sublex.tools.messages import counted, near_names

if TYPE_CHECKING:
    from sublex.evaluation.comparison import Comparison

# Verdicts on a published figure: ours is within the tolerance, beyond it on the better side, or neither.
AS_PUBLISHED, BETTER, DISAGREES, MISSING = "as published", "better", "disagrees", "not measured"
# The most inverted pairs of a claim that have sentences of their own.
MOST_SENTENCES = 3
# Verdicts on a published order of systems, which may be DISAGREES too, and on other published results.
SAME_ORDER, UNTESTED = "same order", "not testable"


class SystemResult(NamedTuple):
    """The result of a system on a set of topics: its expression, the mean of each measure, and the values by topic.

    `values` has a row for each topic and a column for each measure. `tuning` is the report of its tuning. `failure`
    says why a system failed; it is "" for any other.
    """

    name: str
    expression: str
    means: Mapping[str, float]
    values: np.ndarray
    tuning: Sequence[Part] = ()
    failure: str = ""


class TopicsResult(NamedTuple):
    """The results of all systems on a set of topics, the comparison as `parts`, and a plot of the main measure as SVG.

    `counts` says which measures are sums over topics, and not means.
    """

    name: str
    index_name: str
    documents: int
    qids: tuple[str, ...]
    measures: tuple[str, ...]
    counts: tuple[bool, ...]
    systems: tuple[SystemResult, ...]
    parts: tuple[Part, ...] = ()
    plot: str = ""
    notes: tuple[str, ...] = ()

    def system(self, name: str) -> SystemResult | None:
        """Return a system that did not fail; None for another name."""
        return next((each for each in self.systems if each.name == name and not each.failure), None)

    @property
    def failures(self) -> list[str]:
        """A sentence for each system that failed."""
        return [f"{each.name} failed: {each.failure}" for each in self.systems if each.failure]


class ExperimentResult(NamedTuple):
    """The figures of an experiment. `systems` are its cases, whose values have a row for each unit.

    `failure` says why it failed.
    """

    name: str
    expression: str
    units: tuple[str, ...]
    measures: tuple[str, ...]
    systems: tuple[SystemResult, ...]
    failure: str = ""

    def system(self, name: str) -> SystemResult | None:
        """Return a case; None for another name, and if the experiment failed."""
        return next((each for each in self.systems if each.name == name), None)

    @property
    def failures(self) -> list[str]:
        """The sentence about the experiment if it failed."""
        return [self.failure] if self.failure else []

    def table(self) -> Table:
        """Return a table of means, each with the lowest and the highest value of a unit if there are several."""
        rows = []
        shown = [
            column_format([x for case in self.systems for x in case.values[:, k]]) for k in range(len(self.measures))
        ]
        for case in self.systems:
            low, high = case.values.min(axis=0), case.values.max(axis=0)
            cells = [
                (figure(case.means[name]) if low[k] < high[k] else shown[k](low[k]))
                + (f" ({shown[k](low[k])} to {shown[k](high[k])})" if low[k] < high[k] else "")
                for k, name in enumerate(self.measures)
            ]
            rows.append([case.name, *cells])
        return Table(["case", *self.measures], rows)

    def parts(self) -> list[Part]:
        """Return a title and the table as parts; if the experiment failed, the reason in place of the table."""
        title = f"{self.name}: {counted(len(self.units), 'unit')} of {self.expression.partition('(')[0]}"
        return [self.failure] if self.failure else [title, self.table()]


def figure(value: float) -> str:
    """Return a figure of an experiment as text, with four decimals. Counts and numbers from 1,000 on have none."""
    return f"{value:,.0f}" if abs(value) >= 1000 or is_count(value) else f"{value:.4f}"


def column_format(values: Sequence[float]) -> Callable[[float], str]:
    """Return the function that formats the figures of a column: without decimals if all are counts, else `figure`."""
    return "{:,.0f}".format if values and is_count(*values) else figure


def is_count(*values: float) -> bool:
    """Return whether values look like counts and not like shares: whole numbers, one of them 2 or more in size."""
    return all(value == round(value) for value in values) and max(map(abs, values)) >= 2


class ReportedFigure(NamedTuple):
    """A figure of a table beside one that is published or expected.

    `value` is the figure of this study, None if it is missing, `other` the published or expected one, and `tolerance`
    the largest allowed difference. `better` says which figures are better, "higher" or "lower" ones, or "" if neither.
    """

    table: str
    system: str
    column: str
    value: float | None
    other: float
    tolerance: float
    better: str = ""

    @property
    def is_within(self) -> bool:
        """Whether our figure is within the tolerance of the other one."""
        # Figures have few decimals, and their difference has an error in the last binary place.
        return self.value is not None and abs(self.value - self.other) <= self.tolerance + 1e-12

    @property
    def verdict(self) -> str:
        """The verdict on our figure beside the published one: missing, as published, better, or disagrees."""
        if self.value is None:
            return MISSING
        if self.is_within:
            return AS_PUBLISHED
        return BETTER if self.better == ("higher" if self.value > self.other else "lower") else DISAGREES


class Order(NamedTuple):
    """A pair of systems on a set of topics; `higher` should have the higher mean.

    It has their difference and its corrected p.
    """

    topics: str
    higher: str
    lower: str
    difference: float
    corrected: float


class Claim(NamedTuple):
    """A published order of systems, and the differences that this study found for each pair.

    `level` is the significance level; `missing` are systems that were not measured.
    """

    plan: ClaimPlan
    orders: tuple[Order, ...]
    level: float
    missing: tuple[str, ...]

    @property
    def inversions(self) -> list[Order]:
        """The pairs in which the lower system is significantly above the other one."""
        return [each for each in self.orders if each.difference < 0 and each.corrected <= self.level]

    @property
    def verdict(self) -> str:
        """The verdict: missing if a system is, disagrees if a pair is significantly inverted, or else same order."""
        if self.missing or not self.orders:
            return MISSING
        return DISAGREES if self.inversions else SAME_ORDER


def _inversions(claim: Claim) -> list[str]:
    """Return sentences about the inverted pairs of a claim: one for each, or one for all if there are many."""
    title, found = claim.plan.title, claim.inversions
    if len(found) > MOST_SENTENCES:
        sizes = sorted(-order.difference for order in found)
        highest = p_cell(max(order.corrected for order in found))
        return [
            f"{title}: {len(found)} of {len(claim.orders)} pairs are inverted, by {sizes[0]:.4f} to {sizes[-1]:.4f} "
            f"(highest corrected p {highest})."
        ]
    return [
        f"{title}: on {order.topics}, {order.lower} is above {order.higher} by {-order.difference:.4f} "
        f"(corrected p {p_cell(order.corrected)})."
        for order in found
    ]


@dataclass(eq=False)
class StudyResult(InParts):
    """The results of a study.

    `print` shows its tables, `to_pandas` returns the means, and `by_topic` the measures of each topic. `folder` holds
    the runs, the measures, the report and `study.lock`. `done` names the steps that this run did, and `kept` those
    whose results were there already.
    """

    study: Study
    folder: Path
    sets: tuple[TopicsResult, ...]
    experiments: tuple[ExperimentResult, ...] = ()
    done: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    seconds: float = 0.0
    lock: Mapping[str, Any] = field(default_factory=dict)
    compared: Callable[[str], Comparison] | None = None

    def __getitem__(self, topics: str) -> TopicsResult:
        """Return the results on a set of topics."""
        found = next((each for each in self.sets if each.name == topics), None)
        if found is None:
            raise InputError(f"No topics {topics}; there are: {near_names(topics, [each.name for each in self.sets])}.")
        return found

    def experiment(self, name: str) -> ExperimentResult:
        """Return the results of an experiment."""
        found = next((each for each in self.experiments if each.name == name), None)
        if found is None:
            known = near_names(name, [each.name for each in self.experiments]) or "none"
            raise InputError(f"No experiment {name}; there are: {known}.")
        return found

    def _measured(self, name: str) -> TopicsResult | ExperimentResult:
        """Return the results of an experiment, or of a set of topics."""
        return next((each for each in self.experiments if each.name == name), None) or self[name]

    def comparison(self, topics: str | None = None) -> Comparison:
        """Return the comparison of the systems on the set of topics with this name. A single set need not be named."""
        if topics is None and len(self.sets) != 1:
            raise InputError(f"Name the topics: {', '.join(each.name for each in self.sets)}.")
        assert self.compared is not None
        return self.compared(self[topics if topics is not None else self.sets[0].name].name)

    @property
    def measured(self) -> list[TopicsResult | ExperimentResult]:
        """The results of all sets of topics, then those of all experiments."""
        return [*self.sets, *self.experiments]

    @property
    def failures(self) -> list[str]:
        """A sentence for each system and experiment that failed, with its topics."""
        return [f"{each.name}: {failure}" for each in self.measured for failure in each.failures]

    def value(self, topics: str, system: str, measure: str) -> float | None:
        """Return the mean of a measure; None for a system that failed or does not run on these topics.

        For a figure of an experiment, `topics` is the name of the experiment, and `system` the name of a case.
        """
        found = self._measured(topics).system(system)
        return None if found is None else found.means[measure]

    # Figures beside others.

    def _figures(self, wanted: str) -> list[ReportedFigure]:
        found = []
        for table in self.study.tables:
            places = {column: (topics, measure) for column, topics, measure in table.columns()}
            figures: Mapping[tuple[str, str], float] = getattr(table, wanted)
            tolerance = self.study.tolerance if table.tolerance is None else table.tolerance
            for (system, column), other in figures.items():
                # The table of an experiment that cannot be made has no columns.
                topics, measure = places.get(column, (table.experiment, column))
                value = self.value(topics, system, measure)
                found.append(ReportedFigure(table.name, system, column, value, other, tolerance, table.better))
        return found

    @cached_property
    def published(self) -> list[ReportedFigure]:
        """The published figures of all tables, each with the figure of this study."""
        return self._figures("published")

    @cached_property
    def expected(self) -> list[ReportedFigure]:
        """The expected figures of all tables, each with the figure of this study."""
        return self._figures("expected")

    @cached_property
    def claims(self) -> list[Claim]:
        """The claims of the study file, each tested. A claim says which systems a paper puts above which others.

        Each pair of a higher and a lower system is tested by a paired t test on each set of topics. The p-values of a claim
        are corrected by Holm's method.
        """
        return [self._claim(plan) for plan in self.study.claims]

    def _claim(self, plan: ClaimPlan) -> Claim:
        missing = [
            f"{topics}: {name}"
            for topics in plan.topics
            for name in (*plan.higher, *plan.lower)
            if not self._measured(topics).system(name)
        ]
        found, p = [], []
        for topics in plan.topics if not missing else ():
            measured = self._measured(topics)
            place = measured.measures.index(plan.measure)
            scores = {each.name: each.values[:, place] for each in measured.systems if not each.failure}
            for higher, lower in product(plan.higher, plan.lower):
                a, b = scores[higher], scores[lower]
                found.append(Order(topics, higher, lower, float(a.mean() - b.mean()), 1.0))
                p.append(float(t(a, b)))
        corrected: Iterable[float] = CORRECTIONS["holm"](np.array(p)) if p else []
        orders = tuple(each._replace(corrected=float(value)) for each, value in zip(found, corrected, strict=True))
        return Claim(plan, orders, self.study.compare.alpha, tuple(missing))

    def claims_table(self) -> Table | None:
        """Return the published orders as a table of verdicts; None without any."""
        rows = []
        for each in self.claims:
            kept = sum(order.difference > 0 for order in each.orders)
            counts = f"{kept} of {len(each.orders)}", str(len(each.inversions))
            rows.append([each.plan.title, each.plan.source, each.plan.measure, *counts, each.verdict])
        head = ["published", "source", "measure", "pairs in order", "significant inversions", "verdict"]
        return Table(head, rows, 2) if rows else None

    def untested_table(self) -> Table | None:
        """Return the published results that cannot be tested, with the reasons, as a table; None without any."""
        rows = [[each.title, each.source, f"{UNTESTED}: {each.why}"] for each in self.study.untested]
        return Table(["published", "source", "verdict"], rows, 3) if rows else None

    def claim_parts(self) -> list[Part]:
        """Return the verdicts on published orders as parts.

        Inversions, and differences from the published experiment, follow.
        """
        inverted = tuple(sentence for each in self.claims for sentence in _inversions(each))
        missing = tuple(
            f"{each.plan.title}: no figure of {', '.join(each.missing)}." for each in self.claims if each.missing
        )
        return [
            part for part in (self.claims_table(), inverted, missing, self.untested_table(), self.study.differs) if part
        ]

    def table(self, plan: TablePlan) -> Table:
        """Return a table of the study, with a row for each system or case.

        The best figure of a column is bold, if one is better.
        """
        columns = plan.columns()
        values = [[self.value(topics, system, measure) for _, topics, measure in columns] for system in plan.systems]
        cells, bold, best = [list(plan.systems)], set(), min if plan.better == "lower" else max
        for place, (_, topics, _) in enumerate(columns):
            column = [row[place] for row in values]
            known = [value for value in column if value is not None]
            shown = column_format(known) if plan.experiment else "{:.4f}".format
            if len(set(known)) > 1 and (plan.better or not plan.experiment):
                bold |= {(at, place + 1) for at, value in enumerate(column) if value == best(known)}
            cells.append(
                [
                    self._missing(system, topics) if value is None else shown(value)
                    for system, value in zip(plan.systems, column, strict=True)
                ]
            )
        rows = list(map(list, zip(*cells, strict=True)))
        return Table(["case" if plan.experiment else "system", *(column for column, _, _ in columns)], rows, 1, bold)

    def _missing(self, system: str, topics: str) -> str:
        """Return the text of a cell without a figure: "failed", or "-" if the system does not run on these topics."""
        measured = self._measured(topics)
        is_asked = isinstance(measured, ExperimentResult) or any(each.name == system for each in measured.systems)
        return "failed" if is_asked else "-"

    def beside(self, plan: TablePlan) -> Table | None:
        """Return a table of published and expected figures beside those of this study; None if there are none."""
        kinds = (("published", self.published), ("expected", self.expected))
        shown = figure if plan.experiment else "{:.4f}".format
        rows = []
        for kind, figures in kinds:
            for each in figures:
                if each.table == plan.name:
                    verdict = each.verdict if kind == "published" else "as expected" if each.is_within else "moved"
                    ours, difference = "-", "-"
                    if each.value is not None:
                        ours, apart = shown(each.value), each.value - each.other
                        if plan.experiment and is_count(each.value, each.other):
                            ours = f"{each.value:,.0f}"
                        difference = f"{apart:+.4f}" if "." in ours else f"{apart:+,.0f}"
                    rows.append(
                        [
                            each.system,
                            each.column,
                            kind,
                            shown(each.other),
                            ours,
                            difference,
                            f"{each.tolerance:g}",
                            verdict,
                        ]
                    )
        head = [
            "case" if plan.experiment else "system",
            "column",
            "",
            "figure",
            "ours",
            "difference",
            "tolerance",
            "verdict",
        ]
        return Table(head, rows, 3) if rows else None

    def table_parts(self, plan: TablePlan) -> list[Part]:
        """Return a table of the study as parts: its title, the table, and the figures beside others."""
        source = f" ({plan.source})" if plan.source else ""
        return [f"{plan.title}{source}", self.table(plan), *filter(None, [self.beside(plan)])]

    def overview(self) -> Table:
        """Return a table of all systems: a row for each set of topics and system, a column for each measure."""
        if not self.sets:
            return self._experiments_table()
        measures = self.sets[0].measures
        rows = []
        for each in self.sets:
            for system in each.systems:
                cells = ["failed"] * len(measures)
                if not system.failure:
                    shown = zip(measures, each.counts, strict=True)
                    cells = [
                        f"{system.means[name]:.0f}" if count else f"{system.means[name]:.4f}" for name, count in shown
                    ]
                rows.append([each.name, system.name, *cells])
        return Table(["topics", "system", *measures], rows, 2)

    def _experiments_table(self) -> Table:
        """Return a table of all figures of experiments: a row for each experiment, case and measure."""
        rows = [
            [each.name, case.name, name, figure(case.means[name])]
            for each in self.experiments
            for case in each.systems
            for name in each.measures
        ]
        return Table(["experiment", "case", "measure", "figure"], rows, 3)

    def reported_parts(self) -> list[Part]:
        """Return the tables of the study, the verdicts on published results, and the failures, as parts."""
        tables = [part for plan in self.study.tables for part in self.table_parts(plan)]
        return [*tables, *self.claim_parts(), tuple(self.failures)]

    def divided_tables(self) -> tuple[list[TablePlan], list[TablePlan]]:
        """Return the tables to show, and the others: those with expected and without published figures."""
        kept = [plan for plan in self.study.tables if plan.expected and not plan.published]
        return [plan for plan in self.study.tables if plan not in kept], kept

    def brief_parts(self) -> list[Part]:
        """Return tables, verdicts and failures as parts.

        A sentence counts the moved figures of tables that are not shown.
        """
        shown, kept = self.divided_tables()
        tables = [part for plan in shown for part in self.table_parts(plan)]
        expected = [each for each in self.expected if each.table in {plan.name for plan in kept}]
        moved = sum(not each.is_within for each in expected)
        verdict = f"{moved:,} of {counted(len(expected), 'expected figure')} moved; the report lists them."
        return [*tables, *self.claim_parts(), *([verdict] if expected else []), tuple(self.failures)]

    def parts(self) -> list[Part]:
        """Return the comparisons on the sets of topics, then experiments, the tables of the study, and failures."""
        found: list[Part] = []
        for each in self.sets:
            found += [
                f"{each.name}: {counted(len(each.qids), 'topic')}, {counted(each.documents, 'document')}",
                *each.parts,
            ]
        for experiment in self.experiments:
            found += experiment.parts()
        return [*found, *self.reported_parts()]

    # Frames.

    def to_pandas(self) -> Any:
        """Return a DataFrame of means: a row for each set of topics and system, a column for each measure. pandas must be installed."""
        if not self.sets:
            return self.by_unit().groupby(["experiment", "case", "measure"], sort=False)["value"].mean().unstack()
        rows = [(each.name, system.name, system) for each in self.sets for system in each.systems]
        measures = self.sets[0].measures
        columns: dict[str, Any] = {"topics": [row[0] for row in rows], "system": [row[1] for row in rows]}
        for name in measures:
            columns[name] = [np.nan if row[2].failure else row[2].means[name] for row in rows]
        return data_frame(columns).set_index(["topics", "system"])

    def by_topic(self) -> Any:
        """Return a DataFrame with a row for each set of topics, system and topic, a column for each measure. pandas must be installed."""
        return data_frame(self.columns())

    def by_unit(self) -> Any:
        """Return a DataFrame with a row for each experiment, case, unit and measure, and its value. pandas must be installed."""
        return data_frame(self.experiment_columns())

    def experiment_columns(self) -> dict[str, Any]:
        """Return the figures of experiments as columns, with a row for each experiment, case, unit and measure."""
        rows = [
            (each.name, case.name, unit, measure, value)
            for each in self.experiments
            for case in each.systems
            for unit, values in zip(each.units, case.values.tolist(), strict=True)
            for measure, value in zip(each.measures, values, strict=True)
        ]
        names = ("experiment", "case", "unit", "measure", "value")
        return {name: [row[place] for row in rows] for place, name in enumerate(names)}

    def columns(self) -> dict[str, Any]:
        """Return the measures by topic as columns, with a row for each set of topics, system and topic."""
        rows = [
            (each.name, system.name, qid, *values)
            for each in self.sets
            for system in each.systems
            if not system.failure
            for qid, values in zip(each.qids, system.values.tolist(), strict=True)
        ]
        names = ("topics", "system", "qid", *(self.sets[0].measures if self.sets else ()))
        return {name: [row[place] for row in rows] for place, name in enumerate(names)}

    def __repr__(self) -> str:
        systems = len({system.name for each in self.sets for system in each.systems})
        if not self.sets:
            return f"<{self.study.title}: {counted(len(self.experiments), 'experiment')}, in {self.folder}>"
        sets = f"{len(self.sets)} sets of topics" if len(self.sets) != 1 else f"the topics {self.sets[0].name}"
        return f"<{self.study.title}: {counted(systems, 'system')} on {sets}, in {self.folder}>"


resolve_hints(__name__)
