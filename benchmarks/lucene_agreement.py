"""Compare the rankings of Lucene's BM25 with those of Sublex's BM25, on an index of Sublex and on the attached Lucene index.

    python benchmarks/lucene_agreement.py [COLLECTIONS] [--depth 100]

COLLECTIONS holds the folders cranfield and vaswani (docs.trec, topics.trec) and scifact (BEIR). For each, Anserini builds a Lucene index,
which is attached, and Sublex builds an index of its own with the profile `anserini`. On cranfield all retrievers are compared with
Anserini's SearchCollection too. The extra `lucene` and Anserini's jar must be installed. Two rankings agree on a topic if they are equal
up to ties: every document of one has the same score in the other, within `NEAR`, and a document that only one of them has scores as the
last document of the other. The exit status is 0 if all agree.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import sublex
from sublex.contracts.base import Document
from sublex.other_engines.build import build_foreign
from sublex.pipeline.index import Index
from sublex.trec.topics import Topics
from sublex_lucene import installed

COLLECTIONS = ("cranfield", "vaswani", "scifact")
# The largest difference between two scores that are called equal, as a share of the score: Lucene computes in float32.
NEAR = 1e-6
# How far scores in a run of Anserini may be from the scores that it computed: it writes a few digits.
WRITTEN = 1e-4
# Each retriever, and the options by which Anserini's SearchCollection runs the same scorer.
SEARCHES = {
    "LuceneBM25": "-bm25",
    "LuceneBM25(feedback=rm3)": "-bm25 -rm3",
    "LuceneBM25(feedback=rocchio)": "-bm25 -rocchio",
    "LuceneQLD": "-qld",
    "LuceneQLD(feedback=rm3)": "-qld -rm3",
    "LuceneQLJM": "-qljm",
    "LuceneInL2": "-inl2",
    "LuceneSPL": "-spl",
    "LuceneF2Exp": "-f2exp",
}
Ranking = dict[str, float]


def agree(one: Ranking, other: Ranking, written: float = 0.0) -> bool:
    """Return whether two rankings of the same depth are equal up to ties; scores may be `written` apart besides."""
    if len(one) != len(other):
        return False
    last = [min(scores.values(), default=0.0) for scores in (one, other)]
    missing = [(score, last[1]) for docno, score in one.items() if docno not in other]
    missing += [(score, last[0]) for docno, score in other.items() if docno not in one]
    both = [(score, other[docno]) for docno, score in one.items() if docno in other]
    return all(abs(a - b) <= NEAR * max(abs(a), abs(b)) + written for a, b in both + missing)


def largest_difference(one: Ranking, other: Ranking) -> float:
    """Return the largest difference between the scores of a document, as a share of the score."""
    return max((abs(score - other[docno]) / abs(score) for docno, score in one.items() if docno in other), default=0.0)


def compare(folder: Path, work: Path, depth: int) -> bool:
    """Print the lines of one collection, and return whether all rankings agree."""
    source = folder if folder.name == "scifact" else folder / "docs.trec"
    topics = sublex.read_topics(folder / ("queries.jsonl" if folder.name == "scifact" else "topics.trec"))
    build_foreign(work / "attached", source, "lucene")
    attached = sublex.open(work / "attached")
    # Anserini leaves out documents without text, which count in the statistics of Sublex.
    documents = (Document(d.docno, d.text, d.title) for d in attached.documents())
    own = sublex.build(documents, work / "own", profile="anserini")
    runs = {
        "LuceneBM25": attached.run(topics, "LuceneBM25", k=depth),
        "BM25 on the Lucene index": attached.run(topics, "BM25", k=depth),
        "BM25 on Sublex's index": own.run(topics, "BM25", k=depth),
        "BM25(lengths=exact)": own.run(topics, "BM25(lengths=exact)", k=depth),
    }
    reference = runs.pop("LuceneBM25")
    good = True
    for name, run in runs.items():
        pairs = [(dict(reference[qid]), dict(run[qid])) for qid in reference]
        same = sum(agree(*pair) for pair in pairs)
        shared = sum(len(one.keys() & other.keys()) for one, other in pairs) / sum(len(one) for one, _ in pairs)
        apart = max(largest_difference(*pair) for pair in pairs)
        print(f"{folder.name:10} {name:26} {same:5} of {len(pairs):5} topics {shared:9.4%} {apart:.1e}", flush=True)
        good &= same == len(pairs) or name.endswith("exact)")
    return good and (folder.name != "cranfield" or anserini(attached, topics, work, depth))


def anserini(attached: Index, topics: Topics, work: Path, depth: int) -> bool:
    """Print how many topics each retriever ranks as Anserini's SearchCollection does. Return whether all are."""
    lines = (f"{topic.qid}\t{' '.join(topic.text.split())}\n" for topic in topics)
    (work / "topics.tsv").write_text("".join(lines), encoding="utf-8")
    java = [str(installed.java_home() / "bin" / "java"), "-cp", str(installed.anserini_jar())]
    fixed = ["-index", work / "attached.lucene", "-topics", work / "topics.tsv", "-topicReader", "TsvString"]
    good = True
    for expression, options in SEARCHES.items():
        command = [*java, "io.anserini.search.SearchCollection", *map(str, fixed), *options.split()]
        subprocess.run([*command, "-hits", str(depth), "-output", str(work / "run")], check=True, capture_output=True)
        theirs, ours = sublex.read_run(work / "run"), attached.run(topics, expression, k=depth)
        same = sum(agree(dict(ours[qid]), dict(theirs[qid]), WRITTEN) for qid in theirs)
        print(f"{expression:30} {same:5} of {len(theirs):5} topics as SearchCollection {options}", flush=True)
        good &= same == len(theirs)
    return good


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("collections", nargs="?", default="../shared/collections")
    parser.add_argument("--depth", type=int, default=100)
    given = parser.parse_args()
    print(f"{'':10} {'against LuceneBM25':26} {'equal up to ties':>21} {'shared':>9} largest difference of a score")
    with tempfile.TemporaryDirectory() as folder:
        work = [(Path(given.collections) / name, Path(folder) / name) for name in COLLECTIONS]
        for _, place in work:
            place.mkdir()
        good = [compare(collection, place, given.depth) for collection, place in work]
    sys.exit(0 if all(good) else 1)


if __name__ == "__main__":
    main()
