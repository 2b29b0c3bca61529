"""Measure how well keyphrases tell the categories of short texts, beside words, mentioned keyphrases, LSI and LDA (table 3 of LAKI).

    python benchmarks/laki_classification.py INDEX FILE.jsonl [--model laki] [--topics 'lda(k=100)'] [--part title] [--each 500]

INDEX is fitted to texts with the models. Each line of FILE has an id, a title, a text and a category. The ten categories with most texts
take part, each with the same number of texts. LinearSVC, five splits 70/30; C is chosen on the training part, for all alike. The means and
standard deviations of the accuracy are printed. The script needs scikit-learn.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.sparse import csr_array, csr_matrix
from sklearn.decomposition import TruncatedSVD
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.model_selection import GridSearchCV, StratifiedShuffleSplit
from sklearn.svm import LinearSVC

import sublex
from sublex.estimators.laki import encode

CATEGORIES, SPLITS, DIMENSIONS = 10, 5, (50, 100, 200)
COSTS = (0.01, 0.1, 1.0, 10.0)


def chosen(records: list[dict[str, str]], each: int) -> list[dict[str, str]]:
    """Return the same number of texts, at most `each`, of each of the categories with most texts."""
    counts = Counter(record["category"] for record in records).most_common(CATEGORIES)
    number = min(each, counts[-1][1])
    by_category = {category: [r for r in records if r["category"] == category][:number] for category, _ in counts}
    return [record for found in by_category.values() for record in found]


def features(
    index: sublex.Index, model: str, topics: str, texts: list[str], everything: list[str]
) -> Iterator[tuple[str, Any]]:
    """Yield the name and the vectors of each kind of features of texts. LSI is learned from `everything`."""
    counter = CountVectorizer(analyzer=index.analyze, min_df=2).fit(everything)
    words = counter.transform(texts)
    yield "words", (words > 0).astype(float)
    loaded = index.representation(model)
    laki, inputs = loaded.model, loaded.inputs
    units = laki.units.of_texts(inputs.of_texts(texts))
    weighting = TfidfTransformer(sublinear_tf=True)
    for name, own, all_counts in (
        ("LSI of words", words, counter.transform(everything)),
        ("LSI of units", units, laki.units.of_texts(inputs.of_texts(everything))),
    ):
        trained = weighting.fit_transform(csr_matrix(all_counts))
        for width in DIMENSIONS:
            yield (
                f"{name}, {width}",
                TruncatedSVD(width, random_state=0).fit(trained).transform(weighting.transform(csr_matrix(own))),
            )
    if topics:
        lda = index.representation(topics)
        shares = csr_array(lda.vectors(lda.inputs.of_texts(texts)))
        yield topics, shares
        yield f"{topics}, roots", shares.sqrt()
    mentioned = units[:, laki.network.phrases]
    yield "mentioned keyphrases", (mentioned > 0).astype(float)
    for name, network, settings in (
        ("keyphrases, Gibbs", laki.capped, {"sweeps": 5000}),
        ("keyphrases, Gibbs, 1,000 sweeps", laki.capped, {"sweeps": 1000}),
        ("keyphrases, propagation", laki.capped, {"method": "propagation"}),
        ("keyphrases, propagation, no cap", laki.network, {"method": "propagation"}),
    ):
        begin = time.process_time()
        found = encode(network, units, most=laki.most, **settings)
        print(f"{name}: {1000 * (time.process_time() - begin) / len(texts):.2f} ms a text", flush=True)
        yield name, found
        yield f"{name}, roots", found.sqrt()


def accuracies(vectors: Any, labels: np.ndarray) -> list[float]:
    """Return the accuracy of each split."""
    rows = csr_matrix(vectors) if hasattr(vectors, "indptr") else vectors
    found = []
    for train, test in StratifiedShuffleSplit(SPLITS, test_size=0.3, random_state=0).split(labels, labels):
        search = GridSearchCV(LinearSVC(), {"C": COSTS}, cv=3).fit(rows[train], labels[train])
        found.append(float(search.score(rows[test], labels[test])))
    return found


def main() -> None:
    """Print the accuracy of each kind of features."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("index")
    parser.add_argument("file")
    parser.add_argument("--model", default="laki")
    parser.add_argument("--topics", default="")
    parser.add_argument("--part", default="title", choices=("title", "text"))
    parser.add_argument("--each", type=int, default=500)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    with open(arguments.file, encoding="utf-8") as lines:
        everything = [json.loads(line) for line in lines]
    records = chosen(everything, arguments.each)
    labels = np.array([record["category"] for record in records])
    print(f"{len(records):,} texts of {len(set(labels))} categories")
    texts = [record[arguments.part] for record in records]
    contents = [f"{record['title']}\n{record['text']}" for record in everything]
    index = sublex.open(arguments.index)
    for name, vectors in features(index, arguments.model, arguments.topics, texts, contents):
        found = accuracies(vectors, labels)
        print(f"{name:40s} {100 * np.mean(found):5.1f} ± {100 * np.std(found):.1f}", flush=True)


if __name__ == "__main__":
    main()
