"""A random forest that learns from good examples and unlabelled ones, as AutoPhrase does (J. Shang et al., Automated
Phrase Mining, 2018).

Each tree is grown on as many unlabelled examples as good ones; the unlabelled ones are taken for bad. Some of them are
good, but each tree gets others. An example is judged only by trees that were not grown on it, so the good examples have
no advantage.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from sublex.estimators.blocks import random
from sublex_phrases.forest_kernels import grow, vote

# The number of trees, the smallest number of rows in a leaf, and the largest number of rows of each of the two kinds
# for a tree.
TREES, LEAST, ROWS = 100, 5, 4000
# The number of trees whose votes one call sums. It does not depend on the number of workers.
TREES_PER_CALL = 10
Run = Callable[[Callable[[Any], Any], Iterable[Any]], Iterator[Any]]


def binned(features: np.ndarray) -> np.ndarray:
    """Return the number of the bin of each value of `features`, from 0 to 255 (uint8).

    Each column is divided into bins of its own. All bins of a column have about the same number of distinct values.
    """
    bins = np.empty(features.shape, np.uint8)
    for column in range(features.shape[1]):
        values = np.unique(features[:, column])
        cuts = values[np.linspace(0, len(values), 256, endpoint=False).astype(np.int64)[1:]]
        bins[:, column] = np.searchsorted(np.unique(cuts), features[:, column], side="right")
    return bins


def likeness(
    features: np.ndarray, good: np.ndarray, seed: int = 0, run: Run = map, levels: np.ndarray | None = None
) -> np.ndarray:
    """Return for each row of `features` how similar it is to the good rows, from 0 to 1.

    `good` has the numbers of the good rows. At least one row must be good, and at least one must not be good. `run`
    calls a function for each of many items and may do so in parallel; the result does not depend on it. `levels` has a
    number for each row, such as the logarithm of a word's frequency. With `levels`, the unlabelled rows are drawn so
    that their levels are distributed as those of the good rows, so that the level does not tell good rows from others.
    """
    bins = binned(features)
    labels = np.zeros(len(bins), np.uint8)
    labels[good] = 1
    others = np.flatnonzero(labels == 0)
    drawing = None if levels is None else _like(levels[good], levels[others])
    size, tries = min(max(len(good), 20), ROWS), max(1, round(features.shape[1] ** 0.5))

    def votes_of(first: int) -> tuple[np.ndarray, np.ndarray]:
        sums, votes = np.zeros(len(bins)), np.zeros(len(bins), np.int32)
        for tree in range(first, first + TREES_PER_CALL):
            chance = random(seed, tree)
            rows = np.concatenate([chance.choice(good, size), chance.choice(others, size, p=drawing)]).astype(np.int64)
            drawn = np.zeros(len(bins), np.uint8)
            drawn[rows] = 1
            grown = grow(bins, labels, rows, tries, LEAST, np.uint64(chance.integers(1 << 62)))
            vote(bins, drawn, *grown, sums, votes)
        return sums, votes

    sums, votes = np.zeros(len(bins)), np.zeros(len(bins), np.int64)
    for more, counted in run(votes_of, range(0, TREES, TREES_PER_CALL)):
        sums += more
        votes += counted
    return np.divide(sums, votes, out=np.full(len(bins), 0.5), where=votes > 0)


def _like(good: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return the probabilities with which rows are drawn, so that the drawn rows have the levels of the good rows.

    `good` has the levels of the good rows, and `others` those of the rows from which rows are drawn.
    """
    size = int(max(good.max(), others.max())) + 1
    share = np.bincount(good, minlength=size) / np.maximum(np.bincount(others, minlength=size), 1)
    chances = share[others]
    total = chances.sum()
    return chances / total if total else np.full(len(others), 1 / len(others))
