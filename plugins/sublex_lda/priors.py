"""Learn alpha, the parameters of the Dirichlet distribution from which the topics of documents are drawn (Minka 2000).

With `symmetric`, all topics have the same value. The best value may be 0 or infinite, so values are kept between
`SMALLEST` and `LARGEST`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from scipy.sparse import csr_array

SMALLEST, LARGEST = 1e-5, 1e4


def alpha_of_counts(
    counts: csr_array, alpha: np.ndarray, symmetric: bool = False, steps: int = 1000, tolerance: float = 1e-9
) -> np.ndarray:
    """Return the alpha under which `counts` of documents by topics are most likely. Minka's fixed point starts at the
    given `alpha`.

    The counts have a Dirichlet-multinomial (Pólya) distribution: each document draws its distribution of topics from
    the Dirichlet distribution, and its counts from this distribution of topics. With `symmetric`, all topics have the
    same value. The iteration ends after `steps` steps, or when the relative change of every value is at most
    `tolerance`.
    """
    from scipy.special import digamma

    alpha, topics = np.array(alpha, np.float64), counts.shape[1]
    # Equal counts of a topic have equal terms, so each distinct count is computed once.
    width = int(counts.data.max(initial=0)) + 1
    pairs, times = np.unique(counts.indices.astype(np.int64) * width + counts.data.astype(np.int64), return_counts=True)
    topic, count = pairs // width, pairs % width
    lengths, documents = np.unique(counts.sum(axis=1), return_counts=True)
    if not len(pairs):
        return alpha
    for _ in range(steps):
        total = alpha.sum()
        gains = np.bincount(topic, times * (digamma(count + alpha[topic]) - digamma(alpha[topic])), topics)
        cost = documents @ (digamma(lengths + total) - digamma(total))
        if symmetric:
            gains[:] = (gains * alpha).sum() / total
        new = np.clip(alpha * gains / cost, SMALLEST, LARGEST)
        change = np.abs(new / alpha - 1).max()
        alpha = new
        if change <= tolerance:
            break
    return alpha


def alpha_of_logs(mean_logs: np.ndarray, alpha: np.ndarray, symmetric: bool = False, steps: int = 1000) -> np.ndarray:
    """Return the alpha of a Dirichlet distribution under which `mean_logs` are most likely. The search starts at the
    given `alpha`.

    `mean_logs` has for each topic k the mean over documents of E[log theta_k], where theta_k is the share of the topic
    in the document. With `symmetric`, all topics have the same value.
    """
    from scipy.optimize import brentq
    from scipy.special import digamma

    topics = len(mean_logs)
    if symmetric:

        def slope(log: float) -> float:
            return float(digamma(topics * np.exp(log)) - digamma(np.exp(log)) + mean_logs.mean())

        low, high = np.log(SMALLEST), np.log(LARGEST)
        if slope(low) <= 0 or slope(high) >= 0:
            return np.full(topics, SMALLEST if slope(low) <= 0 else LARGEST)
        return np.full(topics, np.exp(brentq(slope, low, high, xtol=1e-13)))
    alpha = np.array(alpha, np.float64)
    for _ in range(steps):
        new = np.clip(inverse_digamma(digamma(alpha.sum()) + mean_logs), SMALLEST, LARGEST)
        change = np.abs(new / alpha - 1).max()
        alpha = new
        if change <= 1e-9:
            break
    return alpha


def inverse_digamma(y: np.ndarray) -> np.ndarray:
    """Return the x > 0 with digamma(x) = y, for each entry of `y`.

    Five steps of Newton's method give 14 correct digits (Minka 2000, appendix C).
    """
    from scipy.special import digamma, polygamma

    with np.errstate(over="ignore"):
        x = np.where(y >= -2.22, np.exp(y) + 0.5, -1 / (y - digamma(1.0)))
    for _ in range(5):
        x = x - (digamma(x) - y) / polygamma(1, x)
    return x
