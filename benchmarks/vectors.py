"""Time adding vectors from files to an index, beside writing as many bytes to the disk, and scoring all of them.

    python benchmarks/vectors.py [--documents 100000] [--width 384] [--rounds 5] [--memory 256MB 1GB …]

The vectors are normally distributed, and written by `json.dumps`, `numpy.save` and pyarrow. The disk is measured by a new
file of the bytes of the `.npy` file, in pieces of 64 KiB with one `fsync`, in turns with the additions. Each addition
replaces all vectors. Times are medians, of wall clock and of processor time, one thread.

With --memory, the script measures the peak memory of `sublex vectors add --memory SIZE` for each size in place of times, in a
process of its own for each addition. The memory that the process takes without the vectors is that of an addition of ten vectors.
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
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.parquet

import sublex

PIECE = 1 << 16


# A program that runs the command in its arguments, and prints the peak memory of that command in bytes.
PEAK = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(1024 * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


class Times(list[tuple[float, float]]):
    """The seconds that some calls took: wall clock, and processor time."""

    def add(self, work: Callable[[], object]) -> None:
        """Call a function, and append the seconds that it takes."""
        begin, used = time.perf_counter(), time.process_time()
        work()
        self.append((time.perf_counter() - begin, time.process_time() - used))

    @property
    def medians(self) -> list[float]:
        """The medians without the first call, which compiles and reads files for the first time."""
        return [statistics.median(found) for found in zip(*self[1:], strict=True)]


def seconds(work: Callable[[], object]) -> float:
    """Return the seconds that a call takes."""
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def print_peaks(index: Path, files: dict[str, Path], few: Path, sizes: list[str]) -> None:
    """Print the peak memory of an addition from each file, for each size of `--memory`."""

    def peak(file: Path, size: str) -> str:
        # Equal vectors would not be written again.
        if (opened := sublex.open(index)).vectors:
            opened.remove_vectors("v")
        command = (
            "sublex",
            "vectors",
            "add",
            str(index),
            "v",
            str(file),
            "--memory",
            size,
            "--replace",
            "--workers",
            "1",
        )
        made = subprocess.run([sys.executable, "-c", PEAK, *command], capture_output=True, text=True)
        return f"{int(made.stdout) / 1e6:.0f} MB" if made.returncode == 0 else made.stderr.splitlines()[0]

    print(f"ten vectors: {peak(few, sizes[0])}")
    for size in sizes:
        for kind, file in files.items():
            print(
                f"--memory {size}, {kind}: {peak(file, size)}; the file has {file.stat().st_size / 1e6:.0f} MB",
                flush=True,
            )


def write_files(folder: Path, rows: np.ndarray) -> dict[str, Path]:
    """Write vectors in each format; return the files by format."""
    folder.mkdir(exist_ok=True)
    ids = [f"d{k}" for k in range(len(rows))]
    files = {kind: folder / f"vectors.{kind}" for kind in ("npy", "jsonl", "parquet")}
    np.save(files["npy"], rows)
    (folder / "vectors.docnos").write_text("".join(f"{docno}\n" for docno in ids))
    with open(files["jsonl"], "w") as lines:
        for docno, row in zip(ids, rows, strict=True):
            lines.write(json.dumps({"id": docno, "vector": row.tolist()}) + "\n")
    values = pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(rows.ravel()), rows.shape[1])
    pyarrow.parquet.write_table(pyarrow.table({"id": ids, "vector": values}), files["parquet"])
    return files


def write_plainly(source: Path, to: Path) -> None:
    """Write the bytes of a file to a new file, and wait for the disk."""
    to.unlink(missing_ok=True)
    data = source.read_bytes()
    with open(to, "wb", buffering=0) as file:
        for begin in range(0, len(data), PIECE):
            file.write(data[begin : begin + PIECE])
        os.fsync(file.fileno())


def documents(number: int) -> Iterator[dict[str, str]]:
    """Yield small documents."""
    for k in range(number):
        yield {"id": f"d{k}", "text": f"crane w{k % 1000}"}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--width", type=int, default=384)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument(
        "--memory", nargs="+", metavar="SIZE", help="measure the peak memory of additions under these limits"
    )
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=".") as scratch:
        folder = Path(scratch)
        rows = np.random.default_rng(0).standard_normal((given.documents, given.width), dtype=np.float32)
        files, index = write_files(folder, rows), sublex.build(documents(given.documents), folder / "index")
        if given.memory:
            few = write_files(folder / "few", rows[:10])["npy"]
            print_peaks(index.path, files, few, given.memory)
            return
        times = {what: Times() for what in ("disk", *files)}
        for _ in range(given.rounds + 1):
            times["disk"].add(lambda: write_plainly(files["npy"], folder / "plain"))
            for kind, file in files.items():
                times[kind].add(lambda file=file: index.add_vectors("v", file, replace=True))  # type: ignore[misc]
                index.remove_vectors("v")
        medians = {what: found.medians for what, found in times.items()}
        disk = files["npy"].stat().st_size / medians["disk"][0]
        print(f"{given.documents:,} × {given.width}, medians of {given.rounds} rounds")
        print(f"disk      {disk / 1e6:7.0f} MB/s")
        for kind, file in files.items():
            wall, used = (file.stat().st_size / median / 1e6 for median in medians[kind])
            times_disk = medians[kind][0] / medians["disk"][0]
            print(
                f"{kind:9} {wall:7.0f} MB/s of the file, {times_disk:.1f} × the disk's time; {used:.0f} MB/s of processor time"
            )
        index.add_vectors("v", files["npy"])
        asked = index.with_queries({"v": {"crane": rows[0]}})
        for similarity in ("dot", "cosine", "l2"):
            expression = f"dense(v, similarity={similarity})"
            found = [seconds(lambda e=expression: asked.search("crane", e, 10)) for _ in range(given.rounds + 2)][2:]  # type: ignore[misc]
            print(f"{expression:28} {1000 * statistics.median(found):6.1f} ms a query")


if __name__ == "__main__":
    main()
