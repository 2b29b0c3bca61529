"""Tukey's honestly significant differences: all pairs of m systems at once, with one error pooled over all of them.

The error is the mean square of the residuals of a two-way analysis of variance without interaction, topics as blocks,
with (n - 1)(m - 1) degrees of freedom. J. W. Tukey, The problem of multiple comparisons, 1953; for retrieval
B. Carterette, Multiple testing in statistical analysis of systems-based information retrieval experiments, TOIS 30(1), 2012.
"""

from __future__ import annotations

import math

import numpy as np


def mean_square(scores: np.ndarray) -> np.ndarray:
    """The mean square of what is left of (… × systems × topics) scores without the means of systems and of topics."""
    systems, topics = scores.shape[-2:]
    of_systems, of_topics = scores.mean(-1, keepdims=True), scores.mean(-2, keepdims=True)
    left = scores - of_systems - of_topics + of_systems.mean(-2, keepdims=True)
    return (left**2).sum((-2, -1)) / ((systems - 1) * (topics - 1))


def corrected(t: np.ndarray, systems: int, degrees: int) -> np.ndarray:
    """The p of t, a difference by its standard error, against the range of all systems: the studentized range is |t| √2."""
    from scipy.stats import studentized_range

    finite = np.isfinite(t)
    p = np.zeros(len(t))
    p[finite] = studentized_range.sf(np.abs(t[finite]) * math.sqrt(2), systems, degrees)
    return np.clip(p, 0, 1)


def quantile(systems: int, degrees: int, alpha: float) -> float:
    """What the largest |t| among all pairs exceeds by chance with probability alpha."""
    from scipy.stats import studentized_range

    return float(studentized_range.ppf(1 - alpha, systems, degrees)) / math.sqrt(2)
