"""Make the systems of a comparison: run ranking expressions, or take runs that other programs made.

The run of an expression is cached next to the index and read from there the next time. The key of the cache contains
the texts of the topics, their language, the fingerprint of the index, the whole expression, the fitted models, the code of
Python objects, and the depth. It contains no name of a system or file.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
import xxhash

from sublex.contracts.base import VERSION, GivenVectors
from sublex.errors import IndexCorrupt, IndexProblem
from sublex.index import derived
from sublex.index.directory import Directory
from sublex.language.learned import notes_on_topics
from sublex.language.python_parts import is_lasting, refuse_changed
from sublex.pipeline.index import Index
from sublex.pipeline.pipeline import Answer, Pipeline
from sublex.pipeline.query_forms import notes_of_all
from sublex.pipeline.ranked_run import ranked_run
from sublex.pipeline.run_metadata import described_run
from sublex.tools.arguments import threads, whole
from sublex.trec.given_topics import topics_of
from sublex.trec.runs import Run
from sublex.trec.topics import Topics

# Runs cached per index; the runs unused for longest are removed.
CACHED_RUNS = 200
# Seconds; a run that takes longer is not run a second time to measure warm times.
WARM_LIMIT = 5.0


class System(NamedTuple):
    """A run and its name.

    `milliseconds` are the times per topic when the run was made, None for a run read from a file. `cached` says that the run
    was read from the cache. `notes` are sentences on how the topics were read in the query language, and on learned models that
    know the topics.
    """

    name: str
    run: Run
    milliseconds: np.ndarray | None = None
    cached: bool = False
    notes: tuple[str, ...] = ()

    @property
    def mean_milliseconds(self) -> float | None:
        """The mean time per topic, or None if times are unknown."""
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
    cache: bool = True,
    fresh: bool = False,
    language: str = "plain",
) -> System:
    """Return the run of a pipeline over the topics, read from the cache if it is there.

    `fresh` runs the pipeline even if its run is cached, and replaces the cached run. The cache is neither read nor
    written with `cache=False`, and for an expression with a Python object that has neither hash nor version. `progress` is called with the
    number of topics done. `language` is that of the queries, "plain", "query" or "weighted".
    """
    refuse_changed(pipeline.expression)
    cache = cache and is_lasting(pipeline.expression)
    topics = topics_of(topics)
    queries = index.queries(topics, language)
    path = _cache_path(topics, pipeline, k, language, [query.given for query in queries])
    notes = (*notes_of_all(topics, queries), *notes_on_topics(pipeline.expression, [topic.text for topic in topics]))
    cached = _read_cached(topics, pipeline, k, path, language) if cache and not fresh else None
    if cached is not None:
        return cached._replace(notes=notes)
    seconds: list[float] = []

    def count(answer: Answer) -> None:
        seconds.append(answer.seconds)
        progress(len(seconds))

    numbers = whole(k, "k"), threads(workers)
    run = ranked_run(topics, queries, pipeline, *numbers, count, language)
    if seconds and float(np.median(seconds)) * len(seconds) < WARM_LIMIT:
        # The first pass looks terms up, and loads or compiles code, which takes its first queries up to minutes. Times of a
        # second pass can be compared.
        seconds.clear()
        ranked_run(topics, queries, pipeline, *numbers, lambda answer: seconds.append(answer.seconds), language)
    milliseconds = np.array(seconds, np.float32) * 1000
    if cache:
        columns = {"offsets": run.offsets.astype(np.int64), "docs": run.docs, "scores": run.scores}
        # A read-only index can be compared too, without the cache.
        with suppress(IndexProblem):
            derived.write(path, {**columns, "milliseconds": milliseconds})
        derived.remove_oldest(index.path, "run-", CACHED_RUNS)
    return System(str(pipeline), run, milliseconds, notes=notes)


def _cache_path(
    topics: Sequence[tuple], pipeline: Pipeline, k: int, language: str, given: Sequence[GivenVectors | None]
) -> Directory:
    queries = [(topic[0], topic[1]) for topic in topics]
    parts: list[Any] = [VERSION, pipeline.snapshot.fingerprint, str(pipeline), pipeline.models, k, queries]
    # Plain queries have the key that they had before there was another language.
    if language != "plain":
        parts.append(language)
    # A run without vectors of queries has the key that it had before there were any.
    if any(given):
        parts.append([vectors and vectors.hash for vectors in given])
    key = json.dumps(parts)
    return derived.folder_of(pipeline.snapshot.path) / f"run-{xxhash.xxh3_128_hexdigest(key.encode())}"


def _read_cached(topics: Topics, pipeline: Pipeline, k: int, path: Directory, language: str) -> System | None:
    """Return the cached run, and mark the run as used now; return None if the run is missing or damaged."""
    stored = derived.read(path)
    if stored is None:
        return None
    try:
        stored.expect("offsets", ("<i8",), len(topics) + 1)
        stored.expect("milliseconds", ("<f4",), len(topics))
        for name, dtype in (("docs", "<i4"), ("scores", "<f4")):
            stored.expect(name, (dtype,), int(stored["offsets"].all()[-1]))
        names = ("offsets", "docs", "scores", "milliseconds")
        bounds, docs, scores, milliseconds = (np.array(stored[column].all()) for column in names)
    except IndexCorrupt:
        return None
    in_index = not len(docs) or 0 <= docs.min() <= docs.max() < len(pipeline.snapshot.all_docnos)
    if bounds[0] or (np.diff(bounds) < 0).any() or not in_index or np.isnan(scores).any():
        return None
    with suppress(OSError):
        path.mark_used()
    run = described_run(topics, pipeline, k, bounds, docs, scores, language=language)
    return System(str(pipeline), run, milliseconds, cached=True)
