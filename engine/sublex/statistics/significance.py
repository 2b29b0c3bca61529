"""Paired significance tests of two systems' scores over the same topics, and of all pairs of several systems.

A higher score is better; missing and infinite scores are errors. If there is only one topic, p is 1, and the effect,
the interval and the detectable difference are NaN.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sublex.errors import InputError
from sublex.statistics import tukey
from sublex.statistics.corrections import CORRECTIONS
from sublex.statistics.power import check_level, noncentrality, quantile

# A step is this share of the pair's largest score, and differences are rounded to whole steps. Sums over up to 65,536
# topics are then exact, so they do not depend on the order of addition in a matrix product.
STEP = 2.0**-36
# If at most this number of topics have a difference, all choices of signs are enumerated.
ENUMERATED = 16
# The number of random choices of signs in the randomisation test.
SAMPLES = 100_000
# The largest number of values in a working array.
CELLS = 1 << 21
TUKEY = "tukey"
CHOICES = (*CORRECTIONS, TUKEY)

Test = Callable[..., np.ndarray]


@dataclass(frozen=True)
class Pair:
    """The test of two systems, `a` and `b`.

    `difference` is the mean of a minus the mean of b; `wins`, `ties` and `losses` are the numbers of topics on which a
    scores higher than b, equal to b, or lower. `p` is for this pair alone; `corrected` is p corrected for all pairs.
    `family` is the number of pairs. `effect` is the mean difference divided by the standard deviation of the
    differences. `interval` has the level 1 - alpha, and `detectable` is the true difference that is found with 80 %
    power. Both come from the t test of this pair alone; with the correction "tukey", they hold for all pairs together.
    """

    a: str
    b: str
    difference: float
    p: float
    corrected: float
    effect: float
    wins: int
    ties: int
    losses: int
    detectable: float
    interval: tuple[float, float]
    test: str = "t"
    correction: str = "none"
    family: int = 1
    alpha: float = 0.05

    @property
    def topics(self) -> int:
        """The number of topics."""
        return self.wins + self.ties + self.losses

    @property
    def significant(self) -> bool:
        """Whether the corrected p is at most alpha."""
        return self.corrected <= self.alpha


def t(a: Any, b: Any, seed: int = 0) -> np.ndarray:
    """Return p of the paired, two-sided t test, for two rows of scores by topic or for two arrays of rows.

    p is 0 if all differences are equal and not 0, because nothing varies. `seed` is not used.
    """
    from scipy.special import stdtr

    a, b = _paired(a, b)
    mean, sd = _moments(a, b)
    with np.errstate(divide="ignore", invalid="ignore"):
        value = mean / sd * math.sqrt(a.shape[-1])
    return np.where(np.isnan(value), 1.0, 2 * stdtr(max(a.shape[-1] - 1, 1), -np.abs(value)))[()]


def wilcoxon(a: Any, b: Any, seed: int = 0) -> np.ndarray:
    """Return p of Wilcoxon's signed rank test, two-sided, for two rows of scores by topic or for two arrays of rows.

    Topics without a difference are left out; equal differences share their mean rank. p is exact for up to 16
    differences, and for up to 50 if no two differences are equal (scipy.stats.wilcoxon). Otherwise p comes from the
    normal approximation, with the variance corrected for ties and without a continuity correction. `seed` is not used.
    """
    from scipy import stats

    a, b = _paired(a, b)
    rows = _steps(a, b).reshape(-1, a.shape[-1])
    few = np.count_nonzero(rows, axis=-1) <= ENUMERATED
    p = np.empty(len(rows))
    ranks = np.zeros_like(rows[few])
    for place, row in enumerate(rows[few]):
        ranks[place, row != 0] = stats.rankdata(np.abs(row[row != 0]))
    p[few] = _enumerated(ranks * np.sign(rows[few]), 0)
    p[~few] = [stats.wilcoxon(row[row != 0]).pvalue for row in rows[~few]]
    return p.reshape(a.shape[:-1])[()]


def randomisation(a: Any, b: Any, seed: int = 0, samples: int = SAMPLES) -> np.ndarray:
    """Return p of Fisher's randomisation test, two-sided, for two rows of scores by topic or for two arrays of rows.

    The test chooses a sign for each difference. p is the share of all choices whose mean is at least as far from 0 as
    the observed mean. If at most 16 topics have a difference, all choices are enumerated. Otherwise `samples` choices
    are drawn at random, and the observed choice is added (B. Phipson and G. K. Smyth 2010), so p is never below 1 /
    (samples + 1). p does not depend on the other pairs tested or on the order of topics.
    """
    a, b = _paired(a, b)
    rows = _steps(a, b).reshape(-1, a.shape[-1])
    few = np.count_nonzero(rows, axis=-1) <= ENUMERATED
    p = np.empty(len(rows))
    p[few] = _enumerated(rows[few], 1)
    p[~few] = _sampled(rows[~few], seed, samples)
    return p.reshape(a.shape[:-1])[()]


TESTS: dict[str, Test] = {test.__name__: test for test in (t, wilcoxon, randomisation)}


def compare_all(
    scores: Any, names: Sequence[str], test: str = "t", correction: str = "holm", alpha: float = 0.05, seed: int = 0
) -> list[Pair]:
    """Return the test of every pair of systems, in the order of their names.

    `scores` has a row per system and a column per topic. The correction "tukey" is also a test, and replaces `test` in
    the returned pairs. The field `corrected` of a pair is then Tukey's p. The field `p` uses the same difference and
    the same standard error, without a correction for the other pairs.
    """
    table = _table(scores, names, test, correction, alpha)
    systems, topics = table.shape
    first, second = np.triu_indices(systems, 1)
    difference, sd, wins, losses = _pair_statistics(table, first, second)
    error, degrees = sd / math.sqrt(topics), topics - 1
    if correction == TUKEY:
        test, degrees = TUKEY, (topics - 1) * (systems - 1)
        p, corrected, error = _tukey(table, difference, degrees)
    else:
        p = np.concatenate(
            [TESTS[test](table[first[part]], table[second[part]], seed) for part in _slices(len(first), topics)]
        )
        corrected = CORRECTIONS[correction](p)
    critical = shift = math.nan
    if topics > 1:
        critical = tukey.quantile(systems, degrees, alpha) if test == TUKEY else quantile(degrees, alpha)
        shift = noncentrality(degrees, critical)
    with np.errstate(divide="ignore", invalid="ignore"):
        effect = np.where((difference == 0) & (sd == 0), 0, difference / sd)
    low, high = difference - critical * error, difference + critical * error
    return [
        Pair(
            names[first[k]], names[second[k]], float(difference[k]), float(p[k]), float(corrected[k]), float(effect[k]),
            int(wins[k]), topics - int(wins[k]) - int(losses[k]), int(losses[k]), float(shift * error[k]),
            (float(low[k]), float(high[k])), test, correction, len(first), alpha,
        )
        for k in range(len(first))
    ]  # fmt: skip


def _tukey(table: np.ndarray, difference: np.ndarray, degrees: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return three values for each difference of means: the uncorrected p, Tukey's corrected p and the standard error.

    `table` has the scores, systems by topics. `degrees` are the degrees of freedom.
    """
    from scipy.special import stdtr

    systems, topics = table.shape
    if topics < 2:
        return np.ones(len(difference)), np.ones(len(difference)), np.full(len(difference), math.nan)
    error = np.full(len(difference), math.sqrt(2 * tukey.mean_square(table) / topics))
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.where(difference == 0, 0, difference / error)
    return 2 * stdtr(degrees, -np.abs(value)), tukey.corrected(value, systems, degrees), error


def _pair_statistics(table: np.ndarray, first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return for each pair the mean and deviation of its differences, and the numbers of topics won by each system.

    Pair k is of the systems `first[k]` and `second[k]`, which are rows of `table`.
    """
    parts = []
    for part in _slices(len(first), table.shape[1]):
        a, b = table[first[part]], table[second[part]]
        steps = _steps(a, b)
        parts.append((*_moments(a, b), (steps > 0).sum(-1), (steps < 0).sum(-1)))
    return tuple(np.concatenate(column) for column in zip(*parts, strict=True))


def _slices(pairs: int, topics: int) -> Iterator[slice]:
    """Yield slices of the pairs. For each slice, a working array has at most CELLS numbers."""
    size = max(1, CELLS // topics)
    return (slice(start, start + size) for start in range(0, pairs, size))


def _moments(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean and standard deviation of the differences, with 0 in place of rounding noise."""
    steps, differences = _steps(a, b), a - b
    mean = np.where(steps.any(-1), differences.mean(-1), 0.0)
    if a.shape[-1] < 2:
        return mean, np.full(mean.shape, math.nan)
    return mean, np.where(np.ptp(steps, -1) > 0, differences.std(-1, ddof=1), 0.0)


def _steps(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the differences as whole numbers of steps.

    A step is the largest score in both rows times STEP.

    So rounding errors cannot make a difference on a topic. Differences that should be equal are equal, and sums do not
    depend on their order.
    """
    largest = np.maximum(np.abs(a).max(-1, keepdims=True), np.abs(b).max(-1, keepdims=True))
    largest[largest == 0] = 1
    return np.rint((a / largest - b / largest) / STEP)


def _enumerated(rows: np.ndarray, error: float) -> np.ndarray:
    """Return for each row the share of sign choices whose sum is at least as far from 0 as the sum of the row.

    All choices are enumerated. A row has at most 16 numbers that are not 0.
    """
    sizes = -np.sort(-np.abs(rows))[:, :ENUMERATED]
    ways = 1 << sizes.shape[1]
    signs = ((np.arange(ways)[:, None] >> np.arange(sizes.shape[1])) & 1).astype(np.float64)
    p = np.empty(len(rows))
    for part in _slices(len(rows), ways):
        p[part] = _as_far(signs, sizes[part], _observed(rows[part], error)) / ways
    return p


def _sampled(rows: np.ndarray, seed: int, samples: int) -> np.ndarray:
    """Return for each row the estimated share of sign choices whose sum is at least as far from 0 as the row's sum.

    All rows get the same random signs. In each row, the signs go to the numbers in descending order of size.
    """
    pairs, topics = rows.shape
    sizes, observed = -np.sort(-np.abs(rows)), _observed(rows, 1)
    random = np.random.Generator(np.random.Philox(seed))
    words = -(-topics // 64)
    step = max(1, CELLS // max(64 * words, pairs))
    count = np.ones(pairs)
    for start in range(0, samples if pairs else 0, step):
        drawn = random.integers(0, 1 << 64, (min(step, samples - start), words), np.uint64)
        signs = np.unpackbits(drawn.view(np.uint8), axis=1, count=topics)
        count += _as_far(signs.astype(np.float64), sizes, observed)
    return count / (samples + 1)


def _observed(rows: np.ndarray, error: float) -> np.ndarray:
    """Return the distance of each row's sum from 0, minus the largest error that rounding to steps may cause.

    The error is `error` for each number of the row that is not 0.
    """
    return np.abs(rows.sum(-1)) - error * np.count_nonzero(rows, axis=-1)


def _as_far(signs: np.ndarray, sizes: np.ndarray, observed: np.ndarray) -> np.ndarray:
    """Return for each row of `sizes` the number of rows of `signs` that give a sum at least `observed` away from 0.

    A sign of 1 means minus, a sign of 0 plus.
    """
    sums = sizes.sum(-1) - 2 * (signs @ sizes.T)
    return (np.abs(sums) >= observed).sum(0)


def _paired(a: Any, b: Any) -> tuple[np.ndarray, np.ndarray]:
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    if a.shape != b.shape:
        raise InputError(f"Scores of shapes {a.shape} and {b.shape} are not paired; give both systems the same topics.")
    if not a.ndim or not a.shape[-1]:
        raise InputError("There are no topics to compare over; give each system one score per topic.")
    if not (np.isfinite(a) & np.isfinite(b)).all():
        raise InputError("Some scores are missing or infinite; leave their topics out, or give them a number.")
    return a, b


def _table(scores: Any, names: Sequence[str], test: str, correction: str, alpha: float) -> np.ndarray:
    """Return the scores as an array; raise InputError for a wrong argument of `compare_all`."""
    if test not in TESTS:
        raise InputError(f"No test {test}; there are {', '.join(TESTS)}.")
    if correction not in CHOICES:
        raise InputError(f"No correction {correction}; there are {', '.join(CHOICES)}.")
    check_level(alpha)
    if len(names) < 2 or len(set(names)) < len(names):
        raise InputError(f"Comparing needs two systems or more, each with its own name, not {', '.join(names)}.")
    try:
        table = np.asarray(scores, np.float64)
    except (TypeError, ValueError):
        raise InputError("The systems differ in their topics; give each one score for every topic.") from None
    if table.ndim != 2 or len(table) != len(names):
        raise InputError(f"Scores of shape {table.shape} are not a table of {len(names)} systems by topics.")
    return _paired(table, table)[0]
