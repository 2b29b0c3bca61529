"""The weights of tf·idf: for each word of a document, (1 + ln tf) · ln(N / df).

G. Salton, A. Wong and C. S. Yang, A vector space model for automatic indexing, Communications of the ACM 18(11), 1975. This
module knows nothing about indexes.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from sublex.estimators.bags import damped


def idf(df: np.ndarray, docs: int) -> np.ndarray:
    """Return ln(N / df) for words that occur in `df` of N = `docs` documents."""
    return np.log(docs / df)


def weighted(counts: csr_array, idfs: np.ndarray) -> csr_array:
    """Return (1 + ln tf) · idf for each count tf of sparse rows of documents by words; a count below 1 stands as it is."""
    values = damped(counts.data) * idfs[counts.indices]
    return csr_array((values, counts.indices, counts.indptr), shape=counts.shape)


def norms(weights: csr_array) -> np.ndarray:
    """Return the norm of each of some sparse rows. The norm of a row does not depend on the other rows."""
    documents = np.repeat(np.arange(weights.shape[0]), np.diff(weights.indptr))
    return np.sqrt(np.bincount(documents, weights.data * weights.data, minlength=weights.shape[0]))
