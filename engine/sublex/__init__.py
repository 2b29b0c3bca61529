"""Sublex: a search engine for people who study ranking.

    import sublex

    index = sublex.build("docs.jsonl", "my-index")
    index.search("blue whale", "BM25 >> RM3 >> BM25").docnos

This file is the public API and nothing else; each function imports the part of the engine that it needs.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sublex.base import VERSION, Document, Report
from sublex.errors import IndexCorrupt, IndexProblem, InputError, MissingExtra, PluginError, SublexError, UnknownName
from sublex.expression import Expression
from sublex.parser import parse

if TYPE_CHECKING:
    from sublex.evaluation.comparison import Comparison
    from sublex.evaluation.run_evaluation import Evaluation
    from sublex.functions import Function, StoredDocument
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
    "rerank",
    "tune",
    "write_report",
]


def build(
    documents: Documents,
    path: str | os.PathLike[str],
    *,
    profile: str = "sublex",
    analyzer: str | None = None,
    reader: str | None = None,
    store: str | Iterable[str] = ("text", "terms"),
    workers: int | None = None,
    memory: str | int = "1GB",
    overwrite: bool = False,
    resume: bool = False,
    strict: bool = False,
    progress: Callable[[int], None] = lambda docs: None,
    say: Callable[[str], None] = lambda text: None,
) -> Index:
    """Build an index at `path` and open it.

    Args:
        documents: A path or several, to files, folders, "-" for standard input, or "irds:NAME"; or an iterable of `Document`s
            or of mappings with an id and a text.
        path: The folder of the index.
        profile: The name of the set of defaults for analysis and ranking: sublex, anserini, terrier or pisa.
        analyzer: The expression that turns text into terms, such as "english(stop=none)"; by default the profile's.
        reader: The expression that names the format, such as "jsonl(id=docid)"; by default it is detected.
        store: The optional parts to store: "text,terms", one of them, or "none"; or an iterable of their names.
        workers: The number of threads; by default one a core. It does not change the index.
        memory: The bytes, or a text such as "512MB", after which a build spills to disk. It does not change the index.
        overwrite: Replace an existing index when the new one is finished.
        resume: Continue an interrupted build of the same sources and settings.
        strict: Raise `InputError` at the first malformed record; by default such records are counted and left out.
        progress: Called with the number of documents indexed so far, and once more with the last number when all are read.
        say: Called with sentences for the user.
    """
    from sublex.index.indexing import build_index

    build_index(
        path, documents, profile=profile, analyzer=analyzer, reader=reader, store=store, workers=workers, memory=memory,
        overwrite=overwrite, resume=resume, strict=strict, progress=progress, say=say,
    )  # fmt: skip
    return open(path)


def open(path: str | os.PathLike[str], allow_uncovered: bool = False) -> Index:
    """Open the current generation of an index. It stays open unchanged while others write to the index.

    With `allow_uncovered`, a representation may lack rows for some documents; it has no opinion on these documents.
    """
    from sublex.pipeline.index import Index

    return Index(path, allow_uncovered)


def read_topics(path: str | os.PathLike[str], fields: str = "title") -> Topics:
    """Read a topic file; its format is detected. The query is made of `fields`, such as "title+desc"."""
    from sublex.trec.topics import read_topics

    return read_topics(path, fields)


def read_qrels(path: str | os.PathLike[str]) -> Qrels:
    """Read relevance judgements: a mapping from topic ids to `{docno: grade}`."""
    from sublex.trec.qrels import read_qrels

    return read_qrels(path)


def read_run(path: str | os.PathLike[str]) -> Run:
    """Read a run: a mapping from topic ids to `{docno: score}`, best first, in trec_eval's order."""
    from sublex.trec.run_reader import read_run

    return read_run(path)


def measure(
    qrels: Mapping[str, Mapping[str, int]] | str | os.PathLike[str],
    run: Mapping[str, Mapping[str, float]] | str | os.PathLike[str],
    measures: str | Iterable[str] = (),
) -> Evaluation:
    """Measure a run on every judged topic, and return the values by topic and their means.

    `qrels` and `run` are files, results of `read_qrels` and `read_run`, or dictionaries. `measures` are names as ir-measures or
    trec_eval write them, such as "AP nDCG@10"; without them the measures of `sublex eval` are computed.
    """
    from sublex.evaluation.measures import DEFAULT_MEASURES
    from sublex.evaluation.run_evaluation import evaluate

    judgements = qrels if isinstance(qrels, Mapping) else read_qrels(qrels)
    scores = run if isinstance(run, Mapping) else read_run(run)
    return evaluate(judgements, scores, _names(measures) or DEFAULT_MEASURES)


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
    """Run systems on the judged topics, measure them, and test every pair of them for a difference.

    Args:
        index: An index or its path; None when all systems are runs.
        topics: Topics or their file; None when all systems are runs.
        qrels: Relevance judgements or their file.
        systems: Expressions, which are run on the index, and runs. The others are compared with the first.
        measures: Names as ir-measures or trec_eval write them; the first one is tested in the summary.
        test: The paired test: "t", "randomisation" or "wilcoxon".
        correction: The correction for the number of pairs: "holm", "bonferroni", "bh" or "none"; "tukey" is a test of its own.
        alpha: The level of the test.
        seed: The seed of tests and intervals that draw random numbers.
        k: The largest number of hits per topic.
        profile: The profile whose defaults rankers get; by default the index's own.
        workers: The number of threads; by default one a core.
        fresh: Run every expression anew. By default a run that was computed before is taken from the index's folder.
    """
    from sublex.evaluation import comparison
    from sublex.evaluation.measures import DEFAULT_MEASURES
    from sublex.evaluation.systems import systems_of
    from sublex.trec.qrels import Qrels

    opened = open(index) if isinstance(index, (str, os.PathLike)) else index
    queries = read_topics(topics) if isinstance(topics, (str, os.PathLike)) else topics
    judgements = qrels if isinstance(qrels, Qrels) else read_qrels(qrels)
    runs = systems_of(systems, opened, queries, k, profile, workers, not fresh)
    plan = comparison.Plan(test, correction, alpha, seed)
    return comparison.compare(runs, judgements, queries, _names(measures) or DEFAULT_MEASURES, opened, plan)


def rerank(
    function: Callable[[str, list[StoredDocument]], Any],
    *,
    name: str | None = None,
    version: str | int | None = None,
    batch: int = 100,
    cache: str | os.PathLike[str] | None = None,
) -> Function:
    """Return a Python function as a part of an expression, as in `"BM25 % 100" >> sublex.rerank(f)`.

    The function scores the hits of the stage before it, and they are ranked by its scores, highest first.

    Args:
        function: `f(query, documents)`, which returns one finite number for each document: a list, an array or a tensor. `query` is the
            text of the query. Each document has `docno`, `title`, `text`, `fields`, and `contents`, the title and the text together.
            The score of a document should depend on the query and the document alone. One thread at a time calls the function.
        name: The name in the printed form, `rerank(name)`; by default the function's own. Names tell functions of one expression apart.
        version: A text or number that you change whenever the function's scores change. With a version `compare` keeps runs.
        batch: The largest number of documents of one call.
        cache: A folder for the scores; they are kept by the name, the version, the query and the document. It needs a version.
    """
    from sublex.functions import rerank

    return rerank(function, name, version, batch, cache)


def write_report(comparison: Comparison, path: str | os.PathLike[str]) -> None:
    """Write the report of a comparison: one HTML file that needs no other file."""
    from sublex.report.page import write_report

    write_report(comparison, path)


def tune(
    index: Index | str | os.PathLike[str],
    topics: Iterable[Sequence] | str | os.PathLike[str],
    qrels: Mapping[str, Mapping[str, int]] | str | os.PathLike[str],
    expression: str | Expression,
    measure: str = "AP",
    fields: str = "title",
    *,
    folds: int = 5,
    search: str = "grid",
    steps: int = 5,
    samples: int = 50,
    seed: int = 0,
    k: int = 1000,
    workers: int | None = None,
    profile: str | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Tuning:
    """Find the best numbers for the ranges of an expression, and by cross-validation what they are worth on unseen topics.

    Args:
        index: An index or its path.
        topics: Topics, pairs (id, text), or a topic file.
        qrels: Relevance judgements or their file.
        expression: An expression with ranges, such as "BM25(b={0..1})" or "PL2 + {0,0.1,0.3}*lsi".
        measure: The measure to maximise.
        fields: The fields of a topic file that make the query.
        folds: The number of folds of the cross-validation.
        search: "grid" tries all combinations, "random" draws `samples` of them.
        steps: The number of evenly spaced values that a grid takes of an interval.
        samples: The number of combinations of a random search.
        seed: The seed of the folds and of a random search.
        k: The number of hits per topic that the measure sees.
        workers: The number of threads; by default one a core.
        profile: The profile whose defaults rankers get; by default the index's own.
        progress: Called with the number of queries done and their total.
    """
    from sublex.tuning.search import tune

    opened = open(index) if isinstance(index, (str, os.PathLike)) else index
    queries = read_topics(topics, fields) if isinstance(topics, (str, os.PathLike)) else topics
    judgements = read_qrels(qrels) if isinstance(qrels, (str, os.PathLike)) else qrels
    return tune(
        opened, queries, judgements, expression, measure, folds=folds, search=search, steps=steps, samples=samples,
        seed=seed, k=k, workers=workers, profile=profile, progress=progress,
    )  # fmt: skip


def _names(measures: str | Iterable[str]) -> list[str]:
    return [measures] if isinstance(measures, str) else list(measures)


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """Import `sublex.pyterrier` when it is first used; it needs an extra package."""
        if name != "pyterrier":
            raise AttributeError(f"module 'sublex' has no attribute {name!r}")
        from importlib import import_module

        return import_module("sublex.pyterrier")
