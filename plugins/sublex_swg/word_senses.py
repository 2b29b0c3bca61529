"""Senses of words: the topics in whose word graphs a word has neighbours, and which of them a query means.

A sense is a topic. Given the other words o of a query, the score of topic k for a word w is the logarithm of a probability up to a
constant:

    score(k) = log p(k | w) + Σ_o (log p(k | o) + ½ φ_k(w, o))

p(k | w) is the share of the word's documents that have it in topic k, and φ_k the weight of an edge of the topic's graph. Half of φ is
the mean of two coefficients of logistic regressions, so it is the logarithm of an odds ratio.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from sublex.estimators.word_sums import check_model
from sublex_swg.graph import Edges, strongest, truncated

# Added to the documents of a word in a topic, so that no probability is 0.
SMOOTHING = 0.5


class Sense(NamedTuple):
    """A sense of a word: a topic in which it has neighbours. `docs` counts the documents with the word in this topic; `score` says how well
    the other words of a query fit the topic.
    """

    topic: int
    docs: int
    score: float


def chances(senses: Sequence[Sense]) -> list[float]:
    """Return the probability of each of some senses of one word, given by their scores; they add up to 1."""
    scores = np.array([sense.score for sense in senses])
    weights = np.exp(scores - scores.max(initial=-np.inf))
    return (weights / weights.sum()).tolist()


class WordSenses:
    """The word graphs of all topics over one vocabulary.

    Parameters
    ----------
    vocabulary : list of str
    graphs : sparse rows of shape (topics * words, words), φ of one topic below that of another
    df : int array of shape (topics, words), the documents of the topic that have the word in it
    sizes : int array of shape (topics,), the documents of each topic
    """

    def __init__(self, vocabulary: Sequence[str], graphs: csr_array, df: np.ndarray, sizes: np.ndarray):
        self.vocabulary, self.graphs, self.df, self.sizes = list(vocabulary), graphs, df, sizes
        words = len(self.vocabulary)
        check_model(df.ndim == 2 and df.shape[1] == words and sizes.shape == df.shape[:1])
        check_model(graphs.shape == (df.size, words) and hasattr(graphs, "indptr"))
        check_model(bool(graphs.has_sorted_indices))
        self.numbers = {word: number for number, word in enumerate(self.vocabulary)}

    @property
    def topics(self) -> int:
        """The number of topics."""
        return len(self.df)

    def graph(self, topic: int) -> csr_array:
        """Return the graph of a topic, words by words."""
        words = len(self.vocabulary)
        return csr_array(self.graphs[topic * words : (topic + 1) * words])

    def neighbours(self, word: int, topic: int, number: int | None = None) -> list[tuple[int, float]]:
        """Return the words with which a word has edges of positive weight in a topic, and the weights, largest first."""
        words, weights = truncated(self.graphs, topic * len(self.vocabulary) + word, number)
        positive = weights > 0
        return list(zip(words[positive].tolist(), weights[positive].tolist(), strict=True))

    def senses(self, word: int, others: Iterable[int] = ()) -> list[Sense]:
        """Return the senses of a word, best score first, of equals the lowest topic."""
        scores = self._logs(word)
        for other in others:
            if other != word and self.df[:, other].any():
                scores = scores + self._logs(other) + self._edges(word, other) / 2
        found = [
            Sense(topic, int(self.df[topic, word]), float(scores[topic]))
            for topic in range(self.topics)
            if self.neighbours(word, topic, 1)
        ]
        return sorted(found, key=lambda sense: (-sense.score, sense.topic))

    def top_words(self, topic: int, number: int = 3) -> list[int]:
        """Return the words that most documents of a topic have in it, of equals the lowest first."""
        return np.argsort(-self.df[topic], kind="stable")[:number].tolist()

    def strongest(self, topic: int, number: int | None = None) -> Edges:
        """Return the edges of a topic with the largest weights; without `number` all edges."""
        return strongest(self.graph(topic), number)

    def _edges(self, word: int, other: int) -> np.ndarray:
        """Return the weight of the edge between two words in every topic, 0 where there is none."""
        starts, words, weights = self.graphs.indptr, self.graphs.indices, self.graphs.data
        edges = np.zeros(self.topics)
        for topic in range(self.topics):
            row = topic * len(self.vocabulary) + word
            place = starts[row] + np.searchsorted(words[starts[row] : starts[row + 1]], other)
            if place < starts[row + 1] and words[place] == other:
                edges[topic] = weights[place]
        return edges

    def _logs(self, word: int) -> np.ndarray:
        """Return log p(k | word) for every topic."""
        counts = self.df[:, word] + SMOOTHING
        return np.log(counts / counts.sum())
