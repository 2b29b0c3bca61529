"""Rank the topics of a file by a pipeline, write a TREC run with metadata, and measure the time."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sublex.errors import InputError
from sublex.pipeline.index import Index
from sublex.pipeline.missing_words import MissingWords
from sublex.pipeline.pipeline import Answer, Pipeline
from sublex.trec.metadata import EXPRESSION, FINGERPRINT, value_at
from sublex.trec.run_names import is_run_file, path_in
from sublex.trec.run_reader import metadata_of
from sublex.trec.run_writer import check_docnos, check_run_place, write_run
from sublex.trec.topics import Topics


class Times(NamedTuple):
    """Milliseconds per query, and the seconds for all queries and for writing the run.

    `first` is the time of the first query, which also computes values that all queries share. `mean` and the percentiles
    leave out the first query, unless it is the only one.
    """

    queries: int
    first: float

    mean: float
    p50: float
    p95: float
    p99: float
    finding: float
    writing: float

    def __str__(self) -> str:
        seconds = f"{self.finding:.2f} s in all, and {self.writing:.2f} s to write the run"
        if self.queries < 2:
            return f"{_ms(self.first)} ms for the only query, with the warm-up; {seconds}"
        return (
            f"mean {_ms(self.mean)} ms, p50 {_ms(self.p50)}, p95 {_ms(self.p95)}, p99 {_ms(self.p99)} a query without the "
            f"first ({_ms(self.first)} ms, with the warm-up); {seconds}"
        )


def _ms(value: float) -> str:
    """Return milliseconds with three significant digits, and without an exponent."""
    return f"{value:,.0f}" if value >= 999.5 else f"{value:.3g}"


class Done(NamedTuple):
    """A run file that was written.

    If it replaced a run file that was made in another way, `replaced` says how that file was made; otherwise `replaced`
    is empty. `notes` are sentences about the topics.
    """

    path: Path
    lines: int
    times: Times
    replaced: str = ""
    notes: tuple[str, ...] = ()


def write(
    index: Index,
    topics: Topics,
    pipeline: Pipeline,
    k: int,
    output: Path,
    where: str = "sidecar",
    workers: int | None = None,
    progress: Callable[[int], None] = lambda topics: None,
    tag: str = "",
    overwrite: bool = False,
    language: str = "plain",
    seen: Mapping[str, Mapping[str, int]] | None = None,
) -> Done:
    """Run all topics and write the run to `output`: a file such as `bm25.run`, or a folder.

    In a folder, the file has the name of the pipeline. A pipeline without a name gives the file its expression, without the
    values of the profile. `where` says where the metadata go, as for `sublex.trec.run_writer.write_run`. `tag` is the last
    column of the run; by default it is the expression. `language` is the language of the queries: "plain", "query" or
    "weighted". The documents that `seen` judges for a topic are left out; the best k others remain.
    """
    path = run_path(output, pipeline)
    check_run_place(path, where, overwrite)
    snapshot = pipeline.snapshot
    check_docnos(snapshot.all_docnos.take(snapshot.corpus.docs))
    seconds: list[float] = []

    def each(answer: Answer) -> None:
        seconds.append(answer.seconds)
        progress(len(seconds))

    begin = time.perf_counter()
    left_out = seen or {}
    most = k + max(map(len, left_out.values()), default=0)
    run = index.run(topics, pipeline, most, workers, each=each, language=language).without(left_out).top(k)
    found = time.perf_counter()
    metadata = dict(run.metadata) | {"tag": tag or run.tag}
    if seen is not None:
        residual = {"residual": {"topics": len(seen), "documents": sum(map(len, seen.values()))}, "hits": k}
        metadata["method"] = {**metadata["method"], **residual}
    replaced = _replaced(path, metadata)
    lines = write_run(path, run.rows(), tag or run.tag, metadata, where, overwrite)
    times = times_of(seconds, found - begin, time.perf_counter() - found)
    notes = run.missing.notes(len(topics)) if isinstance(run.missing, MissingWords) else ()
    return Done(path, lines, times, replaced, tuple(notes))


def run_path(output: Path, pipeline: Pipeline) -> Path:
    """Return the path for a pipeline's run: `output` itself, or a file in it if it is a folder. Make a missing folder."""
    folder = output.parent if is_run_file(output) else output
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"Cannot write runs to {folder}: {error.strerror}; choose another place.") from None
    if folder != output:
        return output
    printed = str(pipeline)

    def is_other(path: Path) -> bool:
        return value_at(_metadata(path), EXPRESSION) not in (None, printed)

    # Do not replace a run of another expression: name the new file after the whole expression, or by a hash.
    short = path_in(folder, pipeline.name or pipeline.short)
    return path_in(folder, printed, is_other) if os.path.isfile(short) and is_other(short) else short


def _metadata(path: Path) -> Mapping[str, Any]:
    """Return the metadata of a run file, empty if they cannot be read."""
    try:
        return metadata_of(path)
    except InputError:
        return {}


def _replaced(path: Path, metadata: Mapping[str, Any]) -> str:
    """Return how the metadata of the run file at `path` differ from `metadata`.

    Return "" if they do not differ, or if there is no file.
    """
    if not path.is_file():
        return ""
    before = _metadata(path)
    if not before:
        return "had no metadata"
    made = {
        "another expression": EXPRESSION,
        "another index": FINGERPRINT,
        "other topics": ("data", "topics"),
        "another -k": ("method", "hits"),
        "another language of queries": ("method", "language"),
        "other judgements": ("method", "judged"),
        "other documents left out": ("method", "residual"),
    }
    other = [what for what, keys in made.items() if value_at(before, keys) != value_at(metadata, keys)]
    return f"was made with {', '.join(other)}" if other else ""


def times_of(seconds: Sequence[float], finding: float, writing: float) -> Times:
    """Return the times of a run.

    `seconds` has the seconds of each query. `finding` and `writing` are the seconds for finding all hits and for
    writing the run.
    """
    each = 1000 * np.array(seconds or [0.0])
    later = each[1:] if len(each) > 1 else each
    p50, p95, p99 = map(float, np.percentile(later, (50, 95, 99)))
    return Times(len(seconds), float(each[0]), float(later.mean()), p50, p95, p99, finding, writing)
