"""Normalisers: the scores of one topic's documents on a common scale."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Normaliser = Callable[[np.ndarray], np.ndarray]


def minmax(scores: np.ndarray) -> np.ndarray:
    """The lowest becomes 0, the highest 1; all 0 where they are equal."""
    if not len(scores):
        return scores
    low, high = float(scores.min()), float(scores.max())
    return (scores.astype(np.float64) - low) / (high - low) if high > low else np.zeros(len(scores))


def zscore(scores: np.ndarray) -> np.ndarray:
    """Distance from the mean in standard deviations; all 0 where they are equal."""
    if not len(scores) or scores.min() == scores.max():
        return np.zeros(len(scores))
    return (scores - np.mean(scores, dtype=np.float64)) / np.std(scores, dtype=np.float64)


def rank(scores: np.ndarray) -> np.ndarray:
    """1 / rank; equal scores share the best of their ranks."""
    ascending = np.sort(scores)
    return 1 / (1.0 + len(scores) - np.searchsorted(ascending, scores, side="right"))


def raw(scores: np.ndarray) -> np.ndarray:
    """As they are."""
    return scores.astype(np.float64)


NORMALISERS: dict[str, Normaliser] = {made.__name__: made for made in (minmax, zscore, rank, raw)}
