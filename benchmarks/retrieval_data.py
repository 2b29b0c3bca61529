"""Documents and queries for benchmarks/retrieval.py and benchmarks/latency_by_size.py, as terms for Sublex and as tokens for the others.

Sublex analyses the documents once; every engine indexes the same tokens t0, t1, …. A query is two to six different terms of a title,
a whole query of a topics file, or either of them as an expander of Sublex extends it, with a weight for each term. Weights are
thousandths, rounded up to whole numbers, because PISA takes whole numbers only.
"""

from __future__ import annotations

import json
import lzma
import math
import random
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import IO

import sublex
from sublex.contracts.base import Query, QueryTerm

# A document, a sentence, or a paragraph of the collection as one document, and the fewest words of such a piece.
PIECES = {"documents": 0, "sentences": 3, "paragraphs": 10}
# Sizes of queries that are made of titles, each as often as it is listed.
SIZES = (2, 3, 3, 4, 4, 4, 5, 5, 6)


def opened(collection: str) -> IO[str]:
    """Open a file of JSON lines, which may be compressed with xz."""
    return (lzma.open if collection.endswith(".xz") else open)(collection, "rt", encoding="utf-8")


def records(collection: str, pieces: str = "documents", most: int | None = None) -> Iterator[dict[str, str]]:
    """Yield the documents of the collection, or its sentences or paragraphs as documents; at most `most` of them."""
    return islice(_records(collection, pieces), most)


def _records(collection: str, pieces: str) -> Iterator[dict[str, str]]:
    with opened(collection) as file:
        for line in file:
            record = json.loads(line)
            text = f"{record['title']}. {record['text']}"
            if pieces == "paragraphs":
                parts = record["text"].split("\n")
            else:
                parts = re.split(r"(?<=[.!?])\s+", text) if pieces == "sentences" else [text]
            for k, part in enumerate(parts):
                if len(part.split()) >= PIECES[pieces]:
                    yield {"id": f"{record['id']}-{k}", "contents": part}


def titles(collection: str, number: int, most: int | None = None) -> list[str]:
    """Return the titles of documents drawn at random from the collection, or from its first `most` documents."""
    with opened(collection) as file:
        size = sum(1 for _ in islice(file, most))
    drawn = random.Random(1).sample(range(size), min(number, size))
    wanted = set(drawn)
    with opened(collection) as file:
        found = {n: json.loads(line)["title"] for n, line in enumerate(islice(file, most)) if n in wanted}
    return [found[n] for n in drawn]


def topics(path: str, number: int) -> list[str]:
    """Return the first queries of a file with a query on each line: number, tab, text."""
    with open(path, encoding="utf-8") as file:
        return [line.partition("\t")[2] for line in islice(file, number)]


def prepare(collection: str, pieces: str, folder: Path, most: int | None = None) -> None:
    """Build the Sublex index, and write the documents as tokens for the other engines, unless the folder has them."""
    if (folder / "documents.txt").exists():
        return
    index = sublex.build(records(collection, pieces, most), folder / "sublex", store="terms")
    tokens = [f"t{n}" for n in range(len(index.corpus.vocabulary))]
    partial = folder / "documents.partial"
    with open(partial, "w", encoding="ascii") as out:
        for block in index.corpus.blocks():
            for row in range(block.shape[0]):
                span = slice(block.indptr[row], block.indptr[row + 1])
                pairs = zip(block.indices[span].tolist(), block.data[span].tolist(), strict=True)
                out.write(" ".join(" ".join([tokens[term]] * tf) for term, tf in pairs) + "\n")
    partial.rename(folder / "documents.txt")


def write_queries(texts: Iterable[str], shorten: bool, folder: Path, expander: str | None = None) -> None:
    """Write queries.json with terms for Sublex, and queries.txt with tokens for the other engines.

    With `shorten`, a query is two to six terms of its text. With an expander, such as RM3, a query is what the expander makes of it.
    """
    index = sublex.open(folder / "sublex")
    numbers = index.searcher("BM25").term_table
    chance = random.Random(2)
    queries: list[dict[str, int]] = []
    for text in texts:
        distinct = list(dict.fromkeys(index.analyze(text)))
        terms = [term for term, n in zip(distinct, numbers.numbers(distinct), strict=True) if n >= 0]
        size = chance.choice(SIZES) if shorten else len(terms)
        if terms:
            chosen = chance.sample(terms, size) if len(terms) > size else terms
            queries.append(expanded(index, chosen, expander) if expander else dict.fromkeys(chosen, 1))
    lines = []
    for query in queries:
        tokens = zip(numbers.numbers(list(query)), query.values(), strict=True)
        lines.append(" ".join(f"t{n}^{weight}" if expander else f"t{n}" for n, weight in tokens) + "\n")
    (folder / "queries.txt").write_text("".join(lines), encoding="ascii")
    (folder / "queries.json").write_text(json.dumps(queries if expander else list(map(list, queries))), "utf-8")
    df = numbers.stats.df[numbers.numbers([term for query in queries for term in query])]
    print(
        f"{len(index):,} documents, {index.statistics.postings:,} postings; {len(queries):,} queries "
        f"of {len(df) / len(queries):.1f} terms, mean df {df.mean():,.0f}",
        flush=True,
    )


def expanded(index: sublex.Index, terms: list[str], expander: str) -> dict[str, int]:
    """Return the terms that an expander makes of a query, with their weights in thousandths, rounded up."""
    query = Query(" ".join(terms), tuple(map(QueryTerm, terms)))
    weights = index.answer(query, f"BM25 >> {expander} >> BM25", 1).query.weights()
    return {term: math.ceil(1000 * weight) for term, weight in weights.items()}
