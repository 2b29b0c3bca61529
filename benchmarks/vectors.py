"""Time adding vectors from files to an index, beside writing as many bytes to the disk, and scoring all of them.

    python benchmarks/vectors.py [--documents 100000] [--width 384] [--rounds 5]

The vectors are normally distributed, and written by `json.dumps`, `numpy.save` and pyarrow. The disk is measured by a new
file of the bytes of the `.npy` file, in pieces of 64 KiB with one `fsync`, in turns with the additions. Each addition
replaces all vectors. Times are medians of wall clock, one thread.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.parquet

import sublex

PIECE = 1 << 16


def seconds(work: Callable[[], object]) -> float:
    """Return the seconds that a call takes."""
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def write_files(folder: Path, rows: np.ndarray) -> dict[str, Path]:
    """Write vectors in each format; return the files by format."""
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
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=".") as scratch:
        folder = Path(scratch)
        rows = np.random.default_rng(0).standard_normal((given.documents, given.width), dtype=np.float32)
        files, index = write_files(folder, rows), sublex.build(documents(given.documents), folder / "index")
        times: dict[str, list[float]] = {"disk": [], **{kind: [] for kind in files}}
        for _ in range(given.rounds + 1):
            times["disk"].append(seconds(lambda: write_plainly(files["npy"], folder / "plain")))
            for kind, file in files.items():
                times[kind].append(seconds(lambda file=file: index.add_vectors("v", file, replace=True)))  # type: ignore[misc]
                index.remove_vectors("v")
        # The first round compiles and reads files for the first time.
        medians = {what: statistics.median(found[1:]) for what, found in times.items()}
        disk = files["npy"].stat().st_size / medians["disk"]
        print(f"{given.documents:,} × {given.width}, medians of {given.rounds} rounds")
        print(f"disk      {disk / 1e6:7.0f} MB/s")
        for kind, file in files.items():
            speed = file.stat().st_size / medians[kind]
            print(
                f"{kind:9} {speed / 1e6:7.0f} MB/s of the file, {medians[kind] / medians['disk']:.1f} × the disk's time"
            )
        index.add_vectors("v", files["npy"])
        asked = index.with_queries({"v": {"crane": rows[0]}})
        for similarity in ("dot", "cosine", "l2"):
            expression = f"dense(v, similarity={similarity})"
            found = [seconds(lambda e=expression: asked.search("crane", e, 10)) for _ in range(given.rounds + 2)][2:]  # type: ignore[misc]
            print(f"{expression:28} {1000 * statistics.median(found):6.1f} ms a query")


if __name__ == "__main__":
    main()
