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

from sublex.contracts.base import VERSION, Document, Report
from sublex.errors import (
    IndexCorrupt,
    IndexProblem,
    InputError,
    MissingExtra,
    PluginError,
    SublexError,
    SublexWarning,
    UnknownName,
    warn,
)
from sublex.language.expression import Expression
from sublex.tools.hints import import_type, resolve_hints

if TYPE_CHECKING:
    from ir_measures import Measure

    from sublex.building.document_source import Documents
    from sublex.contracts.base import Context, Query, Ranker
    from sublex.evaluation.comparison import Comparison
    from sublex.evaluation.disagreement import Disagreement
    from sublex.evaluation.pooling import Pool
    from sublex.evaluation.run_evaluation import Evaluation
    from sublex.language.finders import Finder
    from sublex.language.functions import Function, StoredDocument
    from sublex.language.learned import LearnedModel
    from sublex.language.python_encoders import PythonEncoder
    from sublex.language.python_expanders import PythonExpander
    from sublex.language.python_filters import PythonFilter
    from sublex.language.python_rankers import PythonRanker
    from sublex.learning.features import Features
    from sublex.other_engines.backends import BackendRow
    from sublex.pipeline.index import Index
    from sublex.retrieval.hits import Hits
    from sublex.studies.results import StudyResult
    from sublex.trec.qrels import Qrels
    from sublex.trec.runs import Run
    from sublex.trec.topics import Topics
    from sublex.tuning.result import Tuning

__version__ = VERSION
__all__ = [
    "Comparison",
    "Document",
    "Evaluation",
    "Expression",
    "Features",
    "Hits",
    "Index",
    "IndexCorrupt",
    "IndexProblem",
    "InputError",
    "MissingExtra",
    "PluginError",
    "Qrels",
    "Report",
    "Run",
    "SublexError",
    "SublexWarning",
    "Topics",
    "Tuning",
    "UnknownName",
    "attach",
    "backends",
    "build",
    "build_cluster",
    "compare",
    "disagree",
    "encoder",
    "expander",
    "features",
    "finder",
    "from_ciff",
    "fuse",
    "join",
    "keep",
    "learned",
    "measure",
    "open",
    "parse",
    "pool",
    "ranker",
    "read_qrels",
    "read_run",
    "read_topics",
    "rerank",
    "study",
    "tune",
    "write_report",
]


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


def build(
    documents: Documents,
    path: str | os.PathLike[str],
    *,
    profile: str | None = None,
    analyzer: str | None = None,
    reader: str | None = None,
    roles: Mapping[str, str] | None = None,
    columns: str | Mapping[str, str] | Iterable[str] = (),
    store: str | Iterable[str] = ("text", "terms"),
    fields: str | Iterable[str] = (),
    backend: str | None = None,
    workers: int | None = None,
    memory: str | int = "1GB",
    overwrite: bool = False,
    resume: bool = False,
    strict: bool = False,
    reorder: bool = False,
    progress: Callable[[int], None] = lambda docs: None,
    say: Callable[[str], None] = lambda text: None,
) -> Index:
    """Build an index at `path` and open it.

    The attribute `built` of the result counts the documents that were indexed and those that were left out, and lists
    the latter. If documents were left out, a `SublexWarning` says how many.

    Args:
        documents: A path or several, to files, folders, "-" for standard input, or "irds:NAME"; or an iterable of `Document`s
            or of mappings with an id and a text; or a DataFrame with columns for the id and the text. In memory, None
            and NaN are empty.
        path: The folder of the index.
        profile: The name of the set of defaults for analysis and ranking: sublex, anserini, terrier or pisa.
            By default sublex; with `backend`, the profile of the other engine.
        analyzer: The expression that turns text into terms, such as "english(stop=none)"; by default the profile's.
        reader: The expression that names the format of files, such as "jsonl(id=docid)"; by default it is detected.
        roles: The names of the fields of mappings or of the columns of a DataFrame, such as
            `{"id": "paper_id", "text": "abstract", "title": "heading"}`; by default the usual names are recognised.
        columns: Stored fields whose values filters, facets and sorting read, each perhaps with a type: "year:int,category", a list
            of such texts, or a mapping from names to types. The types are int, float, date, and by default text.
        store: The optional parts to store: "text", "terms" and "positions", with commas between them, or "none"; or an
            iterable of their names.
        fields: The fields to keep frequencies and lengths of, with commas between them, such as "title,text", or an
            iterable of their names. A field that is neither the title nor the text is searched too, as a part of the contents.
        backend: The name of another engine, such as "lucene". That engine builds its index next to `path`, and the
            index at `path` then mirrors it.
        workers: The number of threads; by default one per core. It does not change the index.
        memory: The bytes, or a text such as "512MB", after which a build spills to disk. It does not change the index.
        overwrite: Replace an existing index when the new one is finished.
        resume: Continue an interrupted build of the same sources and settings.
        strict: Raise `InputError` at the first malformed record, such as one without an id; by default malformed
            records are counted and left out.
        reorder: Put similar documents next to each other. This changes the fingerprint. It changes no hit, no score and
            no order of hits with equal scores.
        progress: Called with the number of documents indexed so far, and once more with the last number when all are read.
        say: Called with sentences for the user.
    """
    from pathlib import Path

    from sublex.building.indexing import build_index
    from sublex.language import plugins
    from sublex.pipeline.index import Index
    from sublex.tools.arguments import file_path, optional_text, text, threads

    folder, registry = Path(file_path(path, "The path of the index")), plugins.load()
    name, given = text(profile or "sublex", "The profile"), optional_text(analyzer, "The analyzer")
    options: dict[str, Any] = {
        "reader": optional_text(reader, "The reader"), "roles": roles, "columns": columns, "store": store, "memory": memory,
        "overwrite": overwrite, "strict": strict, "progress": progress, "say": say, "registry": registry,
    }  # fmt: skip
    if backend is None:
        summary = build_index(
            folder, documents, profile=name, analyzer=given, workers=threads(workers), resume=resume, reorder=reorder,
            fields=fields, **options
        )  # fmt: skip
    else:
        from sublex.other_engines.attaching import AttachSettings
        from sublex.other_engines.build import build_foreign

        engine = text(backend, "The back end")
        for option, value in (
            ("resume", resume), ("reorder", reorder), ("workers", workers is not None), ("fields", fields),
        ):  # fmt: skip
            if value:
                raise InputError(f"{option} does not go with the back end {engine}; leave one of them out.")
        summary = build_foreign(folder, documents, engine, AttachSettings(given, name if profile else None), **options)
    index = Index(folder, load_registry=lambda: registry)
    index.built = summary
    warn(summary.warnings("the attribute `built` of the index"))
    return index


def attach(
    source: str | None,
    path: str | os.PathLike[str],
    *,
    analyzer: str | None = None,
    profile: str | None = None,
    field: str | Iterable[str] | None = None,
    docno: str | None = None,
    positions: bool = False,
    trust: bool = False,
    refresh: bool = False,
    overwrite: bool = False,
    progress: Callable[[int], None] = lambda terms: None,
    say: Callable[[str], None] = lambda text: None,
) -> Index:
    """Make an index at `path` that mirrors an index of another engine, and open it.

    The terms, postings, lengths and ids are read once. Stored texts are read from the other index when they are asked
    for, and the other engine's own rankers search in it. The other index is never changed.

    Args:
        source: The engine and the path of its index, such as "whoosh:/data/papers"; with `refresh`, None stands for the
            engine and path that were given before.
        path: The folder of the new index.
        analyzer: The expression that turns queries into terms. It should give the terms that the documents have; by
            default the analyzer that the other index names.
        profile: The name of the set of defaults for ranking: sublex, anserini, terrier or pisa; by default the engine's.
        field: The field whose postings are read; by default the first text field of the index. Several, with commas between them
            such as "title,text" or as an iterable of names, are read as one: the frequency of a term is the sum over them,
            and the index keeps the frequencies and lengths of each.
        docno: The field that holds the ids of the documents.
        positions: Also read the positions of words, which phrases and windows in queries need. They make the index
            larger by some two fifths. A refresh reads them again.
        trust: Allow Sublex to run code from the files of the other index. Whoosh stores pickles, which can run code, so
            a Whoosh index always needs this.
        refresh: Read the other index again if it has changed; with `source`, also record its new path.
        overwrite: Replace an existing index when the new one is finished.
        progress: Called with the number of terms read so far.
        say: Called with sentences for the user.
    """
    from pathlib import Path

    from sublex.contracts.fields import field_names
    from sublex.other_engines.attaching import AttachSettings, attach_index
    from sublex.tools.arguments import file_path, optional_text

    folder = file_path(path, "The path of the index")
    if field is not None and not isinstance(field, str) and isinstance(field, Iterable):
        field = ",".join(field_names(field))
    options = {"field": optional_text(field, "The field"), "docno": optional_text(docno, "The field docno")}
    given = AttachSettings(
        optional_text(analyzer, "The analyzer"), optional_text(profile, "The profile"),
        {name: value for name, value in options.items() if value is not None}, positions,
    )  # fmt: skip
    attach_index(
        Path(folder), optional_text(source, "The source"), given, trust=trust, refresh=refresh, overwrite=overwrite,
        progress=progress, say=say,
    )  # fmt: skip
    return _opened(folder)


def join(
    parts: Iterable[str | os.PathLike[str] | Index],
    path: str | os.PathLike[str],
    *,
    overwrite: bool = False,
    progress: Callable[[int], None] = lambda docs: None,
) -> Index:
    """Make one index of several, without reading a document again, and open it.

    The documents of all parts become those of the new index, in the order of the parts, which stay as they are. Fitted
    models are not copied; the attribute `built` of the result names them.

    Args:
        parts: Indexes, or their folders. They must have been built alike, and no docno may be in two of them.
        path: The folder of the new index.
        overwrite: Replace an existing index when the new one is finished.
        progress: Called with the number of documents that are written.
    """
    from pathlib import Path

    from sublex.building.joining import join
    from sublex.language import plugins
    from sublex.pipeline.index import Index
    from sublex.tools.arguments import file_path

    places = [part.path if isinstance(part, Index) else Path(file_path(part, "The path of a part")) for part in parts]
    folder, registry = Path(file_path(path, "The path of the index")), plugins.load()
    summary = join(folder, places, overwrite, progress)
    index = Index(folder, load_registry=lambda: registry)
    index.built = summary
    warn(summary.warnings("the attribute `built` of the index"))
    return index


def build_cluster(
    documents: Documents | Iterable[str | os.PathLike[str] | Index],
    path: str | os.PathLike[str],
    shards: int | None = None,
    *,
    profile: str | None = None,
    analyzer: str | None = None,
    reader: str | None = None,
    roles: Mapping[str, str] | None = None,
    columns: str | Mapping[str, str] | Iterable[str] = (),
    store: str | Iterable[str] = ("text", "terms"),
    fields: str | Iterable[str] = (),
    workers: int | None = None,
    memory: str | int = "1GB",
    overwrite: bool = False,
    resume: bool = False,
    strict: bool = False,
    progress: Callable[[int], None] = lambda docs: None,
    say: Callable[[str], None] = lambda text: None,
) -> Index:
    """Build a cluster at `path` and open it. A cluster ranks as one index of all its documents does, bit for bit.

    Without `shards`, `documents` are indexes or their folders. Each is copied and becomes a shard, in their order. They
    must have been built alike, and no docno may be in two of them; models are not taken along. With `shards`, `documents`
    are documents or files as for `build`, which are divided among this number of shards. Processes build the shards of
    large collections side by side; a docno that several shards would have stays in the first. The attribute `built` of
    the result counts the documents.

    Args:
        documents: Indexes, or documents.
        path: The folder of the cluster.
        shards: The number of shards to build.
        profile: As for `build`, like the other options; for documents only.
        analyzer: The expression that turns text into terms.
        reader: The expression that names the format of files.
        roles: The names of the fields of documents in memory.
        columns: Stored fields that become typed columns.
        store: The optional parts to store.
        fields: The fields to keep frequencies and lengths of.
        workers: The number of threads of all processes together; by default one per core.
        memory: The memory for postings of all processes together.
        overwrite: Replace an existing index when the new one is finished.
        resume: Continue an interrupted build of the same sources and settings; finished shards are kept.
        strict: Raise `InputError` at the first malformed record.
        progress: Called with the number of documents so far.
        say: Called with sentences for the user.
    """
    from pathlib import Path

    from sublex.building.indexing import build_cluster
    from sublex.building.joining import join
    from sublex.language import plugins
    from sublex.pipeline.index import Index
    from sublex.tools.arguments import file_path, optional_text, text, threads, whole

    folder, registry = Path(file_path(path, "The path of the cluster")), plugins.load()
    if shards is None:
        given = {
            "profile": profile, "analyzer": analyzer, "reader": reader, "roles": roles, "columns": columns, "fields": fields,
            "resume": resume, "strict": strict,
        }  # fmt: skip
        if named := next((name for name, value in given.items() if value), ""):
            raise InputError(f"{named} is for documents, and indexes are built already; leave it out, or give shards.")
        parts: Any = [documents] if isinstance(documents, (str, os.PathLike, Index)) else documents
        places = [
            part.path if isinstance(part, Index) else Path(file_path(part, "The path of an index")) for part in parts
        ]
        summary = join(folder, places, overwrite, progress, as_cluster=True)
    else:
        summary = build_cluster(
            folder, documents, whole(shards, "The number of shards"), profile=text(profile or "sublex", "The profile"),  # type: ignore[arg-type]
            analyzer=optional_text(analyzer, "The analyzer"), reader=optional_text(reader, "The reader"), roles=roles,
            columns=columns, store=store, fields=fields, workers=threads(workers), memory=memory, overwrite=overwrite,
            resume=resume, strict=strict, progress=progress, say=say, registry=registry,
        )  # fmt: skip
    index = Index(folder, load_registry=lambda: registry)
    index.built = summary
    warn(summary.warnings("the attribute `built` of the index"))
    return index


def backends() -> list[BackendRow]:
    """Return a row for each engine whose indexes can be attached.

    A row has the engine's name, and says how to install missing packages, if any.
    """
    from sublex.language import plugins
    from sublex.other_engines.backends import backends

    return backends(plugins.load())


def from_ciff(
    file: str | os.PathLike[str],
    path: str | os.PathLike[str],
    *,
    analyzer: str | None = None,
    profile: str | None = None,
    workers: int | None = None,
    overwrite: bool = False,
    say: Callable[[str], None] = lambda text: None,
) -> Index:
    """Make an index at `path` from a CIFF file, and open it. Other engines write such files, and so does `Index.to_ciff`.

    Args:
        file: The file, plain or compressed.
        path: The folder of the index.
        analyzer: The expression that turns the text of queries into terms. It should be the analyzer that made the
            terms of the file; the file does not name its analyzer. By default the profile's analyzer.
        profile: The name of the set of defaults for ranking: sublex, anserini, terrier or pisa. Give the profile, the
            analyzer, or both.
        workers: The number of threads; by default one per core. It does not change the index.
        overwrite: Replace an existing index when the new one is finished.
        say: Called with sentences for the user.
    """
    from sublex.other_engines.ciff.ciff_file import CiffFile
    from sublex.other_engines.ciff.read_ciff import read_ciff
    from sublex.tools.arguments import file_path, optional_text, threads

    folder = file_path(path, "The path of the index")
    with CiffFile(file_path(file, "The file")) as source:
        summary = read_ciff(
            folder, source, profile=optional_text(profile, "The profile"), analyzer=optional_text(analyzer, "The analyzer"),
            workers=threads(workers), overwrite=overwrite,
        )  # fmt: skip
    for remark in summary.remarks():
        say(remark)
    return _opened(folder)


def open(
    path: str | os.PathLike[str],
    allow_uncovered: bool = False,
    *,
    launcher: str = "embedded",
    processes: int | None = None,
    partial: bool = False,
) -> Index:
    """Open the current generation of an index. It stays open unchanged while others write to the index.

    A text without a slash is a name, as on the command line: the index of this name in the working directory, else in
    $SUBLEX_INDEXES, in `./indexes` or in the user's data folder. Everything else is a path.
    With `allow_uncovered`, a representation may lack rows for some documents; it gives these documents no score.

    A text such as "cluster:PATH" names a cluster. With the `launcher` "processes", processes search its shards, as
    `Index.launch` describes, which takes `processes` and `partial`. With "embedded", this process does.
    """
    from sublex.index.lookup import existing_path
    from sublex.tools.arguments import choice

    index = _opened(existing_path(path) if isinstance(path, str) else path, allow_uncovered)
    if choice(launcher, "The launcher", ("embedded", "processes")) == "processes":
        return index.launch(processes, partial=partial)
    if processes is not None or partial:
        raise InputError("processes and partial are for the launcher processes; give launcher='processes'.")
    return index


def _opened(path: str | os.PathLike[str], allow_uncovered: bool = False) -> Index:
    from sublex.pipeline.index import Index

    return Index(path, allow_uncovered)


def read_topics(path: str | os.PathLike[str], fields: str = "title") -> Topics:
    """Read a topic file in any format that Sublex knows. The format is detected from the first lines.

    `fields` names the fields of a topic that make the query, such as "title+desc".
    """
    from sublex.tools.arguments import file_path, text
    from sublex.trec.topics import read_topics

    return read_topics(file_path(path, "The path of the topics"), text(fields, "fields"))


def read_qrels(path: str | os.PathLike[str], contradictions: str = "error") -> Qrels:
    """Read relevance judgements: a mapping from topic ids to `{docno: grade}`.

    `contradictions` says what happens if a topic judges a document several times, with different grades: "error"
    refuses the file, "first", "last" and "highest" take that grade.
    """
    from sublex.tools.arguments import file_path, text
    from sublex.trec.qrels_reader import read_qrels

    return read_qrels(file_path(path, "The path of the qrels"), text(contradictions, "contradictions"))


def read_run(path: str | os.PathLike[str]) -> Run:
    """Read a run: a mapping from topic ids to `{docno: score}`, best first, in trec_eval's order."""
    from sublex.tools.arguments import file_path
    from sublex.trec.run_reader import read_run

    return read_run(file_path(path, "The path of the run"))


def measure(
    qrels: Any,
    run: Any,
    measures: str | Measure | Iterable[str | Measure] = (),
    *,
    index: Index | str | os.PathLike[str] | None = None,
    topics: Any = None,
    contradictions: str = "error",
    collapse: Any = None,
    residual: Any = None,
) -> Evaluation:
    """Measure a run on every judged topic, and return the values by topic and their means.

    A `SublexWarning` says what changes or prevents measures, such as topics that the run lacks.

        Args: qrels: Relevance judgements: a file, a result of `read_qrels`, a dictionary {qid: {docno: grade}}, or a
        DataFrame with qid, docno and label. run: A run: a file, a result of `Index.run` or `read_run`, a dictionary
        {qid: {docno: score}}, or a DataFrame with qid, docno and score. With `index` and `topics`, it can also be an
        expression. With `topics`, it can also be a function that gets the text of a query and returns hits or a
        dictionary {docno: score}. measures: Names as ir-measures or trec_eval write them, such as "AP nDCG@10", or
        measures of ir-measures; by default the measures of `sublex eval`. index: The index, or its path, that an
        expression is run on. topics: The topics that an expression or a function is run on, in any form that
        `Index.run` takes. contradictions: The rule for judgements of one document with different grades, as
        `read_qrels` describes it. collapse: Groups of near duplicates, in any form that `compare` takes; of a group,
        only the first one in the run counts. residual: Judgements whose documents are left out of the run and of
        `qrels`, as for `compare`.
    """
    from sublex.evaluation import residual as rest
    from sublex.evaluation.collapsing import collapsed
    from sublex.evaluation.given_systems import Setup, system_of
    from sublex.evaluation.input_warnings import input_warnings
    from sublex.evaluation.measures import DEFAULT_MEASURES
    from sublex.evaluation.run_evaluation import evaluate
    from sublex.trec.given_tables import qrels_of

    judgements, setup = qrels_of(qrels, contradictions), Setup(_index(index), _topics(topics))
    notes = list(judgements.notes)
    seen = None if residual is None else qrels_of(residual, contradictions)
    (system,), judgements, unseen = rest.residual([system_of(run, setup)], judgements, seen)
    (system,), judgements, left_out = collapsed([system], judgements, collapse)
    notes += [*unseen, *left_out, *system.notes, *system.run.notes]
    warn([*notes, *input_warnings([system], judgements, setup.topics, setup.index)])
    return evaluate(judgements, system.run, _names(measures) or DEFAULT_MEASURES, system.name)


def fuse(
    runs: Any,
    method: str = "rrf",
    weights: Sequence[float] | None = None,
    normalise: str | None = None,
    k: int = 1000,
    *,
    index: Index | str | os.PathLike[str] | None = None,
    topics: Any = None,
) -> Run:
    """Return one run that combines several runs, with the best k documents of each topic.

    A `SublexWarning` names runs that do not belong together: without a common topic, or of different indexes.

    Args:
        runs: Two or more runs, each in any form that `measure` takes; also expressions and functions, with `index` and `topics`.
            The tag of the result lists the names of the runs if they are given as a dictionary by name, and otherwise
            their tags.
        method: "rrf", "combsum", "combmnz" or "weighted".
        weights: A number for each run; only for "weighted".
        normalise: The normaliser of the scores of a run: "minmax", the default, "zscore", "rank" or "raw"; not for "rrf".
        k: The number of documents per topic.
        index: The index, or its path, that expressions are run on.
        topics: The topics that expressions and functions are run on, in any form that `Index.run` takes.
    """
    from sublex.evaluation.given_systems import Setup, systems_of
    from sublex.tools.arguments import whole
    from sublex.trec.fuse import fuse, fusion_notes

    systems = systems_of(runs, Setup(_index(index), _topics(topics)))
    parts, names = [system.run for system in systems], [system.name for system in systems]
    fused = fuse(parts, method, weights, normalise, whole(k, "k"), names if isinstance(runs, Mapping) else [])
    warn([*(note for part in parts for note in part.notes), *fusion_notes(parts, names)])
    return fused


def compare(
    index: Index | str | os.PathLike[str] | None,
    topics: Any,
    qrels: Any,
    systems: Any,
    measures: str | Measure | Iterable[str | Measure] = (),
    *,
    test: str = "t",
    correction: str = "holm",
    alpha: float = 0.05,
    seed: int = 0,
    k: int = 1000,
    profile: str | None = None,
    workers: int | None = None,
    fresh: bool = False,
    contradictions: str = "error",
    language: str = "plain",
    queries: Mapping[str, Any] | None = None,
    by: str | Iterable[str | Mapping[str, Any]] | Mapping[str, Any] = (),
    groups: int = 3,
    collapse: Any = None,
    judged: Any = None,
    residual: Any = None,
) -> Comparison:
    """Run systems on the judged topics, measure them, and test each pair of systems for a difference.

    A `SublexWarning` says what changes or prevents measures; the attribute `notes` of the result has the same sentences.

    Args:
        index: An index or its path; None when no system is an expression.
        topics: Topics in any form that `Index.run` takes; None when all systems are runs.
        qrels: Relevance judgements in any form that `measure` takes.
        systems: A list, or a dictionary by name, of expressions, which are run on the index, of functions, and of runs
            in any form that `measure` takes. The first system is the baseline that the others are compared with.
        measures: Names as ir-measures or trec_eval write them, or measures of ir-measures; the first one is tested in the summary.
        test: The paired test: "t", "randomisation" or "wilcoxon".
        correction: The correction for the number of pairs: "holm", "bonferroni", "bh" or "none"; "tukey" replaces both
            the test and the correction.
        alpha: The significance level of the test.
        seed: The seed of tests and intervals that draw random numbers.
        k: The largest number of hits per topic.
        profile: The profile whose defaults rankers get; by default the index's own.
        workers: The number of threads; by default one a core.
        fresh: Run every expression anew, and keep the new runs. By default a run that was computed before is read from
            the index's folder.
        contradictions: The rule for judgements of one document with different grades, as `read_qrels` describes it.
        language: The language of the topics: "plain", or "query" for the query language.
        queries: Vectors of the topics, as for `Index.with_queries`.
        by: Properties of topics, such as "length", by which the attribute `slices` of the result shows groups; or a dictionary
            from ids of topics to groups. `Comparison.sliced` lists the properties.
        groups: The number of groups that `by` makes of numbers.
        collapse: Groups of near duplicates; of a group, only the first document in a run counts. It is a result of
            `Index.duplicates`, the CSV of `sublex duplicates`, or a dictionary from documents to groups.
        judged: Judgements in any form that `measure` takes, from which expanders learn, as for `Index.with_judged`.
        residual: Judgements whose documents are left out of all rankings and of `qrels`, by topic: the residual collection.
            Give those of `judged`, because rankings that learned from documents have these at the top.
    """
    from sublex.evaluation import comparison
    from sublex.evaluation import residual as rest
    from sublex.evaluation.collapsing import collapsed
    from sublex.evaluation.given_systems import Setup, systems_of
    from sublex.evaluation.measures import DEFAULT_MEASURES
    from sublex.tools.arguments import number, threads, whole
    from sublex.trec.given_tables import qrels_of

    opened, asked, judgements = _index(index), _topics(topics), qrels_of(qrels, contradictions)
    if opened is not None and queries is not None:
        opened = opened.with_queries(queries)
    if opened is not None and judged is not None:
        opened = opened.with_judged(qrels_of(judged, contradictions))
    seen, most = None if residual is None else qrels_of(residual, contradictions), whole(k, "k")
    setup = Setup(opened, asked, rest.needed(most, seen), profile, threads(workers), fresh, language)
    plan = comparison.Plan(test, correction, number(alpha, "alpha"), whole(seed, "seed", 0))
    names = _names(measures) or DEFAULT_MEASURES
    given = systems_of(systems, setup)
    notes = [
        *judgements.notes,
        *(asked.notes if asked else ()),
        *dict.fromkeys(note for each in given for note in each.notes),
        *(note for each in given for note in each.run.notes),
    ]
    if judged is not None and seen is None:
        notes.append(rest.FLATTERED.format(residual="residual"))
    elif seen is None:
        notes += rest.flattered_runs(given, "residual")
    given, judgements, unseen = rest.residual(given, judgements, seen, most)
    given, judgements, left_out = collapsed(given, judgements, collapse)
    notes += [*unseen, *left_out]
    wanted = list(by) if isinstance(by, Iterable) and not isinstance(by, (str, Mapping)) else [by]
    compared = comparison.compare(given, judgements, asked, names, opened, plan, notes, wanted, whole(groups, "groups"))
    warn(compared.notes)
    return compared


def study(
    study: str | os.PathLike[str] | Mapping[str, Any],
    out: str | os.PathLike[str] | None = None,
    *,
    collections: str | os.PathLike[str] | None = None,
    allow: Iterable[str | os.PathLike[str]] = (),
    download: bool = False,
    workers: int | None = None,
    say: Callable[[str], None] = lambda text: None,
) -> StudyResult:
    """Run a study, an experiment in one file, and return its results: `to_pandas()` has means, `by_topic()` the measures of topics.

    Results that the folder `out` has already are kept. A `SublexWarning` names each system that failed; the others are run.

        Args: study: The study file, or a dictionary with the same tables, in which paths begin in the working
        directory. out: The folder for runs, measures, the report, and `study.lock`, a record of all figures and of what
        they depend on; by default a folder next to the study file, with "-study" after the file's name. collections: A
        folder in which relative paths are looked up if they are not found in the study's own folder. allow: Other
        folders that the study may read. download: Allow data sets of ir_datasets, which may be downloaded. workers: The
        number of threads; by default one a core. say: Called with sentences for the user.
    """
    from sublex.language import plugins
    from sublex.studies.begin import begin_study
    from sublex.studies.run_study import run_study
    from sublex.studies.steps import StudyWatch
    from sublex.tools.arguments import threads

    watch = StudyWatch(say)
    asked, store, places = begin_study(study, out, collections, allow, download)
    result = run_study(asked, store, places, plugins.load(), watch, threads(workers))
    warn(result.failures)
    return result


def disagree(
    index: Index | str | os.PathLike[str],
    topics: Any,
    a: str | Expression,
    b: str | Expression,
    qrels: Any = None,
    *,
    number: int = 10,
    documents: int = 5,
    depth: int = 100,
    measure: str | Measure = "AP",
    profile: str | None = None,
    contradictions: str = "error",
    language: str = "plain",
    queries: Mapping[str, Any] | None = None,
) -> Disagreement:
    """Return the topics on which two rankings differ most, the documents that move most, and the words that move them.

    Args:
        index: An index or its path.
        topics: Topics in any form that `Index.run` takes.
        a: The expression of the first ranking.
        b: The expression of the second ranking.
        qrels: Relevance judgements in any form that `measure` takes, which say which ranking is right; None for none.
        number: The number of topics whose documents are compared.
        documents: The number of documents of each of these topics.
        depth: The number of documents of each ranking that are compared.
        measure: The measure of both rankings on each judged topic.
        profile: The profile whose defaults rankers get; by default the index's own.
        contradictions: The rule for judgements of one document with different grades, as `read_qrels` describes it.
        language: The language of the topics: "plain", or "query" for the query language.
        queries: Vectors of the topics, as for `Index.with_queries`.
    """
    from sublex.evaluation.disagreement import Wanted, disagreement
    from sublex.evaluation.measures import parse_measures
    from sublex.tools.arguments import whole
    from sublex.trec.given_tables import qrels_of
    from sublex.trec.given_topics import topics_of

    opened = _index(index)
    if opened is None:
        raise InputError("Rankings need an index; give one, or its path.")
    opened = opened.with_queries(queries) if queries is not None else opened
    wanted = Wanted(
        whole(number, "number"), whole(documents, "documents"), whole(depth, "depth", 2), str(parse_measures([str(measure)])[0])
    )  # fmt: skip
    judgements = None if qrels is None else qrels_of(qrels, contradictions)
    pipelines = opened.pipeline(a, profile), opened.pipeline(b, profile)
    return disagreement(opened, topics_of(topics), pipelines, judgements, wanted, language)


def pool(
    runs: Any,
    qrels: Any = None,
    *,
    method: str = "depth",
    depth: int | None = None,
    budget: int | None = None,
    contradictions: str = "error",
) -> Pool:
    """Choose documents of runs to judge next. Documents of a topic stand together, the most useful one first.

    `result.form()` is the text of a form, which `:judge --form` of the shell reads once its grades are filled in. A
    `SublexWarning` says which runs or judgements have no topic in common with the first run.

    Args:
        runs: A list, or a dictionary by name, of runs in any form that `measure` takes.
        qrels: The judgements that are there already, in any form that `measure` takes; None for none.
        method: "depth" takes documents by their best rank in any run; "front" moves runs to the front that have just given a
            relevant document; "change" prefers documents whose judgement could change the difference between two runs most.
        depth: The number of documents of each run that are looked at; by default 100 if there is a budget.
        budget: The number of documents without a judgement to choose in all, shared among the topics; by default all.
        contradictions: The rule for judgements of one document with different grades, as `read_qrels` describes it.
    """
    from sublex.evaluation.given_systems import Setup, systems_of
    from sublex.evaluation.pooling import Pool, pool, pool_notes
    from sublex.tools.arguments import whole
    from sublex.trec.given_tables import qrels_of

    systems = systems_of(runs, Setup(None, None))
    judged = None if qrels is None else qrels_of(qrels, contradictions)
    numbers = [None if given is None else whole(given, name) for name, given in (("depth", depth), ("budget", budget))]
    chosen = pool(systems, judged if judged is not None else {}, method, *numbers)
    warn([*(judged.notes if judged is not None else ()), *pool_notes(systems, judged)])
    return Pool(chosen)


def ranker(
    given: Ranker | Callable[..., Any], *, name: str | None = None, version: str | int | None = None
) -> PythonRanker:
    """Return a part of an expression that ranks by Python code, as in `index.search("crane", sublex.ranker(f))`.

    The hits are exact, whatever the formula: the engine makes no assumption about its shape or sign.

    Args:
        given: An object with the method `score` of `sublex.contracts.base.Ranker`; subclassing it is not needed. Such an object can
            also stand for itself, as in `"BM25" >> MyRanker()`. Or a function that computes the score of a term in a document.
            The names of its parameters say which statistics it gets, each a number or a NumPy array: `tf`, the frequency of the term
            in the document; `length` and `unique`, the tokens and the distinct terms of the document; `df` and `cf`, the document
            and collection frequency of the term; `docs`, `tokens`, `postings` and `mean_length` of the collection. It returns an
            array. Other parameters need defaults and are constants.
        name: The name in the printed form, `ranker(name@hash)`; by default that of the function or of the object's class.
        version: A text or number that stands for the hash of the code. Change it whenever the scores change.
    """
    from sublex.language.python_rankers import ranker

    return ranker(given, name, version)


def finder(
    function: Callable[[str], Any],
    *,
    name: str | None = None,
    version: str | int | None = None,
    cache: str | os.PathLike[str] | None = None,
) -> Finder:
    """Return a part of an expression that finds documents by a Python function, as in `"BM25" + 0.3 * sublex.finder(f)`.

    The function is called once for each query. As a first stage or a part of a blend, it finds the documents that it returns.
    After another stage it scores the hits of that stage; hits that it did not find are dropped.

    Args:
        function: `f(query)`, which gets the text of the query and returns the documents that it finds with their scores: a
            dictionary {docno: score}, hits, pairs (docno, score), or a DataFrame with the columns docno and score.
        name: The name in the printed form, `finder(name@hash)`; by default the function's own.
        version: A text or number that stands for the hash of the code. Change it whenever the function finds something else.
        cache: A folder in which the found documents are kept, so that the function is called once for a query.
    """
    from sublex.language.finders import finder

    return finder(function, name, version, cache)


def parse(text: str) -> Expression:
    """Return the tree of an expression such as `BM25 >> RM3(docs=10) >> PL2 + 0.3*lsi`.

    For any other text, raise InputError, whose message has a caret under the mistake. For the printed form of a Python
    object, which no text can name, raise UnknownName.
    """
    from sublex.language import parser
    from sublex.language.expression import PYTHON_WORDS, Call, python_object, walk

    tree = parser.parse(text)
    for node in walk(tree):
        # A text can name a learned model by its file, but no other object.
        is_file = isinstance(node, Call) and node.name == "learned" and "@" not in str(node.args[:1])
        if isinstance(node, Call) and node.name in PYTHON_WORDS and not is_file:
            raise UnknownName(python_object(node.name))
    return tree


def keep(
    function: Callable[[StoredDocument], bool], *, name: str | None = None, version: str | int | None = None
) -> PythonFilter:
    """Return a part of an expression that keeps some documents, as in `"BM25" >> sublex.keep(f)`.

    Args:
        function: `f(document)`, which returns whether to keep a document. The document has `docno`, `title`, `text`, `fields`, and
            `contents`, the title and the text together.
        name: The name in the printed form, `keep(name@hash)`; by default the function's own.
        version: A text or number that stands for the hash of the code. Change it whenever the function keeps other documents.
    """
    from sublex.language.python_filters import keep

    return keep(function, name, version)


def expander(
    function: Callable[[Query, Context], Any],
    *,
    docs: int = 0,
    name: str | None = None,
    version: str | int | None = None,
) -> PythonExpander:
    """Return a part of an expression that makes a new query, as in `sublex.expander(f) >> "BM25"`.

    Args:
        function: `f(query, context)`, which is called once for each query. `query` is a `sublex.contracts.base.Query`, and `context`
            the documents found so far and the statistics of the collection, as `sublex.contracts.base.Context` says.
            It returns a query, a dictionary from terms to weights, or a text.
        docs: The number of documents that the function learns from. BM25 finds them if no stage stands before it.
        name: The name in the printed form, `expander(name@hash)`; by default the function's own.
        version: A text or number that stands for the hash of the code. Change it whenever the function makes other queries.
    """
    from sublex.language.python_expanders import expander

    return expander(function, docs, name, version)


def encoder(
    function: Callable[[list[str], str], Any],
    *,
    kind: str = "dense",
    name: str | None = None,
    version: str | int | None = None,
) -> PythonEncoder:
    """Return a Python function as an encoder, which turns texts into vectors.

    Args:
        function: `f(texts, role)`, which gets a list of texts and the role "query" or "document". For the kind "dense" it returns
            one row of numbers for each text: an array or a list of lists. For "sparse" it returns a list of dictionaries from terms
            to weights, and for "late" a list of matrices, each with a row for each word or part of a word. One thread at a time
            calls it.
        kind: What the function returns: "dense", "sparse" or "late".
        name: The name in the printed form, `encoder(name@hash)`; by default the function's own.
        version: A text or number that stands for the hash of the code. Change it whenever the function's vectors change.
    """
    from sublex.language.python_encoders import encoder

    return encoder(function, kind, name, version)


def rerank(
    function: Callable[[str, list[StoredDocument]], Any],
    *,
    name: str | None = None,
    version: str | int | None = None,
    batch: int = 100,
    cache: str | os.PathLike[str] | None = None,
) -> Function:
    """Return a part of an expression that calls a Python function, as in `"BM25 % 100" >> sublex.rerank(f)`.

    The function scores the hits of the stage before it. The hits are then ranked by the new scores, highest first.

    Args:
        function: `f(query, documents)`, which returns one finite number for each document: a list, an array or a tensor. `query` is the
            text of the query. Each document has `docno`, `title`, `text`, `fields`, and `contents`, the title and the text together.
            The score of a document should depend on the query and the document alone. One thread at a time calls the function.
        name: The name in the printed form, `rerank(name@hash)`; by default the function's own.
        version: A text or number that stands for the hash of the code. Change it whenever the function's scores change.
        batch: The largest number of documents in one call of the function.
        cache: A folder in which scores are kept, so that the function is called once for a name, hash, query and document.
    """
    from sublex.language.functions import rerank

    return rerank(function, name, version, batch, cache)


def learned(
    model: Any,
    parts: Iterable[str | Expression],
    *,
    name: str | None = None,
    version: str | int | None = None,
    topics: Any = None,
) -> LearnedModel:
    """Return a part of an expression that ranks by a learned model, as in `"BM25 % 200" >> sublex.learned(model, ["BM25", "lsi"])`.

    The model scores the hits of the stage before it. Its features are the scores of these hits by the parts, in their
    order. A hit that a part does not score gets the lowest score that the part gives to any hit. `sublex.features`
    makes the same rows for training, and `sublex.tune` trains and measures a model by cross-validation.

    Args:
        model: A model with a method `predict(rows)`, such as one of scikit-learn, LightGBM or XGBoost. If it has `predict_proba`,
            the score is the grade to expect. Or the path of a model that LightGBM saved as text or XGBoost as JSON; these are read
            without the two packages.
        parts: The expressions of the features, each with a normaliser around it if the model should get normalised scores.
        name: The name in the printed form, `learned(name@hash, […])`; by default that of the model's class, or of the file.
        version: A text or number that stands for the hash of the model. Change it whenever the model changes.
        topics: The topics that the model learned from, as `sublex.compare` takes them. A comparison on one of them warns. A model
            that `sublex.tune` trained knows its topics.
    """
    from sublex.language.learned import learned
    from sublex.trec.given_topics import topics_of

    known = [] if topics is None else [topic.text for topic in topics_of(topics)]
    return learned(model, parts, name, version, known)


def features(
    index: Index | str | os.PathLike[str],
    topics: Any,
    qrels: Any,
    parts: Iterable[str | Expression],
    candidates: str | Expression = "BM25 % 200",
    fields: str = "title",
    *,
    workers: int | None = None,
    profile: str | None = None,
    contradictions: str = "error",
    progress: Callable[[int, int], None] = lambda done, total: None,
    language: str = "plain",
    queries: Mapping[str, Any] | None = None,
) -> Features:
    """Return the features of candidates, from which a model can learn to rank.

    The result has a row for each candidate of each topic and a column for each expression. A `SublexWarning` says for which topics
    nothing was found, and how many candidates have no judgement.

        Args: index: An index or its path. topics: Topics in any form that `Index.run` takes. qrels: Relevance
        judgements in any form that `measure` takes; None for rows without grades. parts: The expressions whose scores
        are the features. A candidate that an expression does not score gets the lowest score that the expression gives
        to any candidate of the topic. candidates: The expression that finds the candidates. fields: The fields of a
        topic file, or of records, that make the query. workers: The number of threads; by default one a core. profile:
        The profile whose defaults rankers get; by default the index's own. contradictions: The rule for judgements of
        one document with different grades, as `read_qrels` describes it. progress: Called with the number of topics
        done and their total. language: The language of the topics: "plain", or "query" for the query language. queries:
        Vectors of the topics, as for `Index.with_queries`.
    """
    from sublex.learning.features import features
    from sublex.tools.arguments import threads
    from sublex.trec.given_tables import qrels_of
    from sublex.trec.given_topics import topics_of

    opened = _index(index)
    if opened is None:
        raise InputError("Features need an index; give one, or its path.")
    if isinstance(parts, str):
        raise InputError("sublex.features takes a list of expressions, as in ['BM25', 'lsi'].")
    opened = opened if queries is None else opened.with_queries(queries)
    asked, judged = topics_of(topics, fields), None if qrels is None else qrels_of(qrels, contradictions)
    found = features(
        opened, asked, judged, parts, candidates, workers=threads(workers), profile=profile, language=language,
        progress=progress,
    )  # fmt: skip
    warn([*asked.notes, *(judged.notes if judged is not None else ()), *found.notes])
    return found


def write_report(comparison: Comparison, path: str | os.PathLike[str], overwrite: bool = False) -> None:
    """Write the report of a comparison: one HTML file that needs no other file.

    Without `overwrite`, a file is replaced only if Sublex wrote it and nobody has changed it since.
    """
    from sublex.evaluation.comparison import Comparison
    from sublex.report.page import write_report
    from sublex.tools.arguments import file_path, shown

    if not isinstance(comparison, Comparison):
        raise InputError(f"The comparison is {shown(comparison)}; give a result of sublex.compare.")
    write_report(comparison, file_path(path, "The path of the report"), overwrite=overwrite)


def tune(
    index: Index | str | os.PathLike[str],
    topics: Any,
    qrels: Any,
    expression: str | Expression,
    measure: str | Measure = "AP",
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
    contradictions: str = "error",
    progress: Callable[[int, int], None] = lambda done, total: None,
    language: str = "plain",
    queries: Mapping[str, Any] | None = None,
) -> Tuning:
    """Find the best numbers for the ranges of an expression.

    Cross-validation estimates how good they are on unseen topics. A `SublexWarning` says which topics are left out.

    Args:
        index: An index or its path.
        topics: Topics in any form that `Index.run` takes.
        qrels: Relevance judgements in any form that `measure` takes.
        expression: An expression with ranges, such as "BM25(b={0..1})" or "PL2 + {0,0.1,0.3}*lsi". Or one without ranges that ends
            with `sublex.learned(model, parts)`: the model is then trained anew for each fold, by its method `fit`.
        measure: The measure to maximise.
        fields: The fields of a topic file, or of records, that make the query.
        folds: The number of folds of the cross-validation.
        search: "grid" tries all combinations, "random" draws `samples` of them.
        steps: The number of evenly spaced values of an interval in a grid.
        samples: The number of combinations of a random search.
        seed: The seed of the folds and of a random search.
        k: The number of hits per topic that the measure sees.
        workers: The number of threads; by default one a core.
        profile: The profile whose defaults rankers get; by default the index's own.
        contradictions: The rule for judgements of one document with different grades, as `read_qrels` describes it.
        progress: Called with the number of queries done and their total.
        language: The language of the topics: "plain", or "query" for the query language.
        queries: Vectors of the topics, as for `Index.with_queries`.
    """
    from sublex.tools.arguments import threads, whole
    from sublex.trec.given_tables import qrels_of
    from sublex.trec.given_topics import topics_of
    from sublex.tuning.search import tune

    opened = _index(index)
    if opened is None:
        raise InputError("Tuning needs an index; give one, or its path.")
    opened = opened if queries is None else opened.with_queries(queries)
    for name, number in (("folds", folds), ("steps", steps), ("samples", samples), ("k", k)):
        whole(number, name, 0)
    asked, judged = topics_of(topics, fields), qrels_of(qrels, contradictions)
    tuning = tune(
        opened, asked, judged, expression, " ".join(_names(measure)), folds=folds, search=search, steps=steps, samples=samples,
        seed=whole(seed, "seed", 0), k=k, workers=threads(workers), profile=profile, progress=progress,
        language=language,
    )  # fmt: skip
    warn([*asked.notes, *judged.notes, *tuning.left_out(len(asked))])
    return tuning


def _names(measures: str | Measure | Iterable[str | Measure]) -> list[str]:
    from sublex.evaluation.measures import is_measure
    from sublex.tools.arguments import shown, text

    if isinstance(measures, str) or is_measure(measures):
        return [str(measures)]
    if not isinstance(measures, Iterable):
        raise InputError(f"The measures are {shown(measures)}; give names such as 'AP nDCG@10'.")
    return [str(name) if is_measure(name) else text(name, "A measure") for name in measures]


def _index(index: Any) -> Index | None:
    """Return the index; open it first if it is given by its path or name."""
    from sublex.pipeline.index import Index
    from sublex.tools.arguments import shown

    if index is None or isinstance(index, Index):
        return index
    if isinstance(index, (str, os.PathLike)):
        return open(index)
    raise InputError(f"The index is {shown(index)}; give an index that sublex.open returned, or its path.")


def _topics(topics: Any) -> Topics | None:
    from sublex.trec.given_topics import topics_of

    return None if topics is None else topics_of(topics)


# The functions above, whose hints are resolved; and a module and classes that are imported when they are first used.
resolve_hints(__name__)

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """Import a class of `__all__`, or `sublex.pyterrier`, which needs an extra package, when it is first used."""
        if name in __all__:
            return import_type(__name__, name)
        if name != "pyterrier":
            raise AttributeError(f"module 'sublex' has no attribute {name!r}")
        from importlib import import_module

        return import_module("sublex.pyterrier")
