"""What a number of topics can find: the power of a two-sided t test, by the noncentral t distribution and no normal approximation."""

from __future__ import annotations

import math

from sublex.errors import InputError

POWER = 0.8


def check_level(alpha: float) -> None:
    if not 0.001 <= alpha <= 0.5:
        raise InputError(f"alpha {alpha:g} is out of range; a level from 0.001 to 0.5 is needed, and 0.05 is usual.")


def noncentrality(degrees: float, critical: float, power: float = POWER) -> float:
    """How many standard errors a difference must be for P(|t| > critical) to be `power`."""
    from scipy import stats
    from scipy.optimize import brentq

    def excess(shift: float) -> float:
        # What lies below -critical is what lies above it when the shift is the other way; nct.cdf is NaN there at times.
        return float(stats.nct.sf(critical, degrees, shift) + stats.nct.sf(critical, degrees, -shift)) - power

    high = critical + 1.0
    while excess(high) < 0:
        high *= 2
    return float(brentq(excess, 0, high, xtol=1e-10))


def quantile(degrees: float, alpha: float) -> float:
    """What |t| exceeds by chance with probability alpha."""
    from scipy.special import stdtrit

    return float(stdtrit(degrees, 1 - alpha / 2))


def detectable(sd: float, topics: int, alpha: float = 0.05, power: float = POWER) -> float:
    """The smallest true difference that a paired t test over so many topics finds with this power, if differences have this sd."""
    check_level(alpha)
    if not alpha < power < 1:
        raise InputError(f"power {power:g} is out of range; it must be above alpha {alpha:g} and below 1.")
    if topics < 2:
        return math.nan
    return sd / math.sqrt(topics) * noncentrality(topics - 1, quantile(topics - 1, alpha), power)
