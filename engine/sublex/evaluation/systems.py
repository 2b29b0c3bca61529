"""Make the systems of a comparison from ranking expressions, or from runs that other programs made.

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

from sublex.contracts.base import VERSION, Query
from sublex.errors import IndexCorrupt, IndexProblem
from sublex.index import derived
from sublex.index.directory import Directory
from sublex.language.learned import notes_on_topics
from sublex.language.python_parts import is_lasting, refuse_changed
from sublex.pipeline.index import Index
from sublex.pipeline.judged import judged_notes
from sublex.pipeline.pipeline import Answer, Pipeline
from sublex.pipeline.query_forms import notes_of_all
from sublex.pipeline.ranked_run import ranked_run
from sublex.pipeline.run_metadata import described_run
from sublex.tools.arguments import threads, whole
from sublex.trec.given_topics import topics_of
from sublex.trec.runs import Run
from sublex.trec.topics import Topics

# The number of runs in the cache of an index. The runs that were used longest ago are removed.
CACHED_RUNS = 200
# A run that takes longer, in seconds, is not repeated to measure warm times.
WARM_LIMIT = 5.0


class System(NamedTuple):
    """A run and its name.

    `milliseconds` are the times per topic when the run was made; a run read from a file has None. `cached` says that
    the run was read from the cache. `notes` are sentences on how the topics were read in the query language, and on
    learned models that know the topics. `expression` is what ranked, if that is known.
    """

    name: str
    run: Run
    milliseconds: np.ndarray | None = None
    cached: bool = False
    notes: tuple[str, ...] = ()
    expression: str = ""

    @property
    def mean_milliseconds(self) -> float | None:
        """The mean time per topic, or None if times are unknown."""
        if self.milliseconds is None or not len(self.milliseconds):
            return None
        return float(np.mean(self.milliseconds))


def meanings(systems: Sequence[System]) -> tuple[str, ...]:
    """Return a sentence for each system that is called otherwise than its expression."""
    return tuple(
        f"{each.name} stands for {each.expression}" for each in systems if each.expression not in ("", each.name)
    )


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

    `fresh` runs the pipeline even if its run is cached, and replaces the cached run. `cache=False` turns the cache off.
    It is also off for an expression with a Python object that has no hash and no version. `progress` is called with the
    number of topics done. `language` is the language of the queries: "plain", "query" or "weighted".
    """
    refuse_changed(pipeline.expression)
    cache = cache and is_lasting(pipeline.expression)
    topics = topics_of(topics)
    queries = index.queries(topics, language)
    path = _cache_path(topics, pipeline, k, language, queries)
    notes = (
        *notes_of_all(topics, queries),
        *judged_notes(pipeline, queries),
        *notes_on_topics(pipeline.expression, [topic.text for topic in topics]),
    )
    cached = _read_cached(topics, queries, pipeline, k, path, language) if cache and not fresh else None
    if cached is not None:
        return cached._replace(notes=notes)
    seconds: list[float] = []

    def count(answer: Answer) -> None:
        seconds.append(answer.seconds)
        progress(len(seconds))

    numbers = whole(k, "k"), threads(workers)
    run = ranked_run(topics, queries, pipeline, *numbers, count, language)
    if seconds and float(np.median(seconds)) * len(seconds) < WARM_LIMIT:
        # The first pass looks up terms, and loads or compiles code. Its first queries may take minutes. Only the times
        # of a second pass can be compared.
        seconds.clear()
        ranked_run(topics, queries, pipeline, *numbers, lambda answer: seconds.append(answer.seconds), language)
    milliseconds = np.array(seconds, np.float32) * 1000
    if cache:
        columns = {"offsets": run.offsets.astype(np.int64), "docs": run.docs, "scores": run.scores}
        # The folder may be read-only; then nothing is cached.
        with suppress(IndexProblem):
            derived.write(path, {**columns, "milliseconds": milliseconds})
        derived.remove_oldest(index.path, "run-", CACHED_RUNS)
    return System(pipeline.label, run, milliseconds, notes=notes, expression=str(pipeline))


def _cache_path(
    topics: Sequence[tuple], pipeline: Pipeline, k: int, language: str, queries: Sequence[Query]
) -> Directory:
    texts = [(topic[0], topic[1]) for topic in topics]
    parts: list[Any] = [VERSION, pipeline.snapshot.fingerprint, str(pipeline), pipeline.models, k, texts]
    # The key of plain queries has no language, as in older caches.
    if language != "plain":
        parts.append(language)
    # The key of a run without vectors of queries, and without judgements, is the same as in older caches.
    if any(query.given for query in queries):
        parts.append([query.given and query.given.hash for query in queries])
    if any(query.judged for query in queries):
        parts.append([query.judged for query in queries])
    key = json.dumps(parts)
    return derived.folder_of(pipeline.snapshot.path) / f"run-{xxhash.xxh3_128_hexdigest(key.encode())}"


def _read_cached(
    topics: Topics, queries: Sequence[Query], pipeline: Pipeline, k: int, path: Directory, language: str
) -> System | None:
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
    run = described_run(topics, pipeline, k, bounds, docs, scores, language=language, queries=queries)
    return System(pipeline.label, run, milliseconds, cached=True, expression=str(pipeline))
