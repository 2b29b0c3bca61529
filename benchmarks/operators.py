"""Time phrases: Sublex and tantivy, on the same words and positions, with one thread each.

    python benchmarks/operators.py arxiv-cs.jsonl [--folder FOLDER] [--phrases 5000] [--runs 5] [--peers PYTHON]

Sublex analyses the documents, and tantivy indexes the same terms at the same positions. The phrases are two or three words that
follow each other in a title of the collection; all differ, and each is asked once, for the best 10 documents. `searched` is the time
when the words were searched before, in other operators: no phrase is known. `fresh` is the time of the first queries to an index
that was just opened. Kernels are loaded before, by queries to another index. Times are processor times from terms to documents and
scores, in fresh processes that take turns. The script first checks that both find the same documents. `--folder` keeps the indexes.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from retrieval import child
from retrieval_data import records, titles

import sublex
from sublex.contracts.base import Document
from sublex.contracts.operators import ordered, window
from sublex.index.snapshot import Snapshot

DEPTH = 10
SIZES = (2, 3)
WAYS = ("searched", "fresh")
# Queries of the check that all documents are the same.
CHECKED = 300


def sequences(snapshot: Snapshot) -> Iterator[list[str]]:
    """Yield the term of each position of each document, as tokens t0, t1, …; a position without a term has the token _."""
    (segment,) = snapshot.segments
    docs, tfs = segment.postings(0, len(segment.terms))
    positions = segment.positions(0, len(segment.terms), tfs)
    docs, terms = np.repeat(docs, tfs), np.repeat(np.repeat(np.arange(len(segment.terms)), segment.df), tfs)
    order = np.lexsort((positions, docs))
    terms, positions = terms[order], positions[order]
    bounds = np.searchsorted(docs[order], np.arange(segment.docs + 1)).tolist()
    for begin, end in pairwise(bounds):
        tokens = ["_"] * (int(positions[end - 1]) + 1 if end > begin else 0)
        for term, position in zip(terms[begin:end].tolist(), positions[begin:end].tolist(), strict=True):
            tokens[position] = f"t{term}"
        yield tokens


def prepare(collection: str, folder: Path, number: int) -> None:
    """Build both indexes and choose the phrases, unless the folder has them."""
    if not (folder / "sublex").exists():
        sublex.build(records(collection), folder / "sublex", store="positions")
        sublex.build([Document("d", "kernels are loaded here")], folder / "small", store="positions")
    index = sublex.open(folder / "sublex")
    if not (folder / "tantivy").exists():
        tantivy_index(folder, sequences(index.snapshot))
    chance, found = random.Random(3), {size: set() for size in SIZES}
    for title in titles(collection, len(index)):
        runs: list[list[str]] = [[]]
        for raw in title.split():
            terms = index.analyze(raw)
            runs = [*runs[:-1], [*runs[-1], *terms]] if terms else [*runs, []]
        for size in SIZES:
            some = [tuple(run[at : at + size]) for run in runs for at in range(len(run) - size + 1)]
            if some and len(found[size]) < number:
                found[size].add(chance.choice(some))
    for size in SIZES:
        phrases = sorted(found[size])
        chance.shuffle(phrases)
        numbers = [index.snapshot.segments[0].find_all(phrase) for phrase in phrases]
        known = [(p, [f"t{n}" for n in own]) for p, own in zip(phrases, numbers, strict=True) if min(own) >= 0]
        (folder / f"phrases{size}.json").write_text(json.dumps(known))


def tantivy_index(folder: Path, documents: Iterator[list[str]]) -> None:
    """Build tantivy's index, of one segment."""
    import tantivy

    schema = tantivy.SchemaBuilder()
    schema.add_text_field("text", stored=False, tokenizer_name="whitespace", index_option="position")
    schema.add_integer_field("id", stored=True, indexed=False, fast=True)
    (folder / "tantivy").mkdir()
    index = tantivy.Index(schema.build(), str(folder / "tantivy"))
    writer = index.writer(1_000_000_000, 1)
    for n, tokens in enumerate(documents):
        writer.add_document(tantivy.Document(text=[" ".join(tokens)], id=n))
    writer.commit()
    writer.wait_merging_threads()


def tantivy_times(folder: Path, size: int) -> dict[str, Any]:
    """Return tantivy's times and matches for the phrases.

    The times are the seconds per query of a first pass (`fresh`) and of a second one (`searched`). `found` has the
    documents that the first phrases match, and `counts` the number of documents that each phrase matches.
    """
    import tantivy

    index = tantivy.Index.open(str(folder / "tantivy"))
    searcher = index.searcher()
    phrases = json.loads((folder / f"phrases{size}.json").read_text())
    queries = [tantivy.Query.phrase_query(index.schema, "text", tokens) for _, tokens in phrases]
    seconds = []
    for _ in WAYS:
        begin = time.process_time()
        for query in queries:
            searcher.search(query, DEPTH, count=False)
        seconds.append((time.process_time() - begin) / len(queries))
    found = [
        sorted(searcher.doc(address)["id"][0] for _, address in searcher.search(query, 100_000).hits)
        for query in queries[:CHECKED]
    ]
    return {
        "fresh": seconds[0], "searched": seconds[1], "found": found, "segments": searcher.num_segments,
        "counts": [searcher.search(query, 1).count for query in queries],
    }  # fmt: skip


def sublex_times(folder: Path, size: int, way: str) -> dict[str, Any]:
    """Return the times and matches of Sublex for the phrases: seconds per query, documents of the first phrases, and counts.

    With the way "searched", the words of the phrases are searched before the time is taken.
    """
    phrases = json.loads((folder / f"phrases{size}.json").read_text())
    queries = [{ordered(words): 1.0} for words, _ in phrases]
    others = [{window(words, 50): 1.0} for words, _ in phrases]
    list(sublex.open(folder / "small").searcher("BM25").batch([{ordered(["kernel", "load"]): 1.0}] * 2, DEPTH))
    index = sublex.open(folder / "sublex")
    searcher = index.searcher("BM25")
    if way == "searched":
        list(searcher.batch(others, DEPTH))
    begin = time.process_time()
    best = list(searcher.batch(queries, DEPTH))
    seconds = (time.process_time() - begin) / len(queries)
    table = searcher.term_table
    found = [table.postings(*query, 0)[0].tolist() for query in queries[:CHECKED]]
    stats = [table.stats_of(np.array([n])).df[0] if n >= 0 else 0 for query in queries for n in table.numbers(query)]
    assert [len(hits) for hits in best] == np.minimum(stats, DEPTH).tolist()
    return {way: seconds, "found": found, "counts": list(map(int, stats))}


def compare(args: argparse.Namespace, folder: Path) -> None:
    """Time both in turns, and print the table."""
    folder.mkdir(exist_ok=True)
    prepare(args.collection, folder, args.phrases)
    me = [sys.executable, __file__, str(folder)]
    print(
        f"{'':10}{'':10}{'Sublex':>10}{'tantivy':>10}{'ratio':>8}   (ms a query; the ratio is the median of the turns)"
    )
    for size in SIZES:
        seconds: dict[str, list[tuple[float, float]]] = {way: [] for way in WAYS}
        for _ in range(args.runs):
            theirs = child([args.peers, *me[1:], "--child", f"tantivy {size}"])
            for way in WAYS:
                ours = child([*me, "--child", f"{way} {size}"])
                assert (ours["found"], ours["counts"]) == (theirs["found"], theirs["counts"]), "different documents"
                seconds[way].append((ours[way], theirs["searched"]))
        for way in WAYS:
            mine, other = (1000 * statistics.median(times) for times in zip(*seconds[way], strict=True))
            ratio = statistics.median(a / b for a, b in seconds[way])
            print(f"{size} words   {way:10}{mine:10.4f}{other:10.4f}{ratio:8.2f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("collection")
    parser.add_argument("--folder", help="a folder that keeps the indexes")
    parser.add_argument("--phrases", type=int, default=5000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--peers", default=sys.executable, help="a Python interpreter with tantivy")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        engine, size = args.child.split()
        folder = Path(args.collection)
        tantivys = engine == "tantivy"
        print(json.dumps(tantivy_times(folder, int(size)) if tantivys else sublex_times(folder, int(size), engine)))
        return
    with tempfile.TemporaryDirectory() as name:
        compare(args, Path(args.folder or name))


if __name__ == "__main__":
    main()
