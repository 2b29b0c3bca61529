"""Inference of the topics of documents when the topics themselves are given: by Gibbs sampling, or by a fixed point.

`phi` has a row for each word and a column for each topic. The topics of a document are inferred independently of other
documents, so a row of the result depends on one document only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sublex.estimators.blocks import in_order, seeds_of, spans
from sublex.estimators.topics.counts import DOCUMENTS, arrays_of

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# Of the sweeps of a document's Gibbs chain, the first BURN_IN are dropped, and the next SAMPLES are averaged.
BURN_IN, SAMPLES = 20, 30
# The iteration ends when the weight of no topic changes by more than TOLERANCE, or after STEPS steps.
TOLERANCE, STEPS = 1e-6, 200


def sample(
    rows: csr_array, phi: np.ndarray, alpha: np.ndarray, seed: int = 0, workers: int = 1, samples: int = SAMPLES
) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean number of tokens of each document in each topic, and the most frequent topic of each entry.

    `rows` has the documents as sparse rows of whole counts. `phi` has the probability of each word (row) in each topic
    (column), and `alpha` the parameter of the prior of each topic. The means are taken over `samples` sweeps of Gibbs
    sampling. The random numbers for a document start from a hash of its row and `seed`, so equal rows get equal
    results.
    """
    from sublex.estimators.topics.inference_kernels import fold_in

    starts, words, counts = arrays_of(rows)
    seeds = seeds_of(rows, seed)
    sums, topics = np.zeros((rows.shape[0], len(alpha))), np.zeros(rows.nnz, np.int32)

    def work(span: slice) -> None:
        own = starts[span.start : span.stop + 1]
        fold_in(own, words, counts, seeds[span], phi, alpha, BURN_IN, samples, sums[span], topics)

    for _ in in_order(work, spans(rows.shape[0], DOCUMENTS), workers):
        pass
    return sums, topics


def settle(rows: csr_array, phi: np.ndarray, alpha: np.ndarray, workers: int = 1) -> np.ndarray:
    """Return the expected weight of each row in each topic, by fixed-point iteration (CVB0).

    `phi` has the probability of each word (row) in each topic (column), and `alpha` the parameter of the prior of each
    topic. No random numbers are used. The weights of words in `rows` may be fractional; weights that are not above 0
    are ignored. The weights of a row in all topics add up to the weights of its words.
    """
    from scipy.sparse import csr_array

    from sublex.estimators.topics.inference_kernels import fixed_point

    positive = rows.data > 0
    ends = np.append(0, np.cumsum(positive))[rows.indptr]
    rows = csr_array((rows.data[positive], rows.indices[positive], ends), shape=rows.shape)
    starts, words, weights = arrays_of(rows)
    expected = np.zeros((rows.shape[0], len(alpha)))

    def work(span: slice) -> None:
        own = starts[span.start : span.stop + 1]
        fixed_point(own, words, weights, phi, alpha, STEPS, TOLERANCE, expected[span])

    for _ in in_order(work, spans(rows.shape[0], DOCUMENTS), workers):
        pass
    return expected


def mixtures(expected: np.ndarray, alpha: np.ndarray) -> np.ndarray:
    """Return theta, the probability of each topic in each document; each row adds up to 1.

    `expected` has the expected number of tokens of each document in each topic, and `alpha` the parameter of the prior
    of each topic.
    """
    theta = expected + alpha
    return theta / theta.sum(axis=1, keepdims=True)
