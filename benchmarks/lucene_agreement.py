"""Compare the rankings of Lucene's BM25 with those of Sublex's BM25, on an index of Sublex and on the attached Lucene index.

    python benchmarks/lucene_agreement.py [COLLECTIONS] [--depth 100]

COLLECTIONS holds the folders cranfield and vaswani (docs.trec, topics.trec) and scifact (BEIR). For each, Anserini builds a Lucene index,
which is attached, and Sublex builds an index of its own with the profile `anserini`. The extra `lucene` and Anserini's jar must be
installed. Two rankings agree on a topic if they are equal up to ties: every document of one has the same score in the other, within
`NEAR`, and a document that only one of them has scores as the last document of the other. The exit status is 0 if all agree.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import sublex
from sublex.base import Document
from sublex.index.foreign_build import build_foreign

COLLECTIONS = ("cranfield", "vaswani", "scifact")
# The largest difference between two scores that are called equal, as a share of the score: Lucene computes in float32.
NEAR = 1e-6
Ranking = dict[str, float]


def agree(one: Ranking, other: Ranking) -> bool:
    """Return whether two rankings of the same depth are equal up to ties."""
    if len(one) != len(other):
        return False
    last = [min(scores.values(), default=0.0) for scores in (one, other)]
    missing = [(score, last[1]) for docno, score in one.items() if docno not in other]
    missing += [(score, last[0]) for docno, score in other.items() if docno not in one]
    both = [(score, other[docno]) for docno, score in one.items() if docno in other]
    return all(abs(a - b) <= NEAR * max(abs(a), abs(b)) for a, b in both + missing)


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
