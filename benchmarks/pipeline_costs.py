"""Measure the pipelines `good`, `better` and `best`: the time of a query, and the seconds and bytes that their models take.

    python benchmarks/pipeline_costs.py arxiv-cs.jsonl [--documents 100000] [--queries 100] [--rounds 3] [--names good …]
        [--work FOLDER] [--models FOLDER]

With --names, only these pipelines are fitted and measured. With --models, which names the --work of another call, its models are
taken, and only the rows of the documents and their sketches are computed.

A query is a title of the collection. Times are processor times, those of queries in one thread; each pipeline takes turns with BM25, and
the table has the medians of the rounds. With --work, the index and its models stay in FOLDER, and the next call uses them again.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from blends import records
from threadpoolctl import threadpool_limits

import sublex
from sublex.contracts.base import Query
from sublex.pipeline.index import Index

BASE = "BM25"
PIPELINES = ("good", "better", "better(find=approximate)", "best", "best(find=approximate)")
HITS = 1000


def size_of(index: Index) -> int:
    """Return the bytes of the fitted models of an index on disk."""
    return sum(file.stat().st_size for file in (index.path / "representations").rglob("*") if file.is_file())


def fit(index: Index, name: str, source: Path | None = None) -> None:
    """Fit the models of a pipeline that are missing, and print the processor time and the bytes of each.

    If `source` is another index, the models that it has are taken.
    """
    for model in index.models_in(name):
        if index.is_fitted(model):
            continue
        begin, before = time.process_time(), size_of(index)
        taken = source if source and sublex.open(source).is_fitted(model) else None
        index.fit(model, taken, workers=os.cpu_count() or 1)
        seconds, size = time.process_time() - begin, size_of(index) - before
        print(f"{model}: fitted in {seconds:.0f} s of processor time; {size / 1e6:.1f} MB", flush=True)


def milliseconds(index: Index, texts: Sequence[str], queries: Sequence[Query], rounds: int) -> list[float]:
    """Return the median milliseconds that a query takes by each of some pipelines, which take turns."""
    pipelines = [index.pipeline(text) for text in texts]
    times: list[list[float]] = [[] for _ in texts]
    for turn in range(rounds + 1):
        for pipeline, known in zip(pipelines, times, strict=True):
            begin = time.thread_time()
            for query in queries:
                pipeline.answer(query, HITS)
            if turn:  # The first round computes impacts, and reads models and sketches.
                known.append(1000 * (time.thread_time() - begin) / len(queries))
    return [statistics.median(known) for known in times]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("collection")
    for option, default in (("--documents", 100_000), ("--queries", 100), ("--rounds", 3)):
        parser.add_argument(option, type=int, default=default)
    parser.add_argument("--names", nargs="+", default=PIPELINES, help="the pipelines to measure")
    parser.add_argument("--work", type=Path, help="keep the index and its models in this folder")
    parser.add_argument("--models", type=Path, help="take the models from the index in this folder")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        place = (given.work or Path(temporary)) / "index"
        place.parent.mkdir(parents=True, exist_ok=True)
        source = records(given.collection, given.documents)
        index = sublex.open(place) if place.exists() else sublex.build(source, place, store="text,terms")
        titles = [record["title"] for record in records(given.collection, given.documents)]
        queries = [index.query(title) for title in titles[:: max(1, len(titles) // given.queries)][: given.queries]]
        print(f"{len(index):,} documents, {len(queries)} queries, k = {HITS:,}", flush=True)
        for name in given.names:
            fit(index, name, given.models and given.models / "index")
        print("\n| pipeline | ms a query | x BM25 | BM25, ms |\n|---|---|---|---|", flush=True)
        for name in given.names:
            with threadpool_limits(1):
                base, own = milliseconds(index, (BASE, name), queries, given.rounds)
            print(f"| `{name}` | {own:.2f} | {own / base:.1f} | {base:.2f} |", flush=True)


if __name__ == "__main__":
    main()
