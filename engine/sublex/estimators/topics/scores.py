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
    """Return the share of each topic in each row (float32). A row of zeros stays a row of zeros."""
    shares = rows.copy()
    shares.data = rows.data / np.repeat(lengths(rows), np.diff(rows.indptr)).astype(np.float32)
    return shares


def similarities(rows: csr_array, shares: np.ndarray) -> np.ndarray:
    """Return 1 - JS for each row; 0 for a row of zeros.

    JS is the Jensen-Shannon divergence, in bits, of the topics' shares in the row and of `shares`, the topics' shares
    in the query. A topic adds something to 1 - JS only if both the row and the query have it, so the function looks at the
    topics of the row only.
    """
    document = row_numbers(rows)
    own = rows.data / lengths(rows)[document]
    return np.bincount(document, overlaps(own, shares[rows.indices]), rows.shape[0])


def overlaps(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Return the amount that each topic adds to 1 - JS, where JS is the Jensen-Shannon divergence in bits.

    `p` has the share of each topic in a document, and `q` in the query. The amount is 0 if either share is 0.
    """
    from scipy.special import rel_entr

    # 1 - JS = -Σ (p log2(p / (p + q)) + q log2(q / (p + q))) / 2. JS itself has 2p and 2q in the logarithms in place of p and
    # q. The factors 2 add up to the 1.
    return -0.5 * (rel_entr(p, p + q) + rel_entr(q, p + q)) / np.log(2)


def word_chances(products: np.ndarray, tokens: np.ndarray, phi: np.ndarray, alpha: np.ndarray) -> np.ndarray:
    """Return the probability of a word by the topics of each document.

    It is a sum over all topics k: the probability of topic k in the document, times phi[k], the probability of the word in
    topic k. The row of a document has its expected tokens in each topic. `products` has the dot product of each row with
    `phi`, and `tokens` the sum of each row. `alpha` has the parameter of the prior of each topic.
    """
    return (products + alpha @ phi) / (tokens + alpha.sum())
