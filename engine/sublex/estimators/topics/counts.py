"""Counts that LDA reads: checking matrices of documents by words, and laying documents out as tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sublex.errors import InputError
from sublex.estimators.blocks import rows_of

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# The number of documents that a thread takes at a time. Each document is inferred alone, so this number changes no
# result.
DOCUMENTS = 256


class Tokens(NamedTuple):
    """Documents as tokens: document d has the words `words[starts[d]:starts[d + 1]]`, equal words side by side."""

    starts: np.ndarray
    words: np.ndarray

    def document_topics(self, z: np.ndarray, topics: int) -> csr_array:
        """Return the number of tokens of each document in each topic, as sparse rows of `topics` columns.

        `z` has the topic of each token.
        """
        documents = len(self.starts) - 1
        return pairs(np.repeat(np.arange(documents), np.diff(self.starts)), z, (documents, topics))


def counts_of(matrix: Any, columns: int | None = None) -> csr_array:
    """Return a matrix of documents by words as sparse rows of float64 with ascending columns and without zeros.

    Raises `InputError` for a negative value, for a value that is not finite, or if the number of columns is not
    `columns`.
    """
    from scipy.sparse import csr_array

    rows = rows_of(matrix, columns)
    # SciPy sums duplicates and sorts columns in place, so this works on a copy.
    rows = csr_array((rows.data.astype(np.float64), rows.indices.copy(), rows.indptr.copy()), shape=rows.shape)
    rows.sum_duplicates()
    rows.eliminate_zeros()
    if rows.nnz and rows.data.min() < 0:
        raise InputError("LDA: some counts are negative; leave these words out, or count them anew.")
    return rows


def arrays_of(rows: csr_array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return sparse rows as the arrays that kernels read: where rows start (int64), words (int32), and counts (float64)."""
    return rows.indptr.astype(np.int64), rows.indices.astype(np.int32), rows.data.astype(np.float64)


def whole_counts_of(matrix: Any, columns: int | None = None) -> csr_array:
    """Return the counts of a matrix as sparse rows; raise `InputError` if a count is not a whole number."""
    rows = counts_of(matrix, columns)
    if (rows.data != np.floor(rows.data)).any():
        raise InputError('LDA: Gibbs sampling needs whole counts; round them, or choose method="variational".')
    return rows


def pairs(rows: np.ndarray, topics: np.ndarray, shape: tuple[int, int]) -> csr_array:
    """Return the number of occurrences of each pair (rows[i], topics[i]), as sparse rows of this shape."""
    from scipy.sparse import coo_array, csr_array

    return csr_array(coo_array((np.ones(len(topics)), (rows, topics)), shape=shape))


def tokens_of(rows: csr_array) -> Tokens:
    """Return sparse rows of whole counts as tokens: a word with the count 3 becomes three tokens."""
    counts = rows.data.astype(np.int64)
    ends = np.append(0, np.cumsum(counts))[rows.indptr]
    return Tokens(ends.astype(np.int64), np.repeat(rows.indices, counts).astype(np.int32))
