"""Time pipelines on one index, and print what a blend costs: as it is, after hits, and beside its parts.

    python benchmarks/blends.py arxiv-cs.jsonl [--documents 100000] [--queries 300] [--rounds 5]

A query is a title. The pipelines take turns in one thread of one process; the table has the median of the rounds.
"""

from __future__ import annotations

import argparse
import itertools
import json
import lzma
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sublex
from sublex.contracts.base import Query

PIPELINES = (
    "BM25",
    "PL2",
    "lsi(e=100)",
    "BM25 >> RM3 >> BM25",
    "BM25 + 0.3*PL2",
    "BM25 >> BM25 + 0.3*PL2",
    "BM25 + 0.3*lsi(e=100)",
    "BM25 >> BM25 + 0.3*lsi(e=100)",
    "BM25 + (BM25 >> Bo1 >> BM25) + 0.4*lsi(e=100)",
    "BM25 >> BM25 + (BM25 >> Bo1 >> BM25) + 0.4*lsi(e=100)",
)


def records(collection: str, number: int) -> Iterator[dict[str, str]]:
    """Yield the first documents of a file of JSON lines, which may be compressed with xz."""
    with (lzma.open if collection.endswith(".xz") else open)(collection, "rt", encoding="utf-8") as file:
        for line in itertools.islice(file, number):
            record = json.loads(line)
            yield {key: str(record.get(key, "")) for key in ("id", "title", "text", "year")}


@contextmanager
def asked(description: str) -> Iterator[tuple[Any, list[Query], int]]:
    """Read the arguments, and yield an index of a collection with a model, queries from titles, and the number of rounds."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("collection")
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--queries", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    texts = [record["title"] for record in records(args.collection, args.documents)]
    with tempfile.TemporaryDirectory() as work:
        index = sublex.build(records(args.collection, args.documents), Path(work) / "index")
        index.fit("lsi(e=100)")
        queries = [index.query(text) for text in texts[:: max(1, len(texts) // args.queries)][: args.queries]]
        yield index, queries, args.rounds


def main() -> None:
    with asked(str(__doc__)) as (index, queries, turns):
        pipelines = {text: index.pipeline(text) for text in PIPELINES}
        times: dict[str, list[float]] = {text: [] for text in PIPELINES}
        for turn in range(turns + 1):
            for text, pipeline in pipelines.items():
                begin = time.perf_counter()
                for query in queries:
                    pipeline.answer(query, 1000)
                if turn:  # The first round computes impacts.
                    times[text].append(1000 * (time.perf_counter() - begin) / len(queries))
        print(f"{len(index):,} documents, {len(queries)} queries, k = 1,000\n")
    base = statistics.median(times["BM25"])
    print("| pipeline | ms a query | x BM25 |\n|---|---|---|")
    for text, rounds in times.items():
        median = statistics.median(rounds)
        print(f"| `{text}` | {median:.2f} | {median / base:.1f} |")


if __name__ == "__main__":
    main()
