"""Draw figures 4, 5, 6 and 8 of the paper on LAKI from open data.

They show how accuracy depends on the iterations of EM, the number of keyphrases and the number of sweeps, and how long sampling takes.

    python benchmarks/laki_figures.py INDEX FILE.jsonl [--model laki] [--each 150] [--parts cost iterations] [--out FOLDER]

INDEX is fitted with the model on the texts of FILE, as for laki_classification.py. The performance is the accuracy of a linear SVM that
tells the ten largest categories by titles: roots of the probabilities, rows of length 1, C = 0.1, the mean of five splits 70/30. The cost
is the processor time of Gibbs sampling for texts with so many distinct units, drawn from some documents of INDEX one after the other; a
slope is that of the logarithm of time over the logarithm of the value. Spearman's rank correlation says whether a curve rises or falls.
Figures are written as SVG. The script needs scikit-learn.
"""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from laki_classification import SPLITS, chosen, linear, records
from laki_features import Features, unit
from scipy.sparse import csr_array, vstack
from scipy.stats import spearmanr
from sklearn.model_selection import StratifiedShuffleSplit

import sublex
from sublex.report.svg import lines
from sublex_laki.estimator import Network, encode, learn, structure, unit_vectors

ITERATIONS, COST, ACCURACY = 8, 0.1, "accuracy in percent"
SIZES, SWEEPS, SEEDS = (10, 25, 50, 100, 150, 200, 400), (10, 50, 200, 1000, 5000), 3
# Texts whose time is measured, how often each is, and the values of which one changes at a time; by default 5,000, 200 and 100.
TEXTS, TIMES = 32, 5
COST_SWEEPS = (1000, 2500, 5000, 10_000, 20_000)
COST_SIZES, COST_UNITS = (25, 50, 100, 200, 400), (10, 25, 50, 100, 200)
COLOURS = ("#1f77b4", "#d95f02", "#1b9e77")
STYLE = (
    "<style>svg{background:#fff;font:12px sans-serif}polyline,line{fill:none;stroke:#666}.grid{stroke:#ddd}polyline{stroke-width:2}"
    + "".join(f".s{k} polyline{{stroke:{colour}}}.s{k}{{fill:{colour}}}" for k, colour in enumerate(COLOURS))
    + "</style>"
)
Series = Sequence[tuple[str, Sequence[float], Sequence[float]]]


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
            np.where(own, np.minimum(network.weights, self.model.params.cap), network.weights), network.leaks
        )
        options = {"length": self.model.length, "workers": 2} | options
        rows = unit(encode(capped, self.units, **options).sqrt())
        splits = StratifiedShuffleSplit(SPLITS, test_size=0.3, random_state=0).split(self.labels, self.labels)
        return 100 * float(np.mean([linear(rows, self.labels, train, test, COST) for train, test in splits]))


def show_iterations(task: Task, matrix: csr_array) -> tuple[list[int], list[float], list[float]]:
    """Train, and print the perplexity and the accuracy before each iteration of EM (figure 4 of the paper)."""
    vectors = unit_vectors(matrix, task.model.params.width, task.model.params.seed, 2)
    network = structure(
        matrix, task.model.network.phrases, vectors, weights="similarity", most=task.model.params.links, workers=2
    )
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


def texts_of(matrix: csr_array, length: int) -> csr_array:
    """Return texts of so many distinct units, drawn from documents one after the other; the documents are the same for each length."""
    chance, rows, begin = np.random.default_rng(0), [], 0
    while len(rows) < TEXTS:
        end = begin + 1
        while len(np.unique(matrix[begin:end].indices)) < max(COST_UNITS):
            end += 1
        units = chance.permutation(np.unique(matrix[begin:end].indices))[:length]
        rows.append(csr_array((np.ones(length), (np.zeros(length, int), units)), shape=(1, matrix.shape[1])))
        begin = end
    return csr_array(vstack(rows, format="csr"))


def show_cost(task: Task, matrix: csr_array) -> Series:
    """Print the time of a text by sweeps, keyphrases and units, with slopes (figure 6), and return the three curves."""
    usual = texts_of(matrix, 100)
    cases: list[tuple[str, tuple[int, ...], list[tuple[csr_array, dict[str, Any]]]]] = [
        ("sweeps", COST_SWEEPS, [(usual, {"sweeps": value}) for value in COST_SWEEPS]),
        ("keyphrases considered", COST_SIZES, [(usual, {"most": value}) for value in COST_SIZES]),
        ("units", COST_UNITS, [(texts_of(matrix, value), {}) for value in COST_UNITS]),
    ]
    print("\n| by | values | ms a text | slope | Spearman |\n|---|---|---|---|---|")
    series = []
    for name, values, runs in cases:
        spent = np.empty((TIMES, len(values)))
        for turn in range(TIMES):
            for place, (rows, options) in enumerate(runs):
                begin = time.thread_time()
                encode(task.model.capped, rows, method="gibbs", workers=1, **options)
                spent[turn, place] = 1000 * (time.thread_time() - begin) / TEXTS
        found = np.median(spent, axis=0)
        slope, cells = np.polyfit(np.log(values), np.log(found), 1)[0], ", ".join(f"{x:.1f}" for x in found)
        rank = float(spearmanr(values, found).statistic)
        print(f"| {name} | {', '.join(map(str, values))} | {cells} | {slope:.2f} | {rank:.2f} |", flush=True)
        series.append((name, (np.array(values) / max(values)).tolist(), (found / found.max()).tolist()))
    return series


def show_rank(name: str, values: Sequence[float], found: Sequence[float]) -> None:
    """Print Spearman's rank correlation of a curve."""
    print(f"\nSpearman, {name}: {float(spearmanr(values, found).statistic):.2f}", flush=True)


def draw(path: Path, series: Series, x: str, y: str, log: bool) -> None:
    """Write a figure as a file of its own, with the names of its curves."""
    text = lines(series, x, y, log)
    head = re.sub(r"<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', text, count=1).replace(">", ">" + STYLE, 1)
    names = "".join(
        f'<text class="s{k}" x="410" y="{190 + 18 * k}" text-anchor="end">{name}</text>'
        for k, (name, _, _) in enumerate(series)
    )
    path.write_text(head.replace("</svg>", names + "</svg>") + "\n", encoding="utf-8")


def figure_of_iterations(task: Task, matrix: csr_array, out: Path) -> None:
    """Print and draw figure 4."""
    iterations, perplexities, accuracies = show_iterations(task, matrix)
    show_rank("perplexity from the first iteration on", iterations[1:], perplexities[1:])
    show_rank("accuracy from the first iteration on", iterations[1:], accuracies[1:])
    shown = [("perplexity", iterations[1:], perplexities[1:]), (ACCURACY, iterations[1:], accuracies[1:])]
    draw(out / "laki_iterations.svg", shown, "iterations of EM", f"perplexity, and {ACCURACY}", False)


def figure_of_sizes(task: Task, matrix: csr_array, out: Path) -> None:
    """Print and draw figure 5."""
    found = show_sizes(task)
    show_rank("accuracy", SIZES, found)
    draw(out / "laki_keyphrases.svg", [("propagation", SIZES, found)], "keyphrases considered", ACCURACY, True)


def figure_of_cost(task: Task, matrix: csr_array, out: Path) -> None:
    """Print and draw figure 6."""
    series = show_cost(task, matrix)
    draw(out / "laki_cost.svg", series, "value, the largest is 1", "time, that of the largest value is 1", False)


def figure_of_sweeps(task: Task, matrix: csr_array, out: Path) -> None:
    """Print and draw figure 8."""
    means = show_sweeps(task)
    series = [("by samples", SWEEPS, means[::2]), ("by probabilities", SWEEPS, means[1::2])]
    for name, values, found in series:
        show_rank(f"accuracy {name}", values, found)
    draw(out / "laki_sweeps.svg", series, "sweeps of Gibbs sampling", ACCURACY, True)


PARTS = {
    "cost": figure_of_cost,
    "keyphrases": figure_of_sizes,
    "iterations": figure_of_iterations,
    "sweeps": figure_of_sweeps,
}


def main() -> None:
    """Print the tables and write the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("index")
    parser.add_argument("file")
    parser.add_argument("--model", default="laki")
    parser.add_argument("--each", type=int, default=150)
    parser.add_argument("--work", default="laki-features", type=Path, help="a folder for what takes long to compute")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=[*PARTS])
    parser.add_argument("--out", default=".", type=Path, help="the folder of the figures")
    given = parser.parse_args()
    features = Features(sublex.open(given.index), given.model, given.work)
    task = Task(features, chosen(records(given.file, "title"), 10, given.each))
    for part in given.parts:
        PARTS[part](task, features.by_unit.whole, given.out)


if __name__ == "__main__":
    main()
