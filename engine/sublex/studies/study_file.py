"""Read a study: a file in TOML, or the same tables as a dictionary. Each mistake costs one sentence with the line of the file."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from sublex.errors import InputError, SublexError
from sublex.evaluation.measures import DEFAULT_MEASURES, parse_measures
from sublex.language.expression import ranges
from sublex.language.parser import parse, parse_call
from sublex.studies.toml_lines import Toml, read_toml
from sublex.tools.arguments import shown
from sublex.tools.messages import near_names, nearest, one_line
from sublex.tools.plain_files import read_text

# Bytes of a study file, and entries of one of its tables, at most.
MOST_BYTES, MOST_ENTRIES = 1 << 18, 1_000
# Values of a range that tuning tries, at most.
MOST_SETTINGS = 10_000
# Names of collections, indexes, topics, tables and plots, which become names of files.
NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,63}", re.ASCII)
# Names of systems are any words.
LONGEST_NAME = 200
# How far a figure may move before a check says so, unless the file says more: figures are the same to four decimals.
TOLERANCE = 0.00005
TESTS = ("t", "randomisation", "wilcoxon")
CORRECTIONS = ("holm", "bonferroni", "bh", "none", "tukey")
LANGUAGES = ("plain", "query", "weighted")
RULES = ("error", "first", "last", "highest")


@dataclass(frozen=True)
class CollectionPlan:
    """The documents of a collection: paths as the file has them, and how they are read."""

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

    `topics` are the names of the topics on which it runs; none stand for all.
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
    """An experiment of a plugin: its call with the parameters, and the index that it measures on; "" for none."""

    name: str
    call: str
    index: str = ""


@dataclass(frozen=True)
class ComparePlan:
    """How systems are compared; the names and defaults are those of `sublex.compare`."""

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
    """How systems with ranges are tuned; the names and defaults are those of `sublex.tune`."""

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
    one measure and several sets, they are the sets. Otherwise a column is a pair, such as "cranfield AP". The table of an
    experiment has the cases of the experiment in place of systems, and its name in place of topics; until the experiment
    is made, no systems or measures stand for all.
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


@dataclass(frozen=True)
class PlotPlan:
    """A plot of a measure of several systems: each at its place on the x axis, with a line for each set of topics."""

    name: str
    title: str
    measure: str
    x: Mapping[str, float]
    label: str
    topics: tuple[str, ...]
    experiment: str = ""


@dataclass(frozen=True)
class ClaimPlan:
    """An order that somebody published: each of the systems `higher` is above each of the systems `lower` by a measure.

    Several runs of a model with different seeds are several systems. Of an experiment, cases take the places of systems.
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
    """A study as its file describes it. `where` begins a message about a key of the file, which it takes as a path."""

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


def read_study(file: str | os.PathLike[str]) -> Study:
    """Return the study of a file. Raise InputError, in one sentence with the line, for a file that is no study."""
    path = Path(file)
    text = read_text(path, MOST_BYTES, "a study, a file in TOML")
    toml = read_toml(text, str(path))
    return _Reading(toml).study(Path(os.path.abspath(path)).parent, str(path), text)


def study_of(tables: Mapping[str, Any], folder: str | os.PathLike[str] = ".") -> Study:
    """Return the study of a dictionary with the tables of a study file. Paths in it begin in `folder`."""
    return _Reading(Toml("The study", dict(tables), {})).study(Path(os.path.abspath(folder)))


class _Reading:
    """Reads the tables of a study, and names the line of each mistake."""

    def __init__(self, toml: Toml):
        self.toml = toml

    def refuse(self, path: Sequence[str], problem: str) -> NoReturn:
        raise InputError(f"{self.toml.where(path)}: {one_line(problem)}")

    # Values.

    def table(self, value: Any, path: Sequence[str], keys: Sequence[str] = ()) -> dict[str, Any]:
        """Return a table. With `keys`, the table may have only these keys; without `keys`, any name is a key."""
        what = f"[{'.'.join(path)}]" if path else "the study"
        if not isinstance(value, Mapping):
            self.refuse(path, f"{'.'.join(path)} is {shown(value)}, and should be a table, with a line for each name.")
        if len(value) > MOST_ENTRIES:
            self.refuse(path, f"{what} has {len(value):,} entries, and {MOST_ENTRIES:,} is the most.")
        for name in value:
            if not isinstance(name, str):
                self.refuse(path, f"{what} has the key {shown(name)}; give texts as keys.")
            if keys and name not in keys:
                hint = nearest(name, keys)
                self.refuse(
                    (*path, name),
                    f"{what} has no key {name}; {hint}{'T' if hint else 't'}here are: {near_names(name, keys)}.",
                )
        return dict(value)

    def text(self, table: Mapping[str, Any], path: Sequence[str], name: str, default: Any = ...) -> Any:
        """Return the text under a key, or the default."""
        value = table.get(name, default)
        if value is default and default is not ...:
            return value
        if value is ...:
            self.refuse(path, f'[{".".join(path)}] has no {name}; add {name} = "…".')
        if not isinstance(value, str) or not value.strip():
            self.refuse((*path, name), f"{name} is {shown(value)}; give a text.")
        return value

    def choice(self, table: Mapping[str, Any], path: Sequence[str], name: str, choices: Sequence[str]) -> str:
        """Return the text under a key, which must be one of `choices`; the first choice is the default."""
        value = self.text(table, path, name, choices[0])
        if value not in choices:
            self.refuse((*path, name), f"{name} is {shown(value)}; give {', '.join(choices[:-1])} or {choices[-1]}.")
        return str(value)

    def whole(
        self,
        table: Mapping[str, Any],
        path: Sequence[str],
        name: str,
        default: int,
        least: int,
        most: int = (1 << 31) - 1,
    ) -> int:
        """Return the whole number under a key, or the default."""
        value = table.get(name, default)
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            self.refuse((*path, name), f"{name} is {shown(value)}; give a whole number, {least} to {most:,}.")
        return value

    def number(self, value: Any, path: Sequence[str], least: float | None = None) -> float:
        """Return a finite number."""
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not is_number or not abs(value) < 1e308 or (least is not None and value < least):
            more = "" if least is None else f", at least {least:g}"
            self.refuse(path, f"{path[-1]} is {shown(value)}; give a number{more}.")
        return float(value)

    def truth(self, table: Mapping[str, Any], path: Sequence[str], name: str) -> bool:
        """Return true or false under a key; false is the default."""
        value = table.get(name, False)
        if not isinstance(value, bool):
            self.refuse((*path, name), f"{name} is {shown(value)}; give true or false.")
        return value

    def texts(self, value: Any, path: Sequence[str]) -> tuple[str, ...]:
        """Return one text, or the texts of a list."""
        given = [value] if isinstance(value, str) else value
        if (
            not isinstance(given, (list, tuple))
            or not given
            or not all(isinstance(e, str) and e.strip() for e in given)
        ):
            self.refuse(path, f"{path[-1]} is {shown(value)}; give a text, or a list of texts.")
        return tuple(given)

    def known(self, value: Any, path: Sequence[str], what: str, names: Sequence[str]) -> tuple[str, ...]:
        """Return the names in a list; without a list, all known names. Refuse an unknown name, and a name given twice."""
        if value is None:
            return tuple(names)
        given = self.texts(value, path)
        for place, name in enumerate(given):
            if name not in names:
                hint = nearest(name, names)
                there = f"{hint}{'T' if hint else 't'}here are: {near_names(name, names)}"
                self.refuse(path, f"no {what} {name}; {there}.")
            if name in given[:place]:
                self.refuse(path, f"the {what} {name} comes twice; give it once.")
        return given

    def names(self, table: Mapping[str, Any], path: Sequence[str]) -> None:
        """Refuse names that no file could have."""
        for name in table:
            if not NAME.fullmatch(name):
                self.refuse(
                    (*path, name),
                    f"{name!r} cannot be a name here; take letters, digits, _, - and points, a letter first, 64 in all.",
                )

    def expression(self, value: Any, path: Sequence[str]) -> str:
        """Return the text of an expression that can be read."""
        text = self.text({path[-1]: value}, path[:-1], path[-1])
        try:
            parse(text)
        except SublexError as error:
            # The caret under the mistake would stand on the line of the message.
            reason, caret, _ = str(error).partition(":\n")
            self.refuse(path, f"{reason} of {text[:200]!r}; correct the expression." if caret else str(error))
        return str(text)

    # Tables.

    def study(self, folder: Path, file: str = "", text: str = "") -> Study:
        """Return the study."""
        data = self.table(self.toml.data, (), tuple(_TABLES))
        # A study has rankings, experiments, or both.
        if not data.get("experiments") or data.get("systems") or data.get("topics"):
            for needed in ("systems", "topics"):
                if not data.get(needed):
                    self.refuse((needed,), f"[{needed}] is empty or missing; {_TABLES[needed]}.")
            if not data.get("collections") and not data.get("indexes"):
                self.refuse((), f"[collections] is empty or missing; {_TABLES['collections']}.")
        collections = self._collections(data.get("collections", {}))
        indexes = self._indexes(data.get("indexes", {}), collections)
        topics = self._topics(data["topics"], indexes) if data.get("topics") else {}
        compare = self._compare(data.get("compare", {}))
        systems = self._systems(data.get("systems", {}), topics)
        experiments = self._experiments(data.get("experiments", {}), indexes, topics)
        check = self.table(data.get("check", {}), ("check",), ("tolerance",))
        return Study(
            title=self.text(data, (), "title", "") or Path(file).stem or "Study",
            collections=collections,
            indexes=indexes,
            models=self._models(data.get("models", {})),
            topics=topics,
            systems=systems,
            experiments=experiments,
            compare=compare,
            tune=self._tune(data.get("tune", {})),
            tables=self._tables(data.get("tables", {}), systems, topics, compare, experiments),
            plots=self._plots(data.get("plots", {}), systems, topics, compare, experiments),
            claims=self._claims(data.get("claims", {}), systems, topics, compare, experiments),
            untested=self._untested(data.get("untested", {})),
            differs=self.texts(data["differs"], ("differs",)) if "differs" in data else (),
            tolerance=self.number(check.get("tolerance", TOLERANCE), ("check", "tolerance"), 0),
            folder=folder,
            file=file,
            text=text,
            where=self.toml.where,
        )

    def _collections(self, given: Any) -> dict[str, CollectionPlan]:
        table = self.table(given, ("collections",))
        self.names(table, ("collections",))
        found = {}
        for name, value in table.items():
            path = ("collections", name)
            own = value if isinstance(value, Mapping) else {"documents": value}
            own = self.table(own, path, ("documents", "reader", "strict"))
            if "documents" not in own:
                self.refuse(path, f'[{".".join(path)}] has no documents; add documents = "…", a path or several.')
            found[name] = CollectionPlan(
                name,
                self.texts(own["documents"], (*path, "documents") if isinstance(value, Mapping) else path),
                self.text(own, path, "reader", None),
                self.truth(own, path, "strict"),
            )
        return found

    def _indexes(self, given: Any, collections: Mapping[str, CollectionPlan]) -> dict[str, IndexPlan]:
        table = self.table(given, ("indexes",))
        self.names(table, ("indexes",))
        found = {}
        for name, value in table.items():
            path = ("indexes", name)
            own = self.table(
                {"path": value} if isinstance(value, str) else value, path, ("collection", "path", *_BUILD)
            )
            if "path" in own:
                if others := [key for key in own if key != "path"]:
                    self.refuse(
                        (*path, others[0]), f"{others[0]} does not go with path, which names an index that is there."
                    )
                found[name] = IndexPlan(name, path=self.text(own, path, "path"))
                continue
            collection = self.text(own, path, "collection", None)
            if collection is None:
                collection = name if name in collections else next(iter(collections), "")
                if name not in collections and len(collections) != 1:
                    self.refuse(path, f'[{".".join(path)}] names no collection; add collection = "…".')
            if collection not in collections:
                known = near_names(collection, collections) or "none"
                self.refuse((*path, "collection"), f"no collection {collection}; there are: {known}.")
            options = {key: self._option(own, path, key) for key in _BUILD if key in own}
            found[name] = IndexPlan(name, collection, options=options)
        used = {each.collection for each in found.values()}
        for name in collections:
            if name not in used:
                if name in found:
                    self.refuse(
                        ("indexes", name),
                        f"the index {name} is of another collection, and the collection {name} has no index; rename one.",
                    )
                found[name] = IndexPlan(name, name)
        return found

    def _option(self, own: Mapping[str, Any], path: Sequence[str], key: str) -> Any:
        """Return an option of a build."""
        if key == "reorder":
            return self.truth(own, path, key)
        if key in ("store", "fields", "columns"):
            return ",".join(self.texts(own[key], (*path, key)))
        return self.text(own, path, key)

    def _models(self, given: Any) -> dict[str, str]:
        table = self.table(given, ("models",))
        return {name: self.expression(value, ("models", name)) for name, value in table.items()}

    def _topics(self, given: Any, indexes: Mapping[str, IndexPlan]) -> dict[str, TopicPlan]:
        table = self.table(given, ("topics",))
        # Topics without a name of their own are named after the index.
        is_one = any(isinstance(table.get(key), str) for key in ("file", "qrels"))
        named = {"": table} if is_one else table
        self.names({name: 0 for name in named if name}, ("topics",))
        found = {}
        for name, value in named.items():
            path = ("topics", name) if name else ("topics",)
            own = self.table(
                value, path, ("file", "qrels", "index", "fields", "language", "contradictions", "collapse")
            )
            index = self.text(own, path, "index", None)
            if index is None:
                index = name if name in indexes else next(iter(indexes), "")
                if name not in indexes and len(indexes) != 1:
                    self.refuse(path, f'[{".".join(path)}] names no index; add index = "…".')
            if index not in indexes:
                self.refuse((*path, "index"), f"no index {index}; there are: {near_names(index, indexes)}.")
            if "file" not in own:
                self.refuse(path, f'[{".".join(path)}] has judgements and no topics; add file = "…", the topics.')
            if "qrels" not in own:
                self.refuse(path, f'[{".".join(path)}] has topics and no judgements; add qrels = "…", the judgements.')
            found[name or index] = TopicPlan(
                name or index,
                index,
                self.text(own, path, "file"),
                self.text(own, path, "qrels"),
                self.text(own, path, "fields", "title"),
                self.choice(own, path, "language", LANGUAGES),
                self.choice(own, path, "contradictions", RULES),
                self.text(own, path, "collapse", ""),
            )
        return found

    def _systems(self, given: Any, topics: Mapping[str, TopicPlan]) -> dict[str, SystemPlan]:
        table = self.table(given, ("systems",))
        found = {}
        for name, value in table.items():
            path = ("systems", name)
            if not name.strip() or len(name) > LONGEST_NAME or one_line(name) != name:
                self.refuse(path, f"{name[:60]!r} cannot be the name of a system; give a text of one line.")
            if isinstance(value, str):
                found[name] = SystemPlan(name, self.expression(value, path))
                continue
            own = self.table(value, path, ("expression", "run", "topics", "profile"))
            if ("expression" in own) == ("run" in own):
                self.refuse(
                    path,
                    f'{name} is neither an expression nor a run; write {name} = "…", or one of expression and run.',
                )
            on = self.known(own.get("topics"), (*path, "topics"), "topics", list(topics)) if "topics" in own else ()
            if "run" in own:
                runs = self._runs(own["run"], path, list(on or topics))
                found[name] = SystemPlan(name, runs=runs, topics=tuple(runs))
                continue
            text = self.expression(own["expression"], (*path, "expression"))
            found[name] = SystemPlan(name, text, topics=on, profile=self.text(own, path, "profile", None))
        return found

    def _runs(self, value: Any, path: Sequence[str], topics: Sequence[str]) -> dict[str, str]:
        """Return run files by the topics that they answer; a single file answers the only topics."""
        if isinstance(value, str):
            if len(topics) > 1:
                self.refuse(
                    (*path, "run"),
                    f'{path[-1]} needs a run for each of {", ".join(topics)}; write run.{topics[0]} = "…".',
                )
            return {topics[0]: self.text({"run": value}, path, "run")}
        table = self.table(value, (*path, "run"), topics)
        return {name: self.text(table, (*path, "run"), name) for name in table}

    def _experiments(
        self, given: Any, indexes: Mapping[str, IndexPlan], topics: Mapping[str, TopicPlan]
    ) -> dict[str, ExperimentPlan]:
        table = self.table(given, ("experiments",))
        self.names(table, ("experiments",))
        found = {}
        for name, value in table.items():
            path = ("experiments", name)
            if name in topics:
                self.refuse(path, f"{name} is a set of topics too; rename one of them.")
            own = self.table({"call": value} if isinstance(value, str) else value, path, ("call", "index"))
            call = self.text(own, path, "call")
            try:
                parse_call(call, unnamed=True)
            except SublexError as error:
                self.refuse(path if isinstance(value, str) else (*path, "call"), str(error))
            index = self.text(own, path, "index", name if name in indexes else "")
            if index and index not in indexes:
                self.refuse((*path, "index"), f"no index {index}; there are: {near_names(index, indexes) or 'none'}.")
            found[name] = ExperimentPlan(name, call, index)
        return found

    def _experiment_of(
        self, own: Mapping[str, Any], path: Sequence[str], experiments: Mapping[str, ExperimentPlan]
    ) -> str:
        """Return the experiment that a table, a plot or a claim is about; "" for one about topics."""
        name = str(self.text(own, path, "experiment", ""))
        if name and "topics" in own:
            self.refuse((*path, "topics"), "topics does not go with experiment; leave one of them out.")
        if name:
            self.known(name, (*path, "experiment"), "experiment", list(experiments))
        return name

    def _compare(self, given: Any) -> ComparePlan:
        path = ("compare",)
        own = self.table(given, path, tuple(ComparePlan.__dataclass_fields__))
        measures = self.texts(own["measures"], (*path, "measures")) if "measures" in own else DEFAULT_MEASURES
        try:
            measures = tuple(map(str, parse_measures(measures)))
        except InputError as error:
            self.refuse((*path, "measures"), str(error))
        alpha = self.number(own.get("alpha", 0.05), (*path, "alpha"), 0)
        if not 0 < alpha < 1:
            self.refuse((*path, "alpha"), f"alpha is {alpha:g}; give a number between 0 and 1.")
        return ComparePlan(
            measures,
            self.choice(own, path, "test", TESTS),
            self.choice(own, path, "correction", CORRECTIONS),
            alpha,
            self.whole(own, path, "seed", 0, 0),
            self.whole(own, path, "k", 1000, 1),
            self.texts(own["by"], (*path, "by")) if "by" in own else (),
            self.whole(own, path, "groups", 3, 2),
        )

    def _tune(self, given: Any) -> TunePlan:
        path, default = ("tune",), TunePlan()
        own = self.table(given, path, tuple(TunePlan.__dataclass_fields__))
        return TunePlan(
            self.text(own, path, "measure", default.measure),
            self.whole(own, path, "folds", default.folds, 2),
            self.choice(own, path, "search", ("grid", "random")),
            self.whole(own, path, "steps", default.steps, 2, MOST_SETTINGS),
            self.whole(own, path, "samples", default.samples, 1, MOST_SETTINGS),
            self.whole(own, path, "seed", default.seed, 0),
        )

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
        """Return systems by their names, or cases of an experiment, which are known when it is made."""
        if experiment:
            return self.texts(own[key], (*path, key)) if key in own else ()
        return self.known(own.get(key), (*path, key), "system", list(systems))

    def _measures_of(
        self, own: Mapping[str, Any], path: Sequence[str], key: str, compare: ComparePlan, experiment: str
    ) -> tuple[str, ...]:
        """Return measures of [compare], or of an experiment, which are known when it is made."""
        if experiment:
            return self.texts(own[key], (*path, key)) if key in own else ()
        return self._measures(own.get(key), (*path, key), compare)

    def _measures(self, value: Any, path: Sequence[str], compare: ComparePlan) -> tuple[str, ...]:
        """Return measures of a table or a plot, which are among those of the study."""
        if value is None:
            return compare.measures
        try:
            wanted = [str(measure) for measure in parse_measures(self.texts(value, path))]
        except InputError as error:
            self.refuse(path, str(error))
        return self.known(wanted, path, "measure among those of [compare]", compare.measures)

    def _figures(self, value: Any, path: Sequence[str], plan: TablePlan) -> dict[tuple[str, str], float]:
        """Return figures by system and column."""
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
        """Return the measure of a plot or a claim; the first one if there is none, "" if it is not known yet."""
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
            own = self.table(value, path, ("title", "measure", "x", "label", "topics", "experiment"))
            x = self.table(own.get("x", {}), (*path, "x"))
            experiment = self._experiment_of(own, path, experiments)
            if not experiment:
                self.known(list(x) or None, (*path, "x"), "system", list(systems))
            if len(x) < 2:
                self.refuse(path, f"[{'.'.join(path)}] needs x, a number for each of two systems or more.")
            found.append(
                PlotPlan(
                    name,
                    self.text(own, path, "title", name),
                    self._measure_of(own, path, compare, experiment),
                    {system: self.number(number, (*path, "x", system)) for system, number in x.items()},
                    self.text(own, path, "label", "x"),
                    (experiment,)
                    if experiment
                    else self.known(own.get("topics"), (*path, "topics"), "topics", list(topics)),
                    experiment,
                )
            )
        return tuple(found)


# The options of a build that an index may have.
_BUILD = ("profile", "analyzer", "store", "fields", "columns", "reorder")
# The tables and keys of a study, and what to write for those that every study needs.
_TABLES = {
    "title": "",
    "collections": 'write a line such as papers = "documents.jsonl", a name and its documents',
    "indexes": "",
    "models": "",
    "topics": 'write file = "topics.txt" and qrels = "qrels.txt" below it',
    "systems": 'write a line such as BM25 = "BM25", a name and its expression',
    "experiments": "",
    "compare": "",
    "tune": "",
    "tables": "",
    "plots": "",
    "claims": "",
    "untested": "",
    "differs": "",
    "check": "",
}
