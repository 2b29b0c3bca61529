"""How far two rankings agree: of documents, or of systems.

A ranking is a row of distinct items, numbers or strings, best first; ties are broken by whoever gives it. A run's topic, a
mapping from docnos to scores, is a ranking of its docnos, so that a run is rankings by topic.
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
    """Rank-biased overlap, extrapolated: from 0, nothing in common, to 1, the same; `p` is how far down one looks.

    W. Webber, A. Moffat and J. Zobel, A similarity measure for indefinite rankings, TOIS 28(4), 2010, equation 32, which
    takes rankings of unequal length. Two empty rankings agree, an empty one and another do not.
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
    # Below their ends the rankings are taken to agree as they did there: first the shorter one, then both.
    agreement[s:] += overlap[s - 1] * (d[s:] - s) / (s * d[s:])
    return float(min(1, (1 - p) / p * (agreement @ p**d) + agreement[-1] * p**l))


def tau_ap(a: Ranking, b: Ranking, symmetric: bool = False) -> float:
    """τ_AP of ranking a against the true one b, from -1 to 1: Kendall's τ where the top counts most.

    E. Yilmaz, J. A. Aslam and S. Robertson, A new rank correlation coefficient for information retrieval, SIGIR 2008.
    Only items of both rankings count; NaN where they are fewer than two. Symmetric is the mean of both directions.
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
        # What stands above an item in both rankings is the same from either side.
        tau = (tau + _mean_share(right, np.argsort(np.argsort(common)))) / 2
    return tau


def kendall(a: Any, b: Any) -> float:
    """Kendall's τ (τ_b where scores tie, scipy.stats.kendalltau) of the orders that two rows of scores give the same systems.

    NaN where either row has all systems equal.
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
    """The mean agreement of two runs, rankings by topic, over the topics that both have and where it can be had."""
    common = [topic for topic in a if topic in b]
    if not common:
        raise InputError("The runs have no topic in common; compare runs of the same topics.")
    values = np.array([agreement(a[topic], b[topic]) for topic in common])
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else math.nan


def _mean_share(right: np.ndarray, ranks: np.ndarray) -> float:
    """The mean share of items above, the first item has none, that belong there, stretched to -1 … 1."""
    below = ranks > 0
    return float(2 * np.mean(right[below] / ranks[below]) - 1)


def _places(a: Ranking, b: Ranking) -> np.ndarray:
    """Where the items of a stand in b, from 0; -1 where they do not."""
    first, second = (ranking.tolist() if isinstance(ranking, np.ndarray) else list(ranking) for ranking in (a, b))
    places = dict(zip(second, range(len(second)), strict=True))
    if len(places) < len(second) or len(set(first)) < len(first):
        raise InputError("A ranking has an item twice; each may stand in it once.")
    return np.array(list(map(places.get, first, repeat(-1))), np.int64)
