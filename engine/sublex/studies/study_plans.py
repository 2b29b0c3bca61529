"""The content of a study file as records: collections, topics, systems, experiments, tables, plots and claims."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from sublex.evaluation.measures import DEFAULT_MEASURES
from sublex.language.expression import ranges
from sublex.language.parser import parse


@dataclass(frozen=True)
class CollectionPlan:
    """The documents of a collection: paths as the study file writes them, and the options of reading."""

    name: str
    documents: tuple[str, ...]
    reader: str | None = None
    strict: bool = False


@dataclass(frozen=True)
class IndexPlan:
    """An index to build from a collection with the options of `sublex.build`, or the index that exists at `path`."""

    name: str
    collection: str = ""
    path: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class TopicPlan:
    """Topics with their judgements, and the index on which they are run."""

    name: str
    index: str
    file: str
    qrels: str
    fields: str = "title"
    language: str = "plain"
    contradictions: str = "error"
    collapse: str = ""


@dataclass(frozen=True)
class SystemPlan:
    """A system: an expression, which is tuned if it has ranges, or run files by the name of their topics.

    `topics` has the names of the sets of topics on which the system runs; an empty tuple means all sets.
    """

    name: str
    expression: str = ""
    runs: Mapping[str, str] = field(default_factory=dict)
    topics: tuple[str, ...] = ()
    profile: str | None = None

    @property
    def is_tuned(self) -> bool:
        """Whether the numbers of the expression are chosen by cross-validation."""
        return bool(self.expression) and bool(ranges(parse(self.expression)))


@dataclass(frozen=True)
class ExperimentPlan:
    """An experiment of a plugin: its call with the parameters, and the name of the index that it measures on, or ""."""

    name: str
    call: str
    index: str = ""


@dataclass(frozen=True)
class ComparePlan:
    """The options of comparing systems, with the names and defaults of `sublex.compare`."""

    measures: tuple[str, ...] = DEFAULT_MEASURES
    test: str = "t"
    correction: str = "holm"
    alpha: float = 0.05
    seed: int = 0
    k: int = 1000
    by: tuple[str, ...] = ()
    groups: int = 3


@dataclass(frozen=True)
class TunePlan:
    """The options of tuning systems with ranges, with the names and defaults of `sublex.tune`."""

    measure: str = "AP"
    folds: int = 5
    search: str = "grid"
    steps: int = 5
    samples: int = 50
    seed: int = 0


@dataclass(frozen=True)
class TablePlan:
    """A table that the study should have: systems by measures or topics, beside published and expected figures.

    `published` and `expected` have figures by (system, column). With one set of topics, the columns are measures. With
    one measure and several sets, the columns are the sets. Otherwise a column is a pair of both, such as "cranfield
    AP". `better` says which figures are better, "higher" or "lower" ones, or "" if neither.

    In the table of an experiment, `systems` are cases, and the name of the experiment is the only item of `topics`.
    Until the experiment is made, an empty tuple of systems or measures stands for all of its cases or measures.
    """

    name: str
    title: str
    systems: tuple[str, ...]
    topics: tuple[str, ...]
    measures: tuple[str, ...]
    published: Mapping[tuple[str, str], float]
    expected: Mapping[tuple[str, str], float]
    tolerance: float | None = None
    source: str = ""
    experiment: str = ""
    better: str = ""

    def columns(self) -> list[tuple[str, str, str]]:
        """Return the name, the topics and the measure of each column."""
        pairs = [(topics, measure) for topics in self.topics for measure in self.measures]
        several = len(self.topics) > 1, len(self.measures) > 1
        return [(self._column(*several, topics, measure), topics, measure) for topics, measure in pairs]

    @staticmethod
    def _column(several_topics: bool, several_measures: bool, topics: str, measure: str) -> str:
        if several_topics and several_measures:
            return f"{topics} {measure}"
        return topics if several_topics else measure


class PlotLine(NamedTuple):
    """A line of a plot. A point is (set of topics, system, x value), or (experiment, case, x value)."""

    name: str
    points: tuple[tuple[str, str, float], ...]


@dataclass(frozen=True)
class PlotPlan:
    """A plot of a measure over the x values of its points. `label` is the label of the x axis.

    `experiments` has the experiments whose figures are plotted. Until they are made, the `measure` "" means the first
    one.
    """

    name: str
    title: str
    measure: str
    label: str
    lines: tuple[PlotLine, ...]
    experiments: tuple[str, ...] = ()


@dataclass(frozen=True)
class ClaimPlan:
    """A published order: by a measure, each of the systems `higher` is above each of the systems `lower`.

    Several runs of a model with different seeds are several systems. For an order of an `experiment`, both are cases.
    """

    name: str
    title: str
    higher: tuple[str, ...]
    lower: tuple[str, ...]
    measure: str
    topics: tuple[str, ...]
    source: str = ""
    experiment: str = ""


@dataclass(frozen=True)
class UntestedPlan:
    """A published result that the study cannot test, and why."""

    name: str
    title: str
    why: str
    source: str = ""


@dataclass(frozen=True)
class Study:
    """A study as its file describes it.

    `where` returns the beginning of a message about a key of the file, given as a path such as ("systems", "BM25").
    """

    title: str
    collections: Mapping[str, CollectionPlan]
    indexes: Mapping[str, IndexPlan]
    models: Mapping[str, str]
    topics: Mapping[str, TopicPlan]
    systems: Mapping[str, SystemPlan]
    experiments: Mapping[str, ExperimentPlan]
    compare: ComparePlan
    tune: TunePlan
    tables: tuple[TablePlan, ...]
    plots: tuple[PlotPlan, ...]
    claims: tuple[ClaimPlan, ...]
    untested: tuple[UntestedPlan, ...]
    differs: tuple[str, ...]
    tolerance: float
    folder: Path
    file: str = ""
    text: str = ""
    where: Callable[[Sequence[str]], str] = field(default=lambda path: "The study", compare=False)

    def systems_on(self, topics: str) -> list[SystemPlan]:
        """Return the systems that run on a set of topics."""
        return [each for each in self.systems.values() if not each.topics or topics in each.topics]

    def indexes_in_use(self) -> list[IndexPlan]:
        """Return the indexes that topics are run on, and those that experiments measure on."""
        asked: tuple[TopicPlan | ExperimentPlan, ...] = (*self.topics.values(), *self.experiments.values())
        return [self.indexes[name] for name in dict.fromkeys(plan.index for plan in asked if plan.index)]

    def topics_of(self, index: str) -> list[TopicPlan]:
        """Return the sets of topics that are run on an index."""
        return [plan for plan in self.topics.values() if plan.index == index]
