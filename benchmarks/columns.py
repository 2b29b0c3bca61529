"""What columns cost: the time to build an index with them and without, in turns on one core, and their bytes on disk.

    python benchmarks/columns.py arxiv-cs.jsonl --columns year:int,category [--runs 5] [--store none]

The medians of the runs are printed, and the median of the ratios between neighbouring runs.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import sublex


def build(source: str, place: Path, options: list[str]) -> float:
    """Build an index by the command line, and return the seconds from its start to its exit."""
    shutil.rmtree(place, ignore_errors=True)
    command = [str(Path(sys.executable).with_name("sublex")), "index", str(place), source, "--workers", "1", *options]
    begin = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - begin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("collection")
    parser.add_argument("--columns", default="year:int,category")
    parser.add_argument("--store", default="none")
    parser.add_argument("--runs", type=int, default=5)
    given = parser.parse_args()
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    with tempfile.TemporaryDirectory() as folder:
        plain, typed = Path(folder) / "plain", Path(folder) / "typed"
        options = ["--store", given.store]
        build(given.collection, typed, options)
        pairs = []
        for _ in range(given.runs):
            without = build(given.collection, plain, options)
            pairs.append((without, build(given.collection, typed, [*options, "--columns", given.columns])))
        index = sublex.open(typed)
        sizes = {name: size for name, size in index.nbytes().items() if name.startswith("column")}
        total = sum(sublex.open(plain).nbytes().values())
        print(f"{len(index):,} documents, columns {given.columns}, --store {given.store}, one core, {given.runs} runs")
        print(f"without columns {statistics.median(a for a, _ in pairs):.2f} s, {total / 1e6:.1f} MB")
        print(
            f"with columns    {statistics.median(b for _, b in pairs):.2f} s, {sum(sizes.values()) / 1e6:.2f} MB more"
        )
        print(f"median of the ratios of time: {statistics.median(b / a for a, b in pairs):.2f}")
        for name, kind in index.snapshot.columns.items():
            begin = time.perf_counter()
            column = index.snapshot.column(name)
            seconds = time.perf_counter() - begin
            print(
                f"{name}:{kind}: {len(column.values):,} values, {len(column.words):,} texts, read in {seconds * 1e3:.1f} ms"
            )


if __name__ == "__main__":
    main()
