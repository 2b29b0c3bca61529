"""Measure what character n-grams are worth, alone and in a blend, and what they cost.

    python benchmarks/chars.py COLLECTIONS [--cost DOCUMENTS]

COLLECTIONS holds a folder for each of adi, cranfield, medline, cacm, vaswani and scifact, as for `effectiveness.py`. The script prints
AP, nDCG@10 and R@1000 with gains over BM25 with Lucene's lengths, and for each collection what `chars` takes: bytes, and milliseconds of
processor time. With --cost it indexes the first 100,000 documents of a JSON lines file, and prints what `chars` takes there.
"""

from __future__ import annotations

import argparse
import itertools
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from effectiveness import SHARP, Test, by_topic, load, show

import sublex

COLLECTIONS = (("adi", ""), ("cranfield", ""), ("medline", ""), ("cacm", ""), ("vaswani", ""), ("scifact", "test"))
BASE = "BM25(lengths=lucene)"
LSI = "lsi(e=200, weighting=logtfidf)"
BLEND = f"2*{SHARP} + 0.4*{LSI}"
ZSCORES = f"2*zscore{SHARP} + zscore({LSI})"
REPORTED = (
    BASE,
    "chars",
    "chars(n=4)",
    "chars(k1=3)",
    "BM25 + 0.5*chars",
    SHARP[1:-1],
    BLEND,
    f"{BLEND} + 0.4*chars",
    ZSCORES,
    f"{ZSCORES} + 0.3*zscore(chars)",
    f"{ZSCORES} + 0.6*zscore(chars)",
    f"{ZSCORES} + 0.6*zscore(chars(n=4))",
)
MEASURES = ("AP", "nDCG@10", "R@1000")
# Documents that --cost reads, its queries, and the results of each.
DOCUMENTS, QUERIES, RESULTS = 100_000, 200, 1000


def scores(test: Test, expression: str) -> dict[str, np.ndarray]:
    """Return each measure of each judged topic, in the order of the topics' ids."""
    test.fit(sublex.parse(expression))
    run = test.index.run(test.topics, expression)
    tables = {measure: sublex.measure(test.qrels, run, measure) for measure in MEASURES}
    return {measure: by_topic(table.qids, table[measure]) for measure, table in tables.items()}


def milliseconds(index: Any, texts: Sequence[str], expression: str) -> float:
    """Return the processor time of a query, in milliseconds, after one round that reads what is read once."""
    pipeline = index.pipeline(expression)
    for text in texts:
        index.search(text, pipeline, k=RESULTS)
    begin = time.process_time()
    for text in texts:
        index.search(text, pipeline, k=RESULTS)
    return 1000 * (time.process_time() - begin) / len(texts)


def cost(index: Any, texts: Sequence[str]) -> str:
    """Return what `chars` takes on an index, as cells of a table."""
    card = index.card("chars")
    sizes = [card[f"bytes of the {part}"] / 1e6 for part in ("model", "rows", "lists")]
    times = [milliseconds(index, texts, text) for text in ("chars", BASE)]
    cells = (f"{number:.2f}" for number in (*sizes, *times))
    return f"{len(index):,} | {card['n-grams']:,} | {' | '.join(cells)}"


def measure_cost(source: Path, work: Path) -> None:
    """Print what `chars` takes on the first documents of a file."""
    with source.open() as lines:
        (work / "documents.jsonl").write_text("".join(itertools.islice(lines, DOCUMENTS)))
    index = sublex.build(work / "documents.jsonl", work / "index", store="text")
    texts = [index.document(index.snapshot.docno(doc)).title for doc in range(0, len(index), len(index) // QUERIES)]
    wall, processor = time.perf_counter(), time.process_time()
    index.fit("chars")
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    print(f"fit: {wall:.0f} s, {processor:.0f} s of processor time")
    header(index, [text for text in texts if text])


def header(index: Any, texts: Sequence[str]) -> None:
    """Print the cost of one index."""
    print("documents | n-grams | MB of the model | of the rows | of the lists | ms a query | ms of BM25")
    print(cost(index, texts), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("collections", nargs="?", default="../shared/collections", type=Path)
    parser.add_argument("--cost", type=Path, metavar="DOCUMENTS", help="measure what chars takes on a JSON lines file")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        if given.cost:
            measure_cost(given.cost, Path(work))
            return
        tests = [load(given.collections, *one, Path(work)) for one in COLLECTIONS]
        found = {text: [scores(test, text) for test in tests] for text in REPORTED}
        for measure in MEASURES:
            show(measure, tests, {text: [each[measure] for each in own] for text, own in found.items()}, BASE)
        for test in tests:
            print(f"\n{test.name}")
            header(test.index, [topic.text for topic in test.topics])


if __name__ == "__main__":
    main()
