"""Variational inference for LDA: Blei, Ng and Jordan (2003), section 5.4, where topics have a Dirichlet prior too.

theta_d are the shares of the topics in document d, and phi_k the probabilities of the words in topic k. q(theta_d) is a
Dirichlet distribution with the parameters gamma_d. q(phi_k) is a Dirichlet distribution with the parameters in column k
of `weights`. All tokens of a word in a document share one distribution over topics. Each iteration raises the lower
bound of the likelihood (ELBO).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sublex.estimators.blocks import in_order, spans
from sublex.estimators.sparse_rows import row_numbers
from sublex.estimators.topics.counts import DOCUMENTS, arrays_of
from sublex_lda.gibbs import TopicChain
from sublex_lda.priors import alpha_of_logs

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# The inference of a document ends when the mean change of gamma is at most TOLERANCE, or after STEPS.
TOLERANCE, STEPS = 1e-3, 100
# The fit ends when an iteration raises the bound by less than this share of the bound.
BOUND_TOLERANCE = 1e-6
# The number of Gibbs sweeps before the first iteration.
START_SWEEPS = 20
# The number of steps towards the best alpha in each iteration.
ALPHA_STEPS = 20


class Expected(NamedTuple):
    """The result of inference for some documents.

    `gamma` has the Dirichlet parameters of each document's topics, and `theta` is exp E[log theta] for these
    parameters. `norms` has for each entry of the documents' rows the sum over topics of exp E[log theta] times exp
    E[log phi].
    """

    gamma: np.ndarray
    theta: np.ndarray
    norms: np.ndarray


class VariationalFit(NamedTuple):
    """A variational fit: `weights`, the Dirichlet parameters of the topics (by word and topic); `gamma`, those of the
    documents; `alpha`; and `bounds`, the bound after each iteration.
    """

    weights: np.ndarray
    gamma: np.ndarray
    alpha: np.ndarray
    bounds: list[float]


def mean_logs(parameters: np.ndarray) -> np.ndarray:
    """Return E[log x] for several Dirichlet distributions. Each column of `parameters` belongs to one distribution."""
    from scipy.special import digamma

    return digamma(parameters) - digamma(parameters.sum(axis=0))


def infer(
    rows: csr_array, factors: np.ndarray, alpha: np.ndarray, gamma: np.ndarray | None = None, workers: int = 1,
    steps: int = STEPS, tolerance: float = TOLERANCE,
) -> Expected:  # fmt: skip
    """Return the result of inference for the documents in `rows`, given the topics.

    `factors` has exp E[log phi] for each word and topic. The iteration starts at `gamma`, whose array is not changed,
    and by default at `alpha` plus an equal share of the document's tokens for each topic. It ends after `steps` steps,
    or when the mean change of gamma is at most `tolerance`.
    """
    from sublex_lda.lda_kernels import expectation

    if gamma is None:
        gamma = alpha + rows.sum(axis=1)[:, None] / len(alpha)
    found = Expected(np.array(gamma, np.float64), np.empty(gamma.shape), np.empty(rows.nnz))

    starts, words, counts = arrays_of(rows)

    def work(span: slice) -> None:
        # Each thread writes to its own rows and entries.
        own = starts[span.start : span.stop + 1]
        expectation(
            own, words, counts, factors, alpha, steps, tolerance, found.gamma[span], found.theta[span], found.norms
        )

    for _ in in_order(work, spans(rows.shape[0], DOCUMENTS), workers):
        pass
    return found


def fit(
    rows: csr_array, alpha: np.ndarray, beta: float, *, iterations: int = 100, seed: int = 0, learn_alpha: str = "no",
    workers: int = 1, progress: Callable[[int, int], None] = lambda done, total: None,
) -> VariationalFit:  # fmt: skip
    """Fit topics to sparse rows of counts, documents by words.

    `learn_alpha` is "no", "symmetric" (one alpha for all topics) or "asymmetric" (one for each). The fit starts at the
    state of a Gibbs chain after a few sweeps, because most random starts lead to poor optima. The result is the same,
    to the byte, for any number of workers.
    """
    alpha = np.array(alpha, np.float64)
    weights = _start(rows, alpha, beta, seed)
    gamma, bounds = None, [-np.inf]
    for step in range(iterations):
        progress(step, iterations)
        factors = np.exp(mean_logs(weights))
        found = infer(rows, factors, alpha, gamma, workers)
        weights = beta + factors * _shares(rows, found)
        gamma = found.gamma
        if learn_alpha != "no":
            # Each step raises the bound, so alpha need not converge between two iterations.
            alpha = alpha_of_logs(mean_logs(gamma.T).mean(axis=1), alpha, learn_alpha == "symmetric", ALPHA_STEPS)
        bounds.append(bound(rows, weights, gamma, alpha, beta))
        if bounds[-1] - bounds[-2] <= BOUND_TOLERANCE * abs(bounds[-1]):
            break
    assert gamma is not None
    return VariationalFit(weights, gamma, alpha, bounds[1:])


def _start(rows: csr_array, alpha: np.ndarray, beta: float, seed: int) -> np.ndarray:
    """Return the first Dirichlet parameters of the topics, as an array of words by topics.

    They are the numbers of tokens of each word in each topic after a few sweeps of a Gibbs chain, plus 1.
    """
    from scipy.sparse import csr_array

    # A chain needs whole counts.
    whole = csr_array((np.ceil(rows.data), rows.indices, rows.indptr), shape=rows.shape)
    chain = TopicChain(whole, alpha, beta, seed)
    for _ in range(START_SWEEPS):
        chain.sweep()
    return chain.word_topics().toarray() + 1.0


def _shares(rows: csr_array, found: Expected) -> np.ndarray:
    """Return for each word and topic the sum over documents of count × theta / norm, where `found` holds theta and the
    norms.

    The blocks of documents are summed in order.
    """
    from scipy.sparse import csr_array

    ratios = csr_array((rows.data / found.norms, rows.indices, rows.indptr), shape=rows.shape)
    total = np.zeros((rows.shape[1], found.theta.shape[1]))
    for span in spans(rows.shape[0]):
        total += ratios[span].T @ found.theta[span]
    return total


def bound(rows: csr_array, weights: np.ndarray, gamma: np.ndarray, alpha: np.ndarray, beta: float) -> float:
    """Return the lower bound of log p(words | alpha, beta).

    The topics of the single tokens have the distributions that make the bound largest. `weights` and `gamma` are the
    Dirichlet parameters of topics and documents.
    """
    topic_logs, document_logs = mean_logs(weights), mean_logs(gamma.T)
    norms = _norms(rows, np.exp(topic_logs), np.exp(document_logs.T))
    total = rows.data @ np.log(norms)
    total += _divergence(alpha[:, None], gamma.T, document_logs) + _divergence(
        np.full((len(weights), 1), beta), weights, topic_logs
    )
    return float(total)


def _norms(rows: csr_array, factors: np.ndarray, theta: np.ndarray) -> np.ndarray:
    """Return for each entry of the rows the sum over topics of the document's `theta` times the word's factor in
    `factors`.
    """
    document = row_numbers(rows)
    norms = np.empty(rows.nnz)
    for span in spans(rows.nnz, 1 << 16):
        norms[span] = np.einsum("ik,ik->i", theta[document[span]], factors[rows.indices[span]])
    return norms + 1e-300


def _divergence(prior: np.ndarray, posterior: np.ndarray, logs: np.ndarray) -> float:
    """Return minus the sum of the Kullback-Leibler divergences of Dirichlet distributions from their prior.

    Each column of `posterior` has the parameters of one distribution. `prior` is the column of parameters of the prior.
    `logs` are the means of the logarithms under `posterior`.
    """
    from scipy.special import gammaln

    columns = posterior.shape[1]
    total = columns * (gammaln(prior.sum()) - gammaln(prior).sum()) + ((prior - posterior) * logs).sum()
    return float(total + gammaln(posterior).sum() - gammaln(posterior.sum(axis=0)).sum())
