"""The object `Index` that users hold.

It reads documents, runs rankers, fits models and changes the index.

An `Index` holds one snapshot, which never changes, and the composer that makes pipelines for it. A method that changes
the index writes the next generation, and then replaces the snapshot and the composer. Older hits, searchers and
pipelines keep working on their own snapshot.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from sublex.contracts.base import Explanation, Facet, Mark, Query, QueryTerm, ValueCount
from sublex.contracts.fitted import Cost, Fittable
from sublex.contracts.scores import expect_weights
from sublex.errors import InputError, contract, warn
from sublex.index.snapshot import Snapshot
from sublex.language import plugins, profiles
from sublex.language.expression import Call, Expression, operand
from sublex.language.plugins import Component
from sublex.language.python_parts import PythonPart
from sublex.language.python_rankers import is_ranker
from sublex.pipeline.contents import Contents
from sublex.tools import arguments
from sublex.tools.hints import resolve_hints
from sublex.tools.messages import counted

if TYPE_CHECKING:
    from sublex.building.build_summary import BuildSummary
    from sublex.building.document_source import Documents
    from sublex.index.entries import VectorsEntry
    from sublex.pipeline.compose import Composer
    from sublex.pipeline.near_duplicates import NearDuplicates
    from sublex.pipeline.pipeline import Answer, LeftOut, Pipeline
    from sublex.representations.labelling import LabelState
    from sublex.representations.loaded import LoadedModel, LoadedRepresentation
    from sublex.representations.vector_sets import NamedEncoder, VectorsSummary
    from sublex.retrieval.hits import Hits
    from sublex.retrieval.searcher import Searcher
    from sublex.retrieval.shard_pool import ShardPool
    from sublex.retrieval.term_table import TermTable
    from sublex.trec.qrels import Qrels
    from sublex.trec.runs import Run
    from sublex.vectors.queries import QueryVectors

Expr = str | Expression
Say = Callable[[str], None]
# The languages of queries.
LANGUAGES = ("plain", "query", "weighted")


def silently(text: str) -> None:
    """Ignore a message."""


class Index(Contents):
    """An index: reads, ranks and explains documents, fits models, and adds, deletes and merges documents.

    `sublex.open` and `sublex.build` return an index. The argument `pipeline` of a method may be a text such as "BM25 >>
    RM3 >> BM25", an `Expression`, or a `Pipeline` that `pipeline()` returned. By default, the method ranks by the
    profile's default ranker. `built` is the summary of the build, if `sublex.build` made the index. A pickled index has
    its path and generation. The unpickled index opens this generation when it is used.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        allow_uncovered: bool = False,
        load_registry: Callable[[], plugins.Registry] | None = None,
    ):
        self.path, self.allow_uncovered = Path(arguments.file_path(path, "The index")), allow_uncovered
        self.built: BuildSummary | None = None
        self.query_vectors: QueryVectors | None = None
        self.judged: Qrels | None = None
        self._python_rankers: dict[str, PythonPart] = {}
        self._pool: ShardPool | None = None
        # All snapshots share one registry of plugins, which is loaded at the first lookup of a name.
        self._load_registry = load_registry or cache(lambda: plugins.load())
        self._open()

    def _open(self) -> None:
        """Open the current generation of the index."""
        self._snapshot = Snapshot(self.path, self._load_registry)
        self._snapshot.launched = self._pool
        self.__dict__.pop("_composer", None)

    @cached_property
    def _composer(self) -> Composer:
        # The composer is imported for the first pipeline, so that commands which only read the index start sooner.
        from sublex.pipeline.compose import Composer

        return Composer(self._snapshot, allow_uncovered=self.allow_uncovered)

    @property
    def _term_table(self) -> TermTable:
        return self._composer.term_table

    def __getstate__(self) -> dict[str, Any]:
        given: dict[str, Any] = {"query_vectors": self.query_vectors} if self.query_vectors else {}
        given |= {} if self.judged is None else {"judged": self.judged}
        return {"built": self.built, "composer": self._composer, **given}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.built, self._composer, self._python_rankers, self._pool = state["built"], state["composer"], {}, None
        self.query_vectors, self.judged = state.get("query_vectors"), state.get("judged")
        self._snapshot, self.allow_uncovered = self._composer.snapshot, self._composer.allow_uncovered
        self.path, self._load_registry = self._snapshot.path, self._snapshot.load_registry or plugins.shared

    def __repr__(self) -> str:
        return f"<Index {self.path}: {counted(len(self), 'document')}>"

    @property
    def registry(self) -> plugins.Registry:
        """The plugins, loaded on first use."""
        return self._load_registry()

    # The processes of a cluster.

    def launch(self, processes: int | None = None, *, partial: bool = False) -> Index:
        """Return this cluster in a form whose shards are searched by processes. Hits and scores stay the same.

        `processes` is their number, by default one for each core, and at most one for each shard. They start at the first
        search, and end with `close`, or at the end of a block `with cluster.launch() as index:`. With `partial`, shards
        whose process does not answer are left out: `lost_shards` of the index and of hits names them. Otherwise such a
        shard is an error.
        """
        from sublex.retrieval.shard_pool import ShardPool

        number = None if processes is None else arguments.whole(processes, "The number of processes")
        index = copy.copy(self)
        index._pool = ShardPool(self.snapshot, number, partial)
        index._open()
        return index

    def close(self) -> None:
        """End the processes that `launch` started, if there are any. Searches start them again."""
        if self._pool:
            self._pool.close()

    def __enter__(self) -> Index:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def lost_shards(self) -> tuple[str, ...]:
        """The shards that did not answer some request since `launch(partial=True)`, so that hits may lack their documents."""
        return tuple(sorted(self._pool.lost)) if self._pool else ()

    # Ranking.

    def pipeline(self, expression: Expr | Pipeline | None = None, profile: str | None = None) -> Pipeline:
        """Return the pipeline of an expression on this index.

        Parameters that the expression leaves out get the defaults of `profile`, or of the index's own profile. Without
        an expression, the profile's default ranker is used. If the argument is a pipeline, it is returned unchanged.
        """
        from sublex.pipeline.pipeline import Pipeline

        if isinstance(expression, Pipeline):
            if expression.snapshot is not self._snapshot and expression.snapshot.path.resolve() != self.path.resolve():
                raise InputError(
                    f"The pipeline {expression} belongs to the index {expression.snapshot.path}; make one for {self.path}."
                )
            return expression
        chosen = self._profile(profile)
        pipeline = self._composer.pipeline(chosen.ranker if expression is None else expression, chosen)
        warn([*pipeline.chosen, *pipeline.missing_values])
        return pipeline

    def _profile(self, name: str | None) -> profiles.Profile:
        return profiles.profile(self.profile if name is None else arguments.text(name, "The profile"))

    def _resolve(self, expression: Expr, profile: str | None = None) -> Expression:
        return self._composer.read(operand(expression, ">>"), self._profile(profile).defaults).expression

    def searcher(self, ranker: Expr = "BM25", profile: str | None = None) -> Searcher:
        """Return the searcher of a single ranker.

        It finds documents and scores, as arrays, faster than a pipeline does.
        """
        component = self._resolve(ranker, profile)
        if not isinstance(component, Component) or component.kind != "ranker":
            raise InputError(f"{component} is not a single ranker.")
        from sublex.pipeline.compose import searcher_of

        searcher = self._composer.searcher(component)
        searcher.origin = searcher_of, (self._snapshot, self.allow_uncovered, component)
        return searcher

    def query(self, text: str | Query, language: str = "plain", *, judged: Mapping[str, int] | None = None) -> Query:
        """Return a text as a query: its terms, each with weight 1.

        With the language "query", the text may have phrases, required and excluded words, and the other forms of the
        query language. The query then has a `tree`, whose `notes` name forms that were read as plain text; each note is
        also a `SublexWarning`. With "weighted", the text has terms of the index with weights, as in "crane^1
        river^0.5". If the argument is a query, its terms stay. `judged` has the grades of documents by docno. Expanders
        then take the documents with a grade above 0 for relevant, in place of the first documents found, and the others
        for non-relevant.
        """
        query = self._query(text, language)
        if judged is not None:
            from sublex.pipeline.judged import judged_of

            query = query._replace(judged=judged_of(judged))
        if not isinstance(text, Query) and query.tree is not None:
            from sublex.pipeline.query_forms import language_notes

            warn(language_notes(str(text), query))
        return query

    def uncovered(self) -> Index:
        """Return this index in a form that also ranks with fitted models that do not cover all documents."""
        if self.allow_uncovered:
            return self
        index = copy.copy(self)
        index.allow_uncovered = True
        index.__dict__.pop("_composer", None)
        return index

    def with_queries(self, queries: Mapping[str, Any]) -> Index:
        """Return this index with vectors of queries, for components such as `dense(NAME)`.

        `queries` is a dictionary. Its keys are names of vectors of the index. Its values are files, data frames with
        the columns qid, query and vector, or other forms that `add_vectors` takes. The query of a topic gets the vector
        with the topic's id; any other query gets the vector with its text.
        """
        from sublex.vectors.queries import QueryVectors

        index = copy.copy(self)
        index.query_vectors = QueryVectors(queries)
        for name in queries:
            self.expect_vectors(name)
        return index

    def with_judged(self, judged: Any) -> Index:
        """Return this index with judgements, from which expanders learn: `run` and `compare` then use those of each topic.

        `judged` are judgements in any form that `sublex.measure` takes. A topic without judgements gets feedback from the
        first documents found, as ever. To measure such a ranking fairly, leave the judged documents out: see `residual`
        of `sublex.compare`.
        """
        from sublex.trec.given_tables import qrels_of

        index = copy.copy(self)
        index.judged = qrels_of(judged)
        return index

    def _query(
        self, text: str | Query, language: str, qid: str | None = None, terms: Sequence[str] | None = None
    ) -> Query:
        """Return a text as a query, without warnings. `qid` is the id of its topic, and `terms` are its terms, if they are known."""
        query = self._read(text, language, terms)
        if self.judged is not None and query.judged is None and qid is not None and qid in self.judged:
            from sublex.pipeline.judged import judged_of

            query = query._replace(judged=judged_of(self.judged[qid]))
        if self.query_vectors is None or query.given is not None:
            return query
        return query._replace(given=self.query_vectors.of(qid, query.text))

    def _read(self, text: str | Query, language: str, terms: Sequence[str] | None) -> Query:
        """Return a text as a query without vectors."""
        if isinstance(text, Query):
            expect_weights([arguments.number(term.weight, f"The weight of {term.term}") for term in text.terms])
            return text
        words = arguments.text(text, "The query")
        chosen = arguments.choice(language, "The language of queries", LANGUAGES)
        if chosen == "query":
            from sublex.query_language.make_query import read_query

            return read_query(words, self.analyzer, self.snapshot)
        if chosen == "weighted":
            from sublex.pipeline.weighted import weighted_query

            return weighted_query(words)
        return Query(words, tuple(map(QueryTerm, self.analyze(words) if terms is None else terms)))

    def search(
        self,
        text: str | Query,
        pipeline: Expr | Pipeline | None = None,
        k: int = 10,
        profile: str | None = None,
        *,
        language: str = "plain",
        queries: Mapping[str, Any] | None = None,
        judged: Mapping[str, int] | None = None,
    ) -> Hits:
        """Return the best k documents for a text or a query, best first.

        `language` is "plain", "query" or "weighted", as for `query`. `queries` has vectors of queries, as for `with_queries`.
        `judged` has the grades of documents, from which expanders learn, as for `query`.
        """
        return self.answer(text, pipeline, k, profile, language=language, queries=queries, judged=judged).hits

    def answer(
        self,
        text: str | Query,
        pipeline: Expr | Pipeline | None = None,
        k: int = 10,
        profile: str | None = None,
        *,
        language: str = "plain",
        queries: Mapping[str, Any] | None = None,
        judged: Mapping[str, int] | None = None,
    ) -> Answer:
        """Return the best k documents for a text, the query after all expanders, and the seconds that the search took."""
        if queries is not None:
            return self.with_queries(queries).answer(text, pipeline, k, profile, language=language, judged=judged)
        query, most = self.query(text, language, judged=judged), arguments.whole(k, "k")
        return self.pipeline(pipeline, profile).answer(query, most)

    def run(
        self,
        topics: Any,
        pipeline: Expr | Pipeline | None = None,
        k: int = 1000,
        workers: int | None = None,
        profile: str | None = None,
        each: Callable[[Answer], None] = lambda answer: None,
        *,
        language: str = "plain",
        queries: Mapping[str, Any] | None = None,
        judged: Any = None,
    ) -> Run:
        """Return the best k documents for each topic as a run, with metadata that describe how it was made.

        `topics` are `Topics`, a topics file, a DataFrame or records with qid and query, a dictionary {qid: text}, pairs
        (qid, text), or a list of texts, which are numbered from 1. `workers` is the number of threads, by default all cores.
        `each` is called with every answer. `language` is "plain", "query" or "weighted", as for `query`. `queries` has vectors of the
        topics, as for `with_queries`, and `judged` judgements, from which expanders learn, as for `with_judged`. The
        method `without` of the result leaves the judged documents out.
        """
        if queries is not None or judged is not None:
            index = self if queries is None else self.with_queries(queries)
            index = index if judged is None else index.with_judged(judged)
            return index.run(topics, pipeline, k, workers, profile, each, language=language)
        from sublex.pipeline.judged import judged_notes
        from sublex.pipeline.query_forms import notes_of_all
        from sublex.pipeline.ranked_run import ranked_run
        from sublex.trec.given_topics import topics_of

        asked, most, threads = topics_of(topics), arguments.whole(k, "k"), arguments.threads(workers)
        ready = self.pipeline(pipeline, profile)
        read = self.queries(asked, language)
        warn([*notes_of_all(asked, read), *judged_notes(ready, read)])
        return ranked_run(asked, read, ready, most, threads, each, language)

    def queries(self, topics: Iterable[Sequence[Any]], language: str = "plain") -> list[Query]:
        """Return the queries of topics. An error about a query names its topic."""
        asked, found = [(qid, text) for qid, text, *_ in topics], []
        terms = self._terms_of([text for _, text in asked if isinstance(text, str)]) if language == "plain" else {}
        for qid, text in asked:
            try:
                found.append(self._query(text, language, str(qid), terms.get(text) if isinstance(text, str) else None))
            except InputError as error:
                raise InputError(f"Topic {qid}: {error}") from None
        return found

    def _terms_of(self, texts: Sequence[str]) -> dict[str, list[str]]:
        """Return the terms of texts.

        If the analyzer refuses a text, return an empty dictionary; each text is then analysed alone.
        """
        # One call for all texts takes a fifth of the time of a call for each.
        try:
            return dict(zip(texts, self.snapshot.analyze_all(texts), strict=True))
        except InputError:
            return {}

    def left_out(
        self,
        text: str | Query,
        pipeline: Expr | Pipeline | None = None,
        profile: str | None = None,
        *,
        language: str = "plain",
    ) -> list[LeftOut]:
        """Return the words of a text that fitted models of a pipeline ignore. Each has its model, the word and the reason."""
        return self.pipeline(pipeline, profile).left_out(self.query(text, language))

    def explain(
        self,
        text: str | Query,
        docno: str,
        pipeline: Expr | Pipeline | None = None,
        profile: str | None = None,
        *,
        language: str = "plain",
        queries: Mapping[str, Any] | None = None,
        judged: Mapping[str, int] | None = None,
    ) -> Explanation:
        """Return a tree that shows how a document's score for a text is computed.

        The pipeline need not find the document. The evidence of the root has the document's `rank`, and the number of
        documents `found`. `rank` is None if the document is not found.
        """
        if queries is not None:
            index = self.with_queries(queries)
            return index.explain(text, docno, pipeline, profile, language=language, judged=judged)
        ready = self.pipeline(pipeline, profile)
        doc = self._live(docno, ready.snapshot)
        return ready.explain(self.query(text, language, judged=judged), doc)

    def similar(self, docno: str, k: int = 10, graph: Expr | None = None) -> Hits:
        """Return the documents that are nearest to a document in a fitted graph, nearest first, with their cosines as scores.

        `graph` is the expression of the graph, such as "near(lsi)". Without `graph`, the first fitted graph in
        alphabetical order is taken. A graph has up to 24 nearest documents for each document.
        """
        from sublex.pipeline.likeness import nearest_documents

        chosen = None if graph is None else str(operand(graph, ">>"))
        return nearest_documents(self, arguments.text(docno, "The docno"), arguments.whole(k, "k"), chosen)

    def duplicates(self, threshold: float = 0.8, width: int = 3) -> NearDuplicates:
        """Return groups of near duplicates: documents that share most of their runs of `width` words.

        Documents are near duplicates if the Jaccard coefficient of their sets of runs is at least `threshold`. Runs
        come from title and text. The index must store texts.
        """
        from sublex.pipeline.near_duplicates import near_duplicates

        return near_duplicates(self, arguments.number(threshold, "The threshold"), arguments.whole(width, "width"))

    # Labels from fitted models.

    def labelled_models(self, pipeline: Expr | Pipeline | None = None) -> list[str]:
        """Return the fitted models in a pipeline that name topics or keyphrases, by their expressions."""
        models = map(self._composer.model, self._composer.fitted_components(self.pipeline(pipeline).expression))
        return list(dict.fromkeys(model.name for model in models if model.labels))

    def facets(
        self,
        found: Hits | str | Query,
        of: Any,
        pipeline: Expr | Pipeline | None = None,
        profile: str | None = None,
        *,
        where: str = "",
        language: str = "plain",
    ) -> Any:
        """Return each value of a column, or label of a fitted model, with the number of documents found that have it.

        `of` is the name of a column, or the expression of a model, and the result is a list of `ValueCount` or `Facet`,
        the most frequent first. With a list of names, the result is a dictionary of such lists.

        `found` is a query, or hits of the present generation. For a query, the values of columns are counted in all
        documents that have a word of the query and pass the filters. Labels are counted in the first 1,000 documents;
        so are columns if the pipeline has representations, retrievers, Python functions or a depth. `where` is a
        condition such as "year >= 2015 and category = cs.IR" that documents must also meet. The counts of a column
        ignore the parts of the condition that read only this column. So a user who chose one category still sees the
        counts of the others.
        """
        if not isinstance(of, (str, Expression)):
            if not isinstance(of, Iterable):
                raise InputError(f"Facets are of {arguments.shown(of)}; give a column, a model, or a list of these.")
            return {
                str(each): self.facets(found, each, pipeline, profile, where=where, language=language) for each in of
            }
        from sublex.pipeline.facets import facets_of, refuse_unknown

        refuse_unknown(self, str(of))
        if isinstance(found, (str, Query)):
            from sublex.language.conditions import parse_condition

            ready, query = self.pipeline(pipeline, profile), self.query(found, language)
            return facets_of(self, query, ready, str(of), parse_condition(where) if where else None).facets
        if where or pipeline is not None:
            raise InputError(
                "Hits are counted as they are; give the query in their place, to search by an expression or where."
            )
        return self._facets_in(found, of)

    def _facets_in(self, hits: Hits, of: Expr) -> list[Facet] | list[ValueCount]:
        """Return the facets of hits."""
        if not hasattr(hits, "snapshot"):
            raise InputError(f"The hits are {arguments.shown(hits)}; give what search returned, or a query.")
        if hits.snapshot is not self.snapshot and hits.snapshot.identity != self.snapshot.identity:
            raise InputError(f"The hits come from another generation of {self.path}, or another index; search again.")
        if str(of) in self.snapshot.columns:
            from sublex.pipeline.facets import value_counts

            return value_counts(self.snapshot.column(str(of)).rows(hits.docs))
        return self.representation(of).facets(hits.docs)

    def marks(self, text: str | Query, docno: str, expression: Expr) -> list[Mark]:
        """Return the words of a document with the labels, such as topics, that a fitted model gives to them.

        The labels may depend on the query `text`.
        """
        model = self.representation(expression)
        return model.marks(model.query(self.query(text)), self._live(docno))

    def labels(self, expression: Expr) -> list[LabelState]:
        """Return the present labels of a fitted model, with the model's proposals and the decisions of people."""
        from sublex.representations.labelling import states

        model = self._nameable(expression)
        docs = np.flatnonzero(~np.concatenate([segment.dead for segment in self.snapshot.segments]))
        return states(model, model.facets(docs) if len(docs) else [])

    def label(self, expression: Expr, action: str, *labels: str | int) -> list[LabelState]:
        """Decide about labels of a fitted model, in one commit of the index. Return all labels after the decision.

        `labels` are given by text or number. `action` is one of:

        * "accept": the labels are right,
        * "rename": the first label gets the second argument as its new text,
        * "merge": the first label takes the documents of all others,
        * "reject": the labels are wrong and never shown again; their topics are shown by their words,
        * "undo": the last decision is taken back, or all decisions about the labels given,
        * "take": the decisions about another model's labels, given by its expression, are added.

        The index keeps decisions under the expression of the model. After a refit, they apply to labels with the same
        text.
        """
        from sublex.representations.labelling import act

        act(self.path, self._nameable(expression), action, labels, self._nameable)
        self._open()
        return self.labels(expression)

    def _nameable(self, expression: Expr) -> LoadedRepresentation:
        """Return a fitted model whose labels people can name."""
        model = self.representation(expression)
        if not model.proposals:
            raise InputError(f"{model.name} has no labels that people can name; name a fitted lda or sourcelda.")
        return model

    # Impacts kept on disk.

    def store_impacts(self, rankers: Expr | Iterable[Expr], profile: str | None = None) -> None:
        """Store the impacts of these rankers on disk, and remove those of all others.

        They are computed again after every change of the index.
        """
        from sublex.retrieval import impact_store

        several: Any = [rankers] if isinstance(rankers, (str, Expression)) or is_ranker(rankers) else rankers
        if not isinstance(several, Iterable):
            raise InputError(f"The rankers are {arguments.shown(rankers)}; give expressions such as 'BM25'.")
        given = [self._resolve(ranker, profile) for ranker in several]
        for part in given:
            if isinstance(part, PythonPart) and not part.state:
                raise InputError(
                    f"The impacts of {part} cannot be stored, because {part.identity.reason}; give it a version: "
                    'sublex.ranker(…, version="1").'
                )
        names = [self.searcher(ranker).name for ranker in given]
        # Later commits store the impacts of these objects again, as long as this index is open.
        self._python_rankers = {str(part): part for part in given if isinstance(part, PythonPart)}
        impact_store.keep(self._snapshot, names, self._searcher_of)

    def kept_impacts(self) -> dict[str, int]:
        """Return the bytes on disk of each ranker's impacts, and of the document numbers that all rankers share."""
        from sublex.retrieval import impact_store

        return impact_store.sizes(self._snapshot, self._searcher_of)

    def _searcher_of(self, printed: str) -> Searcher:
        # The printed form of a ranker leaves out the defaults of the profile "sublex", so only this profile may resolve
        # it. The profile of the index may have other defaults.
        return self.searcher(self._python_rankers.get(printed, printed), "sublex")

    # Fitted models.

    def fit(
        self,
        expression: Expr,
        source: str | os.PathLike[str] | None = None,
        *,
        workers: int = 1,
        memory: int = 4 << 30,
        progress: Callable[[int, int], None] = lambda done, total: None,
        counting: Callable[[str], None] = lambda unit: None,
        say: Say = silently,
    ) -> None:
        """Fit a component, such as "lsi(e=100)", and the models that it depends on, and encode all documents.

        Of a pipeline, such as "best", the models are fitted that it needs and that are not fitted yet. If `source` is
        another index, its fitted model is copied. `memory` is a limit in bytes: an error is raised if fitting needs
        more. `progress` is called with the work done and the total, and `say` with messages. `counting` is called with
        the unit of the following work, such as "documents" or "sweeps".
        """
        from sublex.representations.fitting import fit
        from sublex.representations.job import Options

        options = Options(workers, memory, progress, counting, say, self.registry)
        wanted = operand(expression, ">>")
        needed = [] if isinstance(self.written_out(wanted), Call | Component) else self.models_in(wanted)
        for model in [each for each in needed if not self.is_fitted(each)] if needed else [wanted]:
            fit(self.path, operand(model, ">>"), options, None if source is None else Path(source))
            self._open()

    def fitted_model(self, expression: Expr) -> LoadedModel:
        """Return a fitted model of this index."""
        component, notes = self._composer.read(operand(expression, ">>"), self._profile(None).defaults)
        warn(notes)
        if not isinstance(component, Component) or not self._composer.is_fitted(component):
            from sublex.representations.stored_models import not_a_model

            raise InputError(not_a_model(self.path, component, self.fitted))
        return self._composer.model(component)

    def outdated_models(self) -> dict[str, str]:
        """Return a dictionary from the folder names of outdated models to the reasons why they are outdated.

        No expression names an outdated model.
        """
        from sublex.representations.identity import Namer
        from sublex.representations.stored_models import outdated_models

        return outdated_models(Namer(self.path, self.snapshot.manifest, self.registry), self.fitted)

    def representation(self, expression: Expr) -> LoadedRepresentation:
        """Return a fitted representation of this index: its model, the rows of the documents, and their scores."""
        from sublex.representations.loaded import LoadedRepresentation

        model = self.fitted_model(expression)
        if not isinstance(model, LoadedRepresentation):
            raise InputError(f"{model.name} is not a representation.")
        return model

    def card(self, expression: Expr) -> dict[str, Any]:
        """Return facts about a fitted model: how it was fitted, what it covers, and the facts that its plugin adds."""
        if not self.allow_uncovered:
            return Index(self.path, True, self._load_registry).card(expression)
        return self.fitted_model(expression).card()

    def forget(self, *expressions: Expr, labels: bool = False) -> None:
        """Remove fitted models, with the rows that they computed for the documents.

        If a model that stays depends on one of them, none is removed. Decisions about labels stay for the next fit of
        the same expression, unless `labels` is set.
        """
        from sublex.representations.fitting import forget

        forget(self.path, *map(str, expressions), registry=self.registry, labels=labels)
        self._open()

    def name(self, name: str, expression: Expr) -> str:
        """Give a name to an expression.

        Return the expression that had the name before.

        The index keeps the name. It may stand wherever an expression may stand. Printed forms have the expression, not
        the name.
        """
        from sublex.representations.names import give

        before = give(self.path, arguments.text(name, "The name"), operand(expression, ">>"), self.registry)
        self._open()
        return before

    def check_name(self, name: str) -> None:
        """Raise InputError unless a name is free for an expression."""
        from sublex.representations.names import check

        check(self.snapshot.manifest, arguments.text(name, "The name"), self.registry)

    def written_out(self, expression: Expr) -> Expression:
        """Return an expression with the names of this index replaced by their expressions."""
        return self._composer.written_out(operand(expression, ">>"))

    def models_in(self, expression: Expr) -> list[str]:
        """Return the models that a pipeline needs, such as "lsi(e=100)", fitted or not; names are written out."""
        return self._composer.models_in(operand(expression, ">>"), self._profile(None).defaults)

    def is_fitted(self, expression: Expr) -> bool:
        """Return whether exactly this model, such as "lsi(e=100)", is fitted.

        A fitted model that only matches does not count.
        """
        return not self._composer.unfitted(self._model_component(expression))

    def cost_of(self, expression: Expr) -> Cost | None:
        """Return an estimate of the cost of fitting a model to this index; None if the cost is unknown."""
        model = self._model_component(expression).make()
        return model.cost(self.statistics, self.vocabulary_size) if isinstance(model, Fittable) else None

    def _model_component(self, expression: Expr) -> Component:
        """Return the component of a single expression, with its names written out."""
        return self.registry.resolve("component", cast(Call, self.written_out(expression)))

    def unname(self, name: str) -> str:
        """Remove a name, and return its expression. Raise an error if the expression of another name contains it."""
        from sublex.representations.names import remove

        removed = remove(self.path, arguments.text(name, "The name"), self.registry)
        self._open()
        return removed

    def meaning(self, expression: Expr, profile: str | None = None) -> tuple[str, tuple[str, ...]]:
        """Return an expression as this index reads it, with names written out, and a sentence for each chosen model.

        A model is chosen if it is the only fitted one that matches a component. The expression may have ranges.
        """
        read = self._composer.meant(operand(expression, ">>"), self._profile(profile).defaults)
        return str(read.expression), read.notes

    def add_resource(self, name: str, file: str | os.PathLike[str]) -> None:
        """Copy a file that models read, such as word vectors, into the index; expressions refer to it by `name`."""
        from sublex.representations.resources import add

        add(self.path, arguments.text(name, "The name of the resource"), Path(arguments.file_path(file, "The file")))
        self._open()

    def remove_resource(self, name: str) -> None:
        """Remove a resource. Raise an error if a model was fitted with the resource."""
        from sublex.representations.resources import remove

        remove(self.path, name)
        self._open()

    # Vectors that other programs computed.

    @property
    def vectors(self) -> Mapping[str, VectorsEntry]:
        """The vectors that were added to the index, by their names."""
        return self.snapshot.manifest.vectors

    def expect_vectors(self, name: str) -> None:
        """Raise IndexProblem unless vectors of this name were added."""
        from sublex.representations.identity import Namer

        Namer(self.path, self.snapshot.manifest, self.registry).hash_of_vectors(name)

    def add_vectors(
        self,
        name: str,
        data: Any,
        ids: Any = None,
        *,
        stored: str | None = None,
        replace: bool = False,
        encoder: str | Expression | None = None,
        memory: str | int = "4GB",
        workers: int = 1,
        progress: Callable[[int, int], None] = lambda done, total: None,
        say: Say = silently,
    ) -> VectorsSummary:
        """Give documents the vectors that another program computed, for expressions such as `dense(NAME)`.

        `data` is a file, a list of files, a dictionary from docnos to vectors, or a data frame with the columns docno
        and vector. It may also be an array; `ids` then has the docnos of its rows. For `late(NAME)`, give matrices in
        place of vectors: arrays of two dimensions, or a list of them with `ids`. For a `.npy` file, `ids` may name the
        file of ids. A file may be a CIFF file or an index of Lucene, such as "lucene:PATH", whose frequencies are
        weights of terms. `stored` is "float32", "float16" or "int8". Documents that have a vector of this name keep it,
        unless `replace` is set. `encoder` is the expression of the encoder of queries; its path goes to your own list
        of encoders, and its hash to the index. It may also be a Python function (`sublex.encoder`); then only its hash
        is kept. `memory` limits the memory for ids and parts of files, such as "2GB". The summary counts the vectors
        and documents.
        """
        from sublex.building.indexing import parse_size
        from sublex.language.known_encoders import keep_encoder
        from sublex.other_engines.weights import vectors_of
        from sublex.representations.job import Options
        from sublex.representations.vector_sets import add

        size = parse_size(memory)
        options = Options(workers, size, progress, say=say, registry=self.registry)
        batches, named = vectors_of(data, ids, size, self.registry), arguments.text(name, "The name of the vectors")
        found, known = self._named_encoder(encoder, named) if encoder is not None else (None, None)
        summary = add(self.path, named, batches, options, stored, replace, known)
        self._open()
        # A Python function stays out of the user's list, because no file can name it.
        if found is not None and not isinstance(found, PythonPart):
            keep_encoder(self.registry, found)
        return summary

    def _named_encoder(self, encoder: str | Expression, name: str) -> tuple[Component, NamedEncoder]:
        """Return the encoder of the vectors `name`, with its kind and hash. Raise InputError if it makes no vectors."""
        from sublex.language.encoding import identity_of
        from sublex.language.known_encoders import encoder_of
        from sublex.representations.vector_sets import NamedEncoder

        if not isinstance(encoder, (str, Expression)):
            raise InputError(
                f"The encoder is {arguments.shown(encoder)}; give an expression, such as 'onnx(\"FOLDER\")'."
            )
        found = encoder_of(encoder, self.registry)
        made = found.make()
        with contract("encoder", found):
            kind = made.kind
        if kind == "pairs":
            raise InputError(f"{found} gives scores of pairs, and {name} are vectors; name their own encoder.")
        return found, NamedEncoder(str(found), kind, identity_of(made, found))

    def remove_vectors(self, name: str) -> None:
        """Remove vectors, and the models that score by them."""
        from sublex.representations.vector_sets import remove

        remove(self.path, name)
        self._open()

    # Changes of the documents.

    def add(
        self,
        documents: Documents,
        duplicates: str = "error",
        *,
        reader: str | None = None,
        roles: Mapping[str, str] | None = None,
        workers: int | None = None,
        memory: str | int = "1GB",
        strict: bool = False,
        shard: str | None = None,
        progress: Callable[[int], None] = lambda docs: None,
        say: Say = silently,
    ) -> BuildSummary:
        """Add documents, or the documents of collection files, and encode them by all fitted models.

        `duplicates` is the rule for a docno that is in the index already. "error" adds no document and raises an error,
        "first" keeps the old document, and "last" replaces it. In a cluster, `shard` is the name of the shard that gets
        the documents, by default the one with the fewest documents. `sublex.build` describes the other options. If malformed
        records were left out, a `SublexWarning` says how many, and the returned summary lists them.
        """
        from sublex.building.indexing import add_documents

        summary = add_documents(
            self.path, documents, duplicates=duplicates, reader=arguments.optional_text(reader, "The reader"), roles=roles,
            workers=workers, memory=memory, strict=strict, progress=progress, say=say,
            shard=arguments.optional_text(shard, "The shard"),
            before_commit=self._encode_before_commit(say, workers), registry=self.registry,
        )  # fmt: skip
        self._refresh(say)
        warn(summary.warnings("the returned summary", duplicates_chosen=True))
        return summary

    def delete(self, docnos: str | Iterable[str], say: Say = silently) -> None:
        """Delete the documents with these docnos. If one docno is unknown, none is deleted."""
        from sublex.building.writer import delete

        if not isinstance(docnos, Iterable):
            raise InputError(f"The docnos to delete are {arguments.shown(docnos)}; give one or a list.")
        names = [docnos] if isinstance(docnos, str) else [arguments.text(docno, "The docno") for docno in docnos]
        delete(self.path, names)
        self._refresh(say)

    def merge(self, workers: int | None = None, say: Say = silently, *, reorder: bool = False) -> None:
        """Merge all segments into one, without the deleted documents. In a cluster, each shard then has one segment.

        With `reorder`, similar documents get neighbouring numbers. Rankers return the same hits and scores, in the same
        order.
        """
        from sublex.building.writer import merge_all

        merge_all(self.path, arguments.threads(workers), self._encode_before_commit(say, workers), reorder)
        self._refresh(say)

    def split(
        self,
        parts: Sequence[str | os.PathLike[str]],
        workers: int | None = None,
        *,
        overwrite: bool = False,
        progress: Callable[[int], None] = lambda docs: None,
    ) -> list[Index]:
        """Divide the documents among new indexes, and return the new indexes.

        This index stays as it is.

        The first part gets the first documents, and all parts get nearly equal numbers. `sublex.join` makes one index of the
        parts again. Models are not taken along.

        Args:
            parts: The folders of the new indexes.
            workers: The number of threads; by default one per core.
            overwrite: Replace indexes that are there.
            progress: Called with the number of documents that are written.
        """
        from sublex.building.joining import split

        places = [Path(arguments.file_path(part, "The path of a part")) for part in parts]
        summaries = split(self.path, places, arguments.threads(workers), overwrite, progress)
        made = [Index(place, load_registry=lambda: self.registry) for place in places]
        for index, summary in zip(made, summaries, strict=True):
            index.built = summary
        return made

    def _encode_before_commit(self, say: Say, workers: int | None) -> Any:
        from sublex.representations.job import Options
        from sublex.representations.segment_rows import encode_before_commit

        return encode_before_commit(self.path, Options(arguments.threads(workers), say=say, registry=self.registry))

    def _refresh(self, say: Say) -> None:
        """Open the generation that was just committed, and store the impacts of the declared rankers for it."""
        self._open()
        from sublex.retrieval import impact_store

        impact_store.refresh(self._snapshot, self._searcher_of, say)


resolve_hints(__name__)
