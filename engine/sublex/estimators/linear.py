"""Scores that are linear in the counts of a document: the sum of count × value over its words, divided by the norms.

A query gives every word a value, such as the word's similarity to the query's words. Scoring a document needs its counts and
its norm, but not its vector.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sublex.errors import InputError
from sublex.estimators.blocks import in_order, spans

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# The number of rows, or of words, in a call of a kernel.
ITEMS_PER_CALL = 1 << 14
# If the rows have more entries per word than this, it is faster to compute the values of all words than to find the
# words that occur.
DENSE = 4
# A function of some words and an array of values that sets the values of these words.
Valuer = Callable[[np.ndarray, np.ndarray], Any]


class Shares(NamedTuple):
    """A score as a sum over pairs of words.

    `values[i, j]` is the amount that the pair of `query[i]` and `document[j]` adds.
    """

    query: np.ndarray
    document: np.ndarray
    values: np.ndarray


def query_of(query: Any, words: int) -> csr_array:
    """Return a query as one sparse row of `words` columns. `query` is a vector over the vocabulary or a sparse row."""
    from scipy.sparse import csr_array, issparse

    if not issparse(query):
        vector = np.asarray(query, np.float64).reshape(-1)
        columns = np.flatnonzero(vector)
        query = csr_array((vector[columns], columns, [0, len(columns)]), shape=(1, len(vector)))
    row = csr_array(query.reshape(1, -1) if query.ndim == 1 else query)
    if row.shape != (1, words):
        raise InputError(
            f"A query of {row.shape[0]} × {row.shape[1]:,} where the model wants one row of {words:,} words."
        )
    if not np.isfinite(row.data).all():
        raise InputError("The query holds weights that are not finite.")
    return row


def sums(rows: csr_array, value: Valuer, weights: np.ndarray, workers: int = 1) -> np.ndarray:
    """Return for each row the sum of count × weight × value over the words of the row, float64.

    `weights` has the weight of each word. `value(words, values)` must set `values[word]` for each word in `words`, and
    nothing else. Several threads call it.
    """
    from sublex.estimators.bag_kernels import distinct, products

    width = rows.shape[1]
    values = np.zeros(width)
    if rows.nnz > DENSE * width:
        for _ in in_order(
            lambda span: value(np.arange(span.start, span.stop), values), spans(width, ITEMS_PER_CALL), workers
        ):
            pass
    else:
        words = np.empty(rows.nnz, np.int64)
        value(words[: distinct(rows.indices, np.zeros(width, np.bool_), words)], values)
    values *= weights
    result = np.empty(rows.shape[0])

    def sum_rows(span: slice) -> None:
        products(rows.indptr, rows.indices, rows.data, values, span.start, result[span])

    for _ in in_order(sum_rows, spans(rows.shape[0], ITEMS_PER_CALL), workers):
        pass
    return result


def cosines(sums: np.ndarray, norm: float, norms: np.ndarray) -> np.ndarray:
    """Return each sum divided by the query's norm `norm` and by the document's norm in `norms`; 0 if either norm is 0."""
    both = norm * norms
    return np.divide(sums, both, out=np.zeros(len(sums)), where=both > 0)


def shares(
    query: csr_array, document: csr_array, query_vectors: np.ndarray, document_vectors: np.ndarray, norm: float
) -> Shares:
    """Return the amount that each pair of words adds to the score of one document. The amounts add up to the score.

    `query` and `document` are sparse rows. `query_vectors` and `document_vectors` have a vector for each entry of these
    rows, in the order of the entries. `norm` is the product of the norms of the query's and the document's vectors.
    """
    values = (query.data[:, None] * query_vectors) @ (document.data[:, None] * document_vectors).T
    return Shares(query.indices, document.indices, values / norm if norm > 0 else np.zeros(values.shape))
