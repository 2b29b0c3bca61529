"""Read a study: a file in TOML, or a dictionary of the same tables.

A mistake is reported in one sentence, with its line.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sublex.errors import InputError, SublexError
from sublex.evaluation.measures import DEFAULT_MEASURES, parse_measures
from sublex.language.parser import parse_call
from sublex.studies.study_plans import (
    CollectionPlan,
    ComparePlan,
    ExperimentPlan,
    IndexPlan,
    Study,
    SystemPlan,
    TopicPlan,
    TunePlan,
)
from sublex.studies.study_tables import StudyTables
from sublex.studies.toml_lines import Toml, read_toml
from sublex.tools.messages import near_names, one_line
from sublex.tools.plain_files import read_text

# The largest size of a study file, in bytes.
MOST_BYTES = 1 << 18
# The largest number of values of an interval, and of random settings, that tuning may try.
MOST_SETTINGS = 10_000
# The largest number of characters in the name of a system, which may be any text of one line.
LONGEST_NAME = 200
# The default tolerance of a check: figures have to be equal to four decimals.
TOLERANCE = 0.00005
TESTS = ("t", "randomisation", "wilcoxon")
CORRECTIONS = ("holm", "bonferroni", "bh", "none", "tukey")
LANGUAGES = ("plain", "query", "weighted")
RULES = ("error", "first", "last", "highest")
# The options of a build that an index may have.
_BUILD = ("profile", "analyzer", "store", "fields", "columns", "reorder")
# The tables and keys of a study file, and examples of those that every study needs.
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


def read_study(file: str | os.PathLike[str]) -> Study:
    """Return the study of a file. Raise InputError, in one sentence with the line, for a file that is no study."""
    path = Path(file)
    text = read_text(path, MOST_BYTES, "a study, a file in TOML")
    toml = read_toml(text, str(path))
    return _Reading(toml).study(Path(os.path.abspath(path)).parent, str(path), text)


def study_of(tables: Mapping[str, Any], folder: str | os.PathLike[str] = ".") -> Study:
    """Return the study of a dictionary with the tables of a study file. Paths in it begin in `folder`."""
    return _Reading(Toml("The study", dict(tables), {})).study(Path(os.path.abspath(folder)))


class _Reading(StudyTables):
    """Reads the tables of a study."""

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
        """Return the value of the build option `key` of an index."""
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
        # A single set of topics without a name is named after its index.
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
        self.expect_apart(table, ("systems",))
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
        """Return run files by the names of their sets of topics. A single file, without a name, needs a single set."""
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
