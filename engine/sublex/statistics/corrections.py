"""Correct p-values when several hypotheses are tested at once.

Each function takes an array of p and returns the corrected p.

Compare corrected p-values with the usual alpha. `holm` and `bonferroni` bound the probability of any false alarm; `bh`
bounds the expected share of false alarms among all alarms.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sublex.errors import InputError

Correction = Callable[[Any], np.ndarray]


def bonferroni(p: Any) -> np.ndarray:
    """Return each p times the number of p-values, at most 1."""
    p = _probabilities(p)
    return np.minimum(1, p * len(p))


def holm(p: Any) -> np.ndarray:
    """Return p-values by S. Holm's step-down correction (1979). They are never above those of Bonferroni.

    Of m p-values, the i-th smallest is multiplied by m - i + 1, and cut at 1. Corrected values never fall as p rises:
    each is at least the corrected value of the next smaller p.
    """
    p = _probabilities(p)
    order = np.argsort(p, kind="stable")
    corrected = np.empty(len(p))
    corrected[order] = np.maximum.accumulate(np.minimum(1, p[order] * np.arange(len(p), 0, -1)))
    return corrected


def bh(p: Any) -> np.ndarray:
    """Return p-values adjusted by the method of Y. Benjamini and Y. Hochberg (1995), as SciPy computes them.

    If the hypotheses with adjusted p-values below alpha are rejected, the false discovery rate is below alpha.
    """
    from scipy.stats import false_discovery_control

    p = _probabilities(p)
    return false_discovery_control(p) if len(p) else p


def none(p: Any) -> np.ndarray:
    """Return the p-values unchanged."""
    return _probabilities(p)


def _probabilities(p: Any) -> np.ndarray:
    p = np.array(p, np.float64)
    wrong = ~((p >= 0) & (p <= 1))
    if p.ndim != 1 or wrong.any():
        raise InputError(f"Not a row of probabilities: {p[wrong][:1] if p.ndim else p}; each p must be from 0 to 1.")
    return p


CORRECTIONS: dict[str, Correction] = {correct.__name__: correct for correct in (holm, bonferroni, bh, none)}
