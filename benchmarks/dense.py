"""Time dense vectors: `dense(NAME)` by sketches, exactly and approximately, beside flat, quantised and graph indexes of other libraries.

    python benchmarks/dense.py FOLDER [--docs 1000000] [--width 384] [--kind clusters|isotropic|decaying] [--similarity dot]
        [--peers flat,sq8,ivf,hnsw,usearch,hnswlib] [--queries 30] [--k 100]

FOLDER keeps the index, so that a second call need not build it. Vectors have norm 1 and come from a generator with a seed: `clusters`
are 1,000 normally distributed centres with noise around them, `isotropic` vectors are normally distributed, and the
entries of `decaying` vectors have variances 1, 1/√2, 1/√3 and so on, in random directions. Every peer is installed beside Sublex
(faiss-cpu, usearch, hnswlib) or left out. All use one thread. In each round every engine answers every query, one at a time;
figures are medians over all rounds in processor time, and ratios to the flat index of Faiss. The times of Sublex are
those of whole queries, from the text to the hits. IVF, HNSW and the graphs get the least effort that reaches a recall of
.99, or the largest that is tried.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import sublex
from sublex.representations import sketch_files

CENTRES, NOISE = 1000, 0.7
# Rows that are made at a time.
ROWS = 50_000
ROUNDS = 3
# The efforts that are tried, until one reaches the recall.
RECALL = 0.99
PROBES, EFFORTS = (16, 32, 64, 128, 256), (100, 200, 400, 800, 1600)
NAME = "given"
Search = Callable[[np.ndarray], Any]


def blocks(kind: str, docs: int, width: int, seed: int) -> Iterator[np.ndarray]:
    """Yield rows of norm 1, float32. Rows of different seeds have the same centres and directions."""
    space, random = np.random.default_rng(0), np.random.default_rng(seed)
    centres = space.standard_normal((CENTRES, width), np.float32)
    turned = np.linalg.qr(space.standard_normal((width, width)))[0].astype(np.float32)
    spread = (np.arange(1, width + 1) ** -0.25).astype(np.float32)
    for begin in range(0, docs, ROWS):
        count = min(ROWS, docs - begin)
        rows = random.standard_normal((count, width), np.float32)
        if kind == "clusters":
            rows = centres[random.integers(0, CENTRES, count)] + np.float32(NOISE) * rows
        elif kind == "decaying":
            rows = rows * spread @ turned
        yield rows / np.linalg.norm(rows, axis=1, keepdims=True)


def indexed(folder: Path, kind: str, docs: int, width: int) -> Any:
    """Return the index of the folder, built if it is missing: documents of one word, with vectors."""
    place = folder / f"{kind}-{docs}-{width}"
    if place.exists():
        return sublex.open(place)
    index = sublex.build(({"id": str(k), "text": "word"} for k in range(docs)), place, store="")
    rows = np.concatenate(list(blocks(kind, docs, width, 1)))
    begin = time.perf_counter()
    index.add_vectors(NAME, rows, [str(k) for k in range(docs)])
    print(f"vectors added, with sketches, in {time.perf_counter() - begin:.1f} s")
    return index


def sketching(index: Any, expression: str) -> float:
    """Return the processor time in which the sketches of the index are made."""
    loaded, seconds = index.representation(expression), 0.0
    for segment in index.snapshot.segments:
        source = sketch_files.Source(loaded.model, loaded.inputs, segment, expression)
        begin = time.process_time()
        sketch_files.sketch_of(source)
        seconds += time.process_time() - begin
    return seconds


class Engine:
    """An engine that answers queries: its name, its search, the seconds of building, the times of queries, and what it found."""

    def __init__(self, name: str, search: Search, built: float = 0.0):
        self.name, self.search, self.built = name, search, built
        self.times: list[float] = []
        self.found: list[set[int]] = []

    def recall(self, queries: np.ndarray, wanted: list[set[int]]) -> float:
        """Return the mean share of the wanted documents that a search finds."""
        self.found = [{int(doc) for doc in self.search(query)} for query in queries]
        return statistics.fmean(len(a & b) / len(b) for a, b in zip(self.found, wanted, strict=True))

    def time(self, queries: np.ndarray) -> None:
        """Take the time of each query."""
        for query in queries:
            begin = time.thread_time()
            self.search(query)
            self.times.append(time.thread_time() - begin)

    @property
    def milliseconds(self) -> float:
        """The median time of a query."""
        return 1000 * statistics.median(self.times)


def sublex_engine(index: Any, name: str, options: str, queries: np.ndarray, k: int) -> Engine:
    """Return Sublex, which finds the vector of a query by the text of the query."""
    texts = {query.tobytes(): f"q{n}" for n, query in enumerate(queries)}
    given = index.with_queries({NAME: {text: queries[n] for n, text in enumerate(texts.values())}})
    pipeline = given.pipeline(f"dense({NAME}{options})")

    def search(query: np.ndarray) -> Any:
        return given.answer(texts[query.tobytes()], pipeline, k).hits.docs

    return Engine(name, search)


def peer(name: str, rows: np.ndarray, similarity: str, k: int) -> tuple[Engine, Callable[[int], Any], tuple[int, ...]]:
    """Build the index of a peer; return it with a function that sets its effort, and the efforts to try."""
    docs, width = rows.shape
    begin = time.process_time()
    if name == "usearch":
        from usearch.index import Index as Graph  # type: ignore[import-not-found]

        graph = Graph(ndim=width, metric="ip" if similarity == "dot" else "l2sq", dtype="i8")
        graph.add(np.arange(docs), rows, threads=1)
        made = Engine("usearch i8", lambda query: graph.search(query, k, threads=1).keys)
        return _built(made, begin), lambda effort: setattr(graph, "expansion_search", effort), EFFORTS
    if name == "hnswlib":
        import hnswlib  # type: ignore[import-not-found]

        nodes = hnswlib.Index(space="ip" if similarity == "dot" else "l2", dim=width)
        nodes.init_index(max_elements=docs, ef_construction=200, M=16, random_seed=1)
        nodes.add_items(rows, num_threads=1)
        nodes.set_num_threads(1)
        return _built(Engine("hnswlib", lambda query: nodes.knn_query(query, k)[0][0]), begin), nodes.set_ef, EFFORTS
    import faiss  # type: ignore[import-not-found]

    faiss.omp_set_num_threads(1)
    metric = faiss.METRIC_INNER_PRODUCT if similarity == "dot" else faiss.METRIC_L2
    recipe = {"flat": "Flat", "sq8": "SQ8", "ivf": f"IVF{4 * int(docs**0.5)},Flat", "hnsw": "HNSW32"}[name]
    index = faiss.index_factory(width, recipe, metric)
    if name == "hnsw":
        index.hnsw.efConstruction = 200
    index.train(rows[:: max(1, docs // 200_000)])
    index.add(rows)
    made = _built(Engine(f"faiss {recipe}", lambda query: index.search(query[None], k)[1][0]), begin)
    if name == "ivf":
        return made, lambda effort: setattr(index, "nprobe", effort), PROBES
    if name == "hnsw":
        return made, lambda effort: setattr(index.hnsw, "efSearch", effort), EFFORTS
    return made, lambda effort: None, (0,)


def _built(engine: Engine, begin: float) -> Engine:
    engine.built = time.process_time() - begin
    return engine


def peers(names: list[str], rows: np.ndarray, queries: np.ndarray, similarity: str, k: int) -> Iterator[Engine]:
    """Yield the peers that are installed, each with the least effort that finds nearly all of what the flat index finds."""
    wanted: list[set[int]] = []
    for name in ["flat", *(name for name in names if name != "flat")]:
        try:
            engine, effort, efforts = peer(name, rows, similarity, k)
        except ImportError:
            print(f"{name} is not installed and left out")
            continue
        if name == "flat":
            engine.recall(queries, [{0}] * len(queries))
            wanted = engine.found
        for number in efforts:
            effort(number)
            if engine.recall(queries, wanted) >= RECALL:
                break
        engine.name += f" effort {number}" if len(efforts) > 1 else ""
        yield engine


def main() -> None:
    """Read the arguments, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--docs", type=int, default=1_000_000)
    parser.add_argument("--width", type=int, default=384)
    parser.add_argument("--kind", choices=("clusters", "isotropic", "decaying"), default="clusters")
    parser.add_argument("--similarity", choices=("dot", "l2"), default="dot")
    parser.add_argument("--peers", default="flat")
    parser.add_argument("--queries", type=int, default=30)
    parser.add_argument("--k", type=int, default=100)
    parser.add_argument("--sketch", action="store_true", help="time the making of sketches, too")
    given = parser.parse_args()
    index = indexed(given.folder, given.kind, given.docs, given.width)
    queries = np.concatenate(list(blocks(given.kind, given.queries, given.width, 2)))
    with threadpool_limits(1):
        base = f", similarity={given.similarity}"
        exact = sublex_engine(index, "sublex exact", base, queries, given.k)
        near = sublex_engine(index, "sublex approximate", f"{base}, find=approximate", queries, given.k)
        if given.sketch:
            exact.built = near.built = sketching(index, f"dense({NAME})")
        rows = np.concatenate(list(blocks(given.kind, given.docs, given.width, 1)))
        found = list(peers([name for name in given.peers.split(",") if name], rows, queries, given.similarity, given.k))
        if not found or not found[0].name.startswith("faiss Flat"):
            sys.exit("Install faiss-cpu: its flat index says which documents are the best.")
        engines, wanted = [exact, near, *found], found[0].found
        recalls = [engine.recall(queries, wanted) for engine in engines]
        for _ in range(ROUNDS):
            for engine in engines:
                engine.time(queries)
    print(f"{given.docs:,} x {given.width} {given.kind}, {given.similarity}, k={given.k}, {given.queries} queries")
    for engine, recall in zip(engines, recalls, strict=True):
        ratio = engine.milliseconds / found[0].milliseconds
        print(
            f"  {engine.name:26} {engine.milliseconds:8.2f} ms ({ratio:.3f} of flat) recall {recall:.4f}"
            f" built in {engine.built:.1f} s"
        )


if __name__ == "__main__":
    main()
