"""Time searches with a filter beside the same searches without, for filters that few or many documents pass.

    python benchmarks/filters.py arxiv-cs.jsonl [--documents 100000] [--queries 300] [--rounds 5]

A query is a title. Masks keep documents at random, or for each query the best or the worst of those that match. The searches take
turns in one thread of one process. The table has the median of the rounds, as a ratio to the search without a filter. Masks are made
before; the last lines have the time of the first queries with a Python function, which reads documents.
"""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from blends import asked

import sublex
from sublex.contracts.base import Query
from sublex.pipeline.stages.mask import Mask
from sublex.pipeline.stages.stage import State

SHARES = (0.5, 0.1, 0.01, 0.0001)
PIPELINES = ("BM25", "lsi(e=100)", "BM25 + 0.3*lsi(e=100)")
DEPTHS = (10, 1000)


def main() -> None:
    with asked(str(__doc__)) as (index, queries, rounds):
        print(f"{len(index):,} documents, {len(queries)} queries; milliseconds without a filter, then ratios\n")
        print(f"| pipeline | k | without | {' | '.join(f'{share:.2%}' for share in SHARES)} |")
        print(f"|---|---|---|{'---|' * len(SHARES)}")
        random = np.random.default_rng(1).random(len(index))
        masks = [(), *((mask_of(index, random < share),) for share in SHARES)]
        for expression, k in itertools.product(PIPELINES, DEPTHS):
            show(
                expression,
                k,
                measured(index, expression, k, [lambda query, own=own: own for own in masks], queries, rounds),
            )
        correlated(index, queries, rounds)
        functions(index, queries)


def mask_of(index: Any, passes: np.ndarray) -> Mask:
    """Return the mask of the documents for which an array says yes."""
    mask = Mask(lambda docs: passes[docs], index.snapshot)
    assert mask.passing is not None
    return mask


def measured(
    index: Any,
    expression: str,
    k: int,
    masks_of: list[Callable[[Query], tuple[Mask, ...]]],
    queries: list[Query],
    rounds: int,
) -> list[float]:
    """Return the median time of a query in milliseconds under each of several masks."""
    scorer, times = index.pipeline(expression).scorer, [[] for _ in masks_of]
    for turn in range(rounds + 1):
        for own, masks in zip(times, masks_of, strict=True):
            states = [State(query, masks=masks(query)) for query in queries]
            begin = time.perf_counter()
            for state in states:
                scorer.start(state).find(k)
            if turn:  # The first round computes impacts and masks.
                own.append(1000 * (time.perf_counter() - begin) / len(queries))
    return [statistics.median(own) for own in times]


def show(name: str, k: int, times: list[float]) -> None:
    ratios = " | ".join(f"{own / times[0]:.2f}" for own in times[1:])
    print(f"| `{name}` | {k:,} | {times[0]:.3f} | {ratios} |", flush=True)


def correlated(index: Any, queries: list[Query], rounds: int) -> None:
    """Print ratios for filters that keep the best or the worst documents of each query."""
    known: dict[tuple[str, float, str], tuple[Mask, ...]] = {}

    def mask(share: float, which: str, query: Query) -> tuple[Mask, ...]:
        key = query.text, share, which
        if key not in known:
            docs, size = index.search(query, "BM25", len(index)).docs, round(share * len(index))
            known[key] = (
                mask_of(index, np.isin(np.arange(len(index)), docs[:size] if which == "best" else docs[-size:])),
            )
        return known[key]

    some = queries[:50]
    for which, k in itertools.product(("best", "worst"), DEPTHS):
        asked: list[Callable[[Query], tuple[Mask, ...]]] = [lambda query: ()]
        asked += [partial(mask, share, which) for share in SHARES]
        show(f"BM25, {which} pass", k, measured(index, "BM25", k, asked, some, rounds))
        known.clear()


def functions(index: Any, queries: list[Query]) -> None:
    """Print the time of the first queries with a function that reads each document, and of the same queries again."""
    year = sorted(document.fields["year"] for document in index.documents())[len(index) // 2]
    for name, function in (("half", lambda d: d.fields["year"] >= year), ("none", lambda d: d.fields["year"] > "9")):
        pipeline = index.pipeline("BM25" >> sublex.keep(function, name=name))
        times = []
        for own in (queries[:1], queries[1:20], queries[:20]):
            begin = time.perf_counter()
            for query in own:
                pipeline.answer(query, 10)
            times.append(1000 * (time.perf_counter() - begin) / len(own))
        print(
            f"\nA function that {name} pass, k = 10: {', '.join(f'{ms:,.1f}' for ms in times)} ms: the first query, the next 19, all again"
        )


if __name__ == "__main__":
    main()
