"""A mixture of Gaussians with diagonal covariances, fitted by EM to points that count several times each.

Everything happens in standard units, each dimension less its mean and over its deviation: EM does not care, but where it begins does,
so the fit is the same whatever the dimensions' scales. A point with weight 3 counts as three equal points.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from sublex.errors import InputError
from sublex.estimators.blocks import in_order, one_thread, random, spans

# The least variance, as a share of the variance of all points; the least share of the points that a Gaussian keeps.
FLOOR = 1e-3
GONE = 1e-10
TOLERANCE = 1e-8
LEAST, MOST = 20, 1000
LOG_TAU = float(np.log(2 * np.pi))
Progress = Callable[[int, int], None]


class Mixture(NamedTuple):
    """The Gaussians' shares (K), means and variances (K × e) in standard units; the units' centre and scale (e)."""

    shares: np.ndarray
    means: np.ndarray
    variances: np.ndarray
    centre: np.ndarray
    scale: np.ndarray

    def standard(self, points: np.ndarray) -> np.ndarray:
        """Points in standard units."""
        return (points - self.centre) / self.scale

    def posteriors(self, x: np.ndarray) -> np.ndarray:
        """For points in standard units the probability of each Gaussian, rows that add up to 1."""
        return _posteriors(x, x * x, *_quadratic(self))[0]

    def likelihood(self, x: np.ndarray, weights: np.ndarray) -> float:
        """The mean log-likelihood of points in standard units."""
        return float(_posteriors(x, x * x, *_quadratic(self))[1] @ weights / weights.sum())


class Fit(NamedTuple):
    """The mixture, and the mean log-likelihood before each step of EM and after the last."""

    mixture: Mixture
    trace: list[float]


def fit(
    points: np.ndarray,
    weights: np.ndarray,
    k: int,
    *,
    starts: int = 5,
    seed: int = 0,
    workers: int = 1,
    progress: Progress = lambda done, total: None,
) -> tuple[Fit, list[float]]:
    """The best of several starts by likelihood, and the likelihoods of all; fewer Gaussians where there are fewer points.

    `progress` is called at each step with the starts done.
    """
    points, weights = _checked(points, weights)
    if k < 1 or starts < 1:
        raise InputError(f"k={k} and starts={starts} must be at least 1.")
    with one_thread():
        share = weights / weights.sum()
        centre = share @ points
        scale = np.sqrt(share @ (points - centre) ** 2)
        scale[scale <= 1e-12 * (np.abs(points).max(axis=0) + np.abs(centre))] = 1.0
        x = (points - centre) / scale
        distinct = np.sort(np.unique(x, axis=0, return_index=True)[1])
        fits = [
            em(
                x,
                weights,
                first(x[distinct], k, seed, s)._replace(centre=centre, scale=scale),
                workers,
                partial(progress, s, starts),
            )
            for s in range(starts)
        ]
    likelihoods = [found.trace[-1] for found in fits]
    return fits[int(np.argmax(likelihoods))], likelihoods


def _checked(points: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The points that count at all, as floats."""
    points, weights = np.asarray(points, np.float64), np.asarray(weights, np.float64)
    if points.ndim != 2 or weights.shape != points.shape[:1]:
        raise InputError(
            f"A weight for each point is needed: {points.shape} points and {weights.shape} weights do not match."
        )
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise InputError("The weights of points must be finite and not negative.")
    points, weights = points[weights > 0], weights[weights > 0]
    if not len(points) or not points.shape[1]:
        raise InputError("There is nothing to fit a mixture to: no point with a weight above 0 and a dimension.")
    if not np.isfinite(points).all():
        raise InputError("Some points are not finite; leave them out or give them the weight 0.")
    return points, weights


def first(x: np.ndarray, k: int, seed: int = 0, start: int = 0) -> Mixture:
    """Where a start begins, of points that all differ: means at k of them, any alike, the variances of all, equal shares.

    Of words, to take the frequent rather, or as k-means++ does those far out, begins with a few that are both, and leaves
    everything else to one Gaussian.
    """
    chosen = np.sort(random(seed, start).permutation(len(x))[:k])
    number, e = len(chosen), x.shape[1]
    return Mixture(np.full(number, 1 / number), x[chosen], np.ones((number, e)), np.zeros(e), np.ones(e))


def em(
    x: np.ndarray, weights: np.ndarray, mixture: Mixture, workers: int = 1, progress: Callable[[], None] = lambda: None
) -> Fit:
    """Steps of EM until the log-likelihood hardly rises; it never falls. Gaussians that no point belongs to any more are dropped."""
    trace: list[float] = []
    total = weights.sum()
    blocks = spans(len(x))
    for _ in range(MOST):
        progress()
        form = _quadratic(mixture)
        parts = in_order(lambda span, form=form: _step(x[span], weights[span], form), blocks, workers)  # type: ignore[misc]
        sums = [sum(column) for column in zip(*parts, strict=True)]
        trace.append(float(sums[0] / total))
        if len(trace) > LEAST and trace[-1] - trace[-2] <= TOLERANCE * abs(trace[-2]):
            break
        mixture = _maximised(mixture, total, *sums[1:])
    return Fit(mixture, trace)


def _quadratic(mixture: Mixture) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The log of share times density as a quadratic form: factors of x² and x, and what is constant."""
    shares, means, variances = mixture[:3]
    constant = np.log(shares) - 0.5 * (np.log(variances) + means**2 / variances + LOG_TAU).sum(axis=1)
    return -0.5 / variances.T, (means / variances).T, constant


def _posteriors(x, squares, a, b, c):
    """The probabilities of the Gaussians, and the log-likelihood of each point."""
    logs = squares @ a + x @ b + c
    highest = logs.max(axis=1, keepdims=True)
    odds = np.exp(logs - highest)
    sums = odds.sum(axis=1, keepdims=True)
    return odds / sums, (highest + np.log(sums))[:, 0]


def _step(x, weights, form):
    """What a block adds to the log-likelihood, and of each Gaussian to its points, their sum and the sum of their squares."""
    squares = x * x
    odds, logs = _posteriors(x, squares, *form)
    odds *= weights[:, None]
    return logs @ weights, odds.sum(axis=0), odds.T @ x, odds.T @ squares


def _maximised(mixture: Mixture, total: float, held, sums, squares) -> Mixture:
    """The M step; no variance falls below the floor, which is the best that is left within it."""
    kept = held > GONE * total
    held, means = held[kept], sums[kept] / held[kept, None]
    variances = np.maximum(squares[kept] / held[:, None] - means**2, FLOOR)
    return mixture._replace(shares=held / held.sum(), means=means, variances=variances)
