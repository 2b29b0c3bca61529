"""Bootstrap intervals of systems' means over topics.

The interval is BCa, bias-corrected and accelerated (B. Efron, Better bootstrap confidence intervals, JASA 82, 1987).
Measures of retrieval are bounded and skewed, so a percentile interval would lie too far to one side. For a mean, the
acceleration has a closed form, so BCa takes no more time than percentiles. scipy.stats.bootstrap gives the same
interval, but it copies every resampled score. Here a resample is stored as the number of times each topic was drawn,
and one matrix product gives the means of all systems.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sublex.errors import InputError

SAMPLES = 10_000
# The largest number of values in a working array. With the number of topics, it limits the resamples that are drawn at
# once.
CELLS = 1 << 21


def bootstrap(scores: Any, level: float = 0.95, samples: int = SAMPLES, seed: int = 0) -> np.ndarray:
    """Return the low and the high end of the interval of each system's mean. `scores` has a row per system.

    A row of `scores` has one score per topic. The result has the shape of `scores`, except that its last axis has the
    two ends. `level` is the confidence level, and `samples` the number of resamples. Each resample draws the same
    topics for all systems. If all scores of a system are equal, its interval has width 0. If there is only one topic,
    the ends are NaN.
    """
    table = np.asarray(scores, np.float64)
    if table.ndim not in (1, 2) or not table.shape[-1] or not np.isfinite(table).all():
        raise InputError("An interval needs one finite score per topic, in a row for each system.")
    if not 0 < level < 1 or samples < 1:
        raise InputError(f"No interval of level {level:g} from {samples} samples; 0.95 and {SAMPLES} are usual.")
    rows = np.atleast_2d(table)
    if rows.shape[1] < 2:
        return np.full((*table.shape[:-1], 2), math.nan)
    return _bca(rows, _resampled(rows, samples, seed), level).reshape(*table.shape[:-1], 2)


def _resampled(rows: np.ndarray, samples: int, seed: int) -> np.ndarray:
    """Return the means over resampled topics, as a matrix with a row per sample and a column per system."""
    topics = rows.shape[1]
    random = np.random.Generator(np.random.Philox(seed))
    step = max(1, CELLS // topics)
    means = np.empty((samples, len(rows)))
    for start in range(0, samples, step):
        size = min(step, samples - start)
        drawn = random.integers(0, topics, (size, topics)) + topics * np.arange(size)[:, None]
        times = np.bincount(drawn.ravel(), minlength=size * topics).reshape(size, topics)
        means[start : start + size] = times.astype(np.float64) @ rows.T / topics
    return means


def _bca(rows: np.ndarray, means: np.ndarray, level: float) -> np.ndarray:
    """Return the low and the high end of the BCa interval of each row, from the resampled means."""
    from scipy.special import ndtr, ndtri

    samples = len(means)
    centre = rows.mean(-1)
    deviations = rows - centre[:, None]
    squares = (deviations**2).sum(-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        acceleration = (deviations**3).sum(-1) / (6 * squares**1.5)
    # A resample whose mean equals the observed mean, up to rounding, counts as half a resample below the observed mean.
    slack = 1e-12 * np.abs(rows).max(-1)
    below = ((means < centre - slack).mean(0) + (means <= centre + slack).mean(0)) / 2
    bias = ndtri(np.clip(below, 0.5 / samples, 1 - 0.5 / samples))[:, None]
    shifted = bias + ndtri([(1 - level) / 2, (1 + level) / 2])
    probabilities = ndtr(bias + shifted / (1 - acceleration[:, None] * shifted))
    ends = np.empty((len(rows), 2))
    for k, shares in enumerate(probabilities):
        ends[k] = np.quantile(means[:, k], shares) if np.ptp(rows[k]) > 0 else centre[k]
    return ends
