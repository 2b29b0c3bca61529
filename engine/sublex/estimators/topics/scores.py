"""Scores of documents by their topics: the cosine, Jensen-Shannon similarity, and the likelihood of a query.

A document's row holds the expected number of its tokens in each topic, and its shares are these numbers divided by their sum. A query's
`shares` are those of its words, an array that adds up to 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sublex.estimators.sparse_rows import lengths, row_numbers

if TYPE_CHECKING:
    from scipy.sparse import csr_array


def topic_shares(rows: csr_array) -> csr_array:
    """Return the share of each topic in each row, float32; a row of zeros stays as it is."""
    shares = rows.copy()
    shares.data = rows.data / np.repeat(lengths(rows), np.diff(rows.indptr)).astype(np.float32)
    return shares


def similarities(rows: csr_array, shares: np.ndarray) -> np.ndarray:
    """Return 1 - JS for each row, where JS is the Jensen-Shannon divergence of the shares in bits; 0 for a row of zeros.

    A topic that one of the two lacks adds nothing, so the topics of the row suffice.
    """
    document = row_numbers(rows)
    own = rows.data / lengths(rows)[document]
    return np.bincount(document, overlaps(own, shares[rows.indices]), rows.shape[0])


def overlaps(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Return what each topic adds to 1 - JS, given its shares in the two; 0 where a share is 0."""
    from scipy.special import rel_entr

    # 1 - JS = -Σ (p log2(p / (p + q)) + q log2(q / (p + q))) / 2: the factors 2 inside JS's logarithms add up to 1.
    return -0.5 * (rel_entr(p, p + q) + rel_entr(q, p + q)) / np.log(2)


def word_chances(products: np.ndarray, tokens: np.ndarray, phi: np.ndarray, alpha: np.ndarray) -> np.ndarray:
    """Return the probability of a word by the topics of each document: Σ_k theta_k phi_k.

    `products` are those of the rows with `phi`, the word's probabilities by topic; `tokens` are the lengths of the rows.
    """
    return (products + alpha @ phi) / (tokens + alpha.sum())
