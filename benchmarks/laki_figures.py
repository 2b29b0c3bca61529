"""Measure LAKI by iterations of EM, number of keyphrases and sweeps, and draw figures 4, 5 and 8 of the paper on open data.

    python benchmarks/laki_figures.py INDEX FILE.jsonl [--model laki] [--each 150] [--out FOLDER]

INDEX is fitted with the model on the texts of FILE, as for laki_classification.py. The performance is the accuracy of a linear SVM that
tells the ten largest categories by titles: roots of the probabilities, rows of length 1, C = 0.1, the mean of five splits 70/30. Figures
are written as SVG. The script needs scikit-learn.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from laki_classification import SPLITS, chosen, linear, records
from laki_features import Features, unit
from scipy.sparse import csr_array
from sklearn.model_selection import StratifiedShuffleSplit

import sublex
from sublex.estimators.laki import Network, encode, learn, structure, unit_vectors
from sublex.report.svg import lines

ITERATIONS, COST = 8, 0.1
SIZES, SWEEPS, SEEDS = (10, 25, 50, 100, 150, 200, 400), (10, 50, 200, 1000, 5000), 3
STYLE = (
    "<style>svg{background:#fff;font:12px sans-serif}polyline,line{fill:none;stroke:#666}.grid{stroke:#ddd}"
    "polyline{stroke-width:2}.s0 *{stroke:#1f77b4}.s1 *{stroke:#d95f02}.s0 circle{fill:#1f77b4}.s1 rect{fill:#d95f02}</style>"
)


class Task:
    """Titles with their categories, cut into units, and the model that reads them."""

    def __init__(self, features: Features, texts: list[tuple[str, str]]):
        self.model = features.laki
        self.labels = np.array([category for _, category in texts])
        self.units = features.units([text for text, _ in texts])

    def accuracy(self, network: Network, **options: Any) -> float:
        """Return the accuracy by the keyphrases of a network, in percent."""
        own = np.repeat(np.arange(len(network.leaks)), np.diff(network.starts)) - network.keyphrases
        own = own == network.phrases[network.parents]
        capped = network.with_values(
            np.where(own, np.minimum(network.weights, self.model.cap), network.weights), network.leaks
        )
        options = {"method": "propagation", "length": self.model.length, "workers": 2} | options
        rows = unit(encode(capped, self.units, **options).sqrt())
        splits = StratifiedShuffleSplit(SPLITS, test_size=0.3, random_state=0).split(self.labels, self.labels)
        return 100 * float(np.mean([linear(rows, self.labels, train, test, COST) for train, test in splits]))


def show_iterations(task: Task, matrix: csr_array) -> tuple[list[int], list[float], list[float]]:
    """Print how training proceeds (figure 4): perplexity and accuracy before each iteration of EM."""
    vectors = unit_vectors(matrix, task.model.width, task.model.seed, 2)
    network = structure(matrix, task.model.network.phrases, vectors, most=task.model.links, workers=2)
    print("\n| iterations | training perplexity | accuracy |\n|---|---|---|")
    found: tuple[list[int], list[float], list[float]] = ([], [], [])
    for iteration in range(ITERATIONS + 1):
        learned = learn(network, matrix, iterations=1, seed=iteration, workers=2)
        values = iteration, learned.perplexities[0], task.accuracy(network)
        for column, value in zip(found, values, strict=True):
            column.append(value)  # type: ignore[arg-type]
        print(f"| {values[0]} | {values[1]:.1f} | {values[2]:.1f} |", flush=True)
        network = learned.network
    return found


def show_sizes(task: Task) -> list[float]:
    """Print the accuracy by the number of keyphrases that inference considers (figure 5)."""
    print("\n| keyphrases considered | accuracy |\n|---|---|")
    found = [task.accuracy(task.model.network, most=most) for most in SIZES]
    for most, value in zip(SIZES, found, strict=True):
        print(f"| {most} | {value:.1f} |", flush=True)
    return found


def show_sweeps(task: Task) -> list[float]:
    """Print the mean and the standard deviation of the accuracy over seeds by the sweeps of Gibbs sampling (figure 8)."""
    print("\n| sweeps | accuracy by samples | by probabilities |\n|---|---|---|")
    means = []
    for sweeps in SWEEPS:
        cells = []
        for estimate in ("samples", "probabilities"):
            options = {"method": "gibbs", "estimate": estimate, "sweeps": sweeps}
            values = [task.accuracy(task.model.network, seed=seed, **options) for seed in range(SEEDS)]
            cells.append(f"{np.mean(values):.1f} ± {np.std(values):.1f}")
            means.append(float(np.mean(values)))
        print(f"| {sweeps:,} | {' | '.join(cells)} |", flush=True)
    return means


def draw(path: Path, series: Sequence[tuple[str, Sequence[float], Sequence[float]]], x: str, y: str, log: bool) -> None:
    """Write a figure as a file of its own."""
    text = lines(series, x, y, log)
    head = re.sub(r"<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', text, count=1)
    path.write_text(head.replace(">", ">" + STYLE, 1) + "\n", encoding="utf-8")


def main() -> None:
    """Print the tables and write the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("index")
    parser.add_argument("file")
    parser.add_argument("--model", default="laki")
    parser.add_argument("--each", type=int, default=150)
    parser.add_argument("--work", default="laki-features", type=Path, help="a folder for what takes long to compute")
    parser.add_argument("--out", default=".", type=Path)
    given = parser.parse_args()
    features = Features(sublex.open(given.index), given.model, given.work)
    task = Task(features, chosen(records(given.file, "title"), 10, given.each))
    accuracy = "accuracy in percent"
    sizes = show_sizes(task)
    draw(given.out / "laki-keyphrases.svg", [("propagation", SIZES, sizes)], "keyphrases considered", accuracy, True)
    means = show_sweeps(task)
    series = [("samples", SWEEPS, means[::2]), ("probabilities", SWEEPS, means[1::2])]
    draw(given.out / "laki-sweeps.svg", series, "sweeps of Gibbs sampling", accuracy, True)
    iterations, perplexities, accuracies = show_iterations(task, features.by_unit.whole)
    shown = [("perplexity", iterations[1:], perplexities[1:]), (accuracy, iterations[1:], accuracies[1:])]
    draw(given.out / "laki-iterations.svg", shown, "iterations of EM", "perplexity, and accuracy in percent", False)


if __name__ == "__main__":
    main()
