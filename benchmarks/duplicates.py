"""Time `index.duplicates`, and measure its recall against the exact Jaccard coefficients of all pairs.

    python benchmarks/duplicates.py FILE [--documents 100000] [--sample 20000] [--threshold 0.8]

FILE is a collection in any format that Sublex reads. The time is that of the first documents. The recall is that of a sample to
which copies with a few changed words are added, one for each tenth document, so that there are pairs on both sides of the threshold.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from itertools import islice
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array

import sublex
from sublex.building.document_source import source_of
from sublex.contracts.base import Document, Report
from sublex.language import plugins
from sublex.pipeline.near_duplicates import _Shingler, _signatures, band_rows, candidates

WIDTH = 3


def read(file: str, number: int) -> list[Document]:
    """Return the first documents of a collection."""
    sources = source_of(file, plugins.load(), None, False).sources
    return list(islice((document for source in sources for document in source.documents(Report())), number))


def with_copies(documents: list[Document]) -> list[Document]:
    """Return documents with a changed copy of every tenth."""
    rng, copies = random.Random(1), []
    for document in documents[::10]:
        words = document.text.split()
        for place in rng.sample(range(len(words)), int(rng.random() * 0.12 * len(words))):
            words[place] = f"changed{rng.randrange(1000)}"
        copies.append(document._replace(docno=f"{document.docno}-copy", text=" ".join(words)))
    return [*documents, *copies]


def exact_pairs(documents: list[Document], threshold: float) -> set[tuple[int, int]]:
    """Return all pairs of documents whose Jaccard coefficient is at least the threshold, by a product of sparse matrices."""
    shingler = _Shingler(WIDTH)
    sets = [np.unique(shingler(document)) for document in documents]
    _, columns = np.unique(np.concatenate(sets), return_inverse=True)
    sizes = np.array(list(map(len, sets)))
    rows = csr_array((np.ones(len(columns), np.int32), columns, np.concatenate([[0], np.cumsum(sizes)])))
    found = set()
    for begin in range(0, len(documents), 500):
        shared = (rows[begin : begin + 500] @ rows.T).tocoo()
        one, other = shared.row + begin, shared.col
        value = shared.data / (sizes[one] + sizes[other] - shared.data)
        alike = (value >= threshold) & (one < other)
        found |= set(zip(one[alike].tolist(), other[alike].tolist(), strict=True))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file")
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--sample", type=int, default=20_000)
    parser.add_argument("--threshold", type=float, default=0.8)
    given = parser.parse_args()
    documents = read(given.file, given.documents)
    with tempfile.TemporaryDirectory() as folder:
        index = sublex.build(documents, Path(folder) / "all")
        sublex.build(documents[:100], Path(folder) / "warm").duplicates(given.threshold, WIDTH)
        begin = time.perf_counter()
        found = index.duplicates(given.threshold, WIDTH)
        seconds = time.perf_counter() - begin
        print(f"{len(index):,} documents in {seconds:.1f} s: {found!r}, {found.spare:,} to spare")
        sample = with_copies(documents[: given.sample])
        signatures, docs = _signatures(sublex.build(sample, Path(folder) / "sample"), WIDTH, lambda done: None)
        for threshold in (0.5, 0.8, 0.9):
            pairs = {(int(docs[a]), int(docs[b])) for a, b in candidates(signatures, band_rows(threshold)).tolist()}
            true = exact_pairs(sample, threshold)
            share = len(true & pairs) / max(1, len(true))
            print(f"threshold {threshold}: {len(true):,} true pairs, recall {share:.4f}, {len(pairs):,} candidates")


if __name__ == "__main__":
    main()
