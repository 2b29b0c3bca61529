"""Bootstrap intervals of systems' means over topics.

The interval is BCa, bias-corrected and accelerated (B. Efron, Better bootstrap confidence intervals, JASA 82, 1987): measures of
retrieval are bounded and skewed, and a percentile interval errs to one side then. For a mean the acceleration has a
closed form, so that BCa costs no more. scipy.stats.bootstrap gives the same, but gathers every resampled score; here a
resample is how often each topic was drawn, and a product of matrices makes the means of all systems from it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sublex.errors import InputError

SAMPLES = 10_000
# How many numbers a working array may have; resamples come in blocks of a size that only depends on the topics.
CELLS = 1 << 21


def bootstrap(scores: Any, level: float = 0.95, samples: int = SAMPLES, seed: int = 0) -> np.ndarray:
    """Low and high end of each system's mean, for rows of one score per topic; all systems meet the same resampled topics.

    Equal scores have an interval of no width; the ends are NaN where there is but one topic.
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
    """Means of resampled topics: samples × systems."""
    topics = rows.shape[1]
    random = np.random.Generator(np.random.Philox(seed))
    most = max(1, CELLS // topics)
    means = np.empty((samples, len(rows)))
    for start in range(0, samples, most):
        size = min(most, samples - start)
        drawn = random.integers(0, topics, (size, topics)) + topics * np.arange(size)[:, None]
        times = np.bincount(drawn.ravel(), minlength=size * topics).reshape(size, topics)
        means[start : start + size] = times.astype(np.float64) @ rows.T / topics
    return means


def _bca(rows: np.ndarray, means: np.ndarray, level: float) -> np.ndarray:
    from scipy.special import ndtr, ndtri

    samples = len(means)
    centre = rows.mean(-1)
    apart = rows - centre[:, None]
    spread = (apart**2).sum(-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        acceleration = (apart**3).sum(-1) / (6 * spread**1.5)
    # Half of the resamples whose mean is the observed one, up to rounding, count as below it.
    slack = 1e-12 * np.abs(rows).max(-1)
    below = ((means < centre - slack).mean(0) + (means <= centre + slack).mean(0)) / 2
    bias = ndtri(np.clip(below, 0.5 / samples, 1 - 0.5 / samples))[:, None]
    moved = bias + ndtri([(1 - level) / 2, (1 + level) / 2])
    wanted = ndtr(bias + moved / (1 - acceleration[:, None] * moved))
    ends = np.empty((len(rows), 2))
    for k, shares in enumerate(wanted):
        ends[k] = np.quantile(means[:, k], shares) if np.ptp(rows[k]) > 0 else centre[k]
    return ends
