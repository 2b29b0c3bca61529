"""Measure what fast answers cost besides time: bytes on disk, memory, terms that are met for the first time, and the first answer.

    python benchmarks/memory.py disk|memory|cold|first INDEX… [--queries FILE] [--number 10000] [--ranker BM25] [--engine FOLDER]

`disk` stores the impacts of four rankers in a copy of the index and prints the bytes a posting of each file. `memory` prints the memory
of a process (PSS) while it answers queries. `cold` prints the processor time of queries whose impacts nobody has computed.
`first` prints the processor time of a new process up to its first answer, for each index. `--engine` adds the folder `engine` of
another checkout: fresh processes of both take turns, and the ratio is printed. FILE has a query a line: number, tab, text.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

# Rankers whose impacts `disk` stores; the first one also pays for the documents.
RANKERS = ("BM25", "PL2", "TFIDF", "DirichletLM")
# How many new processes measure each figure, and after how many queries the memory is read again.
RUNS, STEP = 5, 500


def pss() -> int:
    """Return this process's share of memory in MB."""
    for line in Path("/proc/self/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) // 1024
    raise SystemExit("This system does not tell a process's share of memory.")


def disk(folder: str) -> None:
    """Print the bytes a posting of all derived files, with the impacts of one ranker and of each further one."""
    import sublex

    with tempfile.TemporaryDirectory() as name:
        copy = shutil.copytree(folder, Path(name) / "index", copy_function=os.link)
        shutil.rmtree(copy / "derived", ignore_errors=True)
        index = sublex.open(copy)
        before = 0
        for count in range(1, len(RANKERS) + 1):
            index.store_impacts(RANKERS[:count])
            files = {path: path.stat().st_size for path in (copy / "derived").rglob("*") if path.is_file()}
            total = sum(files.values())
            print(f"{RANKERS[count - 1]:12} {(total - before) / index.statistics.postings:.3f} bytes a posting")
            if count == 1:
                for path, size in sorted(files.items()):
                    print(f"    {path.parent.name[:14]:14} {path.name:16} {size:14,}")
            before = total


def child(args: argparse.Namespace) -> dict[str, float]:
    """Return the figures of this process."""
    import sublex

    index = sublex.open(args.index[0])
    searcher = index.searcher(args.ranker)
    if args.what == "first":
        searcher.search(index.analyze("information retrieval with neural networks"), 10)
        return {"seconds": time.process_time()}
    with open(args.queries, encoding="utf-8") as file:
        queries = [index.analyze(line.partition("\t")[2]) for line in file][: args.number]
    searcher.search([], 10)
    begin, peak = time.process_time(), 0
    for first in range(0, len(queries), STEP):
        for query in queries[first : first + STEP]:
            searcher.search(query, 10)
        peak = max(peak, pss())
    seconds = time.process_time() - begin
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return {
        "seconds": seconds,
        "ms a query": 1000 * seconds / max(len(queries), 1),
        "PSS, MB": peak,
        "most RSS, MB": most,
    }


def fresh(arguments: list[str], engine: str | None) -> dict[str, float]:
    """Measure in a new process, and return its figures. `engine` is the folder `engine` of a checkout whose Sublex it imports, or None."""
    # The process may be this file of another checkout's benchmark: it needs nothing of this one but the file.
    env = {
        **os.environ,
        **({"PYTHONPATH": os.pathsep.join([engine, str(Path(engine).parent / "plugins")])} if engine else {}),
    }
    done = subprocess.run(
        [sys.executable, __file__, *arguments, "--child"], env=env, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("disk", "memory", "cold", "first"))
    parser.add_argument("index", nargs="+")
    parser.add_argument("--queries")
    parser.add_argument("--number", type=int, default=10_000)
    parser.add_argument("--ranker", default="BM25")
    parser.add_argument("--engine", help="the folder `engine` of another checkout, to compare with")
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.what in ("memory", "cold") and not args.queries:
        parser.error(f"{args.what} needs --queries FILE")
    if args.child:
        print(json.dumps(child(args)))
        return
    for index in args.index:
        if args.what == "disk":
            disk(index)
            continue
        options = ["--number", str(args.number), "--ranker", args.ranker]
        options += ["--queries", args.queries] if args.queries else []
        engines = [None, *([args.engine] if args.engine else [])]
        runs = [[fresh([args.what, index, *options], engine) for engine in engines] for _ in range(args.runs)]
        medians = [
            {name: statistics.median(run[e][name] for run in runs) for name in runs[0][e]} for e in range(len(engines))
        ]
        for engine, figures in zip(engines, medians, strict=True):
            print(f"{index} {engine or 'this engine'}: " + ", ".join(f"{name} {x:,.3f}" for name, x in figures.items()))
        if args.engine:
            print(f"{index} seconds, times the other engine: {medians[0]['seconds'] / medians[1]['seconds']:.2f}")


if __name__ == "__main__":
    main()
