"""Measure what a new user waits for: compilation in a fresh environment, and the start of commands afterwards.

    python benchmarks/first_minute.py [--repeats 9]

Processor seconds are user and system time of a command with all processes that it starts. The machine may be shared, so
commands are interleaved, and the ratios of medians count. Every run has its own folder for indexes and compiled kernels.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
DEMO = ROOT / "queries" / "demo"
SUBLEX = [sys.executable, "-c", "from sublex.cli import main; main()"]
WARM = {
    "python -c 'import numpy'": [sys.executable, "-c", "import numpy"],
    "python -c 'import numba'": [sys.executable, "-c", "import numba"],
    "sublex info": [*SUBLEX, "info", "demo"],
    "sublex search": [*SUBLEX, "search", "demo", "heart"],
}
FIRST = {
    "index": [*SUBLEX, "index", "demo", str(DEMO / "documents.jsonl"), "--overwrite"],
    "search": [*SUBLEX, "search", "demo", "heart"],
    "warmup": [*SUBLEX, "warmup"],
}


def measured(command: list[str], environment: dict[str, str]) -> tuple[float, float]:
    """Run a command and return its processor seconds and its seconds."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run(command, check=True, capture_output=True, env=os.environ | environment)
    seconds, after = time.monotonic() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, seconds


def environment_in(folder: str) -> dict[str, str]:
    """Return the variables that keep indexes and compiled kernels in a folder."""
    Path(folder, "indexes").mkdir()
    return {"NUMBA_CACHE_DIR": f"{folder}/kernels", "SUBLEX_INDEXES": f"{folder}/indexes"}


def main() -> None:
    """Measure and print a table of the first commands and one of later commands."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=9)
    repeats = parser.parse_args().repeats
    with tempfile.TemporaryDirectory() as folder:
        environment = environment_in(folder)
        print("| first command | compiled: processor seconds | seconds |\n|---|---|---|")
        for name, command in FIRST.items():
            cold = measured(command, environment)
            warm = measured(command, environment)
            print(f"| sublex {name} | {cold[0] - warm[0]:.1f} | {cold[1] - warm[1]:.1f} |", flush=True)
        times: dict[str, list[tuple[float, float]]] = {name: [] for name in WARM}
        for _ in range(repeats):
            for name, command in WARM.items():
                times[name].append(measured(command, environment))
    middle = {name: statistics.median(cpu for cpu, _ in runs) for name, runs in times.items()}
    print(f"\n| command, median of {repeats} | processor seconds | seconds |\n|---|---|---|")
    for name, runs in times.items():
        print(f"| {name} | {middle[name]:.3f} | {statistics.median(wall for _, wall in runs):.3f} |")
    numpy, numba, info, search = middle.values()
    print(f"\ninfo ÷ import numpy: {info / numpy:.2f}; search ÷ import numba: {search / numba:.2f}")


if __name__ == "__main__":
    main()
