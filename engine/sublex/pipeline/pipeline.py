"""A pipeline: an expression, resolved and composed for one snapshot, that answers queries."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from sublex.contracts.base import NO_FIELDS, Explanation, Query
from sublex.index.snapshot import Snapshot
from sublex.language.expression import Expression
from sublex.language.plugins import Component, components_in
from sublex.language.python_rankers import GivenRanker
from sublex.pipeline.stages.finder import one_search
from sublex.pipeline.stages.stage import Scorer, State, rank_in
from sublex.retrieval.hits import Hits
from sublex.tools.copies import Deferred
from sublex.tools.messages import counted
from sublex.tools.workers import Workers

# The number of queries in one task of a worker thread.
GROUP = 32


class Answer(NamedTuple):
    """The query after all expanders, its hits, and the seconds that the search took."""

    query: Query
    hits: Hits
    seconds: float


class Pipeline(Deferred):
    """An expression on one snapshot. `str(pipeline)` prints it with every parameter that differs from its default.

    The pipeline reads its `snapshot` even after the index has changed. `models` has the fingerprint of each fitted
    model in the expression, and the version of each Python function that has a version. For each model that has no row
    for some documents, `uncovered` has the number of these documents. A pickled pipeline has its expression and the place of the
    index; it is composed again when it is first used.
    """

    pickled = ("snapshot", "expression")

    def __init__(
        self,
        snapshot: Snapshot,
        expression: Expression,
        scorer: Scorer,
        models: Mapping[str, str] = NO_FIELDS,
        uncovered: Mapping[str, int] = NO_FIELDS,
        *,
        origin: Callable[[], Pipeline],
        rankers: Sequence[GivenRanker] = (),
    ):
        self.snapshot, self.expression, self.scorer, self.origin = snapshot, expression, scorer, origin
        self.models, self.uncovered, self._rankers = dict(models), dict(uncovered), rankers

    def __str__(self) -> str:
        return str(self.expression)

    @property
    def components(self) -> list[Component]:
        """The components that the expression names, including components in parameters of other components."""
        return list(components_in(self.expression))

    @property
    def expands(self) -> bool:
        """Whether the expression has an expander.

        With an expander, the terms of a query are searched more than once.
        """
        return any(component.kind == "expander" for component in self.components)

    @property
    def notes(self) -> list[str]:
        """A sentence for each fitted model that does not cover all documents."""
        return [
            f"{name} has no opinion on {counted(documents, 'document')} that it does not cover."
            for name, documents in self.uncovered.items()
        ]

    def _refuse_changed_rankers(self) -> None:
        """Raise InputError if a user's ranker has changed: its scores for the words of earlier queries are kept."""
        for ranker in self._rankers:
            ranker.part.refuse_changed()

    def answer(self, query: Query, k: int) -> Answer:
        """Return the best k documents for a query."""
        self._refuse_changed_rankers()
        return self._answer(query, k)

    def _answer(self, query: Query, k: int) -> Answer:
        begin = time.perf_counter()
        with one_search():
            scoring = self.scorer.start(State(query))
            hits = scoring.find(k).first(k)
        hits.query = scoring.state.query
        return Answer(hits.query, hits, time.perf_counter() - begin)

    def explain(self, query: Query, doc: int) -> Explanation:
        """Return a tree that shows how the score of a document is computed.

        The evidence of the root has the document's rank and the number of hits.
        """
        with one_search():
            tree = self.scorer.start(State(query)).explain(doc)
            hits = self.answer(query, max(1, len(self.snapshot))).hits
        return tree._replace(evidence={"rank": rank_in(hits, doc) or None, "found": len(hits), **tree.evidence})

    def answers(self, queries: Sequence[Query], k: int, workers: int = 1) -> Iterator[Answer]:
        """Yield the best k documents for each query, in the order of the queries, computed by several threads."""
        self._refuse_changed_rankers()
        # The first query is answered before the others start: it computes values that all queries share.
        yield from [self._answer(query, k) for query in queries[:1]]
        groups = [queries[begin : begin + GROUP] for begin in range(1, len(queries), GROUP)]
        with Workers(min(workers, len(groups))) as pool:
            for group in pool.map(lambda group: [self._answer(query, k) for query in group], groups):
                yield from group
