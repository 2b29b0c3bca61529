"""Compare the time of a study with that of the commands that do the same, and measure a second run of the study.

    python benchmarks/study.py COLLECTIONS [--rounds 3] [--names adi cranfield medline]

COLLECTIONS has a folder for each collection with docs.trec, topics.trec and qrels.txt. The study has twelve systems on each
collection: ten rankers, and two expressions whose numbers are tuned by five folds. The commands are `sublex index`, `sublex compare`
with a report, and `sublex tune`, each once for a collection; a second sum has `sublex run` too, which writes the runs that a study
leaves. Commands and study run in turns, each in processes of their own and in empty folders. Medians over the rounds are printed, of
seconds and of processor seconds; the latter hardly depend on what else the machine does.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

RANKERS = [
    "BM25", "BM25(k1=0.9, b=0.4)", "PL2", "DPH", "InL2", "DirichletLM", "TFIDF", "DFI", "BM25 >> RM3 >> BM25", "PL2 >> Bo1 >> PL2",
]  # fmt: skip
TUNED = ["BM25(k1={0.4..2}, b={0..1})", "PL2 + {0..1}*DirichletLM"]


def sublex(folder: Path, *words: str) -> np.ndarray:
    """Run a command in a folder, and return its seconds and its processor seconds."""
    begin, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-c", "from sublex.cli import main; main()", *words],
        cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return np.array([time.perf_counter() - begin, spent])


def commands(folder: Path, collections: dict[str, Path]) -> tuple[np.ndarray, np.ndarray]:
    """Return two sums of seconds: that of all commands but `sublex run`, and that of all commands."""
    total, runs = np.zeros(2), np.zeros(2)
    for name, place in collections.items():
        files = [str(place / "topics.trec"), str(place / "qrels.txt")]
        rankers = [word for ranker in RANKERS for word in ("-r", ranker)]
        total += sublex(folder, "index", f"./{name}", str(place / "docs.trec"))
        total += sublex(folder, "compare", f"./{name}", *files, *rankers, "-o", f"{name}.html")
        for expression in TUNED:
            total += sublex(folder, "tune", f"./{name}", *files, expression)
        runs += sublex(folder, "run", f"./{name}", files[0], *rankers, "-o", f"{name}-runs")
    return total, total + runs


def write_study(folder: Path, collections: dict[str, Path]) -> None:
    """Write the study."""
    lines = ["[collections]", *(f'{name} = "{place / "docs.trec"}"' for name, place in collections.items())]
    for name, place in collections.items():
        lines += [f"[topics.{name}]", f'file = "{place / "topics.trec"}"', f'qrels = "{place / "qrels.txt"}"']
    lines += ["[systems]", *(f'"{expression}" = "{expression}"' for expression in (*RANKERS, *TUNED))]
    (folder / "all.toml").write_text("\n".join([*lines, ""]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("collections", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--names", nargs="+", default=["adi", "cranfield", "medline"])
    given = parser.parse_args()
    collections = {name: (given.collections / name).resolve() for name in given.names}
    allowed = ["--allow", str(given.collections.resolve())]
    found: dict[str, list[np.ndarray]] = {key: [] for key in ("commands", "commands with run", "study", "study again")}
    for number in range(given.rounds):
        with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
            write_study(Path(other), collections)
            plain, whole = commands(Path(one), collections)
            rows = [
                plain,
                whole,
                sublex(Path(other), "study", "all.toml", *allowed),
                sublex(Path(other), "study", "all.toml", *allowed),
            ]
        for key, seconds in zip(found, rows, strict=True):
            found[key].append(seconds)
        last = ", ".join(f"{key} {values[-1][0]:.1f} s ({values[-1][1]:.1f})" for key, values in found.items())
        print(f"round {number + 1}: {last}", flush=True)
    medians = {key: np.median(values, axis=0) for key, values in found.items()}
    print(f"{'':<20}{'s':>8}{'ratio':>7}{'processor s':>13}{'ratio':>7}")
    for key, (seconds, spent) in medians.items():
        ratios = medians[key] / medians["commands"]
        print(f"{key:<20}{seconds:8.1f}{ratios[0]:7.2f}{spent:13.1f}{ratios[1]:7.2f}")


if __name__ == "__main__":
    main()
