"""Corrections of p for asking many questions at once: arrays of p in, corrected p out, to be held against the same alpha.

`holm` and `bonferroni` bound the chance of any false alarm, `bh` the expected share of false alarms among all alarms.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sublex.errors import InputError

Correction = Callable[[Any], np.ndarray]


def bonferroni(p: Any) -> np.ndarray:
    """Each p times their number."""
    p = _probabilities(p)
    return np.minimum(1, p * len(p))


def holm(p: Any) -> np.ndarray:
    """The i-th smallest of m times m - i + 1, and at least what those before it got (S. Holm 1979); never above Bonferroni's."""
    p = _probabilities(p)
    order = np.argsort(p, kind="stable")
    corrected = np.empty(len(p))
    corrected[order] = np.maximum.accumulate(np.minimum(1, p[order] * np.arange(len(p), 0, -1)))
    return corrected


def bh(p: Any) -> np.ndarray:
    """The false discovery rate of Y. Benjamini and Y. Hochberg (1995), by SciPy's false_discovery_control."""
    from scipy.stats import false_discovery_control

    p = _probabilities(p)
    return false_discovery_control(p) if len(p) else p


def none(p: Any) -> np.ndarray:
    """As they are."""
    return _probabilities(p)


def _probabilities(p: Any) -> np.ndarray:
    p = np.array(p, np.float64)
    wrong = ~((p >= 0) & (p <= 1))
    if p.ndim != 1 or wrong.any():
        raise InputError(f"Not a row of probabilities: {p[wrong][:1] if p.ndim else p}; each p must be from 0 to 1.")
    return p


CORRECTIONS: dict[str, Correction] = {made.__name__: made for made in (holm, bonferroni, bh, none)}
