"""Time rankers with fields beside BM25 on the same index: the first use of words, later queries one by one, and batches.

    python benchmarks/fields.py arxiv-cs.jsonl.xz [--folder FOLDER] [--queries 1000] [--turns 5]

The index has the fields title and text. A query is two to six different words of a title. `first` is the time of the first queries
to an index that was just opened, which computes the impacts of their words, for the best 10 documents; `single` is the time when all
words were searched before, for the best 10 documents; `batch` is that of one batch with 1,000 documents for each query. Times are
processor times of one thread, from terms to documents and scores; the rankers take turns, and the median of the turns is printed. The
script also prints the bytes of coded impacts for each posting, documents left out, and how many distinct impacts there are.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from retrieval_data import SIZES, titles

import sublex
from sublex.language import plugins
from sublex.retrieval.coding.coding_kernels import COUNT, VALUES, WIDTH
from sublex.retrieval.searcher import Searcher

RANKERS = ("BM25", "BM25F", "BM25F(weights=[2, 1], b=[0.5, 0.75])", "PL2", "PL2F")
# Each ranker is compared with the ranker of whole documents that has the same formula.
BESIDE = {"BM25F": "BM25", "PL2F": "PL2"}


def words(collection: str, index: sublex.Index, number: int) -> list[list[str]]:
    """Return queries of two to six different words of titles."""
    chance, found = random.Random(2), []
    for title in titles(collection, 2 * number):
        terms, size = [*dict.fromkeys(index.analyze(title))], chance.choice(SIZES)
        if len(terms) >= size:
            found.append(chance.sample(terms, size))
    return found[:number]


def seconds(work: Callable[[], object]) -> float:
    """Return the processor time of a call."""
    begin = time.process_time()
    work()
    return time.process_time() - begin


def timed(folder: Path, ranker: str, queries: Sequence[Sequence[str]]) -> dict[str, float]:
    """Return milliseconds for each query, and the sizes of the impacts."""
    index = sublex.open(folder)
    searcher = Searcher(index.snapshot, plugins.load().make("ranker", ranker))
    # What all rankers need of a segment is read before.
    searcher.search(["zzzzzz"], 10)
    (impacts,) = searcher.impacts

    def all_queries() -> None:
        for query in queries:
            searcher.search(query, 10)

    found = {"first": seconds(all_queries)}
    # A frequent word gets its row in the blocks at the second search.
    all_queries()
    found["single"] = seconds(all_queries)
    found["batch"] = seconds(lambda: list(searcher.batch(queries, 1000)))
    found = {name: 1000 * value / len(queries) for name, value in found.items()}
    words = impacts.segment.find_all([word for query in queries for word in query])
    lists = impacts.postings.lists[sorted({word for word in words if word >= 0})]
    postings = lists[:, COUNT].sum()
    bytes_of = 4 * lists[:, VALUES] + lists[:, COUNT] * lists[:, WIDTH]
    return found | {"bytes a posting": bytes_of.sum() / postings, "postings": float(postings)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("collection", help="JSON lines with titles and texts, which may be compressed with xz")
    parser.add_argument("--folder", type=Path, help="keep the index here, and use the index that is here")
    parser.add_argument("--queries", type=int, default=1000)
    parser.add_argument("--turns", type=int, default=5)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        folder = (given.folder or Path(work)) / "fields"
        if not folder.exists():
            sublex.build(given.collection, folder, fields="title,text")
        index = sublex.open(folder)
        queries = words(given.collection, index, given.queries)
        for ranker in RANKERS:
            timed(folder, ranker, queries[:5])  # This loads the kernels.
        found: dict[str, list[dict[str, float]]] = {ranker: [] for ranker in RANKERS}
        for _ in range(given.turns):
            for ranker in RANKERS:
                found[ranker].append(timed(folder, ranker, queries))
    middle = {
        ranker: {name: statistics.median(own[name] for own in turns) for name in turns[0]}
        for ranker, turns in found.items()
    }
    print(
        f"{len(index):,} documents, {len(queries):,} queries, {found['BM25'][0]['postings']:,.0f} postings of their words"
    )
    print(
        "\n| ranker | first, ms | | single, ms | | batch, ms | | bytes a posting |\n|---|---|---|---|---|---|---|---|"
    )
    for ranker, own in middle.items():
        base = middle[BESIDE.get(ranker.partition("(")[0], ranker)]
        cells = (f"{own[name]:.3f} | {own[name] / base[name]:.2f}" for name in ("first", "single", "batch"))
        print(f"| `{ranker}` | {' | '.join(cells)} | {own['bytes a posting']:.2f} |")


if __name__ == "__main__":
    main()
