"""The priors of topics: the distribution of words that each topic expects, made from the counts of a knowledge
source.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# The kinds of topics: without a source; of Source-LDA; of EDA, with fixed words; of CTM, where only the set of words is
# known; removed.
UNLABELLED, SOURCE, FIXED, CONCEPT, HIDDEN = range(5)
# This number is added to the count of every word of the vocabulary, so that no word is impossible. It is the smallest
# step of float64 at 1.
EPSILON = float(np.finfo(np.float64).eps)
# Kernels read points in groups of this size. Points of weight 0 complete the last group.
LANES = 4


class Points(NamedTuple):
    """The values of lambda over which the integral over lambda becomes a sum, and their weights, which add up to 1."""

    values: np.ndarray
    weights: np.ndarray


class Priors(NamedTuple):
    """The priors of topics. Word w occurs in the source texts of the topics `topics[starts[w]:starts[w + 1]]`.

    So `topics` has an entry for each pair of a word and a topic. `classes` has the row of `powers` of each pair; the
    row has (count + epsilon)^lambda for each point (a value of lambda). Pairs with equal counts in a topic share a row.
    For each topic and point, `sums` has the sum of these powers over the vocabulary, and `floors` has epsilon^lambda.
    `weights` are the weights of the points. `kinds` has the kind of each topic, such as `SOURCE`.
    """

    kinds: np.ndarray
    starts: np.ndarray
    topics: np.ndarray
    classes: np.ndarray
    powers: np.ndarray
    sums: np.ndarray
    floors: np.ndarray
    weights: np.ndarray

    def keep(self, kept: np.ndarray) -> Priors:
        """Return the priors of the topics whose numbers are in `kept`, ascending."""
        number = np.full(len(self.kinds), -1)
        number[kept] = np.arange(len(kept))
        pairs = number[self.topics] >= 0
        starts = np.append(0, np.cumsum(pairs))[self.starts]
        return self._replace(
            kinds=self.kinds[kept], starts=starts, topics=number[self.topics[pairs]].astype(np.int32),
            classes=self.classes[pairs], sums=self.sums[kept], floors=self.floors[kept],
        )  # fmt: skip


def points_of(mu: float, sigma: float, points: int, low: float = 0.0, high: float = np.inf) -> Points:
    """Return points at even distances, within two `sigma` of `mu` and between `low` and `high`.

    The weight of a point is proportional to the normal density with mean `mu` and standard deviation `sigma`. If
    `sigma` is 0 or `points` is 1, the only point is `mu`.
    """
    if sigma == 0 or points == 1:
        return Points(np.array([mu]), np.ones(1))
    values = np.linspace(max(mu - 2 * sigma, low), min(mu + 2 * sigma, high), points)
    weights = np.exp(-0.5 * ((values - mu) / sigma) ** 2)
    return Points(values, weights / weights.sum())


def source_priors(
    counts: csr_array, unlabelled: int, points: Points, epsilon: float = EPSILON,
    smooth: Sequence[Callable[[np.ndarray], np.ndarray]] = (),
) -> Priors:  # fmt: skip
    """Return the priors of Source-LDA: first `unlabelled` topics without a label, then a topic for each row of
    `counts`.

    `counts` are counts of sources by words. The Dirichlet parameter of a word is (count + epsilon)^lambda. `smooth` has
    a function for each source, which is applied to lambda first. If `smooth` is empty, lambda is not changed.
    """
    topics, words = unlabelled + counts.shape[0], counts.shape[1]
    lambdas = np.array([function(points.values) for function in smooth] or [points.values] * counts.shape[0])
    source, column, value = _entries(counts)
    source, column, value = source[value > 0], column[value > 0], value[value > 0]
    distinct, classes = np.unique(np.column_stack([source, value]), axis=0, return_inverse=True)
    owner = distinct[:, 0].astype(np.int64)
    powers = (distinct[:, 1:] + epsilon) ** lambdas[owner]
    times = np.bincount(classes.ravel(), minlength=len(distinct))
    floors, sums = np.ones((2, topics, len(points.values)))
    floors[unlabelled:] = epsilon**lambdas
    sums[unlabelled:] = (words - np.bincount(source, minlength=counts.shape[0]))[:, None] * floors[unlabelled:]
    np.add.at(sums, owner + unlabelled, powers * times[:, None])
    kinds = np.repeat([UNLABELLED, SOURCE], [unlabelled, counts.shape[0]])
    return _by_word(kinds, column, source + unlabelled, classes.ravel(), powers, sums, floors, points.weights, words)


def fixed_priors(counts: csr_array, unlabelled: int) -> Priors:
    """Return the priors of EDA (Hansen, Ringger and Seppi 2013): first `unlabelled` topics without a label, then a
    topic for each row of `counts`.

    A labelled topic has the same distribution of words as its source.
    """
    source, column, value = _entries(counts)
    chances = (value / np.bincount(source, value, counts.shape[0])[source])[:, None]
    return _of_comparison(FIXED, counts, unlabelled, source, column, chances, 1.0, 0.0)


def concept_priors(counts: csr_array, unlabelled: int, weight: float = 200.0) -> Priors:
    """Return the priors of CTM (Steyvers, Smyth and Chemudugunta 2011): first `unlabelled` topics without a label, then
    a topic for each row of `counts`.

    A labelled topic consists of the words of its source, all with the same parameter. The parameter is `weight` divided
    by the number of distinct words of all sources. A word that the source lists with the count 0 belongs to the topic
    too.
    """
    source, column, value = _entries(counts)
    beta = weight / max(1, len(np.unique(column)))
    powers = np.full((len(value), 1), beta)
    return _of_comparison(CONCEPT, counts, unlabelled, source, column, powers, beta * counts.shape[1], beta)


def _of_comparison(
    kind: int, counts: csr_array, unlabelled: int, source: np.ndarray, column: np.ndarray, powers: np.ndarray,
    total: float, floor: float,
) -> Priors:  # fmt: skip
    """Return the priors of EDA or CTM, which have a single point. Labelled topics are of the kind `kind`.

    `source` and `column` are the pairs of a source and a word; each pair has a row of `powers`. `total` and `floor` are
    the `sums` and `floors` of every topic.
    """
    topics = unlabelled + counts.shape[0]
    kinds = np.repeat([UNLABELLED, kind], [unlabelled, counts.shape[0]])
    sums, floors = np.full((topics, 1), total), np.full((topics, 1), floor)
    classes = np.arange(len(powers))
    return _by_word(kinds, column, source + unlabelled, classes, powers, sums, floors, np.ones(1), counts.shape[1])


def _entries(counts: csr_array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the row, the column and the value of each entry."""
    return np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr)), counts.indices, counts.data.astype(np.float64)


def _by_word(
    kinds: np.ndarray, column: np.ndarray, topic: np.ndarray, classes: np.ndarray, powers: np.ndarray, sums: np.ndarray,
    floors: np.ndarray, weights: np.ndarray, words: int,
) -> Priors:  # fmt: skip
    """Return priors with the pairs sorted by word and topic.

    `column`, `topic` and `classes` have an entry for each pair. Points of weight 0 complete the last group of `LANES`
    points.
    """
    order = np.lexsort((topic, column))
    starts = np.append(0, np.cumsum(np.bincount(column, minlength=words)))
    fill = ((0, 0), (0, -len(weights) % LANES))
    return Priors(
        kinds.astype(np.int64), starts.astype(np.int64), topic[order].astype(np.int32), classes[order].astype(np.int32),
        np.pad(powers, fill), np.pad(sums, fill, constant_values=1.0), np.pad(floors, fill), np.pad(weights, fill[1]),
    )  # fmt: skip
