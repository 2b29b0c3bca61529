"""Time evaluation: a run of 10,000 topics by 1,000 documents, by Sublex and by ir_measures, and a report of ten systems.

Both read and measure the same files. The report is of 250 topics.

    python benchmarks/judging.py [--topics 10000] [--repeat 3]
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

MEASURES = "AP nDCG@10 P@10 R@1000 RR"
SUBLEX = f"""
import sys, sublex
print(sublex.measure(sys.argv[1], sys.argv[2], "{MEASURES}").mean["AP"])
"""
PEER = f"""
import sys, ir_measures
measures = [ir_measures.parse_measure(name) for name in "{MEASURES}".split()]
qrels = ir_measures.read_trec_qrels(sys.argv[1])
print(ir_measures.calc_aggregate(measures, qrels, ir_measures.read_trec_run(sys.argv[2]))[measures[0]])
"""


def collection(folder: Path, name: str, topics: int, seed: int = 0) -> tuple[Path, Path]:
    """Write judgements and a run in which relevant documents tend to rank higher; return the two paths."""
    chance = np.random.default_rng(seed)
    qrels, run = folder / "qrels.txt", folder / f"{name}.run"
    with open(qrels, "w") as judged, open(run, "w") as ranked:
        for topic in range(topics):
            # Seeded by the topic alone: all systems have the same judgements.
            relevant = np.random.default_rng(topic).choice(500_000, 50, replace=False)
            judged.writelines(f"{topic} 0 doc{doc:07d} {doc % 3}\n" for doc in relevant.tolist())
            docs = np.unique(np.concatenate([relevant[: chance.integers(5, 50)], chance.integers(0, 500_000, 1000)]))
            score = chance.random(len(docs)) + 0.5 * np.isin(docs, relevant)
            best = np.argsort(-score)[:1000]
            ranked.writelines(
                f"{topic} Q0 doc{docs[k]:07d} {rank} {score[k]:.6f} {name}\n" for rank, k in enumerate(best.tolist(), 1)
            )
    return qrels, run


def seconds(*command: str) -> tuple[float, str]:
    """Return the seconds that a Python program takes, and its output."""
    begin = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", *command], check=True, capture_output=True, text=True)
    return time.perf_counter() - begin, done.stdout.strip()


def measuring(folder: Path, topics: int, repeat: int) -> None:
    """Time the measures of one large run."""
    files = [str(path) for path in collection(folder, "large", topics)]
    # The first run compiles kernels.
    seconds(SUBLEX, *files)
    rows = {"Sublex": [], "ir_measures": []}
    for _ in range(repeat):
        for name, code in (("Sublex", SUBLEX), ("ir_measures", PEER)):
            took, figure = seconds(code, *files)
            rows[name].append(took)
            print(f"  {name}: {took:.1f} s, AP {float(figure):.6f}", flush=True)
    ours, peer = (statistics.median(rows[name]) for name in ("Sublex", "ir_measures"))
    print(
        f"{topics:,} topics by 1,000 documents, five measures: Sublex {ours:.1f} s, ir_measures {peer:.1f} s, {peer / ours:.1f} times"
    )


def reporting(folder: Path, repeat: int) -> None:
    """Time a comparison of ten systems and its report."""
    import sublex

    for number in range(10):
        qrels, _ = collection(folder, f"system{number}", 250, number)
    runs = [sublex.read_run(folder / f"system{number}.run") for number in range(10)]
    for test in ("t", "randomisation"):
        took = []
        for _ in range(repeat):
            begin = time.perf_counter()
            comparison = sublex.compare(None, None, qrels, runs, test=test)
            sublex.write_report(comparison, folder / "report.html")
            took.append(time.perf_counter() - begin)
        size = (folder / "report.html").stat().st_size / 1e6
        print(
            f"Comparison ({test}) and report of 10 systems on 250 topics: {statistics.median(took):.1f} s, {size:.1f} MB"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--topics", type=int, default=10_000)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        reporting(Path(folder), options.repeat)
        measuring(Path(folder), options.topics, options.repeat)


if __name__ == "__main__":
    main()
