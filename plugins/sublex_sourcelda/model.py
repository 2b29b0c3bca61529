"""Source-LDA as an estimator: fit it to two matrices of counts, documents by words and sources by words."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from sublex.errors import InputError
from sublex.estimators.sparse_rows import row_numbers
from sublex.estimators.topics.counts import Tokens, tokens_of, whole_counts_of
from sublex.estimators.topics.inference import sample
from sublex.estimators.topics.model import TopicModel
from sublex_sourcelda.gibbs import SourceChain
from sublex_sourcelda.priors import EPSILON, Priors, concept_priors, fixed_priors, points_of, source_priors
from sublex_sourcelda.smoothing import smoothings

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MODELS = ("full", "mixture", "bijective", "eda", "ctm")
# Surplus topics are dropped in this number of steps, spread over the sweeps, until this share of the sweeps is done.
STEPS, REDUCED = 10, 0.75
# The smallest number of sweeps in which topics can be dropped.
FEWEST = 10
Progress = Callable[[int, int], None]


class SourceLDA(TopicModel):
    """Source-LDA (Wood, Tan, Wang and Arnold 2017): LDA in which some topics expect the words of labelled texts.

    Parameters
    ----------
    k : int
        The number of topics without a label at the start. In the models "full", "eda" and "ctm", it is also the number
        of all topics, with and without a label, that remain in the end.
    model : "full", "mixture", "bijective", "eda" or "ctm"
        "full" begins with a topic for each source and k others, drops topics until k remain, and integrates lambda out.
        "mixture" has a topic for each source and k others, with lambda 1. "bijective" has a topic for each source and
        no others. "eda" and "ctm" are other authors' models, for comparison: in "eda" the distribution of words in a
        labelled topic is fixed, in "ctm" only the set of its words is known.
    iterations : int
        The number of sweeps of Gibbs sampling.
    mu, sigma : float
        The mean and the standard deviation of lambda. With lambda 1, a topic stays close to its source; with lambda 0,
        the topic is free. If sigma is 0, lambda is mu.
    points : int
        The number of values of lambda at which the integral is computed.
    smooth : bool
        Whether lambda is mapped so that equal steps of lambda change the divergence of topics from their source
        equally. Lambda is then from 0 to 1.
    low, high : float
        The bounds of lambda.
    alphas : float
        The parameter of the prior of documents, summed over the topics: each of T topics has the parameter alphas / T.
    betas : float
        The parameter of the prior of topics without a label, summed over the words.
    epsilon : float
        A number that is added to the count of every word in every source.
    informed : bool
        Whether the first topic of each token is drawn by the words of the sources. If not, all topics are equally
        likely. With an informed start, topics stay closer to the sources that give them their names.
    seed : int
        The seed of the random start. In `topic_counts`, the seed and a hash of a document's row determine the
        document's chain.

    Attributes
    ----------
    topics_ : array with the source of each remaining topic: the number of the source, or -1 for a topic without a label
    alpha_ : array of shape (topics,)
    phi_ : array of shape (words, topics), the probability of a word in a topic; each column adds up to 1
    word_topics_ : array or sparse rows of shape (words, topics), the tokens of each word in each topic in the last sweep
    chain_ : `gibbs.SourceChain` that holds the topic of each token, or None
    trace_ : list of the numbers of topics after each sweep
    """

    def __init__(
        self,
        k: int = 100,
        model: str = "full",
        iterations: int = 500,
        mu: float = 0.7,
        sigma: float = 0.3,
        points: int = 25,
        smooth: bool = True,
        low: float = 0.0,
        high: float = np.inf,
        alphas: float = 10.0,
        betas: float = 200.0,
        epsilon: float = EPSILON,
        informed: bool = False,
        seed: int = 0,
    ):
        self.k, self.model, self.iterations = k, model, iterations
        self.mu, self.sigma, self.points, self.smooth, self.low, self.high = mu, sigma, points, smooth, low, high
        self.alphas, self.betas, self.epsilon = alphas, betas, epsilon
        self.informed, self.seed = informed, seed
        self.topics_ = np.zeros(0, np.int64)
        self.chain_: SourceChain | None = None
        self.trace_: list[int] = []

    def fit(
        self, matrix: Any, sources: Any, workers: int = 1, progress: Progress = lambda done, total: None
    ) -> SourceLDA:
        """Fit to whole counts: `matrix` of documents by words, and `sources` of sources by the same words. Return the
        estimator.

        The result is the same, to the byte, for any number of workers. Only smoothing uses more than one worker.
        """
        return self.fit_tokens(tokens_of(whole_counts_of(matrix)), sources, workers, progress)

    def fit_tokens(
        self, tokens: Tokens, sources: Any, workers: int = 1, progress: Progress = lambda done, total: None
    ) -> SourceLDA:
        """Fit to tokens, which may be in any order within a document. Return the estimator.

        `sources` are counts of sources by words. Afterwards `chain_.z` has the topic of each token.
        """
        counts = self._check(tokens, sources)
        chain = self.start(tokens, counts, workers, lambda: progress(0, self.iterations))
        self.trace_ = []
        step = max(1, self.iterations // STEPS)
        for done in range(self.iterations):
            if self.reduces and done and done % step == 0:
                left = 1 - (done - step) / (REDUCED * self.iterations - step)
                wanted = self.k + max(0, int(counts.shape[0] * left))
                chain.hide(max(0, len(chain.ids) - wanted))
            chain.sweep(lambda done=done: progress(done, self.iterations))  # type: ignore[misc]
            self.trace_.append(len(chain.ids))
        self.chain_ = chain
        unlabelled = 0 if self.model == "bijective" else self.k
        topics = np.where(chain.ids < unlabelled, -1, chain.ids - unlabelled)
        self.topics_, phi = topics, chain.phi()
        return self.restore(phi / phi.sum(axis=0), np.full(len(topics), chain.alpha), chain.n_w)

    def start(
        self, tokens: Tokens, sources: csr_array, workers: int = 1, progress: Callable[[], None] = lambda: None
    ) -> SourceChain:
        """Return a chain over `tokens`, before its first sweep. `sources` are counts of sources by words."""
        words = sources.shape[1]
        priors = self.priors(sources, workers, progress)
        least = self.k if self.reduces else len(priors.kinds)
        return SourceChain(tokens, words, priors, self.betas / words, self.alphas, least, self.seed, self.informed)

    @property
    def reduces(self) -> bool:
        """Whether topics are dropped until k topics remain."""
        return self.model not in ("bijective", "mixture")

    def priors(self, sources: csr_array, workers: int = 1, progress: Callable[[], None] = lambda: None) -> Priors:
        """Return the priors of all topics: first of the topics without a label, then of a topic for each row of
        `sources`.

        `sources` are counts of sources by words.
        """
        if self.model == "eda":
            return fixed_priors(sources, self.k)
        if self.model == "ctm":
            return concept_priors(sources, self.k)
        if self.model == "mixture":
            return source_priors(sources, self.k, points_of(1.0, 0.0, 1), self.epsilon)
        high = min(1.0, self.high) if self.smooth else self.high
        points = points_of(self.mu, self.sigma, self.points, self.low, high)
        smooth = smoothings(sources, self.seed, self.epsilon, workers, progress) if self.smooth else ()
        return source_priors(sources, 0 if self.model == "bijective" else self.k, points, self.epsilon, smooth)

    def restore(self, phi: np.ndarray, alpha: np.ndarray, word_topics: Any) -> SourceLDA:
        """Set the results of a fit: the probabilities of words in topics, the alpha of each topic, and the number of
        tokens of each word in each topic.
        """
        self.phi_, self.alpha_ = np.array(phi, np.float64, order="C"), np.array(alpha, np.float64)
        self.word_topics_ = word_topics
        return self

    def likeness(self, sources: Any) -> np.ndarray:
        """Return for each topic how similar it is to its source: the sum over words of √(p q).

        p is the probability of the word in the topic, and q its share of the counts of the source. The result is 1 if
        both distributions are equal. It is 0 for a topic without a label, or if topic and source have no word in
        common.
        """
        from scipy.sparse import csr_array

        counts = csr_array(sources).astype(np.float64)
        found = np.zeros(len(self.topics_))
        for topic in np.flatnonzero(self.topics_ >= 0).tolist():
            row = counts[[self.topics_[topic]]]
            found[topic] = np.sqrt(self.phi_[row.indices, topic] * (row.data / row.data.sum())).sum()
        return found

    def topic_counts(self, matrix: Any, workers: int = 1) -> np.ndarray:
        """Return the expected number of tokens of each row in each topic, as `TopicModel` describes."""
        self.check_fitted()
        return sample(whole_counts_of(matrix, len(self.phi_)), self.phi_, self.alpha_, self.seed, workers)[0]

    def _check(self, tokens: Tokens, sources: Any) -> csr_array:
        """Return the sources as sparse rows. Raise `InputError` for invalid parameters or counts."""
        from scipy.sparse import csr_array

        if self.model not in MODELS:
            raise InputError(f"Source-LDA: model={self.model} is none of {', '.join(MODELS)}.")
        fewest = FEWEST if self.reduces else 1
        if self.k < 1 or self.points < 1 or self.iterations < fewest:
            raise InputError(f"Source-LDA: k and points must be at least 1, and iterations at least {fewest}.")
        if not (self.sigma >= 0 and self.epsilon > 0 and self.alphas > 0 and self.betas > 0):
            raise InputError("Source-LDA: epsilon, alphas and betas must be above 0, and sigma not below 0.")
        high = min(1.0, self.high) if self.smooth else self.high
        if not max(self.low, self.mu - 2 * self.sigma) <= min(high, self.mu + 2 * self.sigma):
            raise InputError(
                f"Source-LDA: no lambda within two sigma of mu={self.mu:g} is between {self.low:g} and {high:g}."
            )
        counts = csr_array(sources)
        if counts.nnz and (counts.data.min() < 0 or not np.isfinite(counts.data).all()):
            raise InputError("Source-LDA: the counts of a source must be finite and not below 0.")
        if not counts.shape[0] or (np.bincount(row_numbers(counts), counts.data, counts.shape[0]) == 0).any():
            raise InputError("Source-LDA: every source needs a word of the documents; leave out those that have none.")
        topics = counts.shape[0] + (0 if self.model == "bijective" else self.k)
        if topics > counts.shape[1]:
            raise InputError(
                f"Source-LDA: {topics:,} topics are more than the {counts.shape[1]:,} words; lower k, or leave out some sources."
            )
        if len(tokens.starts) < 3:
            raise InputError("Source-LDA: topics are learned from several documents; one document shows none.")
        return counts
