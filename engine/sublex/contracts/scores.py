"""Scores of documents: the value that means "no opinion", and normalisers, which bring scores to a common scale.

A normaliser takes the scores of one query's candidates, and the place of each candidate's docno among all docnos. `rrf`
orders documents with equal scores by these places, the highest place first. A normaliser returns new scores as float64,
in the same order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from sublex.contracts.base import LARGEST_SCORE
from sublex.errors import InputError

# The score of a document on which a scorer has no opinion.
NO_OPINION = np.float32(-np.inf)
# The smallest score above 0 that float32 holds with all its digits. Smaller ones lose digits, and then become 0.
SMALLEST_SCORE = 1.1754943508222875e-38
# A weight of at least this size makes no score smaller than SMALLEST_SCORE, unless the impacts themselves are tiny.
SURE_WEIGHT = 1e-30
TOO_LARGE = "The scores of this query are too large for float32; use smaller weights."
TOO_SMALL = "The scores of this query are too small for float32; use larger weights."
# The constant of reciprocal rank fusion, from Cormack, Clarke and Buettcher (2009).
RRF_K = 60
Normaliser = Callable[[np.ndarray, np.ndarray], np.ndarray]


def expect_weights(weights: Iterable[float]) -> None:
    """Raise InputError for a weight that is too large or too small for float32, the type of scores."""
    for weight in weights:
        if weight and not SMALLEST_SCORE <= abs(weight) <= LARGEST_SCORE:
            raise InputError(
                f"The weight {weight:g} lies outside float32, the type of scores; use weights between {SURE_WEIGHT:g} and "
                f"{1 / SURE_WEIGHT:g}."
            )


def expect_no_loss(scores: np.ndarray, weights: Iterable[float]) -> None:
    """Raise InputError if tiny weights have made a score too small for float32, or 0.

    Without a tiny weight, nothing is checked, because small scores then come from the ranker itself.
    """
    is_tiny = any(0 < abs(weight) < SURE_WEIGHT for weight in weights)
    if is_tiny and (np.abs(scores) < SMALLEST_SCORE).any():
        raise InputError(TOO_SMALL)


def real(given: Any) -> np.ndarray:
    """Return the numbers of a ranker as an array. Raise TypeError for complex numbers: NumPy would drop their imaginary part."""
    found = np.asarray(given)
    if found.dtype.kind == "c":
        raise TypeError("it gave complex numbers")
    return found


def minmax(scores: np.ndarray, docno_ranks: np.ndarray) -> np.ndarray:
    """Return the scores scaled linearly so that the lowest is 0 and the highest 1; all 0 if the scores are equal."""
    scores = with_opinion(scores)
    low, high = float(scores.min(initial=np.inf)), float(scores.max(initial=-np.inf))
    return (scores.astype(np.float64) - low) / (high - low) if high > low else np.zeros(len(scores))


def zscore(scores: np.ndarray, docno_ranks: np.ndarray) -> np.ndarray:
    """Return the distance of each score from the mean, in standard deviations; all 0 if the scores are equal."""
    scores = with_opinion(scores)
    if not len(scores) or scores.min() == scores.max():
        return np.zeros(len(scores))
    return (scores - np.mean(scores, dtype=np.float64)) / np.std(scores, dtype=np.float64)


def rank(scores: np.ndarray, docno_ranks: np.ndarray) -> np.ndarray:
    """Return 1 / rank for each score, the highest score having rank 1; equal scores share their best rank."""
    scores = with_opinion(scores)
    ascending = np.sort(scores)
    return 1 / (1.0 + len(scores) - np.searchsorted(ascending, scores, side="right"))


def raw(scores: np.ndarray, docno_ranks: np.ndarray) -> np.ndarray:
    """Return the scores unchanged, as float64."""
    return with_opinion(scores).astype(np.float64)


def rrf(scores: np.ndarray, docno_ranks: np.ndarray) -> np.ndarray:
    """Return 1 / (60 + rank) for each score, and 0 for "no opinion".

    Documents with equal scores get different ranks, by docno descending.
    """
    values = np.empty(len(scores))
    values[np.lexsort((docno_ranks, scores))[::-1]] = 1 / np.arange(RRF_K + 1.0, RRF_K + 1 + len(scores))
    return np.where(scores > NO_OPINION, values, 0.0)


def with_opinion(scores: np.ndarray) -> np.ndarray:
    """Return the scores with each "no opinion" replaced by the lowest other score, or by 0 if there is no other."""
    known = scores > NO_OPINION
    return scores if known.all() else np.where(known, scores, scores[known].min() if known.any() else 0)


NORMALISERS: dict[str, Normaliser] = {each.__name__: each for each in (minmax, zscore, rank, raw, rrf)}
