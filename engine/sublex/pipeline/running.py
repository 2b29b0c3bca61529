"""Running topic files: a run file for each pipeline, with what made it and how long the queries took."""

from __future__ import annotations

import platform
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from importlib import metadata as packages
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sublex.base import VERSION
from sublex.errors import InputError
from sublex.pipeline.index import Index
from sublex.pipeline.pipeline import Answer, Pipeline
from sublex.trec.run_names import file_name_of, tag_of
from sublex.trec.run_reader import metadata_of
from sublex.trec.run_writer import check_docnos, write_run
from sublex.trec.topics import Topics

LIBRARIES = ("numpy", "numba", "scipy")


class Times(NamedTuple):
    """How long queries took, in milliseconds, and the seconds that finding and writing took."""

    mean: float
    p50: float
    p95: float
    p99: float
    finding: float
    writing: float

    def __str__(self) -> str:
        return (
            f"mean {self.mean:.3g} ms, p50 {self.p50:.3g}, p95 {self.p95:.3g}, p99 {self.p99:.3g} a query; "
            f"{self.finding:.2f} s in all, and {self.writing:.2f} s to write the run"
        )


class Done(NamedTuple):
    """A run that was written; `replaced` says of the one that was there before how it was made otherwise."""

    path: Path
    lines: int
    times: Times
    replaced: str = ""


def write(
    index: Index,
    topics: Topics,
    pipeline: Pipeline,
    k: int,
    folder: Path,
    where: str = "sidecar",
    workers: int | None = None,
    progress: Callable[[int], None] = lambda topics: None,
) -> Done:
    """Run all topics and write the run to the folder, under a name made of the expression."""
    check_docnos(index.all_docnos.take(index.corpus.docs))
    seconds: list[float] = []

    def each(answer: Answer) -> None:
        seconds.append(answer.seconds)
        progress(len(seconds))

    begin = time.perf_counter()
    run = index.run(topics, pipeline, k, workers, each=each)
    found = time.perf_counter()
    path = folder / file_name_of(run.tag)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"Cannot write runs to {folder}: {error.strerror}; choose another place.") from None
    about = describe(index, topics, pipeline, k)
    replaced = _replaced(path, about)
    lines = write_run(path, run.rows(), run.tag, about, where)
    times = times_of(seconds, found - begin, time.perf_counter() - found)
    return Done(path, lines, times, replaced)


def _replaced(path: Path, about: Mapping[str, Any]) -> str:
    """How the run that stands there was made otherwise, by its metadata; empty where it was not."""
    if not path.is_file():
        return ""
    try:
        before = metadata_of(path)
    except InputError:
        before = {}
    if not before:
        return "did not say what it was made of"
    made = {
        "another index": ("data", "index", "fingerprint"),
        "other topics": ("data", "topics"),
        "another -k": ("method", "hits"),
    }
    other = [what for what, keys in made.items() if _at(before, keys) != _at(about, keys)]
    return f"was made with {', '.join(other)}" if other else ""


def _at(about: Any, keys: Sequence[str]) -> Any:
    for key in keys:
        about = about.get(key) if isinstance(about, Mapping) else None
    return about


def times_of(seconds: Sequence[float], finding: float, writing: float) -> Times:
    """The figures that describe how long queries took."""
    each = 1000 * np.array(seconds or [0.0])
    p50, p95, p99 = map(float, np.percentile(each, (50, 95, 99)))
    return Times(float(each.mean()), p50, p95, p99, finding, writing)


def describe(index: Index, topics: Topics, pipeline: Pipeline, k: int) -> dict[str, Any]:
    """What made a run, in the sections of ir_metadata."""
    return {
        "tag": tag_of(str(pipeline)),
        "method": {
            "automatic": True,
            "expression": str(pipeline),
            "hits": k,
            "score_ties": "score descending, then docno descending by bytes",
        },
        "implementation": {
            "source": {"lang": "python", "name": "Sublex", "version": VERSION},
            "executable": {"cmd": " ".join(sys.argv)},
            "libraries": {name: packages.version(name) for name in LIBRARIES},
            "python": platform.python_version(),
        },
        "data": {
            "index": {
                "fingerprint": index.fingerprint,
                "documents": len(index),
                "analyzer": str(index.analyzer),
                "analyzer_versions": dict(index.analyzer_versions),
            },
            **({"models": pipeline.models} if pipeline.models else {}),
            "topics": {"name": Path(topics.path).name, "number": len(topics), "fields": "+".join(topics.used)},
        },
    }
