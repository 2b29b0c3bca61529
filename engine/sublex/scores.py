"""Scores of documents: the value that means "no opinion", and normalisers, which bring scores to a common scale.

A normaliser takes the scores of the candidates of one query, and returns new scores as float64, in the same order.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sublex import expression

# The score of a document on which a scorer has no opinion.
NO_OPINION = np.float32(-np.inf)
Normaliser = Callable[[np.ndarray], np.ndarray]


def minmax(scores: np.ndarray) -> np.ndarray:
    """Return the scores scaled linearly so that the lowest is 0 and the highest 1; all 0 if they are equal."""
    if not len(scores):
        return scores
    low, high = float(scores.min()), float(scores.max())
    return (scores.astype(np.float64) - low) / (high - low) if high > low else np.zeros(len(scores))


def zscore(scores: np.ndarray) -> np.ndarray:
    """Return the distance of each score from the mean, in standard deviations; all 0 if the scores are equal."""
    if not len(scores) or scores.min() == scores.max():
        return np.zeros(len(scores))
    return (scores - np.mean(scores, dtype=np.float64)) / np.std(scores, dtype=np.float64)


def rank(scores: np.ndarray) -> np.ndarray:
    """Return 1 / rank for each score, the highest score having rank 1; equal scores share their best rank."""
    ascending = np.sort(scores)
    return 1 / (1.0 + len(scores) - np.searchsorted(ascending, scores, side="right"))


def raw(scores: np.ndarray) -> np.ndarray:
    """Return the scores unchanged, as float64."""
    return scores.astype(np.float64)


def with_opinion(scores: np.ndarray) -> np.ndarray:
    """Return the scores with each "no opinion" replaced by the lowest other score, or by 0 if there is no other."""
    known = scores[scores > NO_OPINION]
    return np.where(scores > NO_OPINION, scores, known.min() if len(known) else 0)


NORMALISERS: dict[str, Normaliser] = {name: globals()[name] for name in expression.NORMALISERS}
