"""Index a collection with and without fields, in turns, each in a new process, and print the ratios of time and size.

    python benchmarks/field_costs.py arxiv-cs.jsonl [--fields title,text] [--store text,terms] [--runs 5] [--workers 1]

The collection is a file of JSON lines, plain or compressed. Times are those of the processor, of the process and its threads, from
start to end; kernels are compiled before. Ratios are medians over the turns.
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


def build(source: str, root: Path, options: list[str]) -> tuple[float, float, int]:
    """Build an index in a new process. Return the seconds of the processor and of the clock, and the bytes of the segments."""
    shutil.rmtree(root, ignore_errors=True)
    script, before, clock = Path(sys.executable).with_name("sublex"), os.times(), time.monotonic()
    subprocess.run([str(script), "index", str(root), source, *options], check=True, capture_output=True)
    after, seconds = os.times(), time.monotonic() - clock
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return used, seconds, sum(file.stat().st_size for file in (root / "segments").rglob("*") if file.is_file())


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source")
    parser.add_argument("--fields", default="title,text")
    parser.add_argument("--store", default="text,terms")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--workers", type=int, default=1)
    asked = parser.parse_args()
    common = ["--store", asked.store, "--workers", str(asked.workers)]
    found: list[list[tuple[float, float, int]]] = [[], []]
    with tempfile.TemporaryDirectory() as place:
        for turn in range(asked.runs + 1):
            for k, more in enumerate(([], ["--fields", asked.fields])):
                figures = build(asked.source, Path(place) / f"index-{k}", [*common, *more])
                # The first turn compiles the kernels and reads the source into the system's cache.
                if turn:
                    found[k].append(figures)
        for k, name in enumerate(("without fields", f"with {asked.fields}")):
            used, clock, size = (statistics.median(column) for column in zip(*found[k], strict=True))
            print(f"{name:30} {used:8.2f} s of the processor {clock:8.2f} s {size / 1e6:10.2f} MB")
        ratios = [statistics.median(b[part] / a[part] for a, b in zip(*found, strict=True)) for part in range(3)]
        print(f"ratios: processor {ratios[0]:.3f}, clock {ratios[1]:.3f}, size {ratios[2]:.3f}")
        index = sublex.open(Path(place) / "index-1")
        sizes = index.nbytes()
        own = {name: size for name, size in sizes.items() if name.startswith("field_")}
        total = sum(own.values())
        postings = index.statistics.postings
        print(f"{postings:,} postings; fields take {total:,} bytes, {8 * total / postings:.2f} bits a posting")
        for name, size in own.items():
            print(f"  {name:24} {size:12,}")


if __name__ == "__main__":
    main()
