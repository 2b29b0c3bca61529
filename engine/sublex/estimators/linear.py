"""Scores that are linear in a document's counts: Σ counts · values of the words, over the norms; one number a document is all they need.

A query gives every word a value, its similarity to the query's words; the forward index does the rest (no document has a vector).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sublex.errors import InputError
from sublex.estimators.blocks import in_order, spans

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# Rows that a worker adds up at a time.
ROWS = 1 << 14
# With so many entries a word, it is quicker to value all words than to find out which there are.
DENSE = 4
Valuer = Callable[[np.ndarray, np.ndarray], Any]


class Shares(NamedTuple):
    """A score taken apart: the query's words, the document's words, and what each pair of them adds to the score."""

    query: np.ndarray
    document: np.ndarray
    values: np.ndarray


def query_of(query: Any, words: int) -> csr_array:
    """A query as one sparse row: from a vector over the vocabulary, or a row that is sparse already."""
    from scipy.sparse import csr_array, issparse

    if not issparse(query):
        vector = np.asarray(query, np.float64).reshape(-1)
        held = np.flatnonzero(vector)
        query = csr_array((vector[held], held, [0, len(held)]), shape=(1, len(vector)))
    row = csr_array(query.reshape(1, -1) if query.ndim == 1 else query)
    if row.shape != (1, words):
        raise InputError(
            f"A query of {row.shape[0]} × {row.shape[1]:,} where the model wants one row of {words:,} words."
        )
    if not np.isfinite(row.data).all():
        raise InputError("The query holds weights that are not finite.")
    return row


def sums(rows: csr_array, value: Valuer, weights: np.ndarray, workers: int = 1) -> np.ndarray:
    """For each row Σ counts · weights · values, where `value(words, values)` fills in the values of these words."""
    from sublex.estimators.kernels import distinct, products

    words = rows.shape[1]
    values = np.zeros(words)
    if rows.nnz > DENSE * words:
        parts = spans(words, ROWS)
        for _ in in_order(lambda span: value(np.arange(span.start, span.stop), values), parts, workers):
            pass
    else:
        found = np.empty(rows.nnz, np.int64)
        value(found[: distinct(rows.indices, np.zeros(words, np.bool_), found)], values)
    values *= weights
    made = np.empty(rows.shape[0])
    parts = spans(rows.shape[0], ROWS)
    for _ in in_order(
        lambda span: products(rows.indptr, rows.indices, rows.data, values, span.start, made[span]), parts, workers
    ):
        pass
    return made


def cosines(sums: np.ndarray, norm: float, norms: np.ndarray) -> np.ndarray:
    """Sums over the norms of the query and of the documents; 0 where either is 0."""
    both = norm * norms
    return np.divide(sums, both, out=np.zeros(len(sums)), where=both > 0)


def shares(query: csr_array, row: csr_array, asked: np.ndarray, held: np.ndarray, norm: float) -> Shares:
    """The score of one document taken apart, from the vectors of the query's words and of its own; they add up to it."""
    values = (query.data[:, None] * asked) @ (row.data[:, None] * held).T
    return Shares(query.indices, row.indices, values / norm if norm > 0 else np.zeros(values.shape))
