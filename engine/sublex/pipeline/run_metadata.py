"""Describe how a run is made, in the sections of ir_metadata: the expression, versions, the index, models and topics."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
import xxhash

from sublex.contracts.base import NO_FIELDS, VERSION, Query
from sublex.language.python_parts import python_parts
from sublex.pipeline.pipeline import Pipeline
from sublex.readers.irds import source_name
from sublex.tools.messages import command_line
from sublex.trec.run_names import tag_of
from sublex.trec.runs import Run
from sublex.trec.topics import Topics

LIBRARIES = ("numpy", "numba", "scipy")


def described_run(
    topics: Topics,
    pipeline: Pipeline,
    k: int,
    offsets: np.ndarray,
    docs: np.ndarray,
    scores: np.ndarray,
    missing: Mapping[str, tuple[str, ...]] = NO_FIELDS,
    *,
    language: str = "plain",
    queries: Sequence[Query] = (),
    lost: Sequence[str] = (),
) -> Run:
    """Return the hits of a pipeline for topics as a run with its tag and metadata.

    The hits of topic n, at most k, are the items of `docs` and `scores` from `offsets[n]` to `offsets[n + 1]`.
    `missing` has the words of topics that no document contains. `queries` has the queries that were made from the topics;
    the metadata say whether they had judgements as feedback. `lost` names shards of a cluster that did not answer.
    """
    qids, snapshot = [topic.qid for topic in topics], pipeline.snapshot
    described = tag_of(pipeline.label), describe(topics, pipeline, k, language, queries, lost)
    return Run(qids, offsets, docs, scores, snapshot.all_docnos, *described, missing=missing)


def describe(
    topics: Topics,
    pipeline: Pipeline,
    k: int,
    language: str = "plain",
    queries: Sequence[Query] = (),
    lost: Sequence[str] = (),
) -> dict[str, Any]:
    """Return the metadata of the run of a pipeline over topics, with at most k hits for each.

    The metadata name the language of the queries unless it is plain. A run with judgements as feedback is not automatic;
    its metadata have the number of judgements and a hash of them.
    """
    import platform

    judged = _judged(queries)
    return {
        "tag": tag_of(pipeline.label),
        "method": {
            "automatic": not judged,
            "expression": str(pipeline),
            **_note(pipeline),
            **({} if language == "plain" else {"language": language}),
            **({"judged": judged} if judged else {}),
            "hits": k,
            "score_ties": "score descending, then docno descending by bytes",
        },
        "implementation": {
            "source": {"lang": "python", "name": "Sublex", "version": VERSION},
            "executable": {"cmd": command_line(sys.argv), **_note(pipeline)},
            "libraries": {name: _version(name) for name in LIBRARIES},
            "python": platform.python_version(),
        },
        "data": {
            "index": {
                "fingerprint": pipeline.snapshot.fingerprint,
                "documents": len(pipeline.snapshot),
                **({"partial": f"without the documents of shards {', '.join(lost)}"} if lost else {}),
                "analyzer": pipeline.snapshot.analyzer_expression,
                "analyzer_versions": dict(pipeline.snapshot.analyzer_versions),
            },
            **({"models": pipeline.models} if pipeline.models else {}),
            "topics": {
                "name": source_name(topics.path) or "given in Python",
                "number": len(topics),
                "fields": "+".join(topics.used) or "title",
            },
        },
    }


def _judged(queries: Sequence[Query]) -> dict[str, Any]:
    """Return the number of topics and documents that are judged, and a hash; empty if none is."""
    judged = [query.judged for query in queries if query.judged is not None]
    if not judged:
        return {}
    digest = xxhash.xxh3_128_hexdigest(json.dumps([query.judged for query in queries]).encode("utf-8", "surrogatepass"))
    return {
        "topics": len(judged),
        "relevant": sum(len(each.relevant) for each in judged),
        "others": sum(len(each.others) for each in judged),
        "hash": digest,
    }


def _note(pipeline: Pipeline) -> dict[str, str]:
    """Return a note about the Python objects in an expression, empty if it has none."""
    parts = python_parts(pipeline.expression)
    if not parts:
        return {}
    are = "is a Python object" if len(parts) == 1 else "are Python objects"
    return {"note": f"{', '.join(map(str, parts))} {are}; the run cannot be repeated from this text alone"}


@cache
def _version(name: str) -> str:
    from importlib import metadata

    return metadata.version(name)
