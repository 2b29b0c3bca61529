"""LDA as an estimator with scikit-learn's interface: fit it to counts, then compute the topics of documents."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from sublex.errors import InputError
from sublex.estimators.sparse_rows import row_numbers
from sublex.estimators.topics.counts import counts_of, whole_counts_of
from sublex.estimators.topics.inference import mixtures, sample
from sublex.estimators.topics.model import TopicModel
from sublex_lda import variational
from sublex_lda.gibbs import TopicChain
from sublex_lda.priors import alpha_of_counts

if TYPE_CHECKING:
    from scipy.sparse import csr_array

METHODS = ("gibbs", "variational")
LEARN_ALPHA = ("no", "symmetric", "asymmetric")
# Three numbers: the Gibbs sweeps between two updates of alpha, the sweeps between two values of the trace, and the
# steps of Minka's fixed point in an update.
EVERY, ALPHA_STEPS = 10, 5
Progress = Callable[[int, int], None]


class LDA(TopicModel):
    """Latent Dirichlet allocation (Blei, Ng and Jordan 2003): documents are mixtures of topics, and topics are
    distributions over words.

    Parameters
    ----------
    k : int
        The number of topics.
    method : "gibbs" or "variational"
        Collapsed Gibbs sampling (Griffiths and Steyvers 2004), or batch variational Bayes.
    iterations : int
        The number of sweeps of Gibbs sampling, or the largest number of iterations of variational Bayes. Variational
        Bayes ends earlier when the bound hardly rises.
    alpha : float
        The parameter of the prior of documents; a small value gives documents few topics.
    beta : float
        The parameter of the prior of topics; a small value gives topics few words.
    learn_alpha : "no", "symmetric" or "asymmetric"
        Whether alpha is learned while fitting: "symmetric" learns one value for all topics, "asymmetric" one value for
        each topic.
    seed : int
        The seed of the random start. In `topic_counts` and `assign`, the seed and a hash of a document's row determine
        the document's chain.

    Attributes
    ----------
    word_topics_ : array or sparse rows of shape (words, k), the number of tokens of each word in each topic: in the
        last sweep of Gibbs sampling, or the expected number by variational Bayes
    alpha_ : array of shape (k,), the parameter of the prior of documents for each topic
    phi_ : array of shape (words, k), the probability of a word in a topic; each column adds up to 1
    chain_ : `gibbs.TopicChain` that holds the topic of each token of the fitted documents, or None
    trace_ : list of float, log p(words, topics) at every tenth sweep of Gibbs sampling, or the bound after each
        iteration of variational Bayes
    """

    def __init__(
        self,
        k: int = 100,
        method: str = "gibbs",
        iterations: int = 500,
        alpha: float = 0.1,
        beta: float = 0.01,
        learn_alpha: str = "no",
        seed: int = 0,
    ):
        self.k, self.method, self.iterations = k, method, iterations
        self.alpha, self.beta, self.learn_alpha, self.seed = alpha, beta, learn_alpha, seed
        self.trace_: list[float] = []
        self.chain_: TopicChain | None = None
        self._factors = np.zeros((0, 0))

    def fit(self, matrix: Any, workers: int = 1, progress: Progress = lambda done, total: None) -> LDA:
        """Fit to counts of documents by words. The result is the same, to the byte, for any number of workers.

        `progress` is called with the number of sweeps done and the number of all sweeps. It may raise an exception to
        end the fit. A Gibbs chain uses one thread.
        """
        self._check()
        rows = whole_counts_of(matrix) if self.method == "gibbs" else counts_of(matrix)
        if not rows.nnz:
            raise InputError("LDA: no words are left to learn topics from; index more documents, or lower min_df.")
        alpha = np.full(self.k, float(self.alpha))
        if self.method == "gibbs":
            return self._sample(TopicChain(rows, alpha, self.beta, self.seed), progress)
        found = variational.fit(
            rows, alpha, self.beta, iterations=self.iterations, seed=self.seed, learn_alpha=self.learn_alpha,
            workers=workers, progress=progress,
        )  # fmt: skip
        self.trace_ = found.bounds
        return self.restore(found.weights - self.beta, found.alpha)

    def restore(self, word_topics: Any, alpha: np.ndarray) -> LDA:
        """Set the results of a fit, and return the estimator.

        `word_topics` is the number of tokens of each word in each topic, as an array or sparse rows. `alpha` has a
        value for each topic.
        """
        self.word_topics_, self.alpha_ = word_topics, np.array(alpha, np.float64)
        dense = np.asarray(word_topics.todense() if hasattr(word_topics, "todense") else word_topics)
        weights = np.ascontiguousarray(dense, np.float64) + self.beta
        self.phi_ = weights / weights.sum(axis=0)
        if self.method == "variational":
            self._factors = np.exp(variational.mean_logs(weights))
        return self

    def topic_counts(self, matrix: Any, workers: int = 1) -> np.ndarray:
        """Return the expected number of tokens of each row in each topic, as `TopicModel` describes."""
        return self._infer(matrix, workers)[1]

    def assign(self, matrix: Any, workers: int = 1) -> csr_array:
        """Return one topic for each word of each row, as sparse rows that hold the number of the topic (int32) where
        `matrix` has a count.

        With Gibbs sampling, the topic is the one that the word's tokens had most often. With variational Bayes, it is
        the most probable topic. If topics are equal, the one with the lowest number is taken. Topic 0 is stored as an
        explicit 0, so read `data` and `indices` and do not eliminate zeros.
        """
        return self.theta_and_topics(matrix, workers)[1]

    def theta_and_topics(self, matrix: Any, workers: int = 1) -> tuple[np.ndarray, csr_array]:
        """Return what `theta` and `assign` return. Both are read from one chain, in half the time of two calls."""
        from scipy.sparse import csr_array

        rows, counts, topics = self._infer(matrix, workers)
        return mixtures(counts, self.alpha_), csr_array((topics, rows.indices, rows.indptr), shape=rows.shape)

    def _infer(self, matrix: Any, workers: int) -> tuple[csr_array, np.ndarray, np.ndarray]:
        """Return the checked rows, the expected number of tokens of each row in each topic, and the topic of each
        entry.
        """
        self.check_fitted()
        if self.method == "gibbs":
            rows = whole_counts_of(matrix, len(self.phi_))
            return (rows, *sample(rows, self.phi_, self.alpha_, self.seed, workers))
        rows = counts_of(matrix, len(self.phi_))
        found = variational.infer(rows, self._factors, self.alpha_, workers=workers)
        document = row_numbers(rows)
        topics = np.empty(rows.nnz, np.int32)
        for begin in range(0, rows.nnz, 1 << 16):
            part = slice(begin, begin + (1 << 16))
            topics[part] = (found.theta[document[part]] * self._factors[rows.indices[part]]).argmax(axis=1)
        return rows, found.gamma - self.alpha_, topics

    def _sample(self, chain: TopicChain, progress: Progress) -> LDA:
        """Run a Gibbs chain to its end and keep the topics of its last sweep."""
        self.trace_ = []
        for done in range(self.iterations):
            chain.sweep(lambda done=done: progress(done, self.iterations))  # type: ignore[misc]
            # The topics of the first sweeps are too vague to learn alpha from them.
            if self.learn_alpha != "no" and (done + 1) % EVERY == 0 and done >= self.iterations // 4:
                chain.alpha = alpha_of_counts(
                    chain.document_topics(), chain.alpha, self.learn_alpha == "symmetric", ALPHA_STEPS
                )
            if (done + 1) % EVERY == 0 or done + 1 == self.iterations:
                self.trace_.append(chain.log_likelihood())
        self.chain_ = chain
        return self.restore(chain.word_topics(), chain.alpha)

    def _check(self) -> None:
        """Raise `InputError` for invalid parameters."""
        if self.k < 1 or self.iterations < 1:
            raise InputError(f"LDA: k={self.k} and iterations={self.iterations} must be at least 1.")
        if not (0 < self.alpha < np.inf and 0 < self.beta < np.inf):
            raise InputError(f"LDA: alpha={self.alpha:g} and beta={self.beta:g} must be above 0.")
        for name, value, choices in (("method", self.method, METHODS), ("learn_alpha", self.learn_alpha, LEARN_ALPHA)):
            if value not in choices:
                raise InputError(f"LDA: {name}={value} is none of {', '.join(choices)}.")
