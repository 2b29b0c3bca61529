"""Compute the perplexity of documents under given topics: complete half of each document, or read from left to right.

Both measures compare models on documents that the models were not fitted to. `phi` has a row for each word and a column
for each topic, and may come from any program.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sublex.errors import InputError
from sublex.estimators.blocks import in_order, random, seeds_of, spans
from sublex.estimators.sparse_rows import row_numbers
from sublex.estimators.topics.counts import tokens_of, whole_counts_of
from sublex.estimators.topics.inference import mixtures, settle

if TYPE_CHECKING:
    from scipy.sparse import csr_array


def completion(phi: np.ndarray, alpha: np.ndarray, matrix: Any, seed: int = 0, workers: int = 1) -> float:
    """Return the perplexity of one half of each document's tokens, given the other half (document completion, Wallach
    et al. 2009).

    The topics of a document are estimated from the given half by the fixed point of `inference.settle`. The seed and a
    hash of a document's row decide how the document is divided, so two models are tested on the same words.
    """
    rows, phi = whole_counts_of(matrix, len(phi)), np.ascontiguousarray(phi, np.float64)
    first = halves(rows, seed)
    second = rows - first
    theta = mixtures(settle(first, phi, alpha, workers), alpha)
    return float(np.exp(-log_probability(second, phi, theta) / _tokens(second)))


def halves(rows: csr_array, seed: int = 0) -> csr_array:
    """Return a random half of the tokens of each row, rounded down, as sparse rows.

    `seed` and a hash of the row decide which tokens are chosen.
    """
    from scipy.sparse import csr_array

    starts, words = tokens_of(rows)
    chosen = np.zeros(len(words), bool)
    for document, key in enumerate(seeds_of(rows, seed).tolist()):
        begin, end = starts[document], starts[document + 1]
        chosen[begin + random(key).permutation(end - begin)[: (end - begin) // 2]] = True
    sizes = np.append(0, np.cumsum(chosen))[starts]
    half = csr_array((np.ones(int(chosen.sum())), words[chosen], sizes), shape=rows.shape)
    half.sum_duplicates()
    return half


def log_probability(rows: csr_array, phi: np.ndarray, theta: np.ndarray) -> float:
    """Return the log-probability of all tokens in `rows`, given their topics.

    It is the sum over tokens of log Σ_k theta_dk phi_wk, for the token's document d and word w.
    """
    document = row_numbers(rows)
    total = 0.0
    for span in spans(rows.nnz, 1 << 16):
        mixed = np.einsum("ik,ik->i", theta[document[span]], phi[rows.indices[span]])
        total += float(rows.data[span] @ np.log(mixed))
    return total


def left_to_right(
    phi: np.ndarray, alpha: np.ndarray, matrix: Any, particles: int = 20, *, unbiased: bool = False, seed: int = 0,
    workers: int = 1,
) -> np.ndarray:  # fmt: skip
    """Return an estimate of log p(tokens | phi, alpha) for each document. Particles read the document from left to
    right.

    For each token, the probabilities of the particles are averaged, and the averages are multiplied (Wallach et al.
    2009, algorithm 3). With `unbiased`, the probabilities of all tokens are multiplied for each particle, and the
    products are averaged. For any number of particles, the expected value of this second estimate is the true
    probability. But it varies more in long documents. The time grows with the square of a document's length.
    """
    from sublex_lda.lda_kernels import left_to_right

    rows, phi = whole_counts_of(matrix, len(phi)), np.ascontiguousarray(phi, np.float64)
    if particles < 1:
        raise InputError(f"particles={particles} must be at least 1.")
    starts, words = tokens_of(rows)
    keys = seeds_of(rows, seed).tolist()

    def work(document: int) -> float:
        generator = random(keys[document])
        # A row stores the tokens in the order of the vocabulary. The real order is lost, so a random order is used.
        own = generator.permutation(words[starts[document] : starts[document + 1]])
        state = generator.integers(0, 1 << 64, 1, np.uint64)
        means, logs = np.zeros(len(own)), np.zeros(particles)
        left_to_right(own, phi, np.asarray(alpha, np.float64), particles, state, means, logs)
        if unbiased:
            return float(logs.max() + np.log(np.exp(logs - logs.max()).mean()))
        return float(np.log(means).sum())

    return np.fromiter(in_order(work, range(rows.shape[0]), workers), np.float64, rows.shape[0])


def per_token(logs: np.ndarray, matrix: Any) -> float:
    """Return the perplexity of documents: exp of minus the sum of their log-probabilities, divided by the number of
    tokens.

    `logs` has the log-probability of each document, and `matrix` the counts.
    """
    return float(np.exp(-np.sum(logs) / _tokens(whole_counts_of(matrix))))


def _tokens(rows: csr_array) -> float:
    """Return the number of tokens of all rows. Raise `InputError` if there are no tokens."""
    tokens = float(rows.data.sum())
    if not tokens:
        raise InputError("Perplexity needs documents with words; these have none that can be predicted.")
    return tokens
