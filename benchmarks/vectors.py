"""Measure LSI and Fisher vectors: retrieval next to TFIDF and PL2, clustering of 20 Newsgroups, and speed.

    python benchmarks/vectors.py COLLECTIONS [--only retrieval|clustering|speed] [--workers 2]

Retrieval has e = 50 on raw counts, K = 16, the best of five starts by likelihood, and words that occur in two documents or more. Figures
are the mean and the range of five seeds. Clustering has e = 20 on rows of length 1 of logarithmic tf times idf, K = 8, and
spherical k-means into 20 clusters. Speed has e = 100 and K = 16 on the abstracts of arxiv-cs.
"""

from __future__ import annotations

import argparse
import json
import lzma
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

import sublex
from sublex.estimators.blocks import random
from sublex_fisher.model import Fisher
from sublex_lsi.model import LSI

COLLECTIONS = ("vaswani", "cacm", "cranfield", "medline", "scifact")
SEEDS = range(5)
RUNS = 20


class Test(NamedTuple):
    """A collection as a matrix over the words that occur in two documents or more, with its topics as rows over the same words."""

    index: Any
    matrix: csr_array
    topics: Any
    queries: csr_array
    qrels: Mapping[str, Mapping[str, int]]


def frequent(matrix: csr_array, least: int) -> np.ndarray:
    """Return the columns of words that occur in at least this number of documents."""
    return np.flatnonzero(np.bincount(matrix.indices, minlength=matrix.shape[1]) >= least)


def narrowed(matrix: csr_array, columns: np.ndarray) -> csr_array:
    """Return these columns of a matrix, with indices of 32 bits."""
    made = csr_array(matrix[:, columns])
    made.sort_indices()
    return csr_array((made.data, made.indices.astype(np.int32), made.indptr.astype(np.int32)), shape=made.shape)


def load(folder: Path, work: Path) -> Test:
    """Index a collection, read its topics, and return both."""
    beir = (folder / "corpus.jsonl").exists()
    index = sublex.build(folder if beir else folder / "docs.trec", work / folder.name)
    topics = sublex.read_topics(folder / ("queries.jsonl" if beir else "topics.trec"))
    qrels = sublex.read_qrels(folder / ("qrels/test.tsv" if beir else "qrels.txt"))
    topics = [topic for topic in topics if topic.qid in qrels]
    matrix = index.corpus.matrix()
    kept = frequent(matrix, 2)
    numbers = {index.corpus.vocabulary[column]: number for number, column in enumerate(kept)}
    words = [[numbers[term] for term in index.analyze(topic.text) if term in numbers] for topic in topics]
    rows = np.repeat(np.arange(len(words)), [len(row) for row in words])
    flat = np.array([word for row in words for word in row], np.int64)
    queries = csr_array((np.ones(len(flat)), (rows, flat)), shape=(len(words), len(kept)))
    return Test(index, narrowed(matrix, kept), topics, queries, qrels)


def precision(test: Test, model: Any) -> float:
    """Return the mean AP over the topics, in points."""
    norms = model.norms(test.matrix)
    docnos = [str(docno) for docno in test.index.snapshot.all_docnos]
    run = {}
    for row, topic in enumerate(test.topics):
        scores = model.scores(test.queries[[row]], test.matrix, norms)
        best = np.argsort(-scores, kind="stable")[:1000]
        run[topic.qid] = {docnos[doc]: float(np.float32(scores[doc])) for doc in best}
    return measured(test, run)


def measured(test: Test, run: Any) -> float:
    """Return AP in points."""
    return 100 * float(next(iter(sublex.measure(test.qrels, run, "AP").mean.values())))


def spread(values: list[float]) -> str:
    """Return the mean and the range as text."""
    return f"{statistics.mean(values):5.1f} ({min(values):.1f}-{max(values):.1f})"


def retrieval(collections: Path, work: Path, workers: int) -> None:
    """Print AP in points of LSI, Fisher vectors, TFIDF and PL2."""
    print(f"{'AP':10}{'LSI':>6}{'FV tf':>18}{'FV tf idf':>18}{'TFIDF':>7}{'PL2':>6}{'LSI tf idf':>12}{'its e=200':>10}")
    for name in COLLECTIONS:
        test = load(collections / name, work)
        lsi = LSI(50, "count").fit(test.matrix, workers)

        def fishers(test: Test = test, lsi: LSI = lsi, **options: Any) -> list[float]:
            return [precision(test, Fisher(lsi, seed=s, **options).fit(test.matrix, workers)) for s in SEEDS]

        others = [measured(test, test.index.run(test.topics, r)) for r in ('TFIDF(smart="ntc.ntc")', "PL2")]
        tfidf = [precision(test, LSI(e, "tfidf").fit(test.matrix, workers)) for e in (50, 200)]
        print(
            f"{name:10}{precision(test, lsi):6.1f}{spread(fishers()):>18}{spread(fishers(idf=True)):>18}"
            f"{others[0]:7.1f}{others[1]:6.1f}{tfidf[0]:12.1f}{tfidf[1]:10.1f}",
            flush=True,
        )
        if name == "vaswani":
            found = (f"K={k} {spread(fishers(k=k))} | {spread(fishers(k=k, idf=True))}" for k in (1, 2, 4, 8, 32))
            print("  tf | tf idf: " + "; ".join(found), flush=True)


# Clustering.


def unit(rows: np.ndarray) -> np.ndarray:
    """Return rows brought to length 1."""
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(norms > 0, norms, 1)


def spherical(x: np.ndarray, k: int, seed: int) -> np.ndarray:
    """Return the cluster of each row by spherical k-means, which starts with k-means++."""
    chance, odds, chosen = random(seed), np.ones(len(x)), []
    near = np.full(len(x), np.inf)
    for _ in range(k):
        ladder = np.cumsum(odds)
        chosen.append(min(int(np.searchsorted(ladder, chance.random() * ladder[-1], side="right")), len(x) - 1))
        odds = near = np.minimum(near, np.maximum(2 - 2 * x @ x[chosen[-1]], 0))
    centres, old = x[chosen], np.full(len(x), -1)
    for _ in range(200):
        own = (x @ centres.T).argmax(axis=1)
        if (own == old).all():
            break
        old = own
        sums = np.array([x[own == c].sum(axis=0) for c in range(k)])
        centres = np.where(np.linalg.norm(sums, axis=1, keepdims=True) > 0, unit(sums), centres)
    return old


def agreement(a: np.ndarray, b: np.ndarray) -> tuple[float, float]:
    """Return the adjusted Rand index (Hubert and Arabie, 1985) and the normalised mutual information (arithmetic mean), in points."""
    table = np.zeros((a.max() + 1, b.max() + 1))
    np.add.at(table, (a, b), 1)
    rows, columns, n = table.sum(axis=1), table.sum(axis=0), len(a)
    pairs = [float((x * (x - 1) / 2).sum()) for x in (table, rows, columns)]
    expected = pairs[1] * pairs[2] / (n * (n - 1) / 2)
    entropies = [-float((x[x > 0] / n * np.log(x[x > 0] / n)).sum()) for x in (table, rows, columns)]
    shared = entropies[1] + entropies[2] - entropies[0]
    return (
        100 * (pairs[0] - expected) / ((pairs[1] + pairs[2]) / 2 - expected),
        100 * shared / ((entropies[1] + entropies[2]) / 2),
    )


def clustering(collections: Path, work: Path, workers: int) -> None:
    """Print ARI and NMI on 20 Newsgroups."""
    with lzma.open(collections / "20news" / "20news.jsonl.xz", "rt", encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    texts = ({"id": str(n), "text": record["text"]} for n, record in enumerate(records))
    corpus = sublex.build(texts, work / "20news").corpus
    labels = np.unique([record["label"] for record in records], return_inverse=True)[1]
    matrix = corpus.matrix()
    words = corpus.vocabulary
    kept = [c for c in frequent(matrix, 4) if not any(map(str.isdigit, words[c]))]
    matrix = narrowed(matrix, np.array(kept))
    damped = csr_array((1 + np.log(matrix.data), matrix.indices, matrix.indptr), shape=matrix.shape)
    print(f"20 Newsgroups: {matrix.shape[0]:,} documents, {matrix.shape[1]:,} words; mean and range of {RUNS} runs")
    for rows in (False, True):
        lsi = LSI(20, "logtfidf", unit=rows).fit(matrix, workers)
        made = {"LSI": lambda run, lsi=lsi: lsi.transform(matrix)}
        for k in (1, 8, 16):
            fits = [Fisher(lsi, k=k, idf=True, l2=True, seed=s).fit(matrix, workers) for s in SEEDS]
            made[f"FV K={k}"] = lambda run, fits=fits: fits[run % len(fits)].transform(damped)
        for name, vectors in made.items():
            found = [
                agreement(labels, spherical(unit(vectors(run)).astype(np.float32), 20, run)) for run in range(RUNS)
            ]
            ari, nmi = zip(*found, strict=True)
            print(
                f"  {'L2 rows ' if rows else ''}{name:8} ARI {spread(list(ari))}  NMI {spread(list(nmi))}", flush=True
            )


# Speed.


def took(action: Callable[[], Any], times: int = 1) -> float:
    """Run a function several times, and return the median of the seconds."""
    found = []
    for _ in range(times):
        begin = time.perf_counter()
        action()
        found.append(time.perf_counter() - begin)
    return statistics.median(found)


def speed(collections: Path, work: Path, workers: int) -> None:
    """Print the time of fitting, computing norms, reranking and scoring all of 100,000 abstracts."""
    index = sublex.build(collections / "arxiv-cs" / "arxiv-cs.jsonl.xz", work / "arxiv", store="terms")
    matrix = index.corpus.matrix()
    matrix = narrowed(matrix, frequent(matrix, 2))
    print(
        f"arxiv-cs: {matrix.shape[0]:,} documents, {matrix.shape[1]:,} words, {matrix.nnz:,} postings; {workers} workers"
    )
    warm, lsi = matrix[:50], LSI(100, "count")
    fisher = Fisher(lsi)
    for model in (LSI(3, "count"), Fisher(np.ones((matrix.shape[1], 2)), k=2)):
        model.fit(warm).scores(matrix[[0]], warm)
    print(f"  LSI e=100 fit {took(lambda: lsi.fit(matrix, workers)):.1f} s, ", end="", flush=True)
    print(f"Fisher K=16 fit, best of 5 {took(lambda: fisher.fit(matrix, workers)):.1f} s, ", end="", flush=True)
    print(f"norms {took(lambda: fisher.norms(matrix, workers)):.1f} s")
    some = np.sort(random(0).choice(matrix.shape[0], 1000, replace=False)).astype(np.int32)
    text = "convergence of stochastic gradient descent"
    for expression in ("lsi(e=100)", "fisher(words=lsi(e=100))"):
        index.fit(expression, workers=workers)
        side, query = index.representation(expression), index.query(text)
        encoded = side.query(query)
        read = took(partial(side.query, query), 51)
        few = took(partial(side.scores, encoded, some), 51)
        every = took(partial(side.scores, encoded), 51)
        print(
            f"  {expression}: a query {read * 1e3:.2f} ms, 1,000 documents {few * 1e3:.2f} ms, all {every * 1e3:.1f} ms; "
            f"search {took(partial(index.search, text, expression), 51) * 1e3:.1f} ms"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("collections", nargs="?", default="../shared/collections")
    parts = {"retrieval": retrieval, "clustering": clustering, "speed": speed}
    parser.add_argument("--only", choices=parts, help="one of the three parts")
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        for name, part in parts.items():
            if given.only in (None, name):
                part(Path(given.collections), Path(work), given.workers)


if __name__ == "__main__":
    main()
