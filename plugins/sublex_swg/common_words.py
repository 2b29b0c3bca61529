"""Give topics to words that a model of topics leaves out because too many documents contain them.

The words of the model and the topics of the documents stay as they are. A left-out word only needs the probability of
each topic given the word. It is learned by expectation maximisation from the documents that contain the word.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csc_array, csr_array

from sublex.contracts.fitted import Corpus

# The number of steps of expectation maximisation, and the count that is added to each topic of a word.
STEPS, SMOOTHING = 20, 0.5


def common_words(corpus: Corpus, vocabulary: Sequence[str]) -> list[str]:
    """Return the terms that are in more documents than any term of `vocabulary`, in the order of the corpus."""
    numbers = corpus.recode(vocabulary)
    df = np.zeros(len(numbers), np.int64)
    for block in corpus.blocks():
        df += np.bincount(block.indices, minlength=len(df))
    most = df[numbers >= 0].max(initial=0)
    return [corpus.vocabulary[k] for k in np.flatnonzero(df > most).tolist()]


def topics_of_common_words(counts: csr_array, theta: np.ndarray, assigned: csr_array) -> csr_array:
    """Return one topic for each word of each document, as sparse rows that hold the number of the topic (int32).

    Topic 0 is stored as an explicit 0, as in the result of `assign` of a model of topics.

    Parameters
    ----------
    counts : sparse rows of documents by common words
    theta : array of shape (documents, topics), the share of each topic in each document
    assigned : sparse rows of documents by the words of the model, with the topic of each word
        They say how many words each topic has.
    """
    topics = theta.shape[1]
    sizes = np.bincount(assigned.data, minlength=topics) + 1.0
    columns = csc_array(counts)
    columns.sort_indices()
    chosen = np.empty(columns.nnz, np.int32)
    for word in range(columns.shape[1]):
        part = slice(columns.indptr[word], columns.indptr[word + 1])
        shares, weights = theta[columns.indices[part]], columns.data[part].astype(np.float64)
        phi = np.ones(topics)
        for _ in range(STEPS):
            likely = shares * phi
            sums = (likely * (weights / likely.sum(axis=1))[:, None]).sum(axis=0)
            phi = (sums + SMOOTHING) / sizes
        chosen[part] = (shares * phi).argmax(axis=1)
    found = csr_array(csc_array((chosen, columns.indices, columns.indptr), shape=columns.shape))
    found.sort_indices()
    return found
