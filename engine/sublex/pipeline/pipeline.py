"""A pipeline: an expression, resolved and composed for one snapshot, that answers queries."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from sublex.contracts.base import NO_FIELDS, Explanation, Query
from sublex.errors import IndexProblem, InputError, SublexError
from sublex.filters.sort import Sort
from sublex.filters.where import Where
from sublex.index.missing_values import missing_values
from sublex.index.snapshot import Snapshot
from sublex.language.conditions import parse_condition
from sublex.language.expression import Cut, Expression, walk
from sublex.language.plugins import Component, components_in
from sublex.language.python_rankers import GivenRanker
from sublex.pipeline.stages.filter import noted
from sublex.pipeline.stages.finder import one_search
from sublex.pipeline.stages.mask import Mask
from sublex.pipeline.stages.stage import DEPTH, Scorer, State, rank_in
from sublex.representations.loaded import LoadedModel
from sublex.retrieval.hits import Hits
from sublex.retrieval.searcher import Searcher, Terms
from sublex.retrieval.term_table import TermTable
from sublex.tools.copies import Deferred
from sublex.tools.messages import Message, counted
from sublex.tools.workers import Workers

# The highest number of queries in one task of a worker thread, and the lowest number of tasks for each thread.
GROUP, TASKS = 64, 4


class Answer(NamedTuple):
    """The query after all expanders, its hits, and the seconds of the search. Queries searched together have their mean."""

    query: Query
    hits: Hits
    seconds: float


class LeftOut(NamedTuple):
    """A word of a query that a fitted model leaves out: the model's expression, the word as written, and the reason.

    The reason ends a sentence that begins with the word, as in "is in 1 document, fewer than min_df=2".
    """

    model: str
    word: str
    reason: str


class Pipeline(Deferred):
    """An expression on one snapshot. `str(pipeline)` prints it with every parameter that differs from its default.

    The pipeline reads its `snapshot` even after the index has changed. `models` has the fingerprint of each fitted
    model in the expression, and the version of each Python function that has a version. For each model that has no row
    for some documents, `uncovered` has the number of these documents. `chosen` has a sentence for each model that was
    taken because no other fitted model matches. `short` is the expression without the values that the profile sets,
    such as BM25. `name` is the name by which the user called the expression, such as best; it is empty without one. A
    pickled pipeline has its expression and the path of the index; it is composed again when it is first used.
    """

    pickled = ("snapshot", "expression", "name")

    def __init__(
        self,
        snapshot: Snapshot,
        expression: Expression,
        scorer: Scorer,
        term_table: TermTable,
        models: Mapping[str, str] = NO_FIELDS,
        uncovered: Mapping[str, int] = NO_FIELDS,
        fitted: Sequence[LoadedModel] = (),
        chosen: Sequence[str] = (),
        *,
        short: str = "",
        name: str = "",
        origin: Callable[[], Pipeline],
        rankers: Sequence[GivenRanker] = (),
    ):
        self.snapshot, self.expression, self.scorer, self.origin = snapshot, expression, scorer, origin
        self._term_table = term_table
        self.models, self.uncovered, self.chosen = dict(models), dict(uncovered), tuple(chosen)
        self._fitted, self._rankers, self.short, self.name = tuple(fitted), rankers, short or str(expression), name

    def __str__(self) -> str:
        return str(self.expression)

    @property
    def label(self) -> str:
        """What tables and files call the pipeline: its name, or else its expression."""
        return self.name or str(self)

    def called(self, name: str) -> Pipeline:
        """Return the same pipeline with a name."""
        other = object.__new__(Pipeline)
        other.__dict__.update(self.__dict__, name=name)
        return other

    @property
    def components(self) -> list[Component]:
        """The components that the expression names, including components in parameters of other components."""
        return list(components_in(self.expression))

    @cached_property
    def expands(self) -> bool:
        """Whether the expression has an expander.

        With an expander, the terms of a query are searched more than once.
        """
        return any(component.kind == "expander" for component in self.components)

    @cached_property
    def learns(self) -> bool:
        """Whether the expression has an expander that learns from documents, and so from judged documents."""
        return any(component.kind == "expander" and component.make().docs for component in self.components)

    @cached_property
    def scores_words(self) -> bool:
        """Whether the words of a query count. They do not if the pipeline has only filters and sort stages."""
        return any(component.kind != "filter" for component in self.components)

    @cached_property
    def finds_all(self) -> bool:
        """Whether the pipeline can return all documents found.

        It cannot if it has a depth, or a part that scores every document.
        """
        is_cut = any(isinstance(node, Cut) for node in walk(self.expression))
        return not is_cut and {component.kind for component in self.components} <= {"ranker", "expander", "filter"}

    @cached_property
    def sorted_by(self) -> tuple[str, ...]:
        """The column of the sort stage; empty without a sort stage."""
        return tuple(c.values["column"] for c in self.components if c.registration.factory is Sort)

    @cached_property
    def _depth(self) -> int:
        """The number of documents that a search finds before filters and sort stages.

        A sort stage needs all that it can sort.
        """
        return max(DEPTH, len(self.snapshot)) if self.sorted_by and self.finds_all else DEPTH

    def _begin(self, query: Query) -> State:
        return State(query, depth=self._depth)

    @cached_property
    def reads_plain_words(self) -> bool:
        """Whether queries are plain words. They are not if a retriever reads the query language of another engine."""
        return reads_plain_words(self.expression)

    @property
    def notes(self) -> list[str]:
        """Sentences about the expression.

        They name fitted models that were taken because no other matches, models that do not cover all documents, and
        values in conditions that no document has.
        """
        return [*self.chosen, *self.missing_values] + [
            f"{name} has no opinion on {counted(documents, 'document')} that it does not cover."
            for name, documents in self.uncovered.items()
        ]

    @cached_property
    def missing_values(self) -> list[str]:
        """A sentence for each value in the filters `where` that no document has."""
        filters = [component for component in self.components if component.registration.factory is Where]
        conditions = [parse_condition(component.values["condition"]) for component in filters]
        return [sentence for each in conditions for sentence in missing_values(self.snapshot, each)]

    def left_out(self, query: Query) -> list[LeftOut]:
        """Return the words of a query that fitted models of the expression leave out, with the reasons.

        Expanders are not applied before. Words that no document contains are among them.
        """
        return [LeftOut(model.name, *left) for model in self._fitted for left in model.left_out(query).items()]

    def _refuse_changed_rankers(self) -> None:
        """Raise InputError if a user's ranker has changed, because its scores for the words of earlier queries are kept."""
        for ranker in self._rankers:
            ranker.part.refuse_changed()

    def answer(self, query: Query, k: int) -> Answer:
        """Return the best k documents for a query."""
        self._refuse_changed_rankers()
        return self._answer(query, k)

    def _answer(self, query: Query, k: int) -> Answer:
        begin = time.perf_counter()
        with one_search():
            scoring = self.scorer.start(self._begin(query))
            hits = scoring.find(k).first(k)
        return self._answer_of(query, scoring.state.query, hits, time.perf_counter() - begin)

    def _answer_of(self, query: Query, searched: Query, hits: Hits, seconds: float) -> Answer:
        hits.query, hits.asked = searched, query if self.reads_plain_words else None
        if self.snapshot.launched is not None:
            hits.lost_shards = tuple(sorted(self.snapshot.launched.lost))
        return Answer(searched, hits, seconds)

    def _group(self, queries: Sequence[Query], k: int) -> list[Answer]:
        """Return the best k documents for each query. Queries that need only a searcher are searched together.

        Each query searched together with others gets the mean of their seconds.
        """
        answers: dict[int, Answer] = {}
        waiting: dict[Searcher, dict[int, tuple[Query, Terms]]] = {}
        seconds = 0.0
        if self.expands:
            # An expander looks up the words of one query at a time. Here the words of all queries are looked up at
            # once.
            self._term_table.numbers([own.term for query in queries for own in query.terms if type(own.term) is str])
        for place, query in enumerate(queries):
            begin = time.perf_counter()
            with one_search():
                scoring = self.scorer.start(self._begin(query))
                alone = scoring.search_alone
                hits = None if alone else scoring.find(k).first(k)
            took = time.perf_counter() - begin
            if hits is not None:
                answers[place] = self._answer_of(query, scoring.state.query, hits, took)
            elif alone:
                waiting.setdefault(alone.searcher, {})[place] = scoring.state.query, alone.terms
                seconds += took
        begin = time.perf_counter()
        for searcher, asked in waiting.items():
            each = searcher.batch([terms for _, terms in asked.values()], k)
            for (place, (query, _)), hits in zip(asked.items(), each, strict=True):
                answers[place] = self._answer_of(queries[place], query, hits, 0.0)
        late = {place for asked in waiting.values() for place in asked}
        mean = (seconds + time.perf_counter() - begin) / max(1, len(late))
        return [answers[n]._replace(seconds=mean) if n in late else answers[n] for n in range(len(queries))]

    def explain(self, query: Query, doc: int) -> Explanation:
        """Return a tree that shows how the score of a document is computed.

        The evidence of the root has the document's rank and the number of hits.
        """
        with one_search():
            scoring = self.scorer.start(self._begin(query))
            tree, allowed = scoring.explain(doc), scoring.state.allowed
            if allowed is not None:
                tree = noted(tree, _note(query, bool(allowed.of(np.array([doc]))[0])))
            hits = self.answer(query, max(1, len(self.snapshot))).hits
        return tree._replace(evidence={"rank": rank_in(hits, doc) or None, "found": len(hits), **tree.evidence})

    def explanations(self, query: Query, docs: Sequence[int]) -> list[Explanation]:
        """Return a tree for each document, without ranks. The query is read and expanded once."""
        with one_search():
            scoring = self.scorer.start(self._begin(query))
            return [scoring.explain(doc) for doc in docs]

    def allows(self, query: Query) -> Mask | None:
        """Return the mask of the documents that the condition of a query allows; None if it has no condition."""
        return self.scorer.start(self._begin(query)).state.allowed if query.condition is not None else None

    def answers(self, queries: Sequence[Query], k: int, workers: int = 1, qids: Sequence[str] = ()) -> Iterator[Answer]:
        """Yield the best k documents for each query, in the order of the queries.

        Several threads compute them.

        `qids` are the ids of the topics of the queries; with them, an error about a query names its topic. Raise
        InputError if a sort stage puts hits in another order than that of their scores.
        """
        expect_scores(self.expression)
        self._refuse_changed_rankers()

        def answered(places: range) -> list[Answer]:
            try:
                return self._group(queries[places.start : places.stop], k)
            except (InputError, IndexProblem):
                # The queries are answered one by one, so that the error is about the first faulty query and names its
                # topic.
                return [self._named_answer(queries[place], k, qids[place] if qids else None) for place in places]

        # The first query is answered before the others start: it computes values that all queries share.
        yield from answered(range(len(queries[:1])))
        size = max(1, min(GROUP, len(queries) // (TASKS * workers)))
        groups = [range(begin, min(begin + size, len(queries))) for begin in range(1, len(queries), size)]
        with Workers(min(workers, len(groups))) as pool:
            for group in pool.map(answered, groups):
                yield from group

    def _named_answer(self, query: Query, k: int, qid: str | None) -> Answer:
        try:
            return self._answer(query, k)
        except (InputError, IndexProblem) as error:
            if qid is None:
                raise
            raise error_of_topic(error, qid, query) from None


def error_of_topic(error: SublexError, qid: str, query: Query) -> SublexError:
    """Return an error whose message names the topic.

    For a plain query, return the same error, because plain words cause no errors.
    """
    return error if query.tree is None else type(error)(Message(f"Topic {qid}: ", error.args[0]))


def expect_scores(expression: Expression) -> None:
    """Raise InputError if the hits of a resolved expression are not in the order of their scores. A run needs this order."""
    for component in components_in(expression):
        if component.registration.factory is Sort:
            raise InputError(
                f"{component} puts hits in an order to look at, and a run has the order of the scores; leave {component} out."
            )


def reads_plain_words(expression: Expression) -> bool:
    """Return whether no retriever of a resolved expression reads queries in the language of its engine."""
    return not any(c.kind == "retriever" and c.values.get("language") for c in components_in(expression))


def _note(query: Query, is_allowed: bool) -> Explanation:
    """Return the part of an explanation that says whether the query allows a document."""
    asked = f"the query {query.tree if query.tree is not None else query.text}"
    return Explanation(float(is_allowed), f"{asked} {'allows' if is_allowed else 'does not allow'} it", "evidence")
