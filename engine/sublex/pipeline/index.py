"""The index as users have it: stored, and ready to rank."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sublex import plugins, profiles
from sublex.base import Explanation, Query, QueryTerm
from sublex.errors import IndexProblem, InputError, SublexError
from sublex.expression import Call, Expression
from sublex.index.snapshot import Snapshot
from sublex.parser import parse
from sublex.pipeline.compose import Composer
from sublex.pipeline.explain import explain
from sublex.pipeline.pipeline import Answer, Pipeline
from sublex.pipeline.stages import Work
from sublex.representations.loaded import LoadedModel, LoadedRepresentation
from sublex.retrieval import impact_store
from sublex.retrieval.hits import Hits
from sublex.retrieval.searcher import Searcher
from sublex.strings import Strings
from sublex.trec.run_names import tag_of
from sublex.trec.runs import Run
from sublex.trec.topics import Topic

if TYPE_CHECKING:
    from sublex.index.build_summary import BuildSummary

Expr = str | Expression
Say = Callable[[str], None]


def silently(text: str) -> None:
    """Say nothing."""


def _tree(expression: Expr) -> Expression:
    return expression if isinstance(expression, Expression) else parse(expression)


class Index(Snapshot):
    """One generation of an index."""

    def __init__(self, path: str | os.PathLike[str], allow_uncovered: bool = False):
        self.allow_uncovered = allow_uncovered
        super().__init__(path)

    @cached_property
    def _composer(self) -> Composer:
        return Composer(self, plugins.load(), self.allow_uncovered)

    def pipeline(self, expression: Expr | Pipeline | None = None, profile: str | None = None) -> Pipeline:
        """What an expression does on this index; defaults are those of the profile, else of the index's own."""
        if isinstance(expression, Pipeline):
            return expression
        chosen = profiles.profile(self.profile if profile is None else profile)
        given = chosen.ranker if expression is None else expression
        canonical = self._composer.canonical(_tree(given), chosen.defaults)
        scorer = self._composer.compose(canonical, chosen.defaults)
        return Pipeline(canonical, scorer, self._composer.models(canonical), self._composer.uncovered(canonical))

    def searcher(self, ranker: Expr = "BM25", profile: str | None = None) -> Searcher:
        """Retrieval by one ranker, from terms to arrays: the fastest way in."""
        canonical = self.pipeline(ranker, profile).expression
        if not isinstance(canonical, Call) or canonical.name not in self._composer.registry.names("ranker"):
            raise InputError(f"{canonical} is not a single ranker.")
        return self._composer.searcher(canonical)

    def searches_words(self, expression: Expr) -> bool:
        """Whether an expression finds documents by their words alone, and not by what a model makes of them."""
        return not self.pipeline(expression).models

    def query(self, text: str) -> Query:
        """A text as a query."""
        return Query(text, tuple(QueryTerm(term) for term in self.analyze(text)))

    def search(
        self, text: str, pipeline: Expr | Pipeline | None = None, k: int = 10, profile: str | None = None
    ) -> Hits:
        """The best k documents for a text."""
        return self.answer(text, pipeline, k, profile).hits

    def answer(
        self, text: str, pipeline: Expr | Pipeline | None = None, k: int = 10, profile: str | None = None
    ) -> Answer:
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
        made = self.pipeline(pipeline, profile)
        asked = [(topic[0], self.query(topic[1])) for topic in topics]
        docs, scores = [], []
        for answer in made.answers([query for _, query in asked], k, workers or os.cpu_count() or 1):
            each(answer)
            docs.append(answer.hits.docs)
            scores.append(answer.hits.scores)
        ends = np.cumsum([0, *map(len, docs)])
        found, rated = (
            np.concatenate([np.empty(0, np.int32), *docs]),
            np.concatenate([np.empty(0, np.float32), *scores]),
        )
        return Run([qid for qid, _ in asked], ends, found, rated, self.all_docnos, tag_of(str(made)))

    @cached_property
    def all_docnos(self) -> Strings:
        """The docnos of all documents, by number."""
        arenas, sizes = zip(*(segment.docnos.arrays() for segment in self.segments), strict=True)
        flat = np.concatenate(sizes)
        return Strings(np.concatenate(arenas), np.cumsum(flat) - flat, flat)

    def explain(
        self, text: str, docno: str, pipeline: Expr | Pipeline | None = None, profile: str | None = None
    ) -> Explanation:
        """A document's score for a text, taken apart; a document that is not found too."""
        doc = self.doc(docno)
        if doc is None:
            raise InputError(f"No document {docno or repr(docno)} in {self.path}.")
        made = self.pipeline(pipeline, profile)
        work = Work(self.query(text))
        tree = explain(made.scorer, work, doc)
        hits = made.answer(work.query, max(1, len(self))).hits
        place = np.flatnonzero(hits.docs == doc)
        rank = int(place[0]) + 1 if len(place) else None
        return tree._replace(evidence={"rank": rank, "found": len(hits), **tree.evidence})

    # Impacts kept on disk.

    def store_impacts(self, rankers: Sequence[Expr], profile: str | None = None) -> None:
        """Keep the impacts of these rankers on disk, and those of no others; they are made again whenever the index changes."""
        impact_store.declare(self.path, [self.searcher(ranker, profile).name for ranker in rankers])
        problems: list[str] = []
        self._refresh_impacts(problems.append)
        if problems:
            raise IndexProblem(problems[0])

    def kept_impacts(self) -> dict[str, int]:
        """Bytes of the impacts kept for each ranker, and of the decoded documents that they share."""
        folders: dict[str, list[Path]] = {}
        for name in impact_store.declared(self.path):
            with suppress(SublexError):
                folders[name] = [self.searcher(name, "sublex").folder]
        if folders:
            folders["documents"] = [impact_store.documents_folder(self, segment) for segment in self.segments]
        return {
            name: sum(file.stat().st_size for place in own for file in place.rglob("*.npy"))
            for name, own in folders.items()
        }

    def _refresh_impacts(self, say: Say) -> None:
        """Make the impacts again that are to be kept. The index is committed: what cannot be done is only said."""
        kept = set()
        for name in impact_store.declared(self.path):
            try:
                searcher = self.searcher(name, "sublex")
                searcher.store()
                kept.add(searcher.folder)
            except SublexError as error:
                say(f"The impacts of {name} cannot be kept. {error}")
        impact_store.sweep(self, kept)

    # Fitted models.

    def fit(self, expression: Expr, source: str | os.PathLike[str] | None = None, **options: Any) -> None:
        """Fit a component, or take its model from another index; options are workers, memory, progress and say."""
        from sublex.representations.fitting import fit
        from sublex.representations.job import Options

        fit(self.path, str(expression), Options(**options), None if source is None else Path(source))
        self._load()

    def representation(self, expression: Expr) -> LoadedRepresentation:
        """A fitted representation on this index: its model, its rows, its scores."""
        found = self.fitted_model(expression)
        if not isinstance(found, LoadedRepresentation):
            raise InputError(f"{found.name} is no representation.")
        return found

    def fitted_model(self, expression: Expr) -> LoadedModel:
        """A fitted model of this index."""
        canonical = self._composer.canonical(_tree(expression), profiles.profile(self.profile).defaults)
        if not isinstance(canonical, Call) or not self._composer.is_fitted(canonical):
            raise InputError(f"{canonical} is not a single model that is fitted.")
        return self._composer.fitted_model(canonical)

    def card(self, expression: Expr) -> dict[str, Any]:
        """What is known of a fitted model: how it was made, what it covers, and what it says of itself."""
        if not self.allow_uncovered:
            return type(self)(self.path, allow_uncovered=True).card(expression)
        return self.fitted_model(expression).card()

    def forget(self, *expressions: Expr) -> None:
        """Drop fitted models and the rows they gave."""
        from sublex.representations.fitting import forget

        forget(self.path, *map(str, expressions))
        self._load()

    def add_resource(self, name: str, file: str | os.PathLike[str]) -> None:
        """Copy a file that models are to read into the index, under a name for expressions."""
        from sublex.representations.resources import add

        add(self.path, name, Path(file))
        self._load()

    def remove_resource(self, name: str) -> None:
        """Drop a resource that no model was fitted with."""
        from sublex.representations.resources import remove

        remove(self.path, name)
        self._load()

    def _encode_before_commit(self, say: Say, workers: int | None) -> Any:
        from sublex.representations.job import Options
        from sublex.representations.segment_rows import encode_before_commit

        return encode_before_commit(self.path, Options(workers or os.cpu_count() or 1, say=say))

    def add(self, documents: Any, duplicates: str = "error", say: Say = silently, **options: Any) -> BuildSummary:
        outcome = super().add(
            documents,
            duplicates,
            say=say,
            before_commit=self._encode_before_commit(say, options.get("workers")),
            **options,
        )
        self._refresh_impacts(say)
        return outcome

    def delete(self, docnos: Sequence[str] | Iterable[str], say: Say = silently) -> None:
        super().delete(docnos)
        self._refresh_impacts(say)

    def merge(self, workers: int | None = None, say: Say = silently, **options: Any) -> None:
        super().merge(workers, before_commit=self._encode_before_commit(say, workers), **options)
        self._refresh_impacts(say)
