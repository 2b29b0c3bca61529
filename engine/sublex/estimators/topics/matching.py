"""Matching the topics of two models one to one, by their words."""

from __future__ import annotations

import numpy as np


def affinities(phi: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return Σ_w √(phi_wi · other_wj) for each pair of topics i and j: 1 for equal topics, 0 for topics without a common word."""
    return np.sqrt(phi).T @ np.sqrt(other)


def matched(phi: np.ndarray, other: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return for each topic its partner in another model and their affinity; partners differ, and their affinities have the largest sum.

    A topic without a partner, where the other model has fewer topics, gets -1 and the affinity 0.
    """
    from scipy.optimize import linear_sum_assignment

    values = affinities(phi, other)
    partner, affinity = np.full(len(values), -1), np.zeros(len(values))
    rows, columns = linear_sum_assignment(-values)
    partner[rows], affinity[rows] = columns, values[rows, columns]
    return partner, affinity
