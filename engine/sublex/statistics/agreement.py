"""Measure how far two rankings of documents or of systems agree.

A ranking is a sequence of distinct items (numbers or strings), best first; the caller breaks ties. In a run, a topic is
a mapping from docnos to scores that iterates over its docnos in order. So each topic is a ranking, and a run is a
mapping of rankings by topic.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Collection, Mapping
from itertools import repeat
from typing import Any

import numpy as np

from sublex.errors import InputError

Ranking = Collection[Any] | np.ndarray


def rbo(a: Ranking, b: Ranking, p: float = 0.9) -> float:
    """Return the extrapolated rank-biased overlap of two rankings: 0 if they have no item in common, 1 if they are equal.

    `p` is the probability that a reader continues to the next rank. The larger p is, the more the lower ranks count.

    W. Webber, A. Moffat and J. Zobel, A similarity measure for indefinite rankings, TOIS 28(4), 2010, equation 32,
    which allows rankings of unequal length. The result is 1 for two empty rankings, and 0 if only one ranking is empty.
    """
    if not 0 < p < 1:
        raise InputError(f"p {p:g} is out of range; RBO needs 0 < p < 1, and 0.9 is usual.")
    short, long = sorted((a, b), key=len)
    s, l = len(short), len(long)  # noqa: E741, the paper's letters
    places = _places(short, long)
    if not s:
        return float(not l)
    depths = np.maximum(np.arange(s), places)[places >= 0]
    overlap = np.cumsum(np.bincount(depths, minlength=l))
    d = np.arange(1, l + 1)
    agreement = overlap / d
    # Extrapolation needs two assumptions. Below the end of the shorter ranking, the longer ranking has the same share
    # of its items as before. Below the end of the longer ranking, the agreement stays the same.
    agreement[s:] += overlap[s - 1] * (d[s:] - s) / (s * d[s:])
    return float(min(1, (1 - p) / p * (agreement @ p**d) + agreement[-1] * p**l))


def tau_ap(a: Ranking, b: Ranking, symmetric: bool = False) -> float:
    """Return τ_AP of ranking `a` against the true ranking `b`, from -1 to 1.

    τ_AP is a rank correlation that weights the top most. It ignores items that only one ranking has. The result is NaN
    if the rankings share fewer than two items. If `symmetric` is true, the result is the mean of τ_AP of `a` against
    `b` and of `b` against `a`.

    E. Yilmaz, J. A. Aslam and S. Robertson, A new rank correlation coefficient for information retrieval, SIGIR 2008.
    """
    places = _places(a, b)
    common = places[places >= 0]
    if len(common) < 2:
        return math.nan
    above: list[int] = []
    right = np.empty(len(common))
    for rank, place in enumerate(common.tolist()):
        right[rank] = before = bisect_left(above, place)
        above.insert(before, place)
    tau = _mean_share(right, np.arange(len(common)))
    if symmetric:
        # For each item, `right` has the number of items that are above it in both rankings. So it serves both
        # directions.
        tau = (tau + _mean_share(right, np.argsort(np.argsort(common)))) / 2
    return tau


def kendall(a: Any, b: Any) -> float:
    """Return Kendall's τ of two orders of the same systems.

    Each order is given as a row of scores.

    The result is NaN if all scores of one of the rows are equal.

    If scores are tied, the result is τ_b, as in scipy.stats.kendalltau.
    """
    from scipy.stats import kendalltau

    first, second = np.asarray(a, np.float64), np.asarray(b, np.float64)
    if first.shape != second.shape or first.ndim != 1 or not (np.isfinite(first) & np.isfinite(second)).all():
        raise InputError("Kendall's tau needs two rows with one finite score for each of the same systems.")
    if len(first) < 2 or not np.ptp(first) or not np.ptp(second):
        return math.nan
    return float(kendalltau(first, second).statistic)


def over_topics(
    a: Mapping[str, Ranking], b: Mapping[str, Ranking], agreement: Callable[[Any, Any], float] = rbo
) -> float:
    """Return the mean agreement of two runs over the topics that both have.

    Topics with the agreement NaN are left out.
    """
    common = [topic for topic in a if topic in b]
    if not common:
        raise InputError("The runs have no topic in common; compare runs of the same topics.")
    values = np.array([agreement(a[topic], b[topic]) for topic in common])
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else math.nan


def _mean_share(right: np.ndarray, ranks: np.ndarray) -> float:
    """Return the mean of `right / ranks` over items, scaled from -1 to 1.

    `ranks` has the number of items above each item in one ranking. `right` has the number of items that are above the
    item in both rankings. The first item has none above it and is left out.
    """
    below = ranks > 0
    return float(2 * np.mean(right[below] / ranks[below]) - 1)


def _places(a: Ranking, b: Ranking) -> np.ndarray:
    """Return the position of each item of `a` in `b`, counted from 0. An item that `b` lacks has -1."""
    first, second = (ranking.tolist() if isinstance(ranking, np.ndarray) else list(ranking) for ranking in (a, b))
    places = dict(zip(second, range(len(second)), strict=True))
    if len(places) < len(second) or len(set(first)) < len(first):
        raise InputError("A ranking has an item twice; each item may stand in it once.")
    return np.array(list(map(places.get, first, repeat(-1))), np.int64)
