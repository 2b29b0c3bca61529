"""Measure reordered documents: the time to reorder, bits a posting, the time of queries, and how many blocks can have a hit.

    python benchmarks/reorder.py FOLDER [--queries titles web] [--rounds 5] [--visited 60] [--keep COPY]

FOLDER has an index `sublex` and queries `queries-NAME.json` (lists of terms), as `benchmarks/retrieval.py --folder` leaves them.
The index is copied, and the copy is reordered. Queries run in batch with BM25 on both indexes by turns, in this process and one
thread, in processor time.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np

import sublex
from sublex.index.offsets import POSTINGS_PER_CALL
from sublex.index.segment import Segment
from sublex.pipeline.index import Index
from sublex.retrieval.searcher import Searcher

DEPTHS = (10, 100, 1000)
SIZES = (128, 64, 32, 16, 8, 4, 1)
POSTINGS = ("postings", "block_lasts", "block_widths", "tails", "tail_sizes")
# Postings of a packed block, and the bits that one more value beside the frame takes in a patched one.
BLOCK, PATCH = 128, 8


def bits_on_disk(segment: Segment) -> float:
    """Return the bits that a posting takes on disk."""
    return 8 * sum(segment.nbytes()[name] for name in POSTINGS) / segment.entry.postings


def bits_of_gaps(segment: Segment) -> tuple[float, float, float]:
    """Return three means over postings: log2 of the gap, and the bits of documents in plain and in patched blocks of 128.

    A plain block has as many bits for each gap as the greatest one needs. In a patched one, the greatest gaps may lie beside it.
    """
    logs, plain, patched, blocked = 0.0, 0, 0, 0
    for begin, end in segment.spans(POSTINGS_PER_CALL):
        docs, _ = segment.postings(begin, end)
        df = segment.df[begin:end].astype(np.int64)
        gaps = np.diff(docs.astype(np.int64), prepend=-1)
        firsts = np.cumsum(df) - df
        gaps[firsts] = docs[firsts] + 1
        logs += float(np.log2(gaps).sum())
        within = np.arange(len(gaps)) - np.repeat(firsts, df)
        widths = np.frexp(gaps - 1)[1][within < np.repeat(df // BLOCK * BLOCK, df)].reshape(-1, BLOCK)
        if len(widths):
            counts = np.stack([(widths > width).sum(axis=1) for width in range(33)], axis=1)
            beyond = counts[:, ::-1].cumsum(axis=1)[:, ::-1]
            patched += int((BLOCK * np.arange(33) + PATCH * counts + beyond).min(axis=1).sum())
            plain += BLOCK * int(widths.max(axis=1).sum())
            blocked += widths.size
    return logs / segment.entry.postings, plain / max(blocked, 1), patched / max(blocked, 1)


def times(searchers: list[Searcher], queries: list[list[str]], k: int, rounds: int) -> list[float]:
    """Return the median milliseconds a query of each searcher, which take turns. Their scores must be equal."""
    found = [[(hits.docnos, hits.scores.tolist()) for hits in searcher.batch(queries, k)] for searcher in searchers]
    assert all(hits == found[0] for hits in found)
    seconds: list[list[float]] = [[] for _ in searchers]
    for _ in range(rounds + 1):
        for number, searcher in enumerate(searchers):
            begin = time.process_time()
            for _ in searcher.batch(queries, k):
                pass
            seconds[number].append(time.process_time() - begin)
    return [1000 * statistics.median(s[1:]) / len(queries) for s in seconds]


def visited(searcher: Searcher, queries: list[list[str]]) -> dict[tuple[int, int], tuple[float, float]]:
    """Return, by size of blocks and depth, how many blocks have a bound that reaches the final k-th score, and the postings in them."""
    (impacts,) = searcher.impacts
    segment = impacts.segment
    totals = {(size, k): np.zeros(2) for size in SIZES for k in DEPTHS}
    for query in queries:
        terms = np.array([ordinal for ordinal in segment.find_all(query) if ordinal >= 0])
        impacts.compute(terms)
        lists = [impacts.postings.read(term) for term in terms.tolist()]
        scores = np.zeros(segment.docs)
        for docs, values in lists:
            scores[docs] += values
        best = np.sort(scores[scores > 0])[::-1]
        for size in SIZES:
            bounds, postings = np.zeros(-(-segment.docs // size)), np.zeros(-(-segment.docs // size))
            for docs, values in lists:
                blocks = docs // size
                firsts = np.flatnonzero(np.diff(blocks, prepend=-1))
                bounds[blocks[firsts]] += np.maximum.reduceat(values, firsts)
                postings[blocks[firsts]] += np.diff(firsts, append=len(blocks))
            for k in DEPTHS:
                reaching = bounds >= (best[k - 1] if len(best) >= k else 1e-9) * (1 - 1e-6)
                totals[size, k] += np.count_nonzero(reaching), postings[reaching].sum()
    return {key: tuple(total / len(queries)) for key, total in totals.items()}


def reordered(plain: Path, copy: Path) -> Index:
    """Return a copy of an index with its documents reordered, and print what this took."""
    if not copy.exists():
        shutil.copytree(plain, copy, ignore=shutil.ignore_patterns("derived"))
        begin = time.process_time()
        sublex.open(copy).merge(1, reorder=True)
        print(f"reordered in {time.process_time() - begin:.1f} processor seconds")
    return sublex.open(copy)


def measure(folder: Path, copy: Path, args: argparse.Namespace) -> None:
    """Print all figures of one index."""
    indexes = [sublex.open(folder / "sublex"), reordered(folder / "sublex", copy)]
    plain, new = (index.snapshot.segments[0] for index in indexes)
    print(f"{folder}: {plain.docs:,} documents, {plain.entry.postings:,} postings")
    print(f"{'':12}{'on disk':>10}{'log2 gap':>10}{'plain':>10}{'patched':>10}{'MB':>10}")
    for name, segment in (("as indexed", plain), ("reordered", new)):
        figures = bits_on_disk(segment), *bits_of_gaps(segment)
        size = sum(segment.nbytes().values()) / 1e6
        print(f"{name:12}" + "".join(f"{figure:10.3f}" for figure in figures) + f"{size:10.1f}", flush=True)
    searchers = [index.searcher("BM25") for index in indexes]
    for name in args.queries:
        queries = json.loads((folder / f"queries-{name}.json").read_text())
        for k in DEPTHS:
            before, after = times(searchers, queries, k, args.rounds)
            print(f"{name}, k = {k}: {before:.4f} -> {after:.4f} ms a query, {after / before:.2f}", flush=True)
    queries = json.loads((folder / f"queries-{args.queries[0]}.json").read_text())[: args.visited]
    both = [visited(searcher, queries) for searcher in searchers]
    print("documents a block | k: blocks that reach the threshold, their postings: as indexed -> reordered")
    for size in SIZES:
        cells = (
            f"{k}: {a[0]:,.0f}, {a[1]:,.0f} -> {b[0]:,.0f}, {b[1]:,.0f}"
            for k in DEPTHS
            for a, b in [(both[0][size, k], both[1][size, k])]
        )
        print(f"{size} | " + " | ".join(cells), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--queries", nargs="+", default=["titles", "web"])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--visited", type=int, default=60, help="queries for which blocks are counted")
    parser.add_argument("--keep", type=Path, help="the folder of the reordered copy, which is kept")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        measure(args.folder, args.keep or Path(name) / "copy", args)


if __name__ == "__main__":
    main()
