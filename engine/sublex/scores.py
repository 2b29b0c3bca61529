"""Scores of documents: the value that means "no opinion", and the normalisers that bring scores to a common scale."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sublex import expression

# The score of a document on which a model has no opinion.
NO_OPINION = np.float32(-np.inf)
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


def with_opinion(scores: np.ndarray) -> np.ndarray:
    """Return the scores with every "no opinion" replaced by the lowest score, or by 0 where there is none."""
    known = scores[scores > NO_OPINION]
    return np.where(scores > NO_OPINION, scores, known.min() if len(known) else 0)


NORMALISERS: dict[str, Normaliser] = {name: globals()[name] for name in expression.NORMALISERS}
