"""Run one of the other engines for benchmarks/retrieval.py, which starts this script.

    python retrieval_peers.py index|query ENGINE FOLDER [FIGURE …]

ENGINE is `tantivy`, `bm25s`, or `pisa-` and one of PISA's algorithms, such as `pisa-maxscore`; with `-impacts` at its end
PISA uses impacts that it computed beforehand, rounded to 8 bits.

With `index`, the script indexes the tokens in FOLDER/documents.txt. With `query`, it answers the queries in
FOLDER/queries.txt and prints the seconds per query as JSON. Both files hold Sublex's terms as tokens, one document or query
a line, so all engines index and search the same terms. A token of a query may have a weight, a whole number: `t12^125`.

A figure is `batch` or `single` with a depth, such as `batch 10`; without figures the script prints all of FIGURES.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

K1, B = 1.2, 0.75
FIGURES = tuple(f"{how} {k}" for how in ("batch", "single") for k in (10, 100, 1000))
# Timed repetitions.
ROUNDS = 5
# A query: tokens with their weights; 0 if the tokens have none.
Asked = dict[str, float]
# From queries and k to the documents of each query. They are filled in on request only, which keeps the conversion out of the
# timed calls.
Search = Callable[..., list[list[int]]]


def lines(path: Path) -> Iterator[list[str]]:
    """Yield the tokens of each line of a file."""
    with open(path, encoding="ascii") as file:
        for line in file:
            yield line.split()


def asked(path: Path) -> list[Asked]:
    """Return the queries of a file."""
    parts = ([token.partition("^") for token in tokens] for tokens in lines(path))
    return [{token: float(weight or 0) for token, _, weight in query} for query in parts]


def pisa_index(folder: Path) -> None:
    from pyterrier_pisa import PisaIndex

    index = PisaIndex(str(folder / "pisa"), stemmer="none", stops="none", threads=1)
    documents = enumerate(lines(folder / "documents.txt"))
    index.toks_indexer("toks", scale=1.0).index(
        {"docno": str(n), "toks": dict(Counter(tokens))} for n, tokens in documents
    )


def pisa(folder: Path, algorithm: str) -> tuple[Search, Search]:
    """Return PISA's search for a batch and for single queries.

    PISA answers a batch in one call of its C++ code. Calling that code here leaves the data frames of pyterrier out of the
    time. With `query_weighted`, the binding repeats a term as often as its weight says, and PISA counts the repetitions.
    """
    import numpy as np
    from pyterrier_pisa import PisaIndex, _pisathon

    index = PisaIndex(str(folder / "pisa"), stemmer="none", stops="none", threads=1)
    name, impacts = algorithm.removesuffix("-impacts"), algorithm.endswith("-impacts")
    retriever = index.bm25(K1, B, query_algorithm=name, threads=1, precompute_impact=impacts)
    retriever.reset_retrieval_context()

    def batch(queries: list[Asked], k: int, keep: bool = False) -> list[list[int]]:
        size = len(queries) * k
        weighted = any(queries[0].values())
        texts = [(n, query if weighted else " ".join(query)) for n, query in enumerate(queries)]
        qids, docnos = np.empty(size, np.int32), np.empty(size, object)
        ranks, scores = np.empty(size, np.int32), np.empty(size, np.float32)
        count = _pisathon.retrieve(
            retriever._ctxt, name, texts, k=k, threads=1, query_weighted=int(weighted), pretokenised=weighted,
            result_qidxs=qids, result_docnos=docnos, result_ranks=ranks, result_scores=scores,
        )  # fmt: skip
        hits: list[list[int]] = [[] for _ in queries]
        if keep:
            for q, docno in zip(qids[:count].tolist(), docnos[:count], strict=True):
                hits[q].append(int(docno))
        return hits

    return batch, lambda queries, k, keep=False: [batch([query], k, keep)[0] for query in queries]


def tantivy_index(folder: Path) -> None:
    import tantivy

    schema = tantivy.SchemaBuilder()
    schema.add_text_field("text", stored=False, tokenizer_name="whitespace", index_option="freq")
    schema.add_integer_field("id", stored=True, indexed=False, fast=True)
    (folder / "tantivy").mkdir()
    index = tantivy.Index(schema.build(), str(folder / "tantivy"))
    writer = index.writer(500_000_000, 1)
    for n, tokens in enumerate(lines(folder / "documents.txt")):
        writer.add_document(tantivy.Document(text=[" ".join(tokens)], id=n))
    writer.commit()
    writer.wait_merging_threads()


def tantivy(folder: Path, _: str) -> tuple[Search, Search]:
    """Return tantivy's search twice, since it has single queries only. Its BM25 has k1 = 1.2 and b = 0.75 built in."""
    import tantivy as engine

    index = engine.Index.open(str(folder / "tantivy"))
    searcher, schema = index.searcher(), index.schema

    def part(term: str, weight: float) -> tuple[Any, Any]:
        query = engine.Query.term_query(schema, "text", term, "freq")
        return engine.Occur.Should, engine.Query.boost_query(query, weight) if weight else query

    def single(queries: list[Asked], k: int, keep: bool = False) -> list[list[int]]:
        hits = []
        for query in queries:
            parts = [part(*pair) for pair in query.items()]
            best = searcher.search(engine.Query.boolean_query(parts), k, count=False).hits
            if keep:
                hits.append([searcher.doc(address)["id"][0] for _, address in best])
        return hits

    return single, single


def bm25s_index(folder: Path) -> None:
    import bm25s

    # Numbers that documents share take an eighth of the memory of texts.
    numbers: dict[str, int] = {}
    ids = [[numbers.setdefault(token, len(numbers)) for token in tokens] for tokens in lines(folder / "documents.txt")]
    model = bm25s.BM25(k1=K1, b=B, method="lucene", backend="numba")
    model.index((ids, numbers), show_progress=False)
    model.save(str(folder / "bm25s"), corpus=None)


def bm25s(folder: Path, _: str) -> tuple[Search, Search]:
    import bm25s as engine

    model = engine.BM25.load(str(folder / "bm25s"), load_corpus=False)
    model.backend = "numba"
    model.activate_numba_scorer()

    def batch(queries: list[Asked], k: int, keep: bool = False) -> list[list[int]]:
        if any(queries[0].values()):
            raise SystemExit("bm25s has no weights of query terms.")
        docs, _ = model.retrieve(
            list(map(list, queries)), k=k, show_progress=False, n_threads=1, backend_selection="numba"
        )
        return docs.tolist() if keep else []

    return batch, lambda queries, k, keep=False: [(batch([query], k, keep) or [[]])[0] for query in queries]


def main() -> None:
    action, name, folder = sys.argv[1], sys.argv[2], Path(sys.argv[3])
    engine, _, algorithm = name.partition("-")
    if action == "index":
        globals()[f"{engine}_index"](folder)
        return
    queries = asked(folder / "queries.txt")
    searches = dict(zip(("batch", "single"), globals()[engine](folder, algorithm), strict=True))
    result: dict[str, object] = {"top": searches["batch"](queries[:100], 10, keep=True)}
    for figure in sys.argv[4:] or FIGURES:
        how, _, depth = figure.partition(" ")
        search, k = searches[how], int(depth)
        search(queries[:200], k)
        seconds = []
        for _ in range(ROUNDS):
            begin = time.process_time()
            search(queries, k)
            seconds.append((time.process_time() - begin) / len(queries))
        result[figure] = seconds
    print(json.dumps(result))


if __name__ == "__main__":
    main()
