"""Time adding matrices from files to an index, and rescoring candidates by MaxSim, beside the same in NumPy.

    python benchmarks/late.py [--documents 4000] [--rounds 7]

Matrices have 60 to 139 rows of 128 normally distributed numbers, queries 32. NumPy multiplies the rows of all candidates
with the query at once, as float32 by its BLAS and as float64, and takes maxima and sums. The candidates are those of BM25,
whose time is taken off. Times are medians of wall clock; Sublex uses one thread.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import sublex

WIDTH, TOKENS = 128, 32


def median(work: Callable[[], object], rounds: int) -> float:
    """Return the median of the seconds that a call takes, after two calls that do not count."""
    times = []
    for _ in range(rounds + 2):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return statistics.median(times[2:])


def write_files(folder: Path, rows: np.ndarray, sizes: np.ndarray) -> list[Path]:
    """Write matrices as `.npz` and as JSON lines; return the files."""
    ids, ends = [f"d{k}" for k in range(len(sizes))], np.cumsum(sizes)
    np.savez(folder / "matrices.npz", docnos=ids, rows=rows, sizes=sizes)
    with open(folder / "matrices.jsonl", "w") as lines:
        for docno, begin, end in zip(ids, ends - sizes, ends, strict=True):
            lines.write(json.dumps({"id": docno, "vector": rows[begin:end].tolist()}) + "\n")
    return [folder / "matrices.npz", folder / "matrices.jsonl"]


def max_sim(rows: np.ndarray, starts: np.ndarray, query: np.ndarray) -> np.ndarray:
    """Return the scores of matrices that lie end to end."""
    sums: Any = np.maximum.reduceat(rows @ query.T, starts, axis=0).sum(axis=1)
    return np.asarray(sums)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--documents", type=int, default=4000)
    parser.add_argument("--rounds", type=int, default=7)
    given = parser.parse_args()
    chance = np.random.default_rng(0)
    sizes = chance.integers(60, 140, given.documents)
    rows = chance.standard_normal((int(sizes.sum()), WIDTH), dtype=np.float32)
    query = chance.standard_normal((TOKENS, WIDTH), dtype=np.float32)
    print(f"{given.documents:,} matrices, {len(rows):,} rows of {WIDTH}, medians of {given.rounds} rounds")
    with tempfile.TemporaryDirectory(dir=".") as scratch:
        documents = [{"id": f"d{k}", "text": f"crane w{k}"} for k in range(given.documents)]
        index = sublex.build(documents, Path(scratch) / "index")
        for file in write_files(Path(scratch), rows, sizes):
            took = median(partial(index.add_vectors, "float32", file, replace=True), 1)
            index.remove_vectors("float32")
            print(f"{file.suffix:20} {file.stat().st_size / took / 1e6:8.0f} MB/s of the file")
        for stored in ("float32", "float16", "int8"):
            index.add_vectors(stored, Path(scratch) / "matrices.npz", stored=stored)
            asked = index.with_queries({stored: {"crane": query}})
            for count in (100, 1000):
                first, whole = f"BM25 % {count}", f"BM25 % {count} >> late({stored})"
                alone, both = (median(partial(asked.search, "crane", e, 10), given.rounds) for e in (first, whole))
                print(f"{stored:8} of {count:5,} {1000 * (both - alone):12.1f} ms a query")
    for count in (100, 1000):
        starts, part = np.cumsum(sizes[:count]) - sizes[:count], rows[: int(sizes[:count].sum())]
        for kind in (np.float32, np.float64):
            took = median(partial(max_sim, part.astype(kind), starts, query.astype(kind)), given.rounds)
            print(f"NumPy {np.dtype(kind).name} of {count:5,} {1000 * took:5.1f} ms a query")


if __name__ == "__main__":
    main()
