"""Test whether the difference between two systems depends on the group to which a topic belongs.

The input is one difference of scores per topic, and the number of the topic's group. Each group is tested against all
other topics. One more test asks whether any group differs from the others. Groups have different topics, so the tests
are unpaired; they correspond to the paired tests in `significance`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from sublex.errors import InputError

# The number of random assignments of topics to groups in the randomisation test.
SAMPLES = 20_000
# The largest number of values in a working array.
CELLS = 1 << 21


class Interaction(NamedTuple):
    """The p-values of one grouping.

    `overall` tests any dependence on the group, and `groups` test each group against the rest.

    A p-value is NaN if a group, or the rest, has too few topics for the test.
    """

    overall: float
    groups: np.ndarray


def interaction(differences: Any, groups: Any, test: str = "t", seed: int = 0) -> Interaction:
    """Test whether differences depend on groups. `groups` has the number of each topic's group, from 0 without gaps.

    `test` names the family. "t" has Welch's t test of each group against the rest, and Welch's analysis of variance
    over all groups. "wilcoxon" has the rank sum test and the test of Kruskal and Wallis. "randomisation" assigns the
    topics to the groups at random.
    """
    values, numbers = np.asarray(differences, np.float64), np.asarray(groups, np.int64)
    if values.ndim != 1 or values.shape != numbers.shape or not len(values) or not np.isfinite(values).all():
        raise InputError("A test of groups needs one finite difference and one group for each topic.")
    if test not in FAMILIES:
        raise InputError(f"No test {test}; there are {', '.join(FAMILIES)}.")
    sizes = np.bincount(numbers)
    if numbers.min() < 0 or not sizes.all():
        raise InputError("The groups of topics have numbers from 0, and none is empty.")
    if len(sizes) < 2:
        return Interaction(math.nan, np.full(len(sizes), math.nan))
    return FAMILIES[test](values, numbers, seed)


def _t(values: np.ndarray, numbers: np.ndarray, seed: int) -> Interaction:
    parts = [values[numbers == number] for number in range(numbers.max() + 1)]
    rests = [values[numbers != number] for number in range(len(parts))]
    return Interaction(
        welch_anova(parts), np.array([_welch(one, rest) for one, rest in zip(parts, rests, strict=True)])
    )


def _welch(one: np.ndarray, other: np.ndarray) -> float:
    """Return p of Welch's t test; NaN if one side has a single topic."""
    from scipy.special import stdtr

    if min(len(one), len(other)) < 2:
        return math.nan
    # The variance of equal numbers is 0, without the rounding errors of their mean.
    first, second = (part.var(ddof=1) / len(part) if np.ptp(part) else 0.0 for part in (one, other))
    error, gap = first + second, float(one.mean() - other.mean())
    if not error:
        return float(one[0] == other[0])
    degrees = error**2 / (first**2 / (len(one) - 1) + second**2 / (len(other) - 1))
    return float(2 * stdtr(degrees, -abs(gap) / math.sqrt(error)))


def welch_anova(parts: list[np.ndarray]) -> float:
    """Return p of Welch's analysis of variance for groups of unequal variance.

    Groups with a single topic, or whose topics all have the same difference, have no variance and are left out. p is NaN
    for fewer than two groups.

    B. L. Welch, On the comparison of several mean values: an alternative approach, Biometrika 38, 1951.
    """
    from scipy.special import fdtrc

    used = [part for part in parts if len(part) > 1 and np.ptp(part) > 0]
    k = len(used)
    if k < 2:
        return math.nan
    sizes = np.array([len(part) for part in used])
    means = np.array([part.mean() for part in used])
    w = sizes / np.array([part.var(ddof=1) for part in used])
    total = w.sum()
    spread = (w * (means - (w * means).sum() / total) ** 2).sum() / (k - 1)
    lost = ((1 - w / total) ** 2 / (sizes - 1)).sum()
    value = spread / (1 + 2 * (k - 2) / (k**2 - 1) * lost)
    return float(fdtrc(k - 1, (k**2 - 1) / (3 * lost), value))


def _wilcoxon(values: np.ndarray, numbers: np.ndarray, seed: int) -> Interaction:
    from scipy.stats import kruskal, mannwhitneyu

    if not np.ptp(values):
        return Interaction(1.0, np.ones(numbers.max() + 1))
    parts = [values[numbers == number] for number in range(numbers.max() + 1)]
    groups = [mannwhitneyu(part, values[numbers != number]).pvalue for number, part in enumerate(parts)]
    return Interaction(float(kruskal(*parts).pvalue), np.array(groups))


def _randomisation(values: np.ndarray, numbers: np.ndarray, seed: int, samples: int = SAMPLES) -> Interaction:
    """Test by shuffling whether the value of a topic depends on its group, for all groups together and for each group.

    `values` has the value of each topic, such as the difference of two systems, and `numbers` the number of its group.
    A p-value is the share of `samples` shuffles of topics over groups that depend on the group at least as much as the
    data do. The data count as one more shuffle, so no p is below 1 / (samples + 1).
    """
    centred = values - values.mean()
    member = (numbers[:, None] == np.arange(numbers.max() + 1)).astype(np.float64)
    sizes = member.sum(0)
    # Sums that differ only by the order of their addition count as equal.
    slack = 1 - 1e-9
    sums = centred @ member
    observed, spread = np.abs(sums) * slack, (sums**2 / sizes).sum() * slack
    random = np.random.Generator(np.random.Philox(seed))
    group_counts, overall, step = np.ones(len(sizes)), 1, max(1, CELLS // len(values))
    for start in range(0, samples, step):
        drawn = np.tile(centred, (min(step, samples - start), 1))
        sums = random.permuted(drawn, axis=1) @ member
        group_counts += (np.abs(sums) >= observed).sum(0)
        overall += int(((sums**2 / sizes).sum(1) >= spread).sum())
    return Interaction(overall / (samples + 1), group_counts / (samples + 1))


FAMILIES: dict[str, Callable[[np.ndarray, np.ndarray, int], Interaction]] = {
    "t": _t, "wilcoxon": _wilcoxon, "randomisation": _randomisation,
}  # fmt: skip
