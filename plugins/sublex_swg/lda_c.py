"""Topics by variational EM as in the program lda-c, which the paper on sparse word graphs used.

The words of topics are estimated by maximum likelihood, without a prior. One alpha is learned for all topics, and gamma
starts anew in each E-step (D. Blei, A. Ng and M. Jordan, Latent Dirichlet allocation, JMLR 3, 2003).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.sparse import csr_array
from scipy.special import digamma, gammaln


class LdaTopics(NamedTuple):
    """The topics of documents: `theta` has the share of each topic in each document, and `assignments` a topic for each
    entry of the counts. `bound` is the lower bound of the log-likelihood.
    """

    theta: np.ndarray
    assignments: np.ndarray
    bound: float


def variational_em(
    counts: csr_array,
    topics: int,
    seed: int,
    iterations: int = 60,
    steps: int = 20,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> LdaTopics:
    """Return the topics of documents, given their counts of words, from a random start.

    `iterations` is the number of iterations of EM, and `steps` the largest number of steps of an E-step for each of
    them. `progress` is called with the number of iterations done and of all iterations.
    """
    chance, documents = np.random.default_rng(seed), counts.shape[0]
    row, column, lengths = np.repeat(np.arange(documents), np.diff(counts.indptr)), counts.indices, counts.sum(axis=1)
    beta = chance.random((counts.shape[1], topics)) + 1 / counts.shape[1]
    beta /= beta.sum(axis=0)
    alpha = 0.1
    for turn in range(iterations):
        progress(turn, iterations)
        gamma = alpha + np.repeat(lengths[:, None] / topics, topics, axis=1)
        for _ in range(steps):
            theta = np.exp(digamma(gamma))
            norms = np.maximum(np.einsum("ik,ik->i", theta[row], beta[column]), 1e-300)
            ratios = csr_array((counts.data / norms, column, counts.indptr), shape=counts.shape)
            new = alpha + theta * (ratios @ beta)
            change, gamma = np.abs(new - gamma).mean(), new
            if change < 1e-3:
                break
        means = digamma(gamma) - digamma(gamma.sum(axis=1))[:, None]
        bound = counts.data @ np.log(norms) - (lengths * digamma(gamma.sum(axis=1))).sum()
        bound += (gammaln(gamma).sum(axis=1) - gammaln(gamma.sum(axis=1)) + ((alpha - gamma) * means).sum(axis=1)).sum()
        bound += documents * (gammaln(topics * alpha) - topics * gammaln(alpha))
        beta = np.maximum(beta * (ratios.T @ theta), 1e-40)
        beta /= beta.sum(axis=0)
        alpha = best_alpha(documents, topics, means.sum())
    theta = np.exp(digamma(gamma))
    return LdaTopics(gamma / gamma.sum(axis=1, keepdims=True), (theta[row] * beta[column]).argmax(axis=1), float(bound))


def best_alpha(documents: int, topics: int, means: float) -> float:
    """Return the alpha with the largest bound. `means` is the sum of E[log theta] over all documents and topics."""

    def loss(log_alpha: float) -> float:
        alpha = np.exp(log_alpha)
        return -(documents * (gammaln(topics * alpha) - topics * gammaln(alpha)) + alpha * means)

    return float(np.exp(minimize_scalar(loss, bounds=(-7, 2), method="bounded").x))
