"""One engine of benchmarks/retrieval.py: index the tokens, or answer the queries and print seconds per query; run by that script.

    python retrieval_peers.py index|query ENGINE FOLDER

Documents and queries are lines of tokens, made once from Sublex's terms, so that every engine has the same.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

K1, B = 1.2, 0.75
ROUNDS = 5
Search = Callable[[list[list[str]], int], list[list[int]]]


def lines(path: Path) -> list[list[str]]:
    return [line.split() for line in path.read_text(encoding="ascii").splitlines()]


def pisa_index(folder: Path) -> None:
    from pyterrier_pisa import PisaIndex

    index = PisaIndex(str(folder / "pisa"), stemmer="none", stops="none", threads=1)
    documents = enumerate(lines(folder / "documents.txt"))
    index.toks_indexer("toks", scale=1.0).index(
        {"docno": str(n), "toks": dict(Counter(tokens))} for n, tokens in documents
    )


def pisa(folder: Path) -> tuple[Search, Search]:
    """PISA has one entry: a batch of queries, given to its C++ in one call; its data frames are left out of the time."""
    import numpy as np
    from pyterrier_pisa import PisaIndex, _pisathon

    index = PisaIndex(str(folder / "pisa"), stemmer="none", stops="none", threads=1)
    made = index.bm25(K1, B, query_algorithm="block_max_maxscore", threads=1)
    made.reset_retrieval_context()

    def batch(queries: list[list[str]], k: int) -> list[list[int]]:
        size = len(queries) * k
        qids, docnos = np.empty(size, np.int32), np.empty(size, object)
        ranks, scores = np.empty(size, np.int32), np.empty(size, np.float32)
        found = _pisathon.retrieve(
            made._ctxt, "block_max_maxscore", [(n, " ".join(query)) for n, query in enumerate(queries)], k=k, threads=1,
            query_weighted=0, pretokenised=False, result_qidxs=qids, result_docnos=docnos, result_ranks=ranks,
            result_scores=scores,
        )  # fmt: skip
        hits: list[list[int]] = [[] for _ in queries]
        if len(queries) <= 100:
            for q, docno in zip(qids[:found].tolist(), docnos[:found], strict=True):
                hits[q].append(int(docno))
        return hits

    return batch, lambda queries, k: [batch([query], k)[0] for query in queries]


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


def tantivy(folder: Path) -> tuple[Search, Search]:
    """tantivy has single queries only; BM25 with its fixed k1 = 1.2, b = 0.75."""
    import tantivy as engine

    index = engine.Index.open(str(folder / "tantivy"))
    searcher, schema = index.searcher(), index.schema

    def single(queries: list[list[str]], k: int) -> list[list[int]]:
        hits = []
        for query in queries:
            parts = [(engine.Occur.Should, engine.Query.term_query(schema, "text", term, "freq")) for term in query]
            found = searcher.search(engine.Query.boolean_query(parts), k, count=False).hits
            if len(queries) <= 100:
                hits.append([searcher.doc(address)["id"][0] for _, address in found])
        return hits

    return single, single


def bm25s_index(folder: Path) -> None:
    import bm25s

    model = bm25s.BM25(k1=K1, b=B, method="lucene", backend="numba")
    model.index(lines(folder / "documents.txt"), show_progress=False)
    model.save(str(folder / "bm25s"), corpus=None)


def bm25s(folder: Path) -> tuple[Search, Search]:
    import bm25s as engine

    model = engine.BM25.load(str(folder / "bm25s"), load_corpus=False)
    model.backend = "numba"
    model.activate_numba_scorer()

    def batch(queries: list[list[str]], k: int) -> list[list[int]]:
        found, _ = model.retrieve(queries, k=k, show_progress=False, n_threads=1, backend_selection="numba")
        return found.tolist() if len(queries) <= 100 else []

    return batch, lambda queries, k: [(batch([query], k) or [[]])[0] for query in queries]


def main() -> None:
    what, engine, folder = sys.argv[1], sys.argv[2], Path(sys.argv[3])
    if what == "index":
        globals()[f"{engine}_index"](folder)
        return
    queries = lines(folder / "queries.txt")
    result: dict[str, object] = {}
    for name, search in zip(("batch", "single"), globals()[engine](folder), strict=True):
        for k in (10, 1000):
            search(queries[:200], k)
            seconds = []
            for _ in range(ROUNDS):
                begin = time.perf_counter()
                search(queries, k)
                seconds.append((time.perf_counter() - begin) / len(queries))
            result[f"{name} {k}"] = seconds
        result["top"] = search(queries[:100], 10)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
