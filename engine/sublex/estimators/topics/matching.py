"""Matching the topics of two models one to one, by their words."""

from __future__ import annotations

import numpy as np


def affinities(phi: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return a matrix of Σ_w √(phi_wi · other_wj) for topics i and j.

    The value is 1 for equal topics, and 0 for topics without a common word.
    """
    return np.sqrt(phi).T @ np.sqrt(other)


def matched(phi: np.ndarray, other: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return for each topic the number of its partner in another model, and their affinity.

    No two topics have the same partner, and the sum of the affinities is the largest possible. If the other model has
    fewer topics, some topics have no partner; they get -1 and the affinity 0.
    """
    from scipy.optimize import linear_sum_assignment

    values = affinities(phi, other)
    partner, affinity = np.full(len(values), -1), np.zeros(len(values))
    rows, columns = linear_sum_assignment(-values)
    partner[rows], affinity[rows] = columns, values[rows, columns]
    return partner, affinity
