"""A base class for estimators of topics, with the methods that need only the fitted topics."""

from __future__ import annotations

from typing import Any

import numpy as np

from sublex.errors import InputError
from sublex.estimators.estimator import Estimator
from sublex.estimators.topics.inference import mixtures, settle


class TopicModel(Estimator):
    """An estimator that describes documents by topics, which are distributions over words. Subclasses implement `topic_counts`.

    Attributes
    ----------
    phi_ : array of shape (words, topics), the probability of a word in a topic; each column adds up to 1
    alpha_ : array of shape (topics,), the parameter of the prior of each topic in a document
    word_topics_ : array or sparse rows of shape (words, topics), the number of tokens of each word in each topic:
        the expected number, or the number in the last sweep
    trace_ : list of numbers that show the progress of the fit, such as a likelihood after some sweeps
    """

    phi_ = np.zeros((0, 0))
    alpha_ = np.zeros(0)
    word_topics_: Any = np.zeros((0, 0))
    trace_: list[Any]

    def topic_counts(self, matrix: Any, workers: int = 1) -> np.ndarray:
        """Return for each row of `matrix` the expected number of tokens in each topic, float64.

        The numbers of a row add up to the number of its tokens. They depend only on the row and the seed.
        """
        raise NotImplementedError

    def theta(self, matrix: Any, workers: int = 1) -> np.ndarray:
        """Return for each row the probabilities of the topics (float64), smoothed by alpha. A row without words gets the prior."""
        return mixtures(self.topic_counts(matrix, workers), self.alpha_)

    def settle(self, weights: Any, workers: int = 1) -> np.ndarray:
        """Return the expected weight of each row in each topic, by fixed-point iteration (CVB0). Queries are encoded in this way.

        No random numbers are used. Weights may be fractional; words whose weight is not above 0 are ignored.
        """
        from scipy.sparse import csr_array

        self.check_fitted()
        return settle(csr_array(weights), self.phi_, self.alpha_, workers)

    def check_fitted(self) -> None:
        """Raise `InputError` before `fit`."""
        if not len(self.alpha_):
            raise InputError(f"{type(self).__name__}: not fitted yet; call fit first.")
