"""Senses of words. A sense is a topic in whose word graph the word has neighbours. The other words of a query decide
which sense is meant.

Given the other words o of a query, each topic k gets a score for a word w. It is the logarithm of a probability, up to
a constant:

    score(k) = log p(k | w) + Σ_o (log p(k | o) + ½ φ_k(w, o))

p(k | w) is the share of the word's documents in which it has topic k. φ_k is the weight of an edge in the topic's
graph. Half of φ is the mean of two coefficients of logistic regressions, so it is the logarithm of an odds ratio.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from sublex_swg.graph import Edges, strongest, truncated

# This number is added to the number of documents of a word in a topic, so that no probability is 0.
SMOOTHING = 0.5


class Sense(NamedTuple):
    """A sense of a word: a topic in which the word has neighbours.

    `docs` is the number of documents with the word in this topic. `score` says how well the other words of a query fit
    the topic.
    """

    topic: int
    docs: int
    score: float


def chances(senses: Sequence[Sense]) -> list[float]:
    """Return the probability of each of the `senses` of one word, computed from the scores. The probabilities add up to
    1.
    """
    scores = np.array([sense.score for sense in senses])
    weights = np.exp(scores - scores.max(initial=-np.inf))
    return (weights / weights.sum()).tolist()


class WordSenses:
    """The word graphs of all topics over one vocabulary.

    Parameters
    ----------
    vocabulary : list of str
    graphs : sparse rows of shape (topics * words, words), the matrices of edge weights of all topics, one below another
    df : int array of shape (topics, words), the number of documents in which the word has the topic
    sizes : int array of shape (topics,), the number of documents of each topic
    says : array of shape (words,), how much each word says about a document; by default 1
    follows : sparse rows of words by words, how often the second word follows the first in the texts
    near : sparse rows of the shape of `graphs`, other weights by which neighbours are chosen; by default the edges
    """

    def __init__(
        self,
        vocabulary: Sequence[str],
        graphs: csr_array,
        df: np.ndarray,
        sizes: np.ndarray,
        says: np.ndarray | None = None,
        follows: csr_array | None = None,
        near: csr_array | None = None,
    ):
        self.vocabulary, self.graphs, self.df, self.sizes = list(vocabulary), graphs, df, sizes
        self.says = np.ones(len(self.vocabulary)) if says is None else says
        self.follows = csr_array((len(self.vocabulary),) * 2) if follows is None else follows
        self.near = graphs if near is None else near
        self.numbers = {word: number for number, word in enumerate(self.vocabulary)}

    @property
    def topics(self) -> int:
        """The number of topics."""
        return len(self.df)

    def graph(self, topic: int) -> csr_array:
        """Return the graph of a topic, a matrix of words by words."""
        words = len(self.vocabulary)
        return csr_array(self.graphs[topic * words : (topic + 1) * words])

    def neighbours(self, word: int, topic: int, number: int | None = None) -> list[tuple[int, float]]:
        """Return the neighbours of a word in a topic, with the weights in `near`, the largest first.

        At most `number` neighbours are returned. Neighbours whose weight is not positive are left out.
        """
        words, weights = truncated(self.near, topic * len(self.vocabulary) + word, number)
        positive = weights > 0
        return list(zip(words[positive].tolist(), weights[positive].tolist(), strict=True))

    def senses(self, word: int, others: Iterable[int] = ()) -> list[Sense]:
        """Return the senses of a word, the best score first. Senses of equal score are ordered by topic.

        `others` are the other words of a query, which change the scores.
        """
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
        """Return the first `number` words of a topic, by the number of documents in which they have the topic, times
        how much they say.

        Of words with equal products, the lowest number comes first.
        """
        return np.argsort(-self.df[topic] * self.says, kind="stable")[:number].tolist()

    def strongest(self, topic: int, number: int | None = None) -> Edges:
        """Return the `number` edges of a topic with the largest weights, without edges of words that say nothing about
        documents.

        Without `number`, all edges of the topic are returned, also those of such words.
        """
        edges = strongest(self.graph(topic))
        if number is None:
            return edges
        kept = np.flatnonzero((self.says[edges.first] > 0) & (self.says[edges.second] > 0))[:number]
        return Edges(*(part[kept] for part in edges))

    def in_order(self, first: int, second: int) -> tuple[int, int]:
        """Return two words in the order in which they follow each other in the texts, or as they are given."""
        return (second, first) if self.follows[second, first] else (first, second)

    def _edges(self, word: int, other: int) -> np.ndarray:
        """Return the weight of the edge between two words in every topic; 0 in topics without this edge."""
        starts, words, weights = self.graphs.indptr, self.graphs.indices, self.graphs.data
        edges = np.zeros(self.topics)
        for topic in range(self.topics):
            row = topic * len(self.vocabulary) + word
            place = starts[row] + np.searchsorted(words[starts[row] : starts[row + 1]], other)
            if place < starts[row + 1] and words[place] == other:
                edges[topic] = weights[place]
        return edges

    def _logs(self, word: int) -> np.ndarray:
        """Return for every topic the logarithm of its probability, given the word.

        The probability follows from the numbers of documents in which the word has each topic.
        """
        counts = self.df[:, word] + SMOOTHING
        return np.log(counts / counts.sum())
