"""Paired tests of two systems' scores over the same topics, and of all pairs of several systems.

Scores are numbers where more is better; missing and infinite ones are errors. With one topic nothing can be said: p is 1,
and effect, interval and detectable difference are NaN.
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

# Differences are counted in steps of this share of the pair's largest score; sums over 65,536 topics are then exact,
# and so come out the same whatever the matrix product does with them.
STEP = 2.0**-36
ENUMERATED = 16
SAMPLES = 100_000
# How many numbers a working array may have.
CELLS = 1 << 21
TUKEY = "tukey"
CHOICES = (*CORRECTIONS, TUKEY)

Test = Callable[..., np.ndarray]


@dataclass(frozen=True)
class Pair:
    """Two systems compared: `difference` is a's mean less b's, and a wins a topic where its score is higher.

    `effect` is the mean difference by the standard deviation of differences. `interval`, of 1 - alpha, and `detectable`,
    the true difference found with 80 % power, are those of the t test of this pair alone, or of all pairs under tukey.
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
        return self.wins + self.ties + self.losses

    @property
    def significant(self) -> bool:
        return self.corrected <= self.alpha


def t(a: Any, b: Any, seed: int = 0) -> np.ndarray:
    """p of the paired, two-sided t test, for two rows of topics or for rows of such rows.

    Equal differences other than 0 give 0: as the test sees it, nothing varies.
    """
    from scipy.special import stdtr

    a, b = _paired(a, b)
    mean, sd = _moments(a, b)
    with np.errstate(divide="ignore", invalid="ignore"):
        value = mean / sd * math.sqrt(a.shape[-1])
    return np.where(np.isnan(value), 1.0, 2 * stdtr(max(a.shape[-1] - 1, 1), -np.abs(value)))[()]


def wilcoxon(a: Any, b: Any, seed: int = 0) -> np.ndarray:
    """p of Wilcoxon's signed rank test, two-sided; topics without a difference are left out, equal ones share their mean rank.

    Exact for up to 16 differences, and for up to 50 where no two are equal (scipy.stats.wilcoxon); else the normal
    approximation with its variance corrected for ties, and without a correction for continuity.
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
    """p of Fisher's randomisation test of the mean difference: how often chance, choosing signs, gives as large a one.

    All ways are counted where at most 16 topics differ; else a sample, and the way observed counts as one more (B. Phipson
    and G. K. Smyth 2010), so that p is never below 1 / (samples + 1). The same pair gets the same p in any company, with
    its topics in any order.
    """
    a, b = _paired(a, b)
    rows = _steps(a, b).reshape(-1, a.shape[-1])
    few = np.count_nonzero(rows, axis=-1) <= ENUMERATED
    p = np.empty(len(rows))
    p[few] = _enumerated(rows[few], 1)
    p[~few] = _sampled(rows[~few], seed, samples)
    return p.reshape(a.shape[:-1])[()]


TESTS: dict[str, Test] = {made.__name__: made for made in (t, wilcoxon, randomisation)}


def compare_all(
    scores: Any,
    names: Sequence[str],
    test: str = "t",
    correction: str = "holm",
    alpha: float = 0.05,
    seed: int = 0,
) -> list[Pair]:
    """Every pair of the systems, whose scores are rows of one number per topic, in the order of their names.

    The correction `tukey` is a test as well and replaces the one named: `corrected` is Tukey's p, `p` that of the same
    difference and error without regard to the other pairs, and the pairs' `test` says "tukey".
    """
    table = _table(scores, names, test, correction, alpha)
    systems, topics = table.shape
    first, second = np.triu_indices(systems, 1)
    difference, sd, wins, losses = _columns(table, first, second)
    error, degrees = sd / math.sqrt(topics), topics - 1
    if correction == TUKEY:
        test, degrees = TUKEY, (topics - 1) * (systems - 1)
        p, corrected, error = _honest(table, difference, degrees)
    else:
        blocks = [TESTS[test](table[first[some]], table[second[some]], seed) for some in _blocks(len(first), topics)]
        p = np.concatenate(blocks)
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


def _honest(table: np.ndarray, difference: np.ndarray, degrees: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """p, Tukey's p and the standard error of each difference."""
    from scipy.special import stdtr

    systems, topics = table.shape
    if topics < 2:
        return np.ones(len(difference)), np.ones(len(difference)), np.full(len(difference), math.nan)
    error = np.full(len(difference), math.sqrt(2 * tukey.mean_square(table) / topics))
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.where(difference == 0, 0, difference / error)
    return 2 * stdtr(degrees, -np.abs(value)), tukey.corrected(value, systems, degrees), error


def _columns(table: np.ndarray, first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, ...]:
    """Each pair's mean difference, the deviation of its differences, and how many topics either system wins."""
    parts = []
    for some in _blocks(len(first), table.shape[1]):
        a, b = table[first[some]], table[second[some]]
        whole = _steps(a, b)
        parts.append((*_moments(a, b), (whole > 0).sum(-1), (whole < 0).sum(-1)))
    return tuple(np.concatenate(column) for column in zip(*parts, strict=True))


def _blocks(pairs: int, topics: int) -> Iterator[slice]:
    """Pairs in blocks that fit the memory."""
    size = max(1, CELLS // topics)
    return (slice(start, start + size) for start in range(0, pairs, size))


def _moments(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation of the differences; 0 where they are but noise of rounding."""
    whole, differences = _steps(a, b), a - b
    mean = np.where(whole.any(-1), differences.mean(-1), 0.0)
    if a.shape[-1] < 2:
        return mean, np.full(mean.shape, math.nan)
    return mean, np.where(np.ptp(whole, -1) > 0, differences.std(-1, ddof=1), 0.0)


def _steps(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The differences in whole steps: noise of rounding makes no winner, equal ones are equal, sums the same in any order."""
    largest = np.maximum(np.abs(a).max(-1, keepdims=True), np.abs(b).max(-1, keepdims=True))
    largest[largest == 0] = 1
    return np.rint((a / largest - b / largest) / STEP)


def _enumerated(rows: np.ndarray, error: float) -> np.ndarray:
    """Which share of all choices of signs gives a sum as far from 0; rows have at most 16 numbers other than 0."""
    kept = -np.sort(-np.abs(rows))[:, :ENUMERATED]
    ways = 1 << kept.shape[1]
    signs = ((np.arange(ways)[:, None] >> np.arange(kept.shape[1])) & 1).astype(np.float64)
    p = np.empty(len(rows))
    for some in _blocks(len(rows), ways):
        p[some] = _as_far(signs, kept[some], _observed(rows[some], error)) / ways
    return p


def _sampled(rows: np.ndarray, seed: int, samples: int) -> np.ndarray:
    """The same share, estimated; all rows meet the same choices, the largest number the first sign."""
    pairs, topics = rows.shape
    sizes, observed = -np.sort(-np.abs(rows)), _observed(rows, 1)
    random = np.random.Generator(np.random.Philox(seed))
    words = -(-topics // 64)
    most = max(1, CELLS // max(64 * words, pairs))
    count = np.ones(pairs)
    for start in range(0, samples if pairs else 0, most):
        drawn = random.integers(0, 1 << 64, (min(most, samples - start), words), np.uint64)
        signs = np.unpackbits(drawn.view(np.uint8), axis=1, count=topics)
        count += _as_far(signs.astype(np.float64), sizes, observed)
    return count / (samples + 1)


def _observed(rows: np.ndarray, error: float) -> np.ndarray:
    """How far the sums are from 0, less what rounding each number to a step may do to two sums that are equal."""
    return np.abs(rows.sum(-1)) - error * np.count_nonzero(rows, axis=-1)


def _as_far(signs: np.ndarray, sizes: np.ndarray, observed: np.ndarray) -> np.ndarray:
    """How many of the rows of signs, 1 for minus, give a sum as far from 0 as the one observed."""
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
    """The scores, after a look at everything that the user may have got wrong."""
    if test not in TESTS:
        raise InputError(f"No test {test}; there are {', '.join(TESTS)}.")
    if correction not in CHOICES:
        raise InputError(f"No correction {correction}; there are {', '.join(CHOICES)}.")
    check_level(alpha)
    if len(names) < 2 or len(set(names)) < len(names):
        raise InputError(f"Comparing needs two systems or more, each with a name of its own, not {', '.join(names)}.")
    try:
        table = np.asarray(scores, np.float64)
    except (TypeError, ValueError):
        raise InputError("The systems differ in their topics; give each one score for every topic.") from None
    if table.ndim != 2 or len(table) != len(names):
        raise InputError(f"Scores of shape {table.shape} are no table of {len(names)} systems by topics.")
    return _paired(table, table)[0]
