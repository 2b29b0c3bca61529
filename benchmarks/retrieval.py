"""Time queries: Sublex, PISA (any of its algorithms), tantivy and bm25s (Numba), on the same terms, with one thread each.

    python benchmarks/retrieval.py arxiv-cs.jsonl [--sentences | --paragraphs] [--topics FILE] [--expand "RM3(terms=20)"]
        [--folder FOLDER] [--engines pisa-maxscore …] [--peers PYTHON] [--runs 3] [--queries 2000] [--steady]

`retrieval_data.py` says how documents and queries are made. The script times the step from terms to documents and scores, warm, in
processor time, in fresh processes that take turns. `--folder` keeps the indexes for the next run.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from retrieval_data import PIECES, prepare, titles, topics, write_queries

import sublex

PEERS = ("pisa-block_max_maxscore", "tantivy", "bm25s")
DEPTHS = (10, 100, 1000)
RANKERS = ("BM25", "PL2", "TFIDF", "DirichletLM")
# bm25s is left out above so many documents: its index has to fit into memory.
MOST_OF_BM25S = 1_000_000
# Timed repetitions in each process.
ROUNDS = 5


def timed(action: Callable[[], Any], queries: int) -> list[float]:
    """Return the processor seconds per query of each round, after one round that is not timed."""
    action()
    rounds = []
    for _ in range(ROUNDS):
        begin = time.process_time()
        action()
        rounds.append((time.process_time() - begin) / queries)
    return rounds


def ours(folder: Path, stored: bool, rankers: Sequence[str]) -> dict[str, Any]:
    """Return the figures of Sublex, timed in this process."""
    queries = json.loads((folder / "queries.json").read_text())
    index = sublex.open(folder / "sublex")
    index.store_impacts(rankers if stored else [])
    result: dict[str, Any] = {}
    for ranker in rankers:
        searcher = index.searcher(ranker)
        for k in DEPTHS:
            result[f"{ranker} batch {k}"] = timed(lambda k=k, s=searcher: list(s.batch(queries, k)), len(queries))
        if ranker == "BM25":
            for k in DEPTHS:
                each = lambda k=k, s=searcher: [s.search(query, k) for query in queries]  # noqa: E731
                result[f"single {k}"] = timed(each, len(queries))
            result["top"] = [hits.docs.tolist() for hits in searcher.batch(queries[:100], 10)]
    return result


def cold(folder: Path) -> float:
    """Return the seconds per query if no impacts are stored and none are in memory, so that queries compute them."""
    queries = json.loads((folder / "queries.json").read_text())
    sublex.open(folder / "sublex").store_impacts([])
    rounds = []
    for _ in range(ROUNDS):
        searcher = sublex.open(folder / "sublex").searcher("BM25")
        begin = time.process_time()
        for query in queries:
            searcher.search(query, 10)
        rounds.append((time.process_time() - begin) / len(queries))
    return statistics.median(rounds)


def two_cores(folder: Path) -> None:
    """Print how much faster 20,000 queries are on two cores than on one."""
    queries = json.loads((folder / "queries.json").read_text())
    many = (queries * (20_000 // len(queries) + 1))[:20_000]
    searcher = sublex.open(folder / "sublex").searcher("BM25")
    for k in (10, 1000):
        seconds = []
        for workers in (1, 2):
            sum(1 for _ in searcher.batch(many, k, workers))
            begin = time.perf_counter()
            sum(1 for _ in searcher.batch(many, k, workers))
            seconds.append(time.perf_counter() - begin)
        print(f"20,000 queries, k = {k}: two cores {seconds[0] / seconds[1]:.2f} times as fast as one")


def child(command: list[str]) -> dict[str, Any]:
    """Run a child process on one core, and return the JSON object on its last line of output."""
    core = {min(os.sched_getaffinity(0))}
    pin = lambda: os.sched_setaffinity(0, core)  # noqa: E731
    done = subprocess.run(command, capture_output=True, text=True, preexec_fn=pin)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stderr[-2000:]}")
    last = done.stdout.strip().splitlines()[-1:]
    return json.loads(last[0]) if last and last[0].startswith("{") else {}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("collection")
    pieces = parser.add_mutually_exclusive_group()
    for name in ("sentences", "paragraphs"):
        text = f"index every {name[:-1]} of {PIECES[name]} words or more as a document"
        pieces.add_argument(f"--{name}", dest="pieces", action="store_const", const=name, help=text)
    parser.add_argument(
        "--peers", default=sys.executable, help="a Python interpreter with pyterrier-pisa, tantivy, bm25s and numba"
    )
    parser.add_argument("--queries", type=int, default=2000)
    parser.add_argument("--topics", help="a file of queries, one a line: number, tab, text")
    parser.add_argument("--expand", help="an expander, such as RM3(terms=20): the engines get its weighted queries")
    parser.add_argument("--folder", help="a folder that keeps the indexes")
    parser.add_argument(
        "--engines", nargs="*", help="the other engines; bm25s has no weights, and is left out above a million"
    )
    parser.add_argument("--rankers", nargs="+", default=RANKERS, help="the rankers of Sublex; BM25 has to be the first")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--steady", action="store_true", help="time neither first searches nor two cores")
    parser.add_argument("--ours", choices=("stored", "computed"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.ours:
        print(json.dumps(ours(Path(args.collection), args.ours == "stored", args.rankers)))
        return
    with tempfile.TemporaryDirectory() as name:
        compare(args, Path(args.folder or name))


def peers(folder: Path, weighted: bool) -> list[str]:
    """Return the other engines that can answer the queries in a few minutes: bm25s knows no weights, and needs memory."""
    small = len(sublex.open(folder / "sublex")) <= MOST_OF_BM25S
    return [peer for peer in PEERS if peer != "bm25s" or (small and not weighted)]


def compare(args: argparse.Namespace, folder: Path) -> None:
    """Build what the folder lacks, time all engines in turns, and print the tables."""
    folder.mkdir(exist_ok=True)
    prepare(args.collection, args.pieces or "documents", folder)
    texts = topics(args.topics, args.queries) if args.topics else titles(args.collection, args.queries)
    write_queries(texts, not args.topics, folder, args.expand)
    engines = peers(folder, bool(args.expand)) if args.engines is None else args.engines
    peer = [args.peers, str(Path(__file__).with_name("retrieval_peers.py"))]
    for engine in engines:
        if not (folder / engine.partition("-")[0]).exists():
            child([*peer, "index", engine, str(folder)])
    jobs = {engine: [*peer, "query", engine, str(folder)] for engine in engines}
    me = [sys.executable, __file__, str(folder), "--rankers", *args.rankers]
    jobs |= {f"Sublex, {how}": [*me, "--ours", how] for how in ("stored", "computed")}
    results: dict[str, list[dict[str, Any]]] = {job: [] for job in jobs}
    for _ in range(args.runs):
        for job, command in jobs.items():
            results[job].append(child(command))
    report(results, engines, args.rankers)
    if not args.steady:
        print(
            f"\nSublex, no impacts stored, computed at a term's first use: {1000 * cold(folder):.3f} ms a query for k = 10"
        )
        two_cores(folder)


def report(results: dict[str, list[dict[str, Any]]], peers: Sequence[str], rankers: Sequence[str]) -> None:
    """Print the tables."""

    def ms(job: str, figure: str) -> float:
        return 1000 * statistics.median(second for run in results[job] for second in run[figure])

    columns = [f"{how} {k}" for how in ("batch", "single") for k in DEPTHS]
    best = {c: min(ms(peer, c) for peer in peers) for c in columns}
    print(f"\n{'ms a query (x best peer)':28}" + "".join(f"{c:>18}" for c in columns))
    for job in results:
        times = {c: ms(job, c if job in peers or c.startswith("single") else f"BM25 {c}") for c in columns}
        print(f"{job:28}" + "".join(f"{times[c]:10.4f} ({times[c] / best[c]:4.2f})" for c in columns))
    print(f"\n{'batch, x BM25':28}" + "".join(f"{k:>10}" for k in DEPTHS))
    for ranker in rankers:
        ratios = (ms("Sublex, stored", f"{ranker} batch {k}") / ms("Sublex, stored", f"BM25 batch {k}") for k in DEPTHS)
        print(f"{ranker:28}" + "".join(f"{ratio:10.2f}" for ratio in ratios))
    mine = results["Sublex, stored"][0]["top"]
    for peer in peers:
        theirs = results[peer][0]["top"]
        same = statistics.mean(len({*a} & {*b}) / max(len(a), 1) for a, b in zip(mine, theirs, strict=True))
        print(f"top 10 shared with {peer}: {same:.1%}")


if __name__ == "__main__":
    main()
