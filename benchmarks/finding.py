"""Time finding by a representation alone: scoring all documents, by sketches exactly, by sketches approximately, and other libraries.

    python benchmarks/finding.py FOLDER 'lsi(e=200)' fisher [--queries 100] [--from INDEX] [--peers PYTHON]

FOLDER is one that `benchmarks/retrieval.py --folder` keeps, with an index and queries. Models that are missing are fitted, or with
`--from` taken from another index. Times are medians of whole queries in processor time of one thread, warm, from terms to hits. `PYTHON` is
an interpreter that has hnswlib and usearch: it gets the vectors of documents and queries, and searches them; its times leave out the
encoding of the query, and scores are not those of Sublex.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from threadpoolctl import threadpool_limits

import sublex
from sublex.contracts.base import Query, QueryTerm
from sublex.pipeline.index import Index
from sublex.representations.loaded import LoadedRepresentation

DEPTHS = (10, 100, 1000)
ROUNDS = 3


def queries_of(folder: Path, number: int) -> list[Query]:
    """Return the queries of a folder."""
    found = json.loads((folder / "queries.json").read_text(encoding="utf-8"))[:number]
    return [Query(" ".join(terms), tuple(QueryTerm(term) for term in terms)) for terms in found]


def measured(index: Index, expression: str, queries: list[Query], k: int) -> tuple[float, list[set[int]]]:
    """Return the median milliseconds of a query, and the documents that each query found."""
    pipeline = index.pipeline(expression)
    found = [set(pipeline.answer(query, k).hits.docs.tolist()) for query in queries]
    rounds = []
    for _ in range(ROUNDS):
        for query in queries:
            begin = time.thread_time()
            pipeline.answer(query, k)
            rounds.append(time.thread_time() - begin)
    return 1000 * statistics.median(rounds), found


def recall(found: list[set[int]], wanted: list[set[int]]) -> float:
    """Return the mean share of the wanted documents that were found."""
    return statistics.fmean(len(a & b) / len(b) for a, b in zip(found, wanted, strict=True) if b)


def compare(index: Index, expression: str, queries: list[Query]) -> None:
    """Print the times and recalls of the three ways, for each depth."""
    approximate = (
        f"{expression[:-1]}, find=approximate)" if expression.endswith(")") else f"{expression}(find=approximate)"
    )
    begin = time.process_time()
    index.search(queries[0], approximate)
    print(f"{expression}: {len(index):,} documents; first approximate query {time.process_time() - begin:.1f} s")
    for k in DEPTHS:
        with patch.object(LoadedRepresentation, "find_by_sketches", lambda *arguments: None):
            before, wanted = measured(index, expression, queries, k)
        exact, found = measured(index, expression, queries, k)
        if found != wanted:
            sys.exit(f"{expression} finds other documents with sketches than without.")
        near, some = measured(index, approximate, queries, k)
        print(
            f"  k={k}: all scored {before:.2f} ms | sketches {exact:.2f} ({exact / before:.2f}) | "
            f"approximate {near:.2f} ({near / before:.2f}), recall {recall(some, wanted):.4f}"
        )


def encoding(index: Index, expression: str, queries: list[Query]) -> None:
    """Print the time that a query takes to encode, which is a part of all times of Sublex."""
    loaded = index.representation(expression)

    def encoded(query: Query) -> float:
        begin = time.thread_time()
        loaded.query(query)
        return time.thread_time() - begin

    print(f"  encoding of a query {1000 * statistics.median(map(encoded, queries)):.2f} ms, a part of the times above")


def dump(index: Index, expression: str, queries: list[Query], folder: Path) -> None:
    """Write the unit vectors of documents and queries as float32 for the other libraries."""
    loaded = index.representation(expression)
    model: Any = loaded.model
    blocks = [
        model.document_vectors(block) for segment in index.snapshot.segments for block in loaded.inputs.blocks(segment)
    ]
    encoded = [model.query_vector(loaded.query(query)) for query in queries]
    for name, vectors in (("documents", np.vstack(blocks)), ("queries", np.vstack(encoded))):
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        np.save(folder / f"{name}.npy", (vectors / np.where(norms > 0, norms, 1)).astype(np.float32))


def main() -> None:
    """Read the arguments, and print the figures of each expression."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("expressions", nargs="*")
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--from", dest="source")
    parser.add_argument("--peers")
    given = parser.parse_args()
    index, queries = sublex.open(given.folder / "sublex"), queries_of(given.folder, given.queries)
    for expression in given.expressions:
        index.fit(expression, given.source)
        with threadpool_limits(1):
            compare(index, expression, queries)
            encoding(index, expression, queries)
        if given.peers:
            with tempfile.TemporaryDirectory() as work:
                dump(index, expression, queries, Path(work))
                subprocess.run([given.peers, Path(__file__).with_name("finding_peers.py"), work], check=True)


if __name__ == "__main__":
    main()
