"""Scores of documents by their topics: the cosine, Jensen-Shannon similarity, and the likelihood of a query.

A document's row has the expected number of its tokens in each topic; the document's shares are these numbers divided by
their sum. `shares` has the share of each topic in the query, and adds up to 1.
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

    A topic that the row or the query lacks adds nothing to 1 - JS, so only the topics of the row are visited.
    """
    document = row_numbers(rows)
    own = rows.data / lengths(rows)[document]
    return np.bincount(document, overlaps(own, shares[rows.indices]), rows.shape[0])


def overlaps(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Return the amount that each topic adds to 1 - JS. `p` and `q` have the topic's shares in two documents.

    The amount is 0 where a share is 0.
    """
    from scipy.special import rel_entr

    # 1 - JS = -Σ (p log2(p / (p + q)) + q log2(q / (p + q))) / 2. JS has 2p and 2q in the logarithms; these factors 2
    # give the 1.
    return -0.5 * (rel_entr(p, p + q) + rel_entr(q, p + q)) / np.log(2)


def word_chances(products: np.ndarray, tokens: np.ndarray, phi: np.ndarray, alpha: np.ndarray) -> np.ndarray:
    """Return the probability of a word by the topics of each document: Σ_k theta_k phi_k.

    `phi` has the probability of the word in each topic. `products` has the dot product of each document's row with
    `phi`, and `tokens` the sum of each row.
    """
    return (products + alpha @ phi) / (tokens + alpha.sum())
