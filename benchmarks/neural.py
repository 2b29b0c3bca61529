"""Rank a BEIR collection by published neural models, and compare with the figures that Anserini publishes for them.

    python benchmarks/neural.py COLLECTION MODELS [--split test] [--batch 256] [--docs N] [--keep FOLDER]

COLLECTION is a folder of BEIR with corpus.jsonl, queries.jsonl and qrels/SPLIT.tsv; the figures are those of scifact and nfcorpus.
MODELS has a folder for each model, as optimum-cli or fastembed write it: model.onnx, tokenizer.json and the configs. Folders that
are missing are left out:

* bge-base-en-v1.5: BAAI/bge-base-en-v1.5, dense vectors of the first piece, of norm 1, by their product
* splade-cocondenser-ensembledistil: naver/splade-cocondenser-ensembledistil, learned sparse weights

A model encodes all documents, title and text, and the queries of SPLIT. Sublex adds the vectors, ranks by them exactly, and prints
nDCG@10 and R@100 beside the published figures. --docs takes the first N documents alone, to try the script; the figures then say
nothing. Figures agree with the published ones if they differ by no more than .002: Anserini says that encoding by ONNX changes them by
up to about .001, and it takes weights of SPLADE times 100 as whole numbers. It needs `sublex[onnx]`; nothing is downloaded.
"""

from __future__ import annotations

import argparse
import itertools
import json
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import sublex
from sublex.language import plugins
from sublex.language.encoding import encoded

NEAR = 0.002
MEASURES = "nDCG@10 R@100"


class Model(NamedTuple):
    """A published model: the parameters of its encoder, how it ranks, and the published nDCG@10 and R@100 by collection."""

    parameters: dict[str, Any]
    expression: str
    published: dict[str, tuple[float, float]]


# Published figures: docs/regressions/regressions-beir-v1.0.0-{scifact,nfcorpus}.{bge-base-en-v1.5.flat.onnx,splade-pp-ed.onnx}.md
# of github.com/castorini/anserini.
MODELS = {
    "bge-base-en-v1.5": Model(
        {
            "pooling": "cls",
            "normalise": True,
            "prefix": ["Represent this sentence for searching relevant passages: ", ""],
        },
        "dense(given)",
        {"scifact": (0.7408, 0.9667), "nfcorpus": (0.3735, 0.3368)},
    ),
    "splade-cocondenser-ensembledistil": Model(
        {"pooling": "splade"}, "sparse(given)", {"scifact": (0.7036, 0.9353), "nfcorpus": (0.3473, 0.2847)}
    ),
}


def records(path: Path, count: int | None = None) -> Iterator[dict[str, Any]]:
    """Yield the objects of a file of JSON lines, at most `count`."""
    with open(path, encoding="utf-8") as lines:
        for line in itertools.islice(lines, count):
            yield json.loads(line)


def vectors_of(encoder: Any, texts: dict[str, str], role: str, batch: int) -> dict[str, Any]:
    """Return the vector of each text by its id: a row, or weights of terms."""
    found: dict[str, Any] = {}
    ids = list(texts)
    for begin in range(0, len(ids), batch):
        chosen = ids[begin : begin + batch]
        made = encoded(encoder, "onnx", [texts[each] for each in chosen], role)
        if encoder.kind == "dense":
            found |= dict(zip(chosen, np.asarray(made.rows), strict=True))
            continue
        for number, each in enumerate(chosen):
            part = slice(made.rows.indptr[number], made.rows.indptr[number + 1])
            terms = [made.terms[column] for column in made.rows.indices[part]]
            found[each] = dict(zip(terms, made.rows.data[part].tolist(), strict=True))
    return found


def measured(
    collection: Path, folder: Path, model: Model, place: Path, split: str, batch: int, docs: int | None
) -> dict[str, float]:
    """Encode a collection by the model in `folder`, rank by it, and return the mean of each measure by its name."""
    encoder = plugins.load().build("encoder", "onnx", {"folder": str(folder), **model.parameters})
    texts = {
        each["_id"]: f"{each.get('title', '')} {each['text']}".strip()
        for each in records(collection / "corpus.jsonl", docs)
    }
    index = sublex.build(({"id": docno, "text": text} for docno, text in texts.items()), place, store="")
    begin = time.perf_counter()
    summary = index.add_vectors("given", vectors_of(encoder, texts, "document", batch))
    print(
        f"  {summary.matched:,} documents encoded in {time.perf_counter() - begin:.0f} s by", *encoder.about().values()
    )
    qrels = sublex.read_qrels(collection / "qrels" / f"{split}.tsv")
    topics = {each["_id"]: each["text"] for each in records(collection / "queries.jsonl") if each["_id"] in qrels}
    queries = vectors_of(encoder, topics, "query", batch)
    run = index.run(topics, model.expression, k=1000, queries={"given": queries})
    return {str(name): value for name, value in sublex.measure(qrels, run, MEASURES).mean.items()}


def main() -> None:
    """Read the arguments, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("collection", type=Path)
    parser.add_argument("models", type=Path)
    parser.add_argument("--split", default="test")
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--docs", type=int)
    parser.add_argument("--keep", type=Path, help="the folder in which the indexes stay")
    given = parser.parse_args()
    tried = 0
    with tempfile.TemporaryDirectory() as scratch:
        for name, model in MODELS.items():
            folder = given.models / name
            if not folder.is_dir():
                print(f"{name}: {folder} is missing; left out")
                continue
            tried += 1
            print(name)
            place = (given.keep or Path(scratch)) / f"{given.collection.name}-{name}"
            means = measured(given.collection, folder, model, place, given.split, given.batch, given.docs)
            published = model.published.get(given.collection.name.lower(), ())
            for (measure, value), wanted in itertools.zip_longest(means.items(), published):
                verdict = (
                    ""
                    if wanted is None
                    else f", published {wanted:.4f}: {'agrees' if abs(value - wanted) <= NEAR else 'DIFFERS'}"
                )
                print(f"  {measure} {value:.4f}{verdict}")
    if not tried:
        print(f"{given.models} has none of the models; nothing was compared.")


if __name__ == "__main__":
    main()
