"""Measure how well keyphrases tell the categories of short texts, beside other features learned from the same texts (table 6 of LAKI).

    python benchmarks/laki_classification.py INDEX FILE.jsonl [--task title|text|subject] [--model laki] [--each 500] [--work FOLDER]

INDEX is fitted with the model; it has the texts of FILE. Each line of FILE has a title, a text and a category (arXiv), or for `subject` a
label and a text with its headers (20 Newsgroups); the index should then have the bodies only, which `--bodies OUT.jsonl` writes. Of equal
subjects, without "Re:", one is kept. The ten categories with most texts take part, or all newsgroups, each with at most so many texts.

All features are learned without categories, and rows have length 1. Five splits 70/30: on the training part three folds choose the variant
of the features (weights, width, roots or not) and C of a linear SVM, and then one hold-out C and the width of an SVM with radial basis
functions. The accuracy is that of the test part. The script needs scikit-learn.
"""

from __future__ import annotations

import argparse
import json
import re
import warnings
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from laki_features import Features, unit
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit
from sklearn.svm import SVC, LinearSVC

import sublex

SPLITS, FOLDS = 5, 3
COSTS, RADIAL_COSTS, WIDTHS = (0.1, 1.0, 10.0), (1.0, 10.0), (0.5, 2.0)
REPLY = re.compile(r"^\s*(re|fwd?)(\[\d+\])?\s*:\s*", re.IGNORECASE)
SUBJECT = re.compile(r"^Subject: *(.*)$", re.MULTILINE)


def in_lines(text: str) -> str:
    """Return a message with its lines apart; in the training half of 20 Newsgroups by date, tabs stand for line ends."""
    return text.replace("\t", "\n")


def subject(text: str) -> str:
    """Return the subject of a message without "Re:"."""
    found = SUBJECT.search(in_lines(text))
    value = found.group(1).strip() if found else ""
    while REPLY.match(value):
        value = REPLY.sub("", value, count=1)
    return value


def records(path: str, task: str) -> list[tuple[str, str]]:
    """Return short texts with their categories, each text once."""
    found: dict[str, tuple[str, str]] = {}
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            text = subject(record["text"]) if task == "subject" else record[task]
            found.setdefault(text.casefold(), (text, record["label" if task == "subject" else "category"]))
    return [item for item in found.values() if item[0].strip()]


def chosen(texts: list[tuple[str, str]], categories: int, each: int) -> list[tuple[str, str]]:
    """Return at most so many texts, drawn at random, of each of the categories with most texts."""
    chance = np.random.default_rng(0)
    names = [name for name, _ in Counter(category for _, category in texts).most_common(categories)]
    found = []
    for name in names:
        own = [item for item in texts if item[1] == name]
        found += [own[k] for k in np.sort(chance.permutation(len(own))[:each])]
    return found


def write_bodies(path: str, to: str) -> None:
    """Write the bodies of the messages of 20 Newsgroups to a file, so that a model can be fitted to them."""
    with open(path, encoding="utf-8") as lines, open(to, "w", encoding="utf-8") as output:
        for line in lines:
            record = json.loads(line)
            output.write(json.dumps({"id": record["id"], "text": in_lines(record["text"]).partition("\n\n")[2]}) + "\n")


def linear(rows: Any, labels: np.ndarray, train: np.ndarray, test: np.ndarray, cost: float) -> float:
    """Return the accuracy of a linear SVM."""
    return float(LinearSVC(C=cost, tol=1e-3).fit(rows[train], labels[train]).score(rows[test], labels[test]))


def radial(rows: Any, labels: np.ndarray, train: np.ndarray) -> tuple[float, float]:
    """Choose the two parameters of a support vector machine, C and gamma, on a part of the training texts that is held out."""
    first, second = next(StratifiedShuffleSplit(1, test_size=0.3, random_state=0).split(train, labels[train]))
    scores = {
        (cost, width): accuracy(rows, labels, train[first], train[second], cost, width)
        for cost in RADIAL_COSTS
        for width in WIDTHS
    }
    return max(scores, key=lambda key: scores[key])


def accuracy(rows: Any, labels: np.ndarray, train: np.ndarray, test: np.ndarray, cost: float, width: float) -> float:
    """Return the accuracy of an SVM with radial basis functions exp(-width |x - y|²); rows have length 1 or 0."""
    squares = np.asarray(rows.multiply(rows).sum(axis=1)).ravel() if hasattr(rows, "indptr") else (rows**2).sum(axis=1)

    def kernel(first: np.ndarray) -> np.ndarray:
        products = rows[first] @ rows[train].T
        dense = products.toarray() if hasattr(products, "toarray") else products
        return np.asarray(np.exp(-width * (squares[first][:, None] + squares[train] - 2 * dense)))

    machine = SVC(C=cost, kernel="precomputed").fit(kernel(train), labels[train])
    return float(machine.score(kernel(test), labels[test]))


def measured(variants: Mapping[str, Any], labels: np.ndarray) -> tuple[list[float], list[float], Counter[str]]:
    """Return the accuracies on each split by a linear SVM and by radial basis functions, and how often each variant was chosen."""
    by_line, by_radius, names = [], [], Counter[str]()
    for train, test in StratifiedShuffleSplit(SPLITS, test_size=0.3, random_state=0).split(labels, labels):
        folds = list(StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(train, labels[train]))
        scores = {
            (name, cost): np.mean([linear(rows, labels, train[a], train[b], cost) for a, b in folds])
            for name, rows in variants.items()
            for cost in COSTS
        }
        name, cost = max(scores, key=lambda key: scores[key])
        names[name] += 1
        rows = variants[name]
        by_line.append(linear(rows, labels, train, test, cost))
        by_radius.append(accuracy(rows, labels, train, test, *radial(rows, labels, train)))
    return by_line, by_radius, names


def main() -> None:
    """Print the accuracy of each kind of features."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("index")
    parser.add_argument("file")
    parser.add_argument("--task", default="title", choices=("title", "text", "subject"))
    parser.add_argument("--model", default="laki")
    parser.add_argument("--each", type=int, default=500)
    parser.add_argument(
        "--work", default="laki-features", type=Path, help="a folder for models that take long to learn"
    )
    parser.add_argument("--features", nargs="+", metavar="NAME", help="some of the features, as the table names them")
    parser.add_argument("--bodies", metavar="OUT", help="only write the messages of 20 Newsgroups without headers")
    given = parser.parse_args()
    if given.bodies:
        write_bodies(given.file, given.bodies)
        return
    warnings.simplefilter("ignore", ConvergenceWarning)
    texts = chosen(records(given.file, given.task), 20 if given.task == "subject" else 10, given.each)
    labels = np.array([category for _, category in texts])
    print(f"{len(texts):,} texts of {len(set(labels))} categories")
    print("\n| features | linear SVM | radial basis functions | variants chosen |\n|---|---|---|---|")
    features = Features(sublex.open(given.index), given.model, given.work)
    families = features.families([text for text, _ in texts])
    for name in given.features or families:
        found = measured({key: unit(rows) for key, rows in families[name]().items()}, labels)
        cells = [f"{100 * np.mean(values):.1f} ± {100 * np.std(values):.1f}" for values in found[:2]]
        names = ", ".join(f"{key} {times}" for key, times in found[2].most_common())
        print(f"| {name} | {cells[0]} | {cells[1]} | {names} |", flush=True)


if __name__ == "__main__":
    main()
