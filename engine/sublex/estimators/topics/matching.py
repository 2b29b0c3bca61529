"""Matching the topics of two models one to one, by their words."""

from __future__ import annotations

import numpy as np


def affinities(phi: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return a matrix with the affinity of each topic i of one model to each topic j of another.

    `phi` and `other` have the probability of each word (row) in each topic (column). The affinity is the sum of
    √(phi[w, i] · other[w, j]) over all words w. It is 1 for equal topics, and 0 for topics without a common word.
    """
    return np.sqrt(phi).T @ np.sqrt(other)


def matched(phi: np.ndarray, other: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return for each topic of `phi` the number of its partner among the topics of `other`, and their affinity.

    No two topics have the same partner, and the sum of the affinities is the largest possible. If the other model has
    fewer topics, some topics have no partner; they get -1 and the affinity 0.
    """
    from scipy.optimize import linear_sum_assignment

    values = affinities(phi, other)
    partner, affinity = np.full(len(values), -1), np.zeros(len(values))
    rows, columns = linear_sum_assignment(-values)
    partner[rows], affinity[rows] = columns, values[rows, columns]
    return partner, affinity
