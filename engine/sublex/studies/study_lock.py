"""`study.lock`, a YAML file: the versions, files and indexes of a study's run, and its figures.

A check compares a new run with it.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from sublex.errors import InputError
from sublex.pipeline.index import Index
from sublex.readers.irds import PREFIX
from sublex.studies.experiments import PACKAGES
from sublex.studies.identity import STATISTICS, hash_of_value, versions
from sublex.studies.results import StudyResult
from sublex.studies.steps import StudyTopics, StudyWork, source_of
from sublex.studies.store import LOCK, StudyStore
from sublex.studies.study_plans import Study
from sublex.tools.outputs import is_sealed
from sublex.tools.plain_files import read_text
from sublex.trec.metadata import from_yaml, to_yaml

# The version of the format of the lock, and its largest size in bytes.
VERSION, MOST_BYTES = 1, 1 << 26


class MovedFigure(NamedTuple):
    """A figure that differs from the value before by more than the tolerance. None stands for a figure that is missing.

    `against` says in words where the value before comes from: "expected" or "in study.lock".
    """

    topics: str
    system: str
    measure: str
    before: float | None
    now: float | None
    tolerance: float
    against: str

    def sentence(self) -> str:
        """Return a sentence with both values and the tolerance."""
        before, now = ("nothing" if value is None else f"{value:.6g}" for value in (self.before, self.now))
        name = f"{self.topics}, {self.system}, {self.measure}"
        return f"{name}: {now} now, and {before} {self.against}; the tolerance is {self.tolerance:g}."


def first_lock(study: Study) -> str:
    """Return the lock of a study that has not finished yet."""
    return to_yaml({"lock": VERSION, "study": study.title, "finished": False})


def lock_of(
    work: StudyWork, result: StudyResult, indexes: Mapping[str, Index], asked: Mapping[str, StudyTopics]
) -> dict[str, Any]:
    """Return the content of the lock of a study that has finished."""
    study = work.study
    return {
        "lock": VERSION,
        "study": study.title,
        "finished": True,
        "file": {"name": Path(study.file).name, "hash": hash_of_value(study.text)} if study.file else {},
        "versions": {**versions(), **versions(STATISTICS), **versions(PACKAGES), "python": platform.python_version()},
        "plugins": _plugins(work),
        "collections": {name: _collection(work, name) for name in study.collections},
        "indexes": {
            name: {"fingerprint": index.fingerprint, "documents": len(index), "analyzer": index.snapshot.analyzer_expression}
            for name, index in indexes.items()
        },
        "topics": {
            name: {
                "file": _name(plan.file), "topics": len(asked[name].topics), "hash": asked[name].topics_hash,
                "qrels": _name(plan.qrels), "judgements": len(asked[name].qrels.docs), "qrels_hash": asked[name].qrels_hash,
            }
            for name, plan in study.topics.items()
        },
        "systems": {
            each.name: {system.name: system.expression or "a run" for system in each.systems if not system.failure}
            for each in result.sets
        },
        "experiments": {each.name: each.expression for each in result.experiments},
        "figures": _figures(result),
        "claims": {claim.plan.name: claim.verdict for claim in result.claims},
        "failures": result.failures,
        "machine": machine(),
        "seconds": {"this run": round(result.seconds, 2), **_seconds(work)},
    }  # fmt: skip


def _figures(result: StudyResult) -> dict[str, dict[str, dict[str, float]]]:
    """Return all figures of a study by the names of topics or experiments, of systems or cases, and of measures."""
    return {each.name: {s.name: dict(s.means) for s in each.systems if not s.failure} for each in result.measured}


def _plugins(work: StudyWork) -> dict[str, str]:
    """Return the version and a hash of the source of each plugin whose component was used, by the plugin's name."""
    found: dict[str, str] = {}
    packages = {**versions(), **versions(STATISTICS), **versions(PACKAGES)}
    for step in (*work.kept, *work.done):
        kind, _, name = step.partition(" ")
        record = work.store.record(kind, name) if kind in ("index", "fit", "run", "experiment") else None
        found |= {
            key: str(value)
            for key, value in _of(record.identity if record else {}, "code").items()
            if key not in packages
        }
    return dict(sorted(found.items()))


def _collection(work: StudyWork, name: str) -> dict[str, Any]:
    files = source_of(work, name).files
    local = [path for _, path in files if not path.startswith(PREFIX)]
    return {
        "documents": [_name(text) for text in work.study.collections[name].documents],
        "files": len(files),
        "bytes": sum(os.path.getsize(path) for path in local),
        "hash": hash_of_value([[shown, work.hashes.of(path)] for shown, path in files]),
    }


def _name(text: str) -> str:
    """Return the name of a file without its folders. The name of a data set stays."""
    return text if text.startswith(PREFIX) else Path(text).name


def _seconds(work: StudyWork) -> dict[str, float]:
    """Return the seconds of each step, as they were when it was done, in this run or an earlier one."""
    found = {}
    for step in (*work.kept, *work.done):
        kind, _, name = step.partition(" ")
        record = work.store.record(kind, name)
        if record is not None and kind != "measures":
            found[step] = round(record.seconds, 2)
    return found


def machine() -> str:
    """Return the machine in words, such as "x86_64, 2 cores, 8 GB of memory, Linux"."""
    memory = ""
    with suppress(OSError, ValueError):
        memory = f", {os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GB of memory"
    return f"{platform.machine()}, {os.cpu_count()} cores{memory}, {platform.system()}"


def write_lock(store: StudyStore, result: StudyResult) -> None:
    """Write the lock of a study."""
    store.write(LOCK, to_yaml(result.lock))


def read_lock(store: StudyStore) -> dict[str, Any] | None:
    """Return the lock of a study that has finished; None if there is none.

    Raise InputError for a lock that was changed by hand, and for one of another version.
    """
    path = store.folder / LOCK
    if not path.is_file():
        return None
    if not is_sealed(path):
        raise InputError(f"{path} is not as a study wrote it; run the study in another folder, or put the file back.")
    try:
        lock = from_yaml(read_text(path, MOST_BYTES, "the lock of a study"))
    except ValueError as error:
        raise InputError(f"{path} cannot be read: {error}.") from None
    if lock.get("lock") != VERSION:
        raise InputError(
            f"{path} has version {lock.get('lock')}, and this Sublex reads version {VERSION}; run the study in another folder by "
            "--out, or use the Sublex that wrote it."
        )
    return lock if lock.get("finished") is True else None


def moved(result: StudyResult, lock: Mapping[str, Any] | None) -> list[MovedFigure]:
    """Return the figures of a new run that differ from a lock, or from expected figures, by more than the tolerance."""
    found = [
        MovedFigure(
            figure.table, figure.system, figure.column, figure.other, figure.value, figure.tolerance, "expected"
        )
        for figure in result.expected
        if not figure.is_within
    ]
    before = lock.get("figures") if lock else None
    if not isinstance(before, Mapping):
        return found
    now = _figures(result)
    for topics in {**before, **now}:
        for system in {**_of(before, topics), **_of(now, topics)}:
            old, new = _of(_of(before, topics), system), _of(_of(now, topics), system)
            for measure in {**old, **new}:
                tolerance = _tolerance(result.study, topics, system, measure)
                a, b = _number(old.get(measure)), _number(new.get(measure))
                if (a is None) != (b is None) or (a is not None and b is not None and not abs(a - b) <= tolerance):
                    found.append(MovedFigure(topics, system, measure, a, b, tolerance, "in study.lock"))
    return found


def _of(tables: Any, name: str) -> Mapping[str, Any]:
    value = tables.get(name) if isinstance(tables, Mapping) else None
    return value if isinstance(value, Mapping) else {}


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _tolerance(study: Study, topics: str, system: str, measure: str) -> float:
    """Return the tolerance of a figure: that of the study, or a larger one of a table that expects the figure."""
    tolerances = [study.tolerance]
    for table in study.tables:
        places = {(t, m): column for column, t, m in table.columns()}
        if table.tolerance is not None and (system, places.get((topics, measure))) in table.expected:
            tolerances.append(table.tolerance)
    return max(tolerances)
