"""Power of the two-sided t test: compute the smallest difference that the test can find with the given topics.

The functions use the noncentral t distribution, not a normal approximation.
"""

from __future__ import annotations

import math

from sublex.errors import InputError

# The usual power: the probability that the test finds a true difference.
POWER = 0.8


def check_level(alpha: float) -> None:
    """Raise InputError unless alpha is a usable significance level, from 0.001 to 0.5."""
    if not 0.001 <= alpha <= 0.5:
        raise InputError(f"alpha {alpha:g} is out of range; a level from 0.001 to 0.5 is needed, and 0.05 is usual.")


def noncentrality(degrees: float, critical: float, power: float = POWER) -> float:
    """Return the true difference, in standard errors, for which |t| exceeds `critical` with probability `power`.

    `degrees` are the degrees of freedom of t.
    """
    from scipy import stats
    from scipy.optimize import brentq

    def excess(shift: float) -> float:
        # nct.cdf sometimes returns NaN, so symmetry is used: P(t < -critical) for a shift is P(t > critical) for the
        # negative shift.
        return float(stats.nct.sf(critical, degrees, shift) + stats.nct.sf(critical, degrees, -shift)) - power

    high = critical + 1.0
    while excess(high) < 0:
        high *= 2
    return float(brentq(excess, 0, high, xtol=1e-10))


def quantile(degrees: float, alpha: float) -> float:
    """Return the value that |t| exceeds with probability `alpha` if there is no true difference.

    `degrees` are the degrees of freedom of t.
    """
    from scipy.special import stdtrit

    return float(stdtrit(degrees, 1 - alpha / 2))


def detectable(sd: float, topics: int, alpha: float = 0.05, power: float = POWER) -> float:
    """Return the smallest true difference of means that a paired t test over `topics` topics finds with this power.

    `sd` is the standard deviation of the differences between two systems over topics. The result is NaN for fewer than
    two topics.
    """
    check_level(alpha)
    if not alpha < power < 1:
        raise InputError(f"power {power:g} is out of range; it must be above alpha {alpha:g} and below 1.")
    if topics < 2:
        return math.nan
    return sd / math.sqrt(topics) * noncentrality(topics - 1, quantile(topics - 1, alpha), power)
