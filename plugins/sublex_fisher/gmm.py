"""A mixture of Gaussians with diagonal covariances, fitted by expectation maximisation (EM) to weighted points.

A point of weight 3 counts as three equal points. The fit uses standard units: each dimension minus its mean, divided by
its standard deviation. So the fit does not depend on the scales of the dimensions.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from sublex.errors import InputError
from sublex.estimators.blocks import in_order, one_thread, random, spans

# The smallest variance that a Gaussian may have, as a share of the variance of all points.
VARIANCE_FLOOR = 1e-3
# A Gaussian with a smaller share of the points is dropped.
SHARE_FLOOR = 1e-10
# EM ends when a step raises the log-likelihood by less than this share of the log-likelihood.
TOLERANCE = 1e-8
# The smallest and the largest number of steps of EM.
MIN_STEPS, MAX_STEPS = 20, 1000
LOG_TAU = float(np.log(2 * np.pi))
Progress = Callable[[int, int], None]


class Mixture(NamedTuple):
    """K Gaussians in e dimensions.

    `shares`, of shape (K,), add up to 1. `means` and `variances`, of shape (K, e), are in standard units. `centre` and
    `scale` convert a point p to standard units: (p - centre) / scale.
    """

    shares: np.ndarray
    means: np.ndarray
    variances: np.ndarray
    centre: np.ndarray
    scale: np.ndarray

    def standard(self, points: np.ndarray) -> np.ndarray:
        """Return points converted to standard units."""
        return (points - self.centre) / self.scale

    def posteriors(self, x: np.ndarray) -> np.ndarray:
        """Return the probability of each Gaussian given each point, as an array of points by Gaussians. Each row adds
        up to 1.

        `x` are points in standard units.
        """
        return _posteriors(x, x * x, *_quadratic(self))[0]

    def likelihood(self, x: np.ndarray, weights: np.ndarray) -> float:
        """Return the mean log-likelihood of the points `x`, weighted by `weights`. `x` are in standard units."""
        return float(_posteriors(x, x * x, *_quadratic(self))[1] @ weights / weights.sum())


class FittedMixture(NamedTuple):
    """A fitted mixture, and its mean log-likelihoods (`trace`): before each step of EM, and after the last one."""

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
) -> tuple[FittedMixture, list[float]]:
    """Fit a mixture from several random starts.

    Return the fit with the highest likelihood, and the mean log-likelihoods of all starts.

    Parameters
    ----------
    points : array of shape (n, e)
    weights : array of shape (n,), not negative
        The weights of the points. A point with weight 0 is ignored; its coordinates do not matter.
    k : int
        The number of Gaussians. There are fewer if the points have fewer distinct values.
    starts : int
        The number of random starts.
    seed : int
        Determines the starts.
    workers : int
        Threads; the result is the same, to the byte, for any number.
    progress : function
        Called before each step of EM with two numbers: the starts done, and all starts. It may raise an exception to
        end the work.
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
                initial_mixture(x[distinct], k, seed, s)._replace(centre=centre, scale=scale),
                workers,
                partial(progress, s, starts),
            )
            for s in range(starts)
        ]
    likelihoods = [fitted.trace[-1] for fitted in fits]
    return fits[int(np.argmax(likelihoods))], likelihoods


def _checked(points: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the points whose weight is above 0, and their weights, as float64."""
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


def initial_mixture(x: np.ndarray, k: int, seed: int = 0, start: int = 0) -> Mixture:
    """Return the initial mixture of start number `start`.

    Its means are `k` of the points `x`, and its shares are equal. `x` are distinct points in standard units, so the
    variances of the mixture are 1, like those of all points. Each point is equally likely to become a mean. Other
    choices work badly for word vectors: if means are frequent words, or distant words as in k-means++, most means are a
    few unusual words, and one Gaussian gets all other words.
    """
    chosen = np.sort(random(seed, start).permutation(len(x))[:k])
    number, e = len(chosen), x.shape[1]
    return Mixture(np.full(number, 1 / number), x[chosen], np.ones((number, e)), np.zeros(e), np.ones(e))


def em(
    x: np.ndarray, weights: np.ndarray, mixture: Mixture, workers: int = 1, progress: Callable[[], None] = lambda: None
) -> FittedMixture:
    """Improve a mixture by EM until the log-likelihood hardly rises, and return the fit.

    `x` are points in standard units. The likelihood never falls. Gaussians that lose all their points are dropped.
    """
    trace: list[float] = []
    total = weights.sum()
    blocks = spans(len(x))
    for _ in range(MAX_STEPS):
        progress()
        form = _quadratic(mixture)
        parts = in_order(lambda span, form=form: _expectation(x[span], weights[span], form), blocks, workers)  # type: ignore[misc]
        sums: list[Any] = [sum(column) for column in zip(*parts, strict=True)]
        trace.append(float(sums[0] / total))
        if len(trace) > MIN_STEPS and trace[-1] - trace[-2] <= TOLERANCE * abs(trace[-2]):
            break
        mixture = _maximisation(mixture, total, *sums[1:])
    return FittedMixture(mixture, trace)


def _quadratic(mixture: Mixture) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return log(share × density) of each Gaussian as a quadratic form of a point x.

    Three arrays are returned: the factors of the squares of x, the factors of x, and the constants.
    """
    shares, means, variances = mixture[:3]
    constant = np.log(shares) - 0.5 * (np.log(variances) + means**2 / variances + LOG_TAU).sum(axis=1)
    return -0.5 / variances.T, (means / variances).T, constant


def _posteriors(
    x: np.ndarray, squares: np.ndarray, a: np.ndarray, b: np.ndarray, c: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the probabilities of the Gaussians for each point, and the log-likelihood of each point.

    `squares` are the squares of the points `x`. `a`, `b` and `c` are the quadratic form that `_quadratic` returns.
    """
    logs = squares @ a + x @ b + c
    highest = logs.max(axis=1, keepdims=True)
    odds = np.exp(logs - highest)
    sums = odds.sum(axis=1, keepdims=True)
    return odds / sums, (highest + np.log(sums))[:, 0]


def _expectation(
    x: np.ndarray, weights: np.ndarray, form: tuple[np.ndarray, np.ndarray, np.ndarray]
) -> tuple[np.floating, np.ndarray, np.ndarray, np.ndarray]:
    """Return the sums of the E-step over a block of points.

    They are the log-likelihood, and three sums for each Gaussian: of the weights of the points, of the points, and of
    their squares. In these three sums, each point counts with its weight times the probability of the Gaussian for the
    point. `form` is the result of `_quadratic`.
    """
    squares = x * x
    odds, logs = _posteriors(x, squares, *form)
    odds *= weights[:, None]
    return logs @ weights, odds.sum(axis=0), odds.T @ x, odds.T @ squares


def _maximisation(
    mixture: Mixture, total: float, gaussian_weights: np.ndarray, sums: np.ndarray, squares: np.ndarray
) -> Mixture:
    """Return the mixture that maximises the likelihood, given the sums of the E-step (M-step).

    No variance is below `VARIANCE_FLOOR`. A Gaussian whose share of the weight `total` is at most `SHARE_FLOOR` is
    dropped.
    """
    kept = gaussian_weights > SHARE_FLOOR * total
    points = gaussian_weights[kept]
    means = sums[kept] / points[:, None]
    variances = np.maximum(squares[kept] / points[:, None] - means**2, VARIANCE_FLOOR)
    return mixture._replace(shares=points / points.sum(), means=means, variances=variances)
