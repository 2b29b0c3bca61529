"""Time learned sparse weights: `sparse(NAME)` beside PISA's maxscore, BMP and SEISMIC, on equal quantised weights.

    python benchmarks/sparse.py FOLDER [--docs 100000] [--peers pisa,bmp,seismic] [--queries 100] [--k 10,100,1000] [--build]

FOLDER keeps the indexes, so that a second call need not build them; --build builds them and stops. The weights come from a
generator with a seed: a document has about 200 of 30,000 terms, half of them from one of 300 topics, as an expansion of its
words would be, and weights like those of BM25 in 8 bits. A query has 30 to 60 terms and is drawn as documents are, so its
terms are as frequent as those of documents. Every peer is installed beside Sublex (pyterrier-pisa with tbb 2020, bmp,
pyseismic-lsr) or left out. All use one thread. In each round every engine answers every query, one at a time; figures are
medians over all rounds in processor time. Each engine gets the weights of a query's terms and gives the numbers of the
documents: no engine reads a text. Sublex answers all queries together too, as a run does. SEISMIC is approximate: it gets
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
# The share of a text that comes from one topic, and the mean number of words of a document.
OF_TOPIC, WORDS = 0.5, 240
ROUNDS = 5
NAME = "splade"
RECALL = 0.995
# The numbers of query terms that SEISMIC looks at, and its heap factors, from the least effort to the largest.
EFFORTS = ((8, 0.9), (12, 0.8), (20, 0.7), (40, 0.7), (60, 0.6), (60, 0.4))
Query = dict[str, int]


def zipf(count: int) -> np.ndarray:
    """Return the probabilities of terms by their rank."""
    shares = 1 / (np.arange(count) + 20.0)
    return shares / shares.sum()


class Texts:
    """Draws texts: the terms of a text, ascending, and how often it has each.

    A share of the terms comes from one topic, as expansion adds terms that go with those of a text, and the rest from all
    terms. Frequent terms are in many topics.
    """

    def __init__(self, seed: int):
        self.random, shares = np.random.default_rng(seed), zipf(TERMS)
        topics = np.random.default_rng(0)
        self._topics = np.array([np.sort(topics.choice(TERMS, TOPIC_TERMS, False, shares)) for _ in range(TOPICS)])
        self._of_all, self._of_topic = np.cumsum(shares), np.cumsum(zipf(TOPIC_TERMS))

    def draw(self, size: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the distinct terms of a text of so many words, and their frequencies."""
        random, own = self.random, int(OF_TOPIC * size)
        topic = self._topics[random.integers(TOPICS)]
        places = (
            np.searchsorted(self._of_topic, random.random(own)),
            np.searchsorted(self._of_all, random.random(size - own)),
        )
        return np.unique(np.concatenate([topic[places[0]], places[1]]), return_counts=True)


def weighted(random: np.random.Generator, terms: np.ndarray, tf: np.ndarray) -> np.ndarray:
    """Return weights like those of BM25 in 8 bits: rarer terms and frequent ones in the text get more, with noise."""
    rarity = np.log1p(terms + 20.0) / np.log1p(TERMS)
    weights = 60 * rarity * tf / (tf + 1.0) * random.lognormal(0, 0.5, len(terms))
    return np.clip(np.rint(weights), 1, 255).astype(np.uint8)


def drawn(docs: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Draw documents: yield the terms of each, ascending, and their weights, 1 to 255."""
    texts = Texts(1)
    for _ in range(docs):
        terms, tf = texts.draw(int(np.clip(texts.random.normal(WORDS, 50), 50, 600)))
        yield terms, weighted(texts.random, terms, tf)


def archived(folder: Path, docs: int) -> Path:
    """Return the archive of the documents, which is written if it is missing."""
    archive = folder / "weights.npz"
    if not archive.exists():
        rows = list(drawn(docs))
        sizes = np.array([len(terms) for terms, _ in rows])
        np.savez(
            archive, docnos=[str(k) for k in range(docs)], terms=[f"t{k}" for k in range(TERMS)], shape=(docs, TERMS),
            data=np.concatenate([weights for _, weights in rows]).astype(np.float32),
            indices=np.concatenate([terms for terms, _ in rows]).astype(np.int32),
            indptr=np.concatenate([[0], np.cumsum(sizes)]),
        )  # fmt: skip
        print(f"{docs:,} documents, {int(sizes.sum()):,} weights")
    return archive


def documents(folder: Path) -> Iterator[dict[str, int]]:
    """Yield the weights of each document of the archive, as peers take them."""
    with np.load(folder / "weights.npz") as arrays:
        ends, terms, weights = arrays["indptr"], arrays["indices"], arrays["data"].astype(np.int64)
    for begin, end in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True):
        yield {f"t{term}": w for term, w in zip(terms[begin:end].tolist(), weights[begin:end].tolist(), strict=True)}


def queries(count: int) -> list[Query]:
    """Return queries of 30 to 60 terms, drawn as documents are: their terms are as frequent, and their weights alike."""
    texts, found = Texts(2), []
    for _ in range(count):
        terms, tf = texts.draw(120)
        chosen = texts.random.permutation(len(terms))[: texts.random.integers(30, 61)]
        weights = weighted(texts.random, terms[chosen], tf[chosen])
        found.append({f"t{term}": int(weight) for term, weight in zip(terms[chosen], weights, strict=True)})
    return found


class Engine:
    """An engine that answers queries: its name, its search, and the times of queries.

    `search` gets the number of a query and k. `search_all` gets k, and answers all queries together, as a run does.
    """

    def __init__(
        self,
        name: str,
        search: Callable[[int, int], list[int]],
        search_all: Callable[[int], object] | None = None,
    ):
        self.name, self.search, self.search_all = name, search, search_all
        self.times: list[float] = []
        self.together: list[float] = []

    def time(self, count: int, k: int) -> None:
        """Take the time of each query."""
        for number in range(count):
            begin = time.process_time()
            self.search(number, k)
            self.times.append(time.process_time() - begin)
        if self.search_all:
            begin = time.process_time()
            self.search_all(k)
            self.together.append((time.process_time() - begin) / count)


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
    archive, place = archived(folder, docs), folder / "sublex"
    if not place.exists():
        sublex.build(({"id": str(k), "text": "word"} for k in range(docs)), place, store="")
    built(folder, "sublex", lambda place: sublex.open(place).add_vectors(NAME, archive, stored="int8"))
    index = sublex.open(place).with_queries({NAME: {f"q{n}": query for n, query in enumerate(asked)}})
    pipeline, given = index.pipeline(f"sparse({NAME})"), [index.query(f"q{n}") for n in range(len(asked))]
    # The docnos are the numbers of the documents.
    return Engine(
        "sublex",
        lambda number, k: pipeline.answer(given[number], k).hits.docs.tolist(),
        lambda k: [answer.hits.docs.tolist() for answer in pipeline.answers(given, k)],
    )


def pisa_engine(folder: Path, asked: list[Query], algorithm: str = "maxscore") -> Engine:
    """Return PISA on the same weights."""
    from pyterrier_pisa import PisaIndex, _pisathon  # type: ignore[import-not-found]

    def build(place: Path) -> None:
        PisaIndex(str(place), stemmer="none", threads=1).toks_indexer("toks", scale=1.0).index(
            {"docno": str(n), "toks": weights} for n, weights in enumerate(documents(folder))
        )

    index = PisaIndex(str(built(folder, "pisa", build)), stemmer="none", threads=1)
    retriever = index.quantized(query_algorithm=algorithm, threads=1)
    retriever.reset_retrieval_context()
    given = [[(0, {term: float(weight) for term, weight in query.items()})] for query in asked]

    def search(number: int, k: int) -> list[int]:
        qids, ranks = np.empty(k, np.int32), np.empty(k, np.int32)
        docnos, scores = np.empty(k, object), np.empty(k, np.float32)
        count = _pisathon.retrieve(
            retriever._ctxt, algorithm, given[number], k=k, threads=1,
            query_weighted=1, pretokenised=True, result_qidxs=qids, result_docnos=docnos, result_ranks=ranks, result_scores=scores,
        )  # fmt: skip
        return [int(docno) for docno in docnos[:count]]

    return Engine(f"pisa {algorithm}", search)


def seismic_engine(folder: Path, asked: list[Query], wanted: Engine, k: int) -> Engine:
    """Return SEISMIC over the same weights. Of the efforts in EFFORTS, it takes the first that finds nearly all hits of `wanted`."""
    from seismic import SeismicIndex, get_seismic_string  # type: ignore[import-not-found]

    lines = folder / "seismic-input.jsonl"
    if not (folder / "seismic.json").exists():
        with open(lines, "w") as stream:
            for n, weights in enumerate(documents(folder)):
                stream.write(json.dumps({"id": str(n), "content": "", "vector": weights}) + "\n")

    def build(place: Path) -> None:
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


def bmp_engine(folder: Path, asked: list[Query]) -> Engine:
    """Return BMP over the same weights, with no pruning beyond its bounds."""
    from bmp import Indexer, Searcher  # type: ignore[import-not-found]

    def build(place: Path) -> None:
        indexer = Indexer(str(place), bsize=32, compress_range=False)
        for n, weights in enumerate(documents(folder)):
            indexer.add_document(str(n), weights)
        indexer.finish()

    searcher = Searcher(str(built(folder, "bmp", build)))
    given = [{term: float(weight) for term, weight in query.items()} for query in asked]

    def search(number: int, k: int) -> list[int]:
        return [int(docno) for docno in searcher.search(given[number], k=k, alpha=1.0, beta=1.0)[0]]

    return Engine("bmp", search)


def main() -> None:
    """Read the arguments, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--docs", type=int, default=100_000)
    parser.add_argument("--peers", default="pisa,bmp,seismic")
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--k", default="10,100,1000")
    parser.add_argument("--build", action="store_true")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    asked, names = queries(given.queries), given.peers.split(",")
    own = sublex_engine(given.folder, given.docs, asked)
    makers = {"pisa": pisa_engine, "bmp": bmp_engine}
    exact = [own, *(make(given.folder, asked) for name, make in makers.items() if name in names)]
    for k in [int(text) for text in given.k.split(",")]:
        engines = list(exact)
        if "seismic" in names:
            engines.append(seismic_engine(given.folder, asked, own, k))
        if given.build:
            return
        for engine in engines:
            engine.times, engine.together = [], []
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
            run = f", {1000 * statistics.median(engine.together):.3f} ms in a run" if engine.together else ""
            print(f"  {engine.name:44} {1000 * median:8.3f} ms (sublex {base / median:.3f} of it){run}")


if __name__ == "__main__":
    main()
