"""Time queries: Sublex, PISA (any of its algorithms), tantivy and bm25s (Numba), on the same terms, with one thread each.

    python benchmarks/retrieval.py arxiv-cs.jsonl [--sentences] [--topics FILE] [--folder FOLDER] [--engines pisa-maxscore …]
        [--peers PYTHON] [--runs 3] [--queries 2000]

Sublex analyses the documents once; every engine indexes the same tokens. A query is two to six different terms of a title,
or a whole query of a topics file. The script times the step from terms to documents and scores, warm, in processor time,
in fresh processes that take turns. `--folder` keeps the indexes for the next run.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import sublex

PEERS = ("pisa-block_max_maxscore", "tantivy", "bm25s")
DEPTHS = (10, 100, 1000)
RANKERS = ("BM25", "PL2", "TFIDF", "DirichletLM")
# Timed repetitions in each process.
ROUNDS = 5


def records(collection: str, sentences: bool) -> Iterator[dict[str, str]]:
    """Yield the documents of the collection, or its sentences as documents."""
    with open(collection, encoding="utf-8") as file:
        for line in file:
            record = json.loads(line)
            text = f"{record['title']}. {record['text']}"
            pieces = [s for s in re.split(r"(?<=[.!?])\s+", text) if len(s.split()) > 2] if sentences else [text]
            for k, piece in enumerate(pieces):
                yield {"id": f"{record['id']}-{k}", "contents": piece}


def titles(collection: str, number: int) -> list[str]:
    """Return the titles of documents drawn at random."""
    with open(collection, encoding="utf-8") as file:
        size = sum(1 for _ in file)
    drawn = random.Random(1).sample(range(size), min(number, size))
    wanted = set(drawn)
    with open(collection, encoding="utf-8") as file:
        found = {n: json.loads(line)["title"] for n, line in enumerate(file) if n in wanted}
    return [found[n] for n in drawn]


def prepare(collection: str, sentences: bool, folder: Path) -> None:
    """Build the Sublex index, and write the documents as tokens t0, t1, … for the other engines, unless the folder has them."""
    if (folder / "documents.txt").exists():
        return
    index = sublex.build(records(collection, sentences), folder / "sublex", store="terms")
    tokens = [f"t{n}" for n in range(len(index.corpus.vocabulary))]
    partial = folder / "documents.partial"
    with open(partial, "w", encoding="ascii") as out:
        for block in index.corpus.blocks():
            for row in range(block.shape[0]):
                span = slice(block.indptr[row], block.indptr[row + 1])
                pairs = zip(block.indices[span].tolist(), block.data[span].tolist(), strict=True)
                out.write(" ".join(" ".join([tokens[term]] * tf) for term, tf in pairs) + "\n")
    partial.rename(folder / "documents.txt")


def write_queries(texts: Iterable[str], shorten: bool, folder: Path) -> None:
    """Write queries as terms for Sublex, and as tokens for the other engines. With `shorten`, a query is two to six terms of its text."""
    index = sublex.open(folder / "sublex")
    numbers = index.searcher("BM25").term_table
    chance = random.Random(2)
    queries = []
    for text in texts:
        distinct = list(dict.fromkeys(index.analyze(text)))
        terms = [term for term, n in zip(distinct, numbers.numbers(distinct), strict=True) if n >= 0]
        size = chance.choice((2, 3, 3, 4, 4, 4, 5, 5, 6)) if shorten else len(terms)
        if terms:
            queries.append(chance.sample(terms, size) if len(terms) > size else terms)
    lines = (" ".join(f"t{n}" for n in numbers.numbers(query)) + "\n" for query in queries)
    (folder / "queries.txt").write_text("".join(lines), encoding="ascii")
    (folder / "queries.json").write_text(json.dumps(queries), encoding="utf-8")
    df = numbers.stats.df[numbers.numbers([term for query in queries for term in query])]
    print(
        f"{len(index):,} documents, {index.statistics.postings:,} postings; {len(queries):,} queries "
        f"of {len(df) / len(queries):.1f} terms, mean df {df.mean():,.0f}"
    )


def timed(action: Callable[[], Any], queries: int) -> list[float]:
    """Return the processor seconds per query of each round, after one round that is not timed."""
    action()
    rounds = []
    for _ in range(ROUNDS):
        begin = time.process_time()
        action()
        rounds.append((time.process_time() - begin) / queries)
    return rounds


def ours(folder: Path, stored: bool) -> dict[str, Any]:
    """Return the figures of Sublex, timed in this process."""
    queries = json.loads((folder / "queries.json").read_text())
    index = sublex.open(folder / "sublex")
    index.store_impacts(RANKERS if stored else [])
    result: dict[str, Any] = {}
    for ranker in RANKERS:
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
    parser.add_argument("--sentences", action="store_true", help="index every sentence as a document")
    parser.add_argument(
        "--peers", default=sys.executable, help="a Python interpreter with pyterrier-pisa, tantivy, bm25s and numba"
    )
    parser.add_argument("--queries", type=int, default=2000)
    parser.add_argument("--topics", help="a file of queries, one a line: number, tab, text")
    parser.add_argument("--folder", help="a folder that keeps the indexes")
    parser.add_argument("--engines", nargs="*", default=PEERS, help="the other engines")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--ours", choices=("stored", "computed"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.ours:
        print(json.dumps(ours(Path(args.collection), args.ours == "stored")))
        return
    with tempfile.TemporaryDirectory() as name:
        compare(args, Path(args.folder or name))


def compare(args: argparse.Namespace, folder: Path) -> None:
    """Build what the folder lacks, time all engines in turns, and print the tables."""
    folder.mkdir(exist_ok=True)
    prepare(args.collection, args.sentences, folder)
    if args.topics:
        with open(args.topics, encoding="utf-8") as file:
            texts = [line.partition("\t")[2] for line in file][: args.queries]
    else:
        texts = titles(args.collection, args.queries)
    write_queries(texts, not args.topics, folder)
    peer = [args.peers, str(Path(__file__).with_name("retrieval_peers.py"))]
    for engine in args.engines:
        if not (folder / engine.partition("-")[0]).exists():
            child([*peer, "index", engine, str(folder)])
    jobs = {engine: [*peer, "query", engine, str(folder)] for engine in args.engines}
    jobs |= {f"Sublex, {how}": [sys.executable, __file__, str(folder), "--ours", how] for how in ("stored", "computed")}
    results: dict[str, list[dict[str, Any]]] = {job: [] for job in jobs}
    for _ in range(args.runs):
        for job, command in jobs.items():
            results[job].append(child(command))
    report(results, args.engines)
    print(
        f"\nSublex, no impacts stored, computed at a term's first use: {1000 * cold(folder):.3f} ms a query for k = 10"
    )
    two_cores(folder)


def report(results: dict[str, list[dict[str, Any]]], peers: Sequence[str]) -> None:
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
    for ranker in RANKERS:
        ratios = (ms("Sublex, stored", f"{ranker} batch {k}") / ms("Sublex, stored", f"BM25 batch {k}") for k in DEPTHS)
        print(f"{ranker:28}" + "".join(f"{ratio:10.2f}" for ratio in ratios))
    mine = results["Sublex, stored"][0]["top"]
    for peer in peers:
        theirs = results[peer][0]["top"]
        same = statistics.mean(len({*a} & {*b}) / max(len(a), 1) for a, b in zip(mine, theirs, strict=True))
        print(f"top 10 shared with {peer}: {same:.1%}")


if __name__ == "__main__":
    main()
