"""Rank the queries of topics by a pipeline, and return the hits as one run."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from sublex.contracts.base import Query
from sublex.pipeline.missing_words import MissingWords
from sublex.pipeline.pipeline import Answer, Pipeline
from sublex.pipeline.run_metadata import described_run
from sublex.trec.runs import Run
from sublex.trec.topics import Topics


def ranked_run(
    topics: Topics,
    queries: Sequence[Query],
    pipeline: Pipeline,
    k: int,
    workers: int,
    each: Callable[[Answer], None],
    language: str = "plain",
) -> Run:
    """Return the best k documents for the query of each topic as a run, with metadata that describe how it was made.

    `language` is the language that the queries were read in. `each` is called with every answer.
    """
    docs, scores = [np.empty(0, np.int32)], [np.empty(0, np.float32)]
    lost: set[str] = set()
    for answer in pipeline.answers(queries, k, workers, [topic.qid for topic in topics]):
        each(answer)
        lost.update(answer.hits.lost_shards)
        docs.append(answer.hits.docs)
        scores.append(answer.hits.scores)
    offsets = np.cumsum([len(hits) for hits in docs])
    by_topic = zip((topic.qid for topic in topics), queries, strict=True) if pipeline.reads_plain_words else ()
    missing = MissingWords(pipeline.snapshot, dict(by_topic))
    return described_run(
        topics, pipeline, k, offsets, np.concatenate(docs), np.concatenate(scores), missing, language=language,
        queries=queries, lost=sorted(lost),
    )  # fmt: skip
