"""Time a ranker that is installed as a plugin beside the same formula as a Python object, as a function, and in a blend.

    python benchmarks/python_objects.py arxiv-cs.jsonl.xz [--documents 100000] [--queries 500] [--rounds 5] [--folder FOLDER]

Each way searches the same queries in turns with the others, by `index.search`, with one thread. "first" is a search by an index that
was just opened, so that it includes the time in which impacts are computed; "later" is a search for the same query again.
The table has the milliseconds per query and their ratio to the plugin's: the median over the rounds.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

import numpy as np
from retrieval_data import records, titles

import sublex
from sublex.contracts.base import Ranker
from sublex.language import plugins
from sublex.pipeline.index import Index

DEPTHS = (10, 1000)
PLUGIN = """
from sublex.contracts.hookspecs import hookimpl
from __main__ import Timed

sublex_api = 3


@hookimpl
def register_rankers(register):
    register("Timed", Timed)
"""


class Timed(Ranker):
    """The ranker that is timed: BM25 as Lucene has it."""

    reads = ("length",)

    def score(self, tf: Any, doc: Any, term: Any, collection: Any) -> Any:
        idf = np.log(1 + (collection.docs - term.df + 0.5) / (term.df + 0.5))
        return idf * tf / (tf + 1.2 * (0.25 + 0.75 * doc.length / collection.mean_length))


def timed(tf: Any, length: Any, df: Any, docs: Any, mean_length: Any) -> Any:
    """The same formula as a function."""
    return np.log(1 + (docs - df + 0.5) / (df + 0.5)) * tf / (tf + 1.2 * (0.25 + 0.75 * length / mean_length))


def ways() -> dict[str, Any]:
    """Return what is searched with, by name; the first of each group is the plugin's."""
    thing, part, formula = Timed(), sublex.ranker(Timed()), sublex.ranker(timed)
    blends = {name: sublex.parse("PL2") + 0.3 * sublex.parse(tree) if isinstance(tree, str) else "PL2" + 0.3 * tree
              for name, tree in (("plugin in a blend", "Timed"), ("formula in a blend", formula))}  # fmt: skip
    return {"plugin": "Timed", "object": thing, "part": part, "formula": formula, **blends}


def milliseconds(index: Index, way: Any, queries: Sequence[str], k: int) -> float:
    begin = time.process_time()
    for query in queries:
        index.search(query, way, k)
    return 1000 * (time.process_time() - begin) / len(queries)


def measured(
    open_index: Callable[[], Index], queries: Sequence[str], k: int, rounds: int
) -> dict[str, list[tuple[float, float]]]:
    """Return the milliseconds of first and later searches of each round, by way."""
    figures: dict[str, list[tuple[float, float]]] = {}
    for turn in range(rounds + 1):
        named = list(ways().items())
        for name, way in named if turn % 2 else reversed(named):
            index = open_index()
            index.search("warm", way, k)
            pair = milliseconds(index, way, queries, k), milliseconds(index, way, queries, k)
            if turn:  # The first turn loads code and files.
                figures.setdefault(name, []).append(pair)
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("collection")
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--queries", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--folder", type=Path)
    given = parser.parse_args()
    folder = given.folder or Path(tempfile.mkdtemp())
    (folder / "plugin").mkdir(parents=True, exist_ok=True)
    (folder / "plugin" / "timed_plugin.py").write_text(PLUGIN)
    sys.path.insert(0, str(folder / "plugin"))
    points = [point for point in entry_points(group=plugins.GROUP) if point.value.startswith(plugins.BUILT_IN)]
    registry = plugins.Registry([*points, EntryPoint("timed", "timed_plugin", plugins.GROUP)])
    if not (folder / "index").exists():
        sublex.build(records(given.collection, most=given.documents), folder / "index", store="none")
    queries = titles(given.collection, given.queries, given.documents)
    print(f"{'k':>5}  {'way':20} {'first ms':>9} {'ratio':>6} {'later ms':>9} {'ratio':>6}")
    for k in DEPTHS:
        figures = measured(lambda: Index(folder / "index", load_registry=lambda: registry), queries, k, given.rounds)
        for name, pairs in figures.items():
            base = figures["plugin in a blend" if "blend" in name else "plugin"]
            row = []
            for place in (0, 1):
                ratio = statistics.median(own[place] / other[place] for own, other in zip(pairs, base, strict=True))
                row.append(f"{statistics.median(pair[place] for pair in pairs):9.3f} {ratio:6.2f}")
            print(f"{k:5}  {name:20} {' '.join(row)}")


if __name__ == "__main__":
    main()
