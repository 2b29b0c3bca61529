"""The index as users have it: stored, and ready to rank."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property

import numpy as np

from sublex import plugins, profiles
from sublex.base import Explanation, Query, QueryTerm
from sublex.errors import InputError
from sublex.expression import Call, Expression
from sublex.index.index import Index as Stored
from sublex.parser import parse
from sublex.pipeline.compose import Composer
from sublex.pipeline.explain import explain
from sublex.pipeline.pipeline import Answer, Pipeline
from sublex.pipeline.stages import Work
from sublex.rank import stored
from sublex.rank.hits import Hits
from sublex.rank.search import Searcher
from sublex.trec.names import tag_of
from sublex.trec.runs import Run
from sublex.trec.strings import Strings
from sublex.trec.topics import Topic

Expr = str | Expression


class Index(Stored):
    """One generation of an index."""

    @cached_property
    def _composer(self) -> Composer:
        return Composer(self, plugins.load())

    def pipeline(self, expression: Expr | None = None, profile: str | None = None) -> Pipeline:
        """What an expression does on this index; defaults are those of the profile, else of the index's own."""
        chosen = profiles.profile(profile or self.profile)
        tree = parse(expression or chosen.ranker) if not isinstance(expression, Expression) else expression
        canonical = self._composer.registry.canonical(tree, chosen.defaults)
        return Pipeline(canonical, self._composer.compose(canonical, chosen.defaults))

    def searcher(self, ranker: Expr = "BM25", profile: str | None = None) -> Searcher:
        """Retrieval by one ranker, from terms to arrays: the fastest way in."""
        canonical = self.pipeline(ranker, profile).expression
        if not isinstance(canonical, Call) or canonical.name not in self._composer.registry.names("ranker"):
            raise InputError(f"{canonical} is not a single ranker.")
        return self._composer.searcher(canonical)

    def query(self, text: str) -> Query:
        """A text as a query."""
        return Query(text, tuple(QueryTerm(term) for term in self.analyze(text)))

    def search(self, text: str, pipeline: Expr | None = None, k: int = 10, profile: str | None = None) -> Hits:
        """The best k documents for a text."""
        return self.answer(text, pipeline, k, profile).hits

    def answer(self, text: str, pipeline: Expr | None = None, k: int = 10, profile: str | None = None) -> Answer:
        """The same with the query as it was put in the end, and the time it took."""
        return self.pipeline(pipeline, profile).answer(self.query(text), k)

    def run(
        self,
        topics: Iterable[Topic | tuple[str, str]],
        pipeline: Expr | Pipeline | None = None,
        k: int = 1000,
        workers: int | None = None,
        profile: str | None = None,
        each: Callable[[Answer], None] = lambda answer: None,
    ) -> Run:
        """The best k documents for each topic, as a run; `each` is called with every answer."""
        made = pipeline if isinstance(pipeline, Pipeline) else self.pipeline(pipeline, profile)
        qids, texts = [topic[0] for topic in topics], [topic[1] for topic in topics]
        docs, scores = [], []
        for answer in made.answers([self.query(text) for text in texts], k, workers or os.cpu_count() or 1):
            each(answer)
            docs.append(answer.hits.docs)
            scores.append(answer.hits.scores)
        ends = np.cumsum([0, *map(len, docs)])
        columns = (np.concatenate(values or [np.empty(0, kind)]) for values, kind in ((docs, np.int32), (scores, np.float32)))
        return Run(qids, ends, *columns, self.all_docnos, tag_of(str(made)))

    @cached_property
    def all_docnos(self) -> Strings:
        """The docnos of all documents, by number."""
        arenas, sizes = zip(*(segment.docnos.arrays() for segment in self.segments), strict=True)
        flat = np.concatenate(sizes)
        return Strings(np.concatenate(arenas), np.cumsum(flat) - flat, flat)

    def explain(self, text: str, docno: str, pipeline: Expr | None = None, profile: str | None = None) -> Explanation:
        """A document's score for a text, taken apart; a document that is not found too."""
        doc = self.doc(docno)
        if doc is None:
            raise InputError(f"No document {docno} in {self.path}.")
        made = self.pipeline(pipeline, profile)
        work = Work([self.query(text)])
        tree = explain(made.scorer, work, doc)
        hits = made.answer(work.queries[0], max(1, len(self))).hits
        place = np.flatnonzero(hits.docs == doc)
        rank = int(place[0]) + 1 if len(place) else None
        return tree._replace(evidence={"rank": rank, "found": len(hits), **tree.evidence})

    # Impacts kept on disk.

    def store_impacts(self, rankers: Sequence[Expr], profile: str | None = None) -> None:
        """Keep the impacts of these rankers on disk for this generation, and drop others'."""
        searchers = [self.searcher(ranker, profile) for ranker in rankers]
        for searcher in searchers:
            searcher.store()
        stored.sweep(self, [searcher.name for searcher in searchers])
