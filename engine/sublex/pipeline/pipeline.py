"""A pipeline on an index: an expression, resolved and ready to run, with the fingerprints of the fitted models in it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from sublex.base import NO_FIELDS, Query
from sublex.expression import Expression
from sublex.pipeline.stages import Scorer, Work
from sublex.retrieval.hits import Hits
from sublex.workers import Workers

# So many queries are one task of a worker.
GROUP = 32


class Answer(NamedTuple):
    """The hits for one query, and how many seconds they took."""

    query: Query
    hits: Hits
    seconds: float


class Pipeline:
    """What an expression does; `str` gives the expression with every parameter that differs from its default."""

    def __init__(
        self,
        expression: Expression,
        scorer: Scorer,
        models: Mapping[str, str] = NO_FIELDS,
        uncovered: Mapping[str, int] = NO_FIELDS,
    ):
        self.expression, self.scorer = expression, scorer
        self.models, self.uncovered = dict(models), dict(uncovered)

    def __str__(self) -> str:
        return str(self.expression)

    def answer(self, query: Query, k: int) -> Answer:
        """The best k documents."""
        begin = time.perf_counter()
        done = self.scorer.run(Work(query), k)
        assert done.hits is not None
        return Answer(done.query, done.hits.first(k), time.perf_counter() - begin)

    def answers(self, queries: Sequence[Query], k: int, workers: int = 1) -> Iterator[Answer]:
        """The same for many queries, in their order."""
        # The first query makes what the others share: no two threads shall do so at once.
        yield from [self.answer(query, k) for query in queries[:1]]
        groups = [queries[begin : begin + GROUP] for begin in range(1, len(queries), GROUP)]
        with Workers(min(workers, len(groups))) as pool:
            for group in pool.map(lambda group: [self.answer(query, k) for query in group], groups):
                yield from group
