"""What each stage of an expression costs: the query is answered by the stages up to each one, and the times are compared."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from sublex.language.expression import Blend, Chain, Cut, Expression, Normalised, Weighted, chain
from sublex.pipeline.stages.stage import DEPTH

if TYPE_CHECKING:
    from sublex.contracts.base import Query
    from sublex.pipeline.index import Index
    from sublex.pipeline.pipeline import Pipeline

# How often each part is timed; the least time counts, because everything else that the machine does only adds to it.
TIMES = 3


def costs(index: Index, query: Query, pipeline: Pipeline, k: int) -> list[dict[str, Any]]:
    """Return a row for each stage that has hits: its milliseconds, those of all stages up to it, and the number of its hits.

    An expander finds nothing, so it is in one row with the stage after it. A blend has the milliseconds of its parts, too,
    each asked alone; these need not add up, because the blend also scores what other parts found.
    """
    prefixes = list(_prefixes(pipeline.expression))
    rows: list[dict[str, Any]] = []
    before, totals = 0.0, [float("inf")] * len(prefixes)
    answers = [0] * len(prefixes)
    for _ in range(TIMES):
        for place, (_, prefix) in enumerate(prefixes):
            # A stage hands its candidates to the next one; only the last one shows hits.
            depth = k if place == len(prefixes) - 1 else max(k, DEPTH)
            begin = time.perf_counter()
            answers[place] = len(index.pipeline(prefix).answer(query, depth).hits)
            totals[place] = min(totals[place], 1000 * (time.perf_counter() - begin))
    for (stage, prefix), total, found in zip(prefixes, totals, answers, strict=True):
        parts = _parts(index, query, stage[-1]) if len(stage) == 1 and prefix == stage[0] else []
        name = str(chain(stage))
        rows.append(
            {"stage": name, "milliseconds": max(0.0, total - before), "total": total, "found": found, "parts": parts}
        )
        before = total
    return rows


def _prefixes(whole: Expression) -> Iterator[tuple[tuple[Expression, ...], Expression]]:
    """Yield the stages that have hits, each behind the expanders before it, and the expression up to each."""
    stages = whole.stages if isinstance(whole, Chain) else (whole,)
    waiting: tuple[Expression, ...] = ()
    for place, stage in enumerate(stages):
        waiting = (*waiting, stage)
        if getattr(stage, "kind", "") != "expander":
            yield waiting, chain(stages[: place + 1])
            waiting = ()


def _parts(index: Index, query: Query, stage: Expression) -> list[dict[str, Any]]:
    """Return the parts of a blend with the milliseconds of each alone; none for another stage."""
    while isinstance(stage, (Cut, Normalised, Weighted)):
        stage = stage.expression
    rows = []
    for part in stage.parts if isinstance(stage, Blend) else ():
        inner: Any = part
        while isinstance(inner, (Cut, Normalised, Weighted)):
            inner = inner.expression
        begin = time.perf_counter()
        index.pipeline(inner).answer(query, DEPTH)
        rows.append({"part": str(part), "milliseconds": 1000 * (time.perf_counter() - begin)})
    return rows
