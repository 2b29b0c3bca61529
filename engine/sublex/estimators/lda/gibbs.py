"""Collapsed Gibbs sampling for LDA (Griffiths and Steyvers 2004): a chain over the topics of all tokens.

One chain is one sequence of draws, so it runs on one thread. The time of a draw grows with the number of topics that a word has, not
with the number of all topics. A token's first topic is drawn given the tokens before it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from sublex.estimators.blocks import random, spans
from sublex.estimators.lda.counts import tokens_of

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Progress = Callable[[int, int], None]


class Chain:
    """The state of a Gibbs chain: the topic of each token (`z`, -1 before the first sweep), and the counts that follow from it.

    `rows` are sparse rows of whole counts with ascending columns, as `counts.whole_counts_of` returns them. `alpha`, one value for each
    topic, may be replaced between sweeps.
    """

    def __init__(self, rows: csr_array, alpha: np.ndarray, beta: float, seed: int = 0):
        self.tokens = tokens_of(rows)
        self.alpha, self.beta = np.asarray(alpha, np.float64), float(beta)
        topics, words = len(self.alpha), rows.shape[1]
        self.z = np.full(len(self.tokens.words), -1, np.int32)
        # A word has no more topics than tokens.
        room = np.minimum(np.bincount(self.tokens.words, minlength=words), topics)
        self._places = np.append(0, np.cumsum(room))
        self._topics = np.zeros(self._places[-1], np.int32)
        self._counts = np.zeros(self._places[-1], np.int32)
        self._sizes = np.zeros(words, np.int64)
        self.totals = np.zeros(topics)
        self._state = random(seed).integers(0, 1 << 64, 1, np.uint64)

    def sweep(self, progress: Callable[[], None] = lambda: None) -> None:
        """Draw a new topic for every token, in order; `progress` is called now and then and may raise to end the work."""
        from sublex.estimators.lda.kernels import sweep

        # The draws do not depend on how the documents are cut into blocks.
        for span in spans(len(self.tokens.starts) - 1):
            progress()
            sweep(
                span.start, span.stop, *self.tokens, self.z, self._places, self._topics, self._counts, self._sizes,
                self.totals, self.alpha, self.beta, self._state,
            )  # fmt: skip

    def document_topics(self) -> csr_array:
        """Return n_dk, the number of tokens of each document in each topic, as sparse rows."""
        from scipy.sparse import coo_array, csr_array

        starts = self.tokens.starts
        document = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        known = self.z >= 0
        shape = (len(starts) - 1, len(self.alpha))
        entries = (np.ones(int(known.sum())), (document[known], self.z[known]))
        return csr_array(coo_array(entries, shape=shape))

    def word_topics(self) -> csr_array:
        """Return n_wk, the number of tokens of each word in each topic, as sparse rows."""
        from scipy.sparse import csr_array

        used = np.arange(len(self._topics)) - np.repeat(self._places[:-1], np.diff(self._places))
        used = used < np.repeat(self._sizes, np.diff(self._places))
        starts = np.append(0, np.cumsum(self._sizes))
        shape = (len(self._sizes), len(self.alpha))
        rows = csr_array((self._counts[used].astype(np.float64), self._topics[used], starts), shape=shape)
        rows.sort_indices()
        return rows

    def log_likelihood(self) -> float:
        """Return the logarithm of p(words, topics | alpha, beta), in which theta and phi are integrated out."""
        from scipy.special import gammaln

        n_dk, n_wk, words = self.document_topics(), self.word_topics(), len(self._sizes)
        documents = gammaln(self.alpha.sum()) - gammaln(n_dk.sum(axis=1) + self.alpha.sum())
        topics = gammaln(words * self.beta) - gammaln(self.totals + words * self.beta)
        # A count of 0 adds gammaln(x) - gammaln(x) = 0.
        in_documents = gammaln(n_dk.data + self.alpha[n_dk.indices]) - gammaln(self.alpha[n_dk.indices])
        in_topics = gammaln(n_wk.data + self.beta) - gammaln(self.beta)
        return float(documents.sum() + in_documents.sum() + topics.sum() + in_topics.sum())
