"""Time what people see of an answer, titles and passages, beside the search itself.

    python benchmarks/showing.py INDEX TOPICS [--queries 300] [--rounds 7] [-k 10]

INDEX stores texts; TOPICS is a file of queries. The steps take turns in one thread of one process. The table has the least
processor time of the rounds for a query, as ratios to the answer with docnos.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import sublex
from sublex.display.hits import hits


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("index")
    parser.add_argument("topics")
    parser.add_argument("--queries", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("-k", type=int, default=10)
    args = parser.parse_args()
    index = sublex.open(args.index)
    topics = [topic.text for topic in sublex.read_topics(args.topics)][: args.queries]
    pipeline = index.pipeline("BM25")
    answers = [pipeline.answer(index.query(text), args.k) for text in topics]
    steps: dict[str, Callable[[], object]] = {
        "answer with docnos": lambda: [pipeline.answer(index.query(text), args.k).hits.docnos for text in topics],
        "titles": lambda: [answer.hits.titles for answer in answers],
        "titles and passages": lambda: [hits(index, answer).data for answer in answers],
    }
    times = {name: least(step, args.rounds) / len(topics) for name, step in steps.items()}
    base = times["answer with docnos"]
    print(f"{len(index):,} documents, {len(topics)} queries, k = {args.k}\n")
    print("| step | ms a query | ratio |\n|---|---|---|")
    for name, seconds in times.items():
        print(f"| {name} | {1000 * seconds:.2f} | {seconds / base:.1f} |")


def least(step: Callable[[], object], rounds: int) -> float:
    """Return the least processor time of a step in some rounds, after one that is not counted."""
    step()
    found = []
    for _ in range(rounds):
        begin = time.process_time()
        step()
        found.append(time.process_time() - begin)
    return min(found)


if __name__ == "__main__":
    main()
