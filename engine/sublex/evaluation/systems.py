"""The systems of a comparison: pipelines, run unless their run is known, and runs that others made.

A known run goes by the topics' texts, the index's fingerprint and the whole expression, never by a name.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import numpy as np
import xxhash

from sublex.base import VERSION
from sublex.errors import IndexCorrupt, IndexProblem, InputError
from sublex.expression import Expression
from sublex.index import derived
from sublex.pipeline.index import Index
from sublex.pipeline.pipeline import Answer, Pipeline
from sublex.trec.run_names import tag_of
from sublex.trec.runs import Run
from sublex.trec.topics import Topics

# So many runs are kept beside an index.
KEPT = 200
# Where running took so many seconds or more, it is not done again for the times alone.
WARM = 5.0


class System(NamedTuple):
    """A run with its name; milliseconds a topic where they were measured, when this run was made."""

    name: str
    run: Run
    milliseconds: np.ndarray | None = None
    known: bool = False

    @property
    def mean_milliseconds(self) -> float | None:
        """How long a topic took."""
        if self.milliseconds is None or not len(self.milliseconds):
            return None
        return float(np.mean(self.milliseconds))


def run_system(
    index: Index,
    topics: Topics,
    pipeline: Pipeline,
    k: int = 1000,
    workers: int | None = None,
    progress: Callable[[int], None] = lambda topics: None,
    keep: bool = True,
    fresh: bool = False,
) -> System:
    """The run of a pipeline: the known one, unless a fresh one is wanted, else a new one, which is kept."""
    path = _place(index, topics, pipeline, k)
    found = _known(index, topics, path, str(pipeline)) if keep and not fresh else None
    if found is not None:
        return found
    seconds: list[float] = []

    def each(answer: Answer) -> None:
        seconds.append(answer.seconds)
        progress(len(seconds))

    run = index.run(topics, pipeline, k, workers, each=each)
    if sum(seconds) < WARM:
        # Times are of a second pass: the first met terms for the first time, and the first ranker loaded code for all.
        seconds.clear()
        index.run(topics, pipeline, k, workers, each=lambda answer: seconds.append(answer.seconds))
    milliseconds = np.array(seconds, np.float32) * 1000
    if keep:
        columns = {"offsets": run.offsets.astype(np.int64), "docs": run.docs, "scores": run.scores}
        # An index that cannot be written to is compared all the same.
        with suppress(IndexProblem):
            derived.write(path, {**columns, "milliseconds": milliseconds})
        _forget_oldest(path.parent)
    return System(str(pipeline), run, milliseconds)


def systems_of(
    given: Iterable[str | Expression | Run],
    index: Index | None,
    topics: Topics | None,
    k: int = 1000,
    profile: str | None = None,
    workers: int | None = None,
    keep: bool = True,
) -> list[System]:
    """Runs, named by their tags, and expressions, which need an index and topics."""
    made = []
    for one in [given] if isinstance(given, (str, Expression, Run)) else given:
        if isinstance(one, Run):
            made.append(System(one.tag or "run", one.top(k)))
        elif index is None or topics is None:
            raise InputError(f"{one} cannot be run without an index and topics; give both, or runs alone.")
        else:
            made.append(run_system(index, topics, index.pipeline(one, profile), k, workers, keep=keep))
    return made


def _place(index: Index, topics: Sequence[tuple], pipeline: Pipeline, k: int) -> Path:
    asked = [(topic[0], topic[1]) for topic in topics]
    key = json.dumps([VERSION, index.fingerprint, str(pipeline), pipeline.models, k, asked])
    return index.path / derived.DERIVED / f"run-{xxhash.xxh3_128_hexdigest(key.encode())}"


def _known(index: Index, topics: Topics, path: Path, name: str) -> System | None:
    kept = derived.read(path)
    if kept is None:
        return None
    try:
        names = ("offsets", "docs", "scores", "milliseconds")
        bounds, docs, scores, milliseconds = (np.array(kept[column].all()) for column in names)
    except (IndexCorrupt, KeyError):
        return None
    with suppress(OSError):
        os.utime(path)
    run = Run([topic.qid for topic in topics], bounds, docs, scores, index.snapshot.all_docnos, tag_of(name))
    return System(name, run, milliseconds, known=True)


def _forget_oldest(folder: Path) -> None:
    with suppress(OSError):
        runs = sorted(folder.glob("run-*"), key=lambda path: path.stat().st_mtime)
        for path in runs[:-KEPT]:
            shutil.rmtree(path, ignore_errors=True)
