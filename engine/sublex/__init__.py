"""Sublex: a search engine for people who study ranking.

import sublex
index = sublex.build("docs.jsonl", "my-index")
index.postings("whale")
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sublex.base import VERSION, Document, Report
from sublex.errors import IndexCorrupt, IndexProblem, InputError, MissingExtra, PluginError, SublexError, UnknownName
from sublex.expression import Expression
from sublex.parser import parse

if TYPE_CHECKING:
    from sublex.evaluation.comparison import Comparison
    from sublex.evaluation.run_evaluation import Evaluation
    from sublex.index.document_source import Documents
    from sublex.pipeline.index import Index
    from sublex.trec.qrels import Qrels
    from sublex.trec.runs import Run
    from sublex.trec.topics import Topics
    from sublex.tuning.result import Tuning

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
    "compare",
    "measure",
    "open",
    "parse",
    "read_qrels",
    "read_run",
    "read_topics",
    "tune",
    "write_report",
]


def build(documents: Documents, path: str | os.PathLike[str], **options: Any) -> Index:
    """Index documents, or the collection files of one path or several, and open the result.

    Documents are `Document`s or mappings with an id and a text. Options: profile, analyzer, reader, store ("text,terms",
    "none"), workers, memory ("1GB"), overwrite, resume, strict, progress (called with the number of documents, and once more
    when all are read).
    """
    from sublex.index.indexing import build_index

    build_index(path, documents, **options)
    return open(path)


def open(path: str | os.PathLike[str], allow_uncovered: bool = False) -> Index:
    """Open an index for reading and ranking; it keeps its generation whatever is written meanwhile.

    With `allow_uncovered` a representation may lack rows for some documents; it has no opinion on these.
    """
    from sublex.pipeline.index import Index

    return Index(path, allow_uncovered)


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
    from sublex.trec.run_reader import read_run

    return read_run(path)


def measure(
    qrels: Mapping[str, Mapping[str, int]] | str | os.PathLike[str],
    run: Mapping[str, Mapping[str, float]] | str | os.PathLike[str],
    measures: str | Iterable[str] = (),
) -> Evaluation:
    """Measure a run on every judged topic: files, what was read from them, or plain dictionaries.

    Measures go by the names of ir-measures or trec_eval, as in "AP nDCG@10"; without any they are those of `sublex eval`.
    """
    from sublex.evaluation.measures import DEFAULT_MEASURES
    from sublex.evaluation.run_evaluation import evaluate

    judged = qrels if isinstance(qrels, Mapping) else read_qrels(qrels)
    ranked = run if isinstance(run, Mapping) else read_run(run)
    names = [measures] if isinstance(measures, str) else list(measures)
    return evaluate(judged, ranked, names or DEFAULT_MEASURES)


def compare(
    index: Index | str | os.PathLike[str] | None,
    topics: Topics | str | os.PathLike[str] | None,
    qrels: Qrels | str | os.PathLike[str],
    systems: Iterable[str | Expression | Run],
    measures: str | Iterable[str] = (),
    *,
    test: str = "t",
    correction: str = "holm",
    alpha: float = 0.05,
    seed: int = 0,
    k: int = 1000,
    profile: str | None = None,
    workers: int | None = None,
    fresh: bool = False,
) -> Comparison:
    """Compare rankers, as expressions, and runs; for runs alone index and topics may be None.

    Tests are "t", "randomisation" and "wilcoxon", corrections "holm", "bonferroni", "bh", "none" and "tukey", a test of its own.
    """
    from sublex.evaluation import comparison
    from sublex.evaluation.measures import DEFAULT_MEASURES
    from sublex.evaluation.systems import systems_of
    from sublex.trec.qrels import Qrels

    opened = open(index) if isinstance(index, (str, os.PathLike)) else index
    asked = read_topics(topics) if isinstance(topics, (str, os.PathLike)) else topics
    judged = qrels if isinstance(qrels, Qrels) else read_qrels(qrels)
    made = systems_of(systems, opened, asked, k, profile, workers, not fresh)
    names = [measures] if isinstance(measures, str) else list(measures)
    plan = comparison.Plan(test, correction, alpha, seed)
    return comparison.compare(made, judged, asked, names or DEFAULT_MEASURES, opened, plan)


def write_report(comparison: Comparison, path: str | os.PathLike[str]) -> None:
    """Write the report of a comparison, one HTML file that needs nothing else."""
    from sublex.report.page import write_report

    write_report(comparison, path)


def tune(
    index: Index | str | os.PathLike[str],
    topics: Iterable[Sequence] | str | os.PathLike[str],
    qrels: Mapping[str, Mapping[str, int]] | str | os.PathLike[str],
    expression: str | Expression,
    measure: str = "AP",
    fields: str = "title",
    **options: Any,
) -> Tuning:
    """Find the best setting of an expression with ranges, `BM25(b={0..1})`, and by cross-validation what that is worth.

    Options: folds (5), search ("grid", "random"), steps (5, of an interval in a grid), samples (50, of a random search), seed (0),
    k (1000), workers, profile, progress (called with the queries done, and of how many). `fields` are for a topic file.
    """
    from sublex.tuning.search import tune

    opened = open(index) if isinstance(index, (str, os.PathLike)) else index
    asked = read_topics(topics, fields) if isinstance(topics, (str, os.PathLike)) else topics
    judged = read_qrels(qrels) if isinstance(qrels, (str, os.PathLike)) else qrels
    return tune(opened, asked, judged, expression, measure, **options)
