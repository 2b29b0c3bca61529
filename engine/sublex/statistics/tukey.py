"""Tukey's honestly significant differences (HSD): test all pairs of m systems at once, with one error for all systems.

The error comes from a two-way analysis of variance without interaction, with the n topics as blocks. It is the mean
square of the residuals, with (n - 1)(m - 1) degrees of freedom. J. W. Tukey, The problem of multiple comparisons, 1953;
for retrieval B. Carterette, Multiple testing in statistical analysis of systems-based information retrieval
experiments, TOIS 30(1), 2012.
"""

from __future__ import annotations

import math

import numpy as np


def mean_square(scores: np.ndarray) -> np.ndarray:
    """Return the mean square of the residuals: the scores after the means of systems and topics are removed.

    The last two axes of `scores` are systems and topics.
    """
    systems, topics = scores.shape[-2:]
    of_systems, of_topics = scores.mean(-1, keepdims=True), scores.mean(-2, keepdims=True)
    residuals = scores - of_systems - of_topics + of_systems.mean(-2, keepdims=True)
    return (residuals**2).sum((-2, -1)) / ((systems - 1) * (topics - 1))


def corrected(t: np.ndarray, systems: int, degrees: int) -> np.ndarray:
    """Return the corrected p of each t. A t is a difference divided by its standard error.

    |t| √2 is compared with the studentized range of all systems. An infinite t has p = 0.
    """
    from scipy.stats import studentized_range

    finite = np.isfinite(t)
    p = np.zeros(len(t))
    p[finite] = studentized_range.sf(np.abs(t[finite]) * math.sqrt(2), systems, degrees)
    return np.clip(p, 0, 1)


def quantile(systems: int, degrees: int, alpha: float) -> float:
    """Return the value that the largest |t| of all pairs exceeds with probability alpha if no systems differ."""
    from scipy.stats import studentized_range

    return float(studentized_range.ppf(1 - alpha, systems, degrees)) / math.sqrt(2)
