"""Measure feedback from judged documents on the residual collections, beside feedback from the first documents found.

    python benchmarks/judged.py COLLECTIONS [--work FOLDER]

The collections are those of pipelines.py. For each topic, the first ten documents that BM25 finds are taken as judged: relevant ones
by the collection's judgements, all others as non-relevant. These documents are then left out of all rankings and judgements. With
--work, the indexes stay in FOLDER, and the next call uses them again.
"""

from __future__ import annotations

import argparse
import tempfile
import warnings
from pathlib import Path

import numpy as np
from effectiveness import BASE, Test, load
from pipelines import COLLECTIONS

import sublex

SEEN, HITS = 10, 1000
FEEDBACK = (
    "BM25 >> RM3 >> BM25",
    "BM25 >> Rocchio >> BM25",
    *(f"Burst >> BM25 >> Sharp(gamma={gamma}) >> BM25" for gamma in (0, 0.05, 0.15, 0.5)),
)
# What learns from the first documents found, whatever is judged.
BLIND = (BASE, "good")


def measured(test: Test) -> list[float]:
    """Return the AP, in per cent, of each system on the residual collection."""
    first = test.index.run(test.topics, BASE, SEEN)
    seen = {qid: {docno: test.qrels[qid].get(docno, 0) for docno in first[qid]} for qid in first.qids}
    runs = [test.index.run(test.topics, text, HITS + SEEN) for text in BLIND]
    runs += [test.index.run(test.topics, text, HITS + SEEN, judged=seen) for text in FEEDBACK]
    return [100 * sublex.measure(test.qrels, run, "AP", residual=seen).mean["AP"] for run in runs]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("collections", type=Path)
    parser.add_argument("--work", type=Path, help="keep the indexes in this folder")
    given = parser.parse_args()
    warnings.simplefilter("ignore", sublex.SublexWarning)
    with tempfile.TemporaryDirectory() as temporary:
        work = given.work or Path(temporary)
        tests = [load(given.collections, *collection, work) for collection in COLLECTIONS]
        found = np.array([measured(test) for test in tests]).T
    print(f"| system | {' | '.join(test.name for test in tests)} | gain |\n|{'---|' * (len(tests) + 2)}")
    for text, row in zip((*BLIND, *FEEDBACK), found, strict=True):
        gain = f"{100 * (row / found[0] - 1).mean():+.1f} %"
        print(f"| `{text}` | {' | '.join(f'{value:.2f}' for value in row)} | {gain} |", flush=True)


if __name__ == "__main__":
    main()
