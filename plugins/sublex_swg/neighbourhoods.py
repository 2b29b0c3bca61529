"""Estimate the neighbourhood of each word: an ℓ1-regularised logistic regression of the word on all other words.

The data are binary documents. For each word v the method maximises

    Σ_d x_v λᵀx − log(1 + exp(λᵀx)) − ρ Σ_v' |λ_v'|     (table 1 of R. Nallapati et al., Sparse Word Graphs, 2007)

The intercept is not penalised. The sum runs over documents and is not averaged. A word that occurs in every document or
in none has no neighbours. Words that occur in the same documents share a weight equally, since the formula only depends
on the total of their weights.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csc_array, csr_array

from sublex.errors import InputError
from sublex.estimators.blocks import in_order, spans
from sublex_swg import regression_kernels

# The number of words in one call of the kernel.
WORDS_PER_CALL = 32


class Neighbourhoods(NamedTuple):
    """The regressions of all words. Row v of `weights` is the regression of word v.

    * `weights[v, w]` is the weight of word w in the regression of word v, as sparse rows. It is exactly 0 if w is no
      neighbour of v.
    * `intercepts[v]` is plus or minus infinity for a word that occurs in every document or in none.
    * `violations[v]` is the largest violation of the conditions of the optimum, divided by ρ.
    """

    weights: csr_array
    intercepts: np.ndarray
    violations: np.ndarray


def neighbourhoods(
    binary: Any,
    rho: float = 0.1,
    tol: float = 1e-5,
    workers: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> Neighbourhoods:
    """Return the neighbourhood of every word of a matrix of documents by words. An entry other than 0 means that the
    word occurs.

    Parameters
    ----------
    binary : matrix of shape (documents, words)
    rho : float
        The weight of the penalty. A larger weight gives fewer neighbours.
    tol : float
        The fit of a word ends when the conditions of the optimum are violated by at most `tol * rho`.
    workers : int
        The number of threads. The result is the same, to the byte, for any number.
    progress : function
        Called with two numbers: the words done, and all words. It may raise an exception to end the work.
    """
    if not rho > 0 or not np.isfinite(rho):
        raise InputError(f"rho is {rho:g}; the weight of the penalty must be above 0.")
    if not tol > 0:
        raise InputError(f"tol is {tol:g}; the largest violation must be above 0.")
    columns = _Columns(binary)
    fits = _Fits(columns, rho)
    targets = np.flatnonzero(columns.sizes == 1)
    # The regressions of words with twins (words in the same documents) are known already.
    done = columns.words - len(targets)

    def fit(span: slice) -> tuple[np.ndarray, ...]:
        part = targets[span]
        return (
            part,
            *regression_kernels.neighbourhoods(columns.starts, columns.docs, columns.documents, part, rho, tol),
        )

    for result in in_order(fit, spans(len(targets), WORDS_PER_CALL), workers):
        fits.add(*result)
        done += len(result[0])
        if progress:
            progress(done, columns.words)
    return fits.expand()


class _Columns:
    """The distinct columns of a binary matrix, without empty and full columns.

    `starts` and `docs` hold the columns. `group[v]` is the column of word v, or -1 if the column of the word is empty
    or full. `sizes` has for each column the number of words that share it.
    """

    def __init__(self, binary: Any):
        matrix = csc_array(binary, dtype=np.int8, copy=True)
        if matrix.ndim != 2 or not all(matrix.shape):
            raise InputError("A word graph needs a matrix of at least one document and one word.")
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
        matrix.sort_indices()
        self.documents, self.words = matrix.shape
        self.df = np.diff(matrix.indptr).astype(np.int64)
        indices = matrix.indices.astype(np.int32)
        distinct: dict[bytes, int] = {}
        self.group = np.full(self.words, -1, np.int64)
        first: list[int] = []
        for word in np.flatnonzero((self.df > 0) & (self.df < self.documents)):
            key = indices[matrix.indptr[word] : matrix.indptr[word + 1]].tobytes()
            self.group[word] = distinct.setdefault(key, len(distinct))
            if len(distinct) > len(first):
                first.append(int(word))
        self.sizes = np.bincount(self.group[self.group >= 0], minlength=len(first))
        self.first = np.array(first, np.int64)
        chosen = matrix[:, self.first]
        self.starts, self.docs = chosen.indptr.astype(np.int64), chosen.indices.astype(np.int32)


class _Fits:
    """The regressions of distinct columns. They are collected first and then expanded to words."""

    def __init__(self, columns: _Columns, rho: float):
        self.columns = columns
        self.intercepts, self.violations = np.zeros((2, len(columns.sizes)))
        self.parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        self._add_twins(rho)

    def _add_twins(self, rho: float) -> None:
        """Add the regressions of words that have twins. Twins are words that occur in the same documents.

        The optimum is known: only the twins of a word have a weight in its regression, or no word has a weight if ρ is
        large. The residuals at the optimum are ρ / positives and ρ / negatives, so no other column can violate its
        condition.
        """
        twins = np.flatnonzero(self.columns.sizes > 1)
        positives = self.columns.df[self.columns.first[twins]].astype(np.float64)
        negatives = self.columns.documents - positives
        related = positives * negatives > rho * self.columns.documents
        absent = np.log(np.where(related, rho / np.where(related, negatives - rho, 1), positives / negatives))
        present = np.log(np.where(related, positives - rho, 1) / rho)
        self.intercepts[twins] = absent
        self.parts.append((twins[related], twins[related], (present - absent)[related]))

    def add(self, targets: Any, lengths: Any, columns: Any, values: Any, intercepts: Any, violations: Any) -> None:
        """Add the regressions of the columns `targets`. The other arguments are what
        `regression_kernels.neighbourhoods` returns.
        """
        self.intercepts[targets], self.violations[targets] = intercepts, violations
        self.parts.append((np.repeat(targets, lengths), columns, values))

    def expand(self) -> Neighbourhoods:
        """Return the regressions of all words.

        The weight of a column is divided equally among the words of the column. A word never gets a weight in its own
        regression.
        """
        target, column, value = (np.concatenate(part) for part in zip(*self.parts, strict=True))
        sizes, group = self.columns.sizes, self.columns.group
        count, words = len(sizes), self.columns.words
        known = np.flatnonzero(group >= 0)
        belongs = csr_array((np.ones(len(known)), (known, group[known])), shape=(words, count))
        shared = value / np.where(target == column, sizes[column] - 1, sizes[column])
        weights = belongs @ csr_array((shared, (target, column)), shape=(count, count)) @ belongs.T
        # A column with twins has a weight for itself. It must not become a weight of a word for itself.
        pairs = weights.tocoo()
        others = pairs.coords[0] != pairs.coords[1]
        rows, of = (coordinate[others] for coordinate in pairs.coords)
        weights = csr_array((pairs.data[others], (rows, of)), shape=(words, words))
        intercepts = np.where(self.columns.df > 0, np.inf, -np.inf)
        violations = np.zeros(words)
        intercepts[known], violations[known] = self.intercepts[group[known]], self.violations[group[known]]
        return Neighbourhoods(weights, intercepts, violations)
