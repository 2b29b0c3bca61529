"""Measure what the analyzer's options `fold` and `latex` change: effectiveness, the words concerned, and the cost of indexing.

    python benchmarks/folding.py COLLECTIONS

COLLECTIONS holds adi, cacm, cranfield, medline, vaswani (docs.trec, topics.trec, qrels.txt), scifact (BEIR) and arxiv-cs
(arxiv-cs.jsonl.xz). Seconds are CPU seconds of one thread, the least of three builds that take turns.
"""

from __future__ import annotations

import json
import lzma
import sys
import tempfile
import time
from pathlib import Path

import sublex
from sublex.analysis.tokens import raw_tokens

ANALYZERS = ("english", "english(fold=true)", "english(latex=true)", "english(fold=true, latex=true)")


def effectiveness(folder: Path, scratch: Path) -> None:
    """Print AP and nDCG@10 of BM25 with each analyzer."""
    for name in ("adi", "cacm", "cranfield", "medline", "vaswani", "scifact"):
        if name == "scifact":
            files = [folder / name / part for part in ("corpus.jsonl", "queries.jsonl", "qrels/test.tsv")]
        else:
            files = [folder / name / part for part in ("docs.trec", "topics.trec", "qrels.txt")]
        for analyzer in ANALYZERS:
            index = sublex.build(files[0], scratch / name, analyzer=analyzer, overwrite=True)
            run = index.run(sublex.read_topics(files[1]), "BM25", k=1000)
            mean = sublex.measure(files[2], run, "AP nDCG@10").mean
            figures = "  ".join(f"{measure} {value:.4f}" for measure, value in mean.items())
            print(f"{name:10} {analyzer:32} {figures}  terms {index.vocabulary_size:,}")


def words(documents: list[dict[str, str]]) -> None:
    """Print how many raw tokens have LaTeX's letters or letters above ASCII, and in how many documents."""
    found: dict[str, set[str]] = {"latex": set(), "above ASCII": set()}
    occurrences, holders, tokens = dict.fromkeys(found, 0), dict.fromkeys(found, 0), 0
    for document in documents:
        raws = raw_tokens(f"{document['title']}\n{document['text']}", latex=True)
        tokens += len(raws)
        for kind in found:
            own = [raw for raw in raws if ("\\" in raw if kind == "latex" else not raw.isascii())]
            found[kind].update(own)
            occurrences[kind] += len(own)
            holders[kind] += bool(own)
    for kind, own in found.items():
        print(
            f"{kind}: {occurrences[kind]:,} of {tokens:,} tokens, {len(own):,} distinct, in {holders[kind]:,} documents"
        )


def cost(documents: list[dict[str, str]], scratch: Path) -> None:
    """Print the CPU seconds of indexing with each analyzer, and what differs in the lexicon."""
    least = dict.fromkeys(ANALYZERS, float("inf"))
    for _ in range(3):
        for analyzer in ANALYZERS:
            begin = time.process_time()
            index = sublex.build(documents, scratch / analyzer, analyzer=analyzer, workers=1, overwrite=True)
            least[analyzer] = min(least[analyzer], time.process_time() - begin)
    before = {term.term for term in sublex.open(scratch / "english").terms()}
    for analyzer, seconds in least.items():
        index = sublex.open(scratch / analyzer)
        terms = {term.term for term in index.terms()}
        print(
            f"{analyzer:32} {seconds:6.2f} CPU s  terms {len(terms):,}, {len(terms - before):,} new, {len(before - terms):,} gone"
        )


def main() -> None:
    """Print all figures."""
    folder = Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as scratch:
        effectiveness(folder, Path(scratch))
        with lzma.open(folder / "arxiv-cs" / "arxiv-cs.jsonl.xz", "rt") as lines:
            read = [json.loads(line) for line in lines]
        documents = [{"id": str(each["id"]), "title": each["title"], "text": each["text"]} for each in read]
        words(documents)
        cost(documents, Path(scratch))


if __name__ == "__main__":
    main()
