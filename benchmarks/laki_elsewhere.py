"""Measure a LAKI that was learned on one collection as a representation of another one: AP alone and blended with BM25.

    python benchmarks/laki_elsewhere.py INDEX COLLECTION [--model laki]

INDEX is fitted with the model (arxiv-cs); COLLECTION is a folder with docs.trec, topics.trec and qrels.txt (cacm). Texts are cut into the
units of INDEX, and words that it does not have are ignored. p is that of a paired t test against BM25, without correction.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np
from laki_features import unit
from scipy.sparse import csr_matrix

import sublex
from sublex.statistics.significance import t

WEIGHTS, HITS = (0.1, 0.2, 0.3, 0.4, 0.8), 1000


def run_of(
    known: sublex.Index, model: str, index: sublex.Index, topics: list[sublex.Topic]
) -> dict[str, dict[str, float]]:
    """Return the cosines of the keyphrases of topics and documents."""
    loaded = known.representation(model)
    texts = [index.corpus.raw(doc) for doc in index.corpus.docs.tolist()]
    docnos = [index.docno(doc) for doc in index.corpus.docs.tolist()]
    documents, queries = (
        loaded.model.encode_units(loaded.model.units.of_texts(loaded.inputs.of_texts(given)), least)
        for given, least in ((texts, 0.01), ([topic.text for topic in topics], 0.001))
    )
    print(f"{len(texts):,} documents, {(np.diff(documents.indptr) == 0).sum():,} of them without a keyphrase")
    cosines = np.asarray(
        (unit(csr_matrix(queries, dtype=float)) @ unit(csr_matrix(documents, dtype=float)).T).todense()
    )
    best = np.argsort(-cosines, axis=1, kind="stable")[:, :HITS]
    return {
        topic.qid: {docnos[doc]: float(row[doc]) for doc in order if row[doc] > 0}
        for topic, row, order in zip(topics, cosines, best, strict=True)
    }


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("index")
    parser.add_argument("collection", type=Path)
    parser.add_argument("--model", default="laki")
    given = parser.parse_args()
    qrels = sublex.read_qrels(given.collection / "qrels.txt")
    topics = [topic for topic in sublex.read_topics(given.collection / "topics.trec") if topic.qid in qrels]
    with tempfile.TemporaryDirectory() as work:
        index = sublex.build(given.collection / "docs.trec", Path(work) / "index")
        own = run_of(sublex.open(given.index), given.model, index, topics)
        base = index.run(topics, "BM25")
        systems = {"BM25": base, "laki": own}
        for weight in WEIGHTS:
            systems[f"BM25 + {weight}*laki"] = sublex.fuse([base, own], "weighted", [1.0, weight])
        values = {}
        for name, run in systems.items():
            found = sublex.measure(qrels, run, "AP")
            values[name] = found["AP"][np.argsort(np.array(found.qids))]
        print("\n| system | AP | p |\n|---|---|---|")
        for name, scores in values.items():
            p = "" if name == "BM25" else f"{float(t(scores, values['BM25'])):.3f}"
            print(f"| `{name}` | {100 * scores.mean():.2f} | {p} |")


if __name__ == "__main__":
    main()
