"""Measure the time that dense cohorts of terms take to learn and to encode.

    python benchmarks/dcot.py COLLECTION [--documents 12500 25000 …] [--workers 2]

COLLECTION is a collection file or folder, such as arXiv abstracts in JSON lines. The script indexes it, and fits DCoT with
p = 0.9 and r = 500 to its first documents, once for each number of `--documents`. How well dCoT classifies is measured by
`sublex reproduce dcot`.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from functools import partial

import numpy as np
from scipy.sparse import csr_array

import sublex
from sublex_dcot.model import DCoT

HEAD = "documents words non-zeros workers learning per-non-zero steps W encoded-per-second".split()


def seconds(work: Callable[[], object], repeat: int = 3) -> float:
    """Return the median of the seconds that a call takes."""
    taken = []
    for _ in range(repeat):
        begin = time.perf_counter()
        work()
        taken.append(time.perf_counter() - begin)
    return float(np.median(taken))


def timed(x: csr_array, workers: int) -> None:
    """Print a row for one thread, and one for `workers` threads: the time to learn, and the documents encoded per second."""
    model = DCoT(min_df=2)
    for number in sorted({1, workers}):
        learn = seconds(partial(model.fit, x, workers=number))
        encode = x.shape[0] / seconds(partial(model.transform, x, number))
        size = model.W_[0].nbytes / 1e6
        print(
            f"| {x.shape[0]:,} | {len(model.words_):,} | {x.nnz:,} | {number} | {learn:.1f} s | "
            f"{1e9 * learn / x.nnz:,.0f} ns | {model.steps_.mean():.1f} | {size:.0f} MB | {encode:,.0f} |",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("collection")
    parser.add_argument("--documents", type=int, nargs="*", default=[12_500, 25_000, 50_000, 100_000])
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        matrix = sublex.build(options.collection, f"{folder}/index").corpus.matrix().astype(np.float64)
    # Compile the kernels first.
    DCoT(r=1, min_df=1).fit(csr_array(matrix[:50])).transform(csr_array(matrix[:50]))
    print(f"| {' | '.join(HEAD)} |\n|{'---|' * len(HEAD)}")
    for documents in options.documents:
        timed(csr_array(matrix[:documents]), options.workers)


if __name__ == "__main__":
    main()
