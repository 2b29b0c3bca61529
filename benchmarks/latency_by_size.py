"""Time queries in collections of several sizes, and draw the plot of README: Sublex, PISA, tantivy, bm25s, and adding up every posting.

    python benchmarks/latency_by_size.py COLLECTION --folder FOLDER [--peers PYTHON] [--sizes 10000 …] [--queries 300] [--runs 3]
        [--out docs/latency]
    python benchmarks/latency_by_size.py --draw [--out docs/latency]

A collection of a size is the first documents of COLLECTION, whose order should be random. Its folder, FOLDER/SIZE, keeps the indexes.
Queries are made of titles of the first documents, and are the same for all sizes. Figures are milliseconds of processor time from
terms to documents and scores, BM25, one thread, a batch of queries, in fresh processes that take turns. The script writes OUT.csv and
OUT.svg; with --draw it only draws OUT.csv again.
"""

from __future__ import annotations

import argparse
import csv
import json
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from latency_plot import plot
from retrieval import MOST_OF_BM25S, child, timed
from retrieval_data import prepare, titles, write_queries

import sublex
from sublex.retrieval import searcher

SIZES = (10_000, 31_000, 100_000, 310_000, 1_000_000, 3_000_000)
DEPTHS = (10, 1000)
PEERS = {"PISA": "pisa-block_max_maxscore", "tantivy": "tantivy", "bm25s": "bm25s"}
OURS = ("Sublex", "adding up")
# Maps (number of documents, name of the engine, k) to milliseconds a query.
Figures = dict[tuple[int, str, int], float]


def ours(folder: Path, exhaustive: bool) -> dict[str, list[float]]:
    """Return the seconds per query of Sublex, or those of its kernel that adds up every posting, timed in this process."""
    if exhaustive:
        # No term has so many times as many postings as there are hits.
        searcher.CHOICES = np.array([1 << 40, 0, 0, 0])
    queries = json.loads((folder / "queries.json").read_text())
    index = sublex.open(folder / "sublex")
    index.store_impacts(["BM25"])
    bm25 = index.searcher("BM25")
    return {f"batch {k}": timed(lambda k=k: list(bm25.batch(queries, k)), len(queries)) for k in DEPTHS}


def build(args: argparse.Namespace, folder: Path, size: int) -> list[str]:
    """Build what the folder of a size lacks, write its queries, and return the engines that take part."""
    folder.mkdir(parents=True, exist_ok=True)
    prepare(args.collection, "documents", folder, size)
    write_queries(titles(args.collection, args.queries, min(args.sizes)), True, folder)
    engines = [name for name in PEERS if name != "bm25s" or size <= MOST_OF_BM25S]
    for name in engines:
        if not (folder / PEERS[name].partition("-")[0]).exists():
            child([args.peers, str(Path(__file__).with_name("retrieval_peers.py")), "index", PEERS[name], str(folder)])
    return [*engines, *OURS]


def measure(args: argparse.Namespace) -> Iterator[tuple[tuple[int, str, int], float]]:
    """Yield the figures, size by size: medians over all rounds of all runs."""
    peer = [args.peers, str(Path(__file__).with_name("retrieval_peers.py")), "query"]
    for size in sorted(args.sizes):
        folder = args.folder / str(size)
        engines = build(args, folder, size)
        jobs = {name: [*peer, PEERS[name], str(folder), *(f"batch {k}" for k in DEPTHS)] for name in engines[:-2]}
        jobs |= {name: [sys.executable, __file__, "--ours", name, "--folder", str(folder)] for name in OURS}
        seconds: dict[tuple[str, int], list[float]] = {(name, k): [] for name in engines for k in DEPTHS}
        for _ in range(args.runs):
            for name, command in jobs.items():
                found = child(command)
                for k in DEPTHS:
                    seconds[name, k] += found[f"batch {k}"]
        for (name, k), own in seconds.items():
            print(f"{size:>9,} documents  {name:10} k = {k:<5} {1000 * statistics.median(own):.4f} ms", flush=True)
            yield (size, name, k), 1000 * statistics.median(own)


def read(path: Path) -> Figures:
    """Return the figures of a file."""
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {(int(row["documents"]), row["engine"], int(row["k"])): float(row["ms"]) for row in rows}


def write(path: Path, figures: Figures) -> None:
    """Write the figures as CSV."""
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["documents", "engine", "k", "ms"])
        writer.writerows([*key, f"{ms:.5f}"] for key, ms in figures.items())


def main() -> None:
    """Measure and draw, or only draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("collection", nargs="?", help="JSON lines with id, title and text, in random order")
    parser.add_argument("--folder", type=Path, help="a folder that keeps the indexes of all sizes")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--queries", type=int, default=300)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument(
        "--peers", default=sys.executable, help="a Python interpreter with pyterrier-pisa, tantivy, bm25s and numba"
    )
    parser.add_argument(
        "--out", type=Path, default=Path("docs/latency"), help="the path of the figures, without ending"
    )
    parser.add_argument("--draw", action="store_true", help="only draw the figures that are there")
    parser.add_argument("--ours", choices=OURS, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.ours:
        print(json.dumps(ours(args.folder, args.ours == "adding up")))
        return
    table = args.out.with_suffix(".csv")
    if not args.draw:
        if not args.collection or not args.folder:
            parser.error("name the collection and --folder.")
        write(table, dict(measure(args)))
    args.out.with_suffix(".svg").write_text(plot(read(table), DEPTHS, [*PEERS, *OURS]), encoding="utf-8")


if __name__ == "__main__":
    main()
