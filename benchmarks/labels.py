"""Measure labelled topics with short labels: how many labels are kept, how many of these are right, and what they hold.

    python benchmarks/labels.py COLLECTIONS [news arxiv medline] [--iterations 200] [--cards FOLDER]

COLLECTIONS is the folder of the test collections. The knowledge sources are in `label_sources.py`: labels with 3 to 8 words, each with
the group of documents that it names. As many decoys come from MedlinePlus: health topics, drawn by chance, whose names fewer than two
documents hold. A decoy has the 3 to 8 words that are most typical of its text, of which at least three are in the collection.

* `news` is every fifth document of 20 Newsgroups, from the second; a group is a newsgroup.
* `arxiv` is every 25th abstract of arxiv-cs, from the 14th; a group is a category.
* `medline` is all of Medline; a group are the documents that are relevant to a query.

A label is right if at least half of the 20 documents with most of its topic (10 in `medline`) belong to its group. A decoy is never
right. `--cards` writes the cards, to be read.
"""

from __future__ import annotations

import argparse
import json
import lzma
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from label_sources import ARXIV, MEDLINE, NEWS, Short

import sublex
from sublex.contracts.base import Document
from sublex.pipeline.index import Index

# The seed of decoys. Parameters were chosen with other decoys, and on the documents before those of `news` and `arxiv`.
SEED = 11
WAYS = {
    "the paper's": "enrich=0, evidence=0",
    "before": "enrich=0, evidence=0, likeness=0.4",
    "without enrichment": "enrich=0",
    "now": "",
}


class Data(NamedTuple):
    """Documents with their groups, labels of groups, and the number of best documents that decide."""

    documents: list[Document]
    groups: dict[str, set[str]]
    labels: list[Short]
    best: int


def records(path: Path, step: int, first: int) -> Iterator[dict[str, str]]:
    """Yield every `step`th record of a compressed file of JSON lines, from the record `first`."""
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            if number % step == first:
                yield json.loads(line)


def news(root: Path) -> Data:
    """Return 20 Newsgroups."""
    chosen = list(records(root / "20news/20news.jsonl.xz", 5, 1))
    return Data(
        [Document(one["id"], one["text"]) for one in chosen], {one["id"]: {one["label"]} for one in chosen}, NEWS, 20
    )


def arxiv(root: Path) -> Data:
    """Return abstracts of arXiv."""
    chosen = list(records(root / "arxiv-cs/arxiv-cs.jsonl.xz", 25, 13))
    documents = [Document(one["id"], one["text"], one["title"]) for one in chosen]
    return Data(documents, {one["id"]: {one["category"]} for one in chosen}, ARXIV, 20)


def medline(root: Path) -> Data:
    """Return Medline."""
    groups: dict[str, set[str]] = {}
    for line in (root / "medline/qrels.txt").read_text().splitlines():
        query, _, docno, grade = line.split()
        if int(grade) > 0:
            groups.setdefault(docno, set()).add(query)
    with tempfile.TemporaryDirectory() as folder:
        documents = list(sublex.build(root / "medline/docs.trec", Path(folder) / "index").documents())
    return Data(documents, {one.docno: groups.get(one.docno, set()) for one in documents}, MEDLINE, 10)


def decoys(root: Path, index: Index, number: int) -> list[tuple[str, list[str]]]:
    """Return labels of MedlinePlus that are not in the collection, each with some typical words that are."""
    lines = (root / "knowledge/medlineplus.jsonl").read_text(encoding="utf-8").splitlines()
    topics = [(one["label"], index.analyze(one["label"]), one["text"]) for one in map(json.loads, lines)]
    texts = [index.analyze(text) for _, _, text in topics]
    df = Counter(term for text in texts for term in set(text))
    matrix = index.corpus.matrix().tocsc()
    numbers = {term: place for place, term in enumerate(index.corpus.vocabulary)}
    known = {term for term, place in numbers.items() if matrix.indptr[place + 1] - matrix.indptr[place] >= 2}
    rng, found = np.random.default_rng(SEED), list[tuple[str, list[str]]]()
    for place in rng.permutation(len(topics)).tolist():
        label, name, _ = topics[place]
        if not name or holding(matrix, [numbers.get(term, -1) for term in name]) >= 2:
            continue
        counts = Counter(texts[place])
        typical = sorted(counts, key=lambda term: -counts[term] * np.log(len(topics) / df[term]))
        words = typical[: int(rng.integers(3, 9))]
        if sum(word in known for word in words) >= 3:
            found.append((label, words))
        if len(found) == number:
            break
    return found


def holding(matrix: np.ndarray, terms: list[int]) -> int:
    """Return the number of documents that hold all of some terms; -1 stands for an unknown term."""
    if -1 in terms:
        return 0
    docs = [set(matrix.indices[matrix.indptr[term] : matrix.indptr[term + 1]].tolist()) for term in terms]
    return len(set.intersection(*docs))


def measure(index: Index, model: str, data: Data) -> list[str]:
    """Return the figures of a fitted model, as cells of a table."""
    found = index.representation(model)
    docs = np.arange(len(index))
    shares = found.label_shares(docs).tocsc()
    docnos = [index.snapshot.docno(doc) for doc in docs.tolist()]
    group_of = {short.label: short.group for short in data.labels}
    tokens = np.asarray(found.model.estimator.word_topics_.sum(axis=0)).ravel()
    kept, right, held, having, belonging = 0, 0, 0.0, 0, 0
    for number, label in enumerate(found.labels):
        if label.startswith("unlabelled: "):
            continue
        kept += 1
        group = group_of.get(label.removeprefix("probably "))
        part = slice(shares.indptr[number], shares.indptr[number + 1])
        own, values = shares.indices[part], shares.data[part]
        best = own[np.argsort(-values, kind="stable")[: data.best]]
        is_right = sum(group in data.groups[docnos[doc]] for doc in best.tolist()) >= data.best / 2
        right += is_right and group is not None
        held += tokens[number] / tokens.sum()
        has = own[values >= 0.2].tolist()
        having += len(has)
        belonging += sum(group in data.groups[docnos[doc]] for doc in has)
    share = belonging / having if having else 0
    return [
        f"{kept}", f"{right / kept:.0%}" if kept else "-", f"{right / len(data.labels):.0%}", f"{held:.1%}",
        f"{having:,}", f"{share:.0%}",
    ]  # fmt: skip


def main() -> None:
    """Read the arguments and print a table for each collection."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("collections", type=Path)
    every = {"news": news, "arxiv": arxiv, "medline": medline}
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(every))
    parser.add_argument("--iterations", type=int, default=200)
    parser.add_argument("--cards", type=Path)
    chosen = parser.parse_args()
    for name in chosen.names or every:
        data = every[name](chosen.collections)
        folder = Path(tempfile.mkdtemp())
        try:
            index = sublex.build(data.documents, folder / "index")
            others = decoys(chosen.collections, index, len(data.labels))
            lines = [json.dumps({"label": one.label, "text": one.words}) for one in data.labels]
            # A decoy keeps its words as terms. They are shown in the form that the collection has most often.
            lines += [
                json.dumps({"label": label, "text": " ".join(map(index.corpus.surface, words))})
                for label, words in others
            ]
            source = folder / "source.jsonl"
            source.write_text("\n".join(lines) + "\n", encoding="utf-8")
            print(f"\n{name}: {len(index):,} documents, {len(data.labels)} labels, {len(others)} decoys", flush=True)
            print("model | way | kept | precision | recall | tokens | documents | of the group | s", flush=True)
            for kind in ("k=100", "k=30, model=mixture"):
                for way, options in WAYS.items():
                    model = f'sourcelda("{source}", {kind}, iterations={chosen.iterations}{options and ", "}{options})'
                    began = time.process_time()
                    index.fit(model)
                    seconds = f"{time.process_time() - began:.0f}"
                    print(" | ".join([kind, way, *measure(index, model, data), seconds]), flush=True)
                    if chosen.cards and not options:
                        card = json.dumps(index.card(model), indent=1)
                        (chosen.cards / f"{name}-{kind.partition(',')[0]}.json").write_text(card)
        finally:
            shutil.rmtree(folder)


if __name__ == "__main__":
    main()
