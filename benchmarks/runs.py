"""Measure how many lines of run files are written and read per second, plain and compressed.

python benchmarks/runs.py [TOPICS]    1,000 hits per topic, docnos of 13 characters
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import sublex
from sublex.tools.strings import Strings
from sublex.trec.run_writer import write_run

HITS, DOCUMENTS = 1000, 500_000


def main() -> None:
    topics = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    random = np.random.default_rng(1)
    docnos = Strings.of(f"arxiv-{number:07d}" for number in range(DOCUMENTS))
    firsts = random.permutation(DOCUMENTS)
    scores = -np.sort(-random.gamma(3, 4, (64, HITS)).astype(np.float32), axis=1)

    def rows(count: int):
        for topic in range(count):
            docs = firsts[(np.arange(HITS) + topic * 7919) % DOCUMENTS]
            yield str(topic), docnos.take(docs), scores[topic % 64]

    with tempfile.TemporaryDirectory() as folder:
        for name in ("a.run", "a.run.gz"):
            path = Path(folder) / name
            write_run(path, rows(1), "warm")
            sublex.read_run(path)
            for action, work in (
                ("write", lambda p=path: write_run(p, rows(topics), "BM25")),
                ("read", lambda p=path: sublex.read_run(p)),
            ):
                begin = time.perf_counter()
                work()
                seconds = time.perf_counter() - begin
                lines = topics * HITS
                print(
                    f"{action:5} {name:8} {lines:,} lines in {seconds:.2f} s: {lines / seconds / 1e6:.2f} million per second"
                )


main()
