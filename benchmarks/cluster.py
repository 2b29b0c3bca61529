"""What a cluster of four shards costs, as ratios of processor time to one index: building, statistics, and queries in batch.

    python benchmarks/cluster.py DOCUMENTS TOPICS FOLDER [--shards 4] [--queries 2000] [--repeats 3]

DOCUMENTS is a JSON lines file, and TOPICS a file of topics, such as titles. The indexes go to FOLDER, and stay there for the next
call. Processor time is that of this process and of all processes that it starts. Each query is searched twice before it is
timed, so that its impacts are computed. One index, the cluster in one process, and the cluster in processes take turns; each
figure is the median of the ratios of the turns.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
from pathlib import Path

import numpy as np

import sublex

TICKS = os.sysconf("SC_CLK_TCK")


def seconds(children: list[int] = []) -> float:  # noqa: B006
    """Return the seconds of processor time that this process, its ended children, and the given children have used."""
    own, ended = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    total = own.ru_utime + own.ru_stime + ended.ru_utime + ended.ru_stime
    for child in children:
        fields = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()
        total += (int(fields[11]) + int(fields[12])) / TICKS
    return total


def build(documents: Path, folder: Path, shards: int) -> None:
    """Build one index and a cluster, unless they are there, and print what the cluster costs."""
    if (folder / "cluster").exists():
        return
    begin = seconds()
    sublex.build(documents, folder / "one")
    middle = seconds()
    sublex.build_cluster(documents, folder / "cluster", shards)
    one, many = middle - begin, seconds() - middle
    print(f"building: one index {one:.2f} s, {shards} shards {many:.2f} s, ratio {many / one:.2f}")
    joined = sublex.join([folder / "cluster"], folder / "joined")
    assert joined.fingerprint == sublex.open(folder / "cluster").fingerprint
    cluster = sublex.open(folder / "cluster")
    begin = seconds()
    _ = cluster._term_table.stats
    took = seconds() - begin
    print(f"statistics of all terms: {took:.2f} s, an indexing by {one / took:.1f}")


def queries(folder: Path, topics: Path, number: int, repeats: int) -> None:
    """Compare the batches of one index with those of the cluster, and print the ratios."""
    asked = {topic.qid: topic.text for topic in list(sublex.read_topics(topics))[:number]}
    one, cluster = sublex.open(folder / "one"), sublex.open(folder / "cluster")
    with cluster.launch() as launched:
        for k in (10, 1000):
            pool = launched._pool

            def took(index: sublex.Index, k: int = k) -> float:
                begin = seconds(launched._pool.process_ids)
                index.run(asked, "BM25", k=k, workers=1)
                return seconds(launched._pool.process_ids) - begin

            found = [index.run(asked, "BM25", k=k, workers=1) for index in (one, cluster, launched)]
            scores = [np.concatenate([np.fromiter(r.values(), np.float32) for r in run.values()]) for run in found]
            assert all(own.tobytes() == scores[0].tobytes() for own in scores)
            for index in (one, cluster, launched):
                took(index)
            before = pool.requests, pool.asked_again
            times = np.array([[took(index) for index in (one, cluster, launched)] for _ in range(repeats)])
            embedded, processes = (statistics.median(times[:, 1 + n] / times[:, 0]) for n in range(2))
            again = (pool.asked_again - before[1]) / (repeats * len(asked) * len(pool._parts))
            print(
                f"{len(asked):,} queries, k = {k:,}: one index {np.median(times[:, 0]):.2f} s; in one process {embedded:.2f}, "
                f"in {len(pool._parts)} processes {processes:.2f} times that; {again:.2%} of answers were asked for again"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("documents", type=Path)
    parser.add_argument("topics", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--shards", type=int, default=4)
    parser.add_argument("--queries", type=int, default=2000)
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    build(given.documents, given.folder, given.shards)
    queries(given.folder, given.topics, given.queries, given.repeats)


if __name__ == "__main__":
    main()
