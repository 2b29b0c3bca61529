"""Time hnswlib and usearch for benchmarks/finding.py, which starts this script with an interpreter that has them.

    python finding_peers.py FOLDER

FOLDER has the vectors of norm 1 of documents and of queries. The script prints, for each library, the least effort that finds nearly all of
the best 100 documents, and the milliseconds of a query, warm, in processor time of one thread.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

# The efforts that are tried, until one reaches the recall.
EFFORTS, RECALL = (100, 200, 400, 800, 1600, 3200), 0.99


def peers(folder: Path) -> None:
    """Print the times of hnswlib and usearch on the vectors of a folder."""
    documents, queries = np.load(folder / "documents.npy"), np.load(folder / "queries.npy")
    queries = queries[queries.any(axis=1)]
    wanted = [set(np.argpartition(-(documents @ query), 100)[:100].tolist()) for query in queries]
    for name, build in (("hnswlib", hnswlib_searcher), ("usearch", usearch_searcher)):
        begin = time.process_time()
        search = build(documents)
        built = time.process_time() - begin
        for effort in EFFORTS:
            times, found = [], []
            for query in queries:
                begin = time.thread_time()
                found.append({int(doc) for doc in search(query, 100, effort)})
                times.append(time.thread_time() - begin)
            reached = statistics.fmean(len(a & b) / 100 for a, b in zip(found, wanted, strict=True))
            if reached >= RECALL or effort == EFFORTS[-1]:
                took = 1000 * statistics.median(times)
                print(f"  {name}: built in {built:.0f} s; k=100, effort {effort}: {took:.2f} ms, recall {reached:.4f}")
                break


def hnswlib_searcher(documents: np.ndarray) -> Callable[[np.ndarray, int, int], Any]:
    """Return a function that searches an index of hnswlib."""
    import hnswlib  # type: ignore[import-not-found]

    index = hnswlib.Index(space="ip", dim=documents.shape[1])
    index.init_index(max_elements=len(documents), ef_construction=200, M=16, random_seed=1)
    index.add_items(documents, num_threads=1)
    index.set_num_threads(1)

    def search(query: np.ndarray, k: int, effort: int) -> Any:
        index.set_ef(effort)
        return index.knn_query(query, k)[0][0]

    return search


def usearch_searcher(documents: np.ndarray) -> Callable[[np.ndarray, int, int], Any]:
    """Return a function that searches an index of usearch with vectors of 8 bits."""
    from usearch.index import Index as Graph  # type: ignore[import-not-found]

    index = Graph(ndim=documents.shape[1], metric="cos", dtype="i8")
    index.add(np.arange(len(documents)), documents, threads=1)

    def search(query: np.ndarray, k: int, effort: int) -> Any:
        index.expansion_search = effort
        return index.search(query, k, threads=1).keys

    return search


if __name__ == "__main__":
    peers(Path(sys.argv[1]))
