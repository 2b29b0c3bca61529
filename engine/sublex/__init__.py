"""Sublex: a search engine for people who study ranking.

import sublex
index = sublex.build("docs.jsonl", "my-index")
index.postings("whale")
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from sublex.base import VERSION, Document, Report
from sublex.errors import (
    IndexCorrupt,
    IndexProblem,
    InputError,
    MissingExtra,
    PluginError,
    SublexError,
    UnknownName,
)
from sublex.expression import Expression
from sublex.parser import parse

if TYPE_CHECKING:
    from sublex.evaluate.evaluation import Evaluation
    from sublex.index.api import Documents
    from sublex.pipeline.index import Index
    from sublex.trec.qrels import Qrels
    from sublex.trec.runs import Run
    from sublex.trec.topics import Topics

__version__ = VERSION
__all__ = [
    "Document",
    "Expression",
    "IndexCorrupt",
    "IndexProblem",
    "InputError",
    "MissingExtra",
    "PluginError",
    "Report",
    "SublexError",
    "UnknownName",
    "build",
    "measure",
    "open",
    "parse",
    "read_qrels",
    "read_run",
    "read_topics",
]


def build(documents: Documents, path: str | os.PathLike[str], **options: Any) -> Index:
    """Index documents, or the collection files of one path or several, and open the result.

    Documents are `Document`s or mappings with an id and a text. Options: profile, analyzer, reader, store ("text,terms",
    "none"), workers, memory ("1GB"), overwrite, resume, strict, progress (called with the number of documents, and once more
    when all are read).
    """
    from sublex.index.api import create

    create(path, documents, **options)
    return open(path)


def open(path: str | os.PathLike[str]) -> Index:
    """Open an index for reading and ranking; it keeps its generation whatever is written meanwhile."""
    from sublex.pipeline.index import Index

    return Index(path)


def read_topics(path: str | os.PathLike[str], fields: str = "title") -> Topics:
    """Read a topic file of any usual format; `fields` such as "title+desc" are joined to the query."""
    from sublex.trec.topics import read_topics

    return read_topics(path, fields)


def read_qrels(path: str | os.PathLike[str]) -> Qrels:
    """Read relevance judgements: a mapping from topic to `{docno: grade}`."""
    from sublex.trec.qrels import read_qrels

    return read_qrels(path)


def read_run(path: str | os.PathLike[str]) -> Run:
    """Read a run: a mapping from topic to `{docno: score}`, best first, as trec_eval orders."""
    from sublex.trec.reading import read_run

    return read_run(path)


def measure(
    qrels: Mapping[str, Mapping[str, int]] | str | os.PathLike[str],
    run: Mapping[str, Mapping[str, float]] | str | os.PathLike[str],
    measures: str | Iterable[str] = (),
) -> Evaluation:
    """Measure a run on every judged topic: files, what was read from them, or plain dictionaries.

    Measures go by the names of ir-measures or trec_eval, as in "AP nDCG@10"; without any they are those of `sublex eval`.
    """
    from sublex.evaluate import evaluation
    from sublex.evaluate import measures as known

    judged = qrels if isinstance(qrels, Mapping) else read_qrels(qrels)
    ranked = run if isinstance(run, Mapping) else read_run(run)
    names = [measures] if isinstance(measures, str) else list(measures)
    return evaluation.evaluate(judged, ranked, names or known.DEFAULTS)
