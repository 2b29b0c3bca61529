"""Collapsed Gibbs sampling for LDA (Griffiths and Steyvers 2004): a chain over the topics of all tokens.

A chain is a single sequence of draws, so it runs on one thread. The time of a draw grows with the number of topics of
its word, and not with the number of all topics.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from sublex.estimators.blocks import random, spans
from sublex.estimators.topics.counts import pairs, tokens_of

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Progress = Callable[[int, int], None]


class TopicChain:
    """The state of a Gibbs chain: the topic of each token (`z`), and the counts that follow from the topics.

    At first each token has a random topic; all topics are equally likely. `rows` are sparse rows of whole counts with
    ascending columns, as `counts.whole_counts_of` returns them. `alpha`, one value for each topic, may be replaced
    between sweeps.
    """

    def __init__(self, rows: csr_array, alpha: np.ndarray, beta: float, seed: int = 0):
        self.tokens = tokens_of(rows)
        self.alpha, self.beta = np.asarray(alpha, np.float64), float(beta)
        topics, words = len(self.alpha), rows.shape[1]
        generator = random(seed)
        # The chain could also start by drawing the first topics one after another, each given the earlier ones. The
        # topics would then predict other documents worse.
        self.z = generator.integers(0, topics, len(self.tokens.words), np.int32)
        self._state = generator.integers(0, 1 << 64, 1, np.uint64)
        n_wk = pairs(self.tokens.words, self.z, (words, topics))
        self.totals = np.bincount(self.z, minlength=topics).astype(np.float64)
        self._sizes = np.diff(n_wk.indptr).astype(np.int64)
        # A word never has more topics than tokens, so the tables have room for all later states.
        room = np.minimum(np.bincount(self.tokens.words, minlength=words), topics)
        self._places = np.append(0, np.cumsum(room))
        self._topics, self._counts = np.zeros((2, self._places[-1]), np.int32)
        used = self._used()
        self._topics[used], self._counts[used] = n_wk.indices, n_wk.data

    def sweep(self, progress: Callable[[], None] = lambda: None) -> None:
        """Go through the collection once, and draw a topic anew for each token, given the topics of all others.

        `progress` is called several times. To end the work early, it raises an exception.
        """
        from sublex_lda.lda_kernels import sweep

        # The draws do not depend on how the documents are divided into blocks.
        for span in spans(len(self.tokens.starts) - 1):
            progress()
            sweep(
                span.start, span.stop, *self.tokens, self.z, self._places, self._topics, self._counts, self._sizes,
                self.totals, self.alpha, self.beta, self._state,
            )  # fmt: skip

    def document_topics(self) -> csr_array:
        """Return the number of tokens of each document in each topic, as sparse rows of documents by topics."""
        return self.tokens.document_topics(self.z, len(self.alpha))

    def word_topics(self) -> csr_array:
        """Return the number of tokens of each word in each topic, as sparse rows of words by topics."""
        from scipy.sparse import csr_array

        used = self._used()
        starts = np.append(0, np.cumsum(self._sizes))
        shape = (len(self._sizes), len(self.alpha))
        rows = csr_array((self._counts[used].astype(np.float64), self._topics[used], starts), shape=shape)
        rows.sort_indices()
        return rows

    def log_likelihood(self) -> float:
        """Return the logarithm of p(words, topics | alpha, beta).

        The distributions of topics in documents and of words in topics are integrated out.
        """
        from scipy.special import gammaln

        n_dk, n_wk, words = self.document_topics(), self.word_topics(), len(self._sizes)
        documents = gammaln(self.alpha.sum()) - gammaln(n_dk.sum(axis=1) + self.alpha.sum())
        topics = gammaln(words * self.beta) - gammaln(self.totals + words * self.beta)
        # Zeros can be left out: a count of 0 adds gammaln(x) - gammaln(x) = 0.
        in_documents = gammaln(n_dk.data + self.alpha[n_dk.indices]) - gammaln(self.alpha[n_dk.indices])
        in_topics = gammaln(n_wk.data + self.beta) - gammaln(self.beta)
        return float(documents.sum() + in_documents.sum() + topics.sum() + in_topics.sum())

    def _used(self) -> np.ndarray:
        """Return for each entry of the tables `_topics` and `_counts` whether the entry is in use."""
        room = np.diff(self._places)
        within = np.arange(len(self._topics)) - np.repeat(self._places[:-1], room)
        return within < np.repeat(self._sizes, room)
