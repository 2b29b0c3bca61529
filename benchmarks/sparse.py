"""Time learned sparse weights: `sparse(NAME)` beside PISA's maxscore and SEISMIC, on equal quantised weights.

    python benchmarks/sparse.py FOLDER [--docs 100000] [--peers pisa,seismic] [--queries 100] [--k 10,100,1000] [--build]

FOLDER keeps the indexes, so that a second call need not build them; --build builds them and stops. The weights come from a
generator with a seed: a document has about 200 of 30,000 terms, most of them from one of 300 topics, as an expansion of its
words would be, and weights like those of BM25 in 8 bits. A query has 30 to 60 terms of a topic, a few of them with large
weights. Every peer is installed beside Sublex (pyterrier-pisa, pyseismic-lsr) or left out. All use one thread. In each
round every engine answers every query, one at a time; figures are medians over all rounds in processor time. The times of
Sublex are those of whole queries, from the text to the hits; those of PISA are of its C++ code. SEISMIC is approximate: it gets
the least effort that finds .995 of the best documents, or the largest that is tried.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

import sublex

TERMS, TOPICS, TOPIC_TERMS = 30_000, 300, 900
ROUNDS = 5
NAME = "splade"
RECALL = 0.995
# The numbers of query terms that SEISMIC looks at, and its heap factors, from the least effort to the largest.
EFFORTS = ((8, 0.9), (12, 0.8), (20, 0.7), (40, 0.7), (60, 0.6), (60, 0.4))
Query = dict[str, int]


def zipf(count: int) -> np.ndarray:
    """Return the cumulative probabilities of terms by their rank."""
    shares = 1 / (np.arange(count) + 20.0)
    return np.cumsum(shares / shares.sum())


def topic_terms() -> np.ndarray:
    """Return the terms of each topic, the most frequent first."""
    random = np.random.default_rng(0)
    return np.array([np.sort(random.choice(TERMS, TOPIC_TERMS, False)) for _ in range(TOPICS)])


def documents(docs: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the terms of each document, ascending, and their weights, 1 to 255."""
    random, topics, of_all, of_topic = np.random.default_rng(1), topic_terms(), zipf(TERMS), zipf(TOPIC_TERMS)
    rarity = np.log1p(np.arange(TERMS) + 20.0) / np.log1p(TERMS)
    for _ in range(docs):
        size = int(np.clip(random.normal(245, 50), 50, 500))
        own = topics[random.integers(TOPICS)][np.searchsorted(of_topic, random.random(int(0.7 * size)))]
        terms, tf = np.unique(
            np.concatenate([own, np.searchsorted(of_all, random.random(size - len(own)))]), return_counts=True
        )
        weights = 60 * rarity[terms] * tf / (tf + 1.0) * random.lognormal(0, 0.5, len(terms))
        yield terms, np.clip(np.rint(weights), 1, 255).astype(np.uint8)


def queries(count: int) -> list[Query]:
    """Return queries: weights of terms of a topic, a few of them large."""
    random, topics, of_topic, found = np.random.default_rng(2), topic_terms(), zipf(TOPIC_TERMS), []
    for _ in range(count):
        terms = np.unique(topics[random.integers(TOPICS)][np.searchsorted(of_topic, random.random(200))])
        chosen = random.permutation(terms)[: random.integers(30, 61)]
        weights = np.clip(
            np.rint(100 * np.exp(-np.arange(len(chosen)) / 8) + random.integers(1, 12, len(chosen))), 1, 120
        )
        found.append({f"t{term}": int(weight) for term, weight in zip(chosen, weights, strict=True)})
    return found


class Engine:
    """An engine that answers queries: its name, its search, and the times of queries."""

    def __init__(self, name: str, search: Callable[[int, int], list[int]]):
        self.name, self.search = name, search
        self.times: list[float] = []

    def time(self, count: int, k: int) -> None:
        """Take the time of each query."""
        for number in range(count):
            begin = time.process_time()
            self.search(number, k)
            self.times.append(time.process_time() - begin)


def built(folder: Path, name: str, build: Callable[[Path], None]) -> Path:
    """Return the place of an index, which is built if it is missing; print how long that took, and its bytes."""
    place, note = folder / name, folder / f"{name}.json"
    if not note.exists():
        begin = time.process_time()
        build(place)
        seconds = time.process_time() - begin
        size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file() and name in str(file))
        note.write_text(json.dumps({"seconds": seconds, "bytes": size}))
    facts = json.loads(note.read_text())
    print(f"{name}: built in {facts['seconds']:.1f} s of processor time, {facts['bytes'] / 1e6:.0f} MB")
    return place


def sublex_engine(folder: Path, docs: int, asked: list[Query]) -> Engine:
    """Return Sublex, which gets the weights from an archive."""
    archive, place = folder / "weights.npz", folder / "sublex"
    if not archive.exists():
        rows = list(documents(docs))
        sizes = np.array([len(terms) for terms, _ in rows])
        np.savez(
            archive, docnos=[str(k) for k in range(docs)], terms=[f"t{k}" for k in range(TERMS)], shape=(docs, TERMS),
            data=np.concatenate([weights for _, weights in rows]).astype(np.float32),
            indices=np.concatenate([terms for terms, _ in rows]).astype(np.int32),
            indptr=np.concatenate([[0], np.cumsum(sizes)]),
        )  # fmt: skip
        print(f"{docs:,} documents, {int(sizes.sum()):,} weights")
    if not place.exists():
        sublex.build(({"id": str(k), "text": "word"} for k in range(docs)), place, store="")
    built(folder, "sublex", lambda place: sublex.open(place).add_vectors(NAME, archive, stored="int8"))
    index = sublex.open(place).with_queries({NAME: {f"q{n}": query for n, query in enumerate(asked)}})
    pipeline = index.pipeline(f"sparse({NAME})")
    # The docnos are the numbers of the documents.
    return Engine("sublex", lambda number, k: index.answer(f"q{number}", pipeline, k).hits.docs.tolist())


def pisa_engine(folder: Path, docs: int, asked: list[Query], algorithm: str = "maxscore") -> Engine:
    """Return PISA on the same weights."""
    from pyterrier_pisa import PisaIndex, _pisathon  # type: ignore[import-not-found]

    def build(place: Path) -> None:
        PisaIndex(str(place), stemmer="none", threads=1).toks_indexer("toks", scale=1.0).index(
            {"docno": str(n), "toks": {f"t{t}": int(w) for t, w in zip(terms.tolist(), weights.tolist(), strict=True)}}
            for n, (terms, weights) in enumerate(documents(docs))
        )

    index = PisaIndex(str(built(folder, "pisa", build)), stemmer="none", threads=1)
    retriever = index.quantized(query_algorithm=algorithm, threads=1)
    retriever.reset_retrieval_context()

    def search(number: int, k: int) -> list[int]:
        qids, ranks = np.empty(k, np.int32), np.empty(k, np.int32)
        docnos, scores = np.empty(k, object), np.empty(k, np.float32)
        count = _pisathon.retrieve(
            retriever._ctxt, algorithm, [(0, {term: float(w) for term, w in asked[number].items()})], k=k, threads=1,
            query_weighted=1, pretokenised=True, result_qidxs=qids, result_docnos=docnos, result_ranks=ranks, result_scores=scores,
        )  # fmt: skip
        return [int(docno) for docno in docnos[:count]]

    return Engine(f"pisa {algorithm}", search)


def seismic_engine(folder: Path, docs: int, asked: list[Query], wanted: Engine, k: int) -> Engine:
    """Return SEISMIC over the same weights. Of the efforts in EFFORTS, it takes the first that finds nearly all hits of `wanted`."""
    from seismic import SeismicIndex, get_seismic_string  # type: ignore[import-not-found]

    def build(place: Path) -> None:
        lines = place.with_suffix(".jsonl")
        with open(lines, "w") as stream:
            for n, (terms, weights) in enumerate(documents(docs)):
                vector = {f"t{term}": int(w) for term, w in zip(terms.tolist(), weights.tolist(), strict=True)}
                stream.write(json.dumps({"id": str(n), "content": "", "vector": vector}) + "\n")
        SeismicIndex.build(str(lines), num_threads=1, load_content=False).save(str(place))
        lines.unlink()

    index = SeismicIndex.load(f"{built(folder, 'seismic', build)}.index.seismic")
    terms = [np.array(list(query), dtype=get_seismic_string()) for query in asked]
    weights = [np.array(list(query.values()), np.float32) for query in asked]
    best = [set(wanted.search(n, k)) for n in range(len(asked))]
    recall = 0.0
    for cut, factor in EFFORTS:

        def search(number: int, k: int, cut: int = cut, factor: float = factor) -> list[int]:
            hits = index.search(
                str(number), terms[number], weights[number], k=k, query_cut=cut, heap_factor=factor, sorted=True
            )
            return [int(docno) for _, _, docno in hits]

        found = [set(search(n, k)) for n in range(len(asked))]
        recall = statistics.fmean(len(a & b) / len(b) for a, b in zip(found, best, strict=True))
        if recall >= RECALL:
            break
    return Engine(f"seismic cut {cut} heap {factor} recall {recall:.3f}", search)


def main() -> None:
    """Read the arguments, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--docs", type=int, default=100_000)
    parser.add_argument("--peers", default="pisa,seismic")
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--k", default="10,100,1000")
    parser.add_argument("--build", action="store_true")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    asked, names = queries(given.queries), given.peers.split(",")
    own = sublex_engine(given.folder, given.docs, asked)
    exact = [own, *([pisa_engine(given.folder, given.docs, asked)] if "pisa" in names else [])]
    for k in [int(text) for text in given.k.split(",")]:
        engines = list(exact)
        if "seismic" in names:
            engines.append(seismic_engine(given.folder, given.docs, asked, own, k))
        if given.build:
            return
        for engine in engines:
            engine.times = []
            # Engines order equal scores in their own ways, so the last hits may differ.
            both = [len({*engine.search(n, k)} & {*own.search(n, k)}) / k for n in range(len(asked))]
            print(f"  {engine.name} shares {statistics.fmean(both):.4f} of the hits of sublex")
        for _ in range(ROUNDS):
            for engine in engines:
                engine.time(len(asked), k)
        print(f"k={k}, {given.docs:,} documents, {given.queries} queries")
        base = statistics.median(own.times)
        for engine in engines:
            median = statistics.median(engine.times)
            print(f"  {engine.name:44} {1000 * median:8.2f} ms (sublex {base / median:.3f} of it)")


if __name__ == "__main__":
    main()
