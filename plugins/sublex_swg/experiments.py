"""The experiments of the paper on sparse word graphs: the edges of two topics of the AP corpus.

The corpus is that of the paper, with its vocabulary, in the format of lda-c. Ten topics come from variational EM as in lda-c.
The topic that the paper calls by a name is the one in which most of the named edges have both words in two documents or
more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from sublex.contracts.experiments import ExperimentWork
from sublex.errors import InputError
from sublex.tools.plain_files import read_text
from sublex_swg.graph import strongest, truncated, word_graph
from sublex_swg.lda_c import LdaTopics, variational_em
from sublex_swg.topic_documents import topic_documents

TOPICS = 10
# Edges that count as the strongest ones, and the neighbours of a word that a figure shows.
TOP, NEIGHBOURS = 50, 2
# Bytes of the counts and of the vocabulary, at most.
MOST_BYTES = 1 << 26


class WordCounts(NamedTuple):
    """Counts of documents by words, and the words."""

    counts: csr_array
    words: list[str]


def read_corpus(counts: str, vocabulary: str) -> WordCounts:
    """Return a corpus in the format of lda-c: a line for each document with word:count, and a line for each word."""
    words = read_text(vocabulary, MOST_BYTES, "a vocabulary").split()
    rows, columns, values = [], [], []
    lines = read_text(counts, MOST_BYTES, "counts of words").splitlines()
    for number, line in enumerate(lines):
        for entry in line.split()[1:]:
            column, _, value = entry.partition(":")
            if not (column.isdecimal() and value.isdecimal() and int(column) < len(words)):
                raise InputError(
                    f"{counts}, line {number + 1}: {entry[:40]!r} is no word:count of a vocabulary of {len(words):,} words."
                )
            rows.append(number)
            columns.append(int(column))
            values.append(float(value))
    return WordCounts(csr_array((values, (rows, columns)), shape=(len(lines), len(words))), words)


class TopicEdges:
    """The edges of topics that have names in the paper: how many there are, and where the edges that the paper names stand.

    `strongest` are texts such as "War: united-states iraq-kuwait": a topic and edges that should be among its 50 strongest.
    `neighbours` are topics with pairs of words, of which one should be among the two strongest neighbours of the other, as
    a figure of truncated neighbourhoods shows them. The cases are the topics. The measures are the numbers of edges and of
    documents, and the shares of the strongest edges among the 50, of neighbours with an edge, and of neighbours shown.
    """

    measures = ("edges", "documents", "among the 50", "neighbours", "shown")
    needs_index = False

    def __init__(
        self, *, counts: str, vocabulary: str, strongest: Sequence[Any], neighbours: Sequence[Any], rho: float, seeds: int,
        iterations: int,
    ):  # fmt: skip
        self.counts, self.vocabulary, self.rho, self.iterations = counts, vocabulary, rho, iterations
        self.strongest, self.neighbours = _pairs("strongest", strongest), _pairs("neighbours", neighbours)
        if list(self.strongest) != list(self.neighbours):
            raise InputError("strongest and neighbours name different topics; give both for each topic, in one order.")
        self.cases = tuple(self.strongest)
        self.units = tuple(f"seed {seed}" for seed in range(seeds))

    def measure(self, unit: str, work: ExperimentWork) -> Mapping[str, Sequence[float]]:
        """Return the measures of each topic, for topics from a random start."""
        corpus = read_corpus(self.counts, self.vocabulary)
        number = {word: place for place, word in enumerate(corpus.words)}
        for word in (
            word for pairs in (*self.strongest.values(), *self.neighbours.values()) for pair in pairs for word in pair
        ):
            if word not in number:
                raise InputError(f"{word} is no word of {self.vocabulary}; name edges between words of the vocabulary.")
        whole = len(self.cases) + 1
        topics = variational_em(
            corpus.counts, TOPICS, self.units.index(unit), self.iterations,
            progress=lambda done, total: work.progress(done, total * whole, "steps"),
        )  # fmt: skip
        found = {}
        for place, name in enumerate(self.cases, 1):
            wanted, near = (
                [(number[a], number[b]) for a, b in pairs[name]] for pairs in (self.strongest, self.neighbours)
            )
            binary = binary_documents(corpus, topics, topic_with_most(corpus, topics, wanted))
            graph = word_graph(binary, self.rho, workers=work.workers, progress=_from(work.progress, place, whole))
            edges = strongest(graph)
            best = {
                frozenset(pair) for pair in zip(edges.first[:TOP].tolist(), edges.second[:TOP].tolist(), strict=True)
            }
            found[name] = [
                float(len(edges.first)),
                float(binary.shape[0]),
                float(np.mean([frozenset(pair) in best for pair in wanted])),
                float(np.mean([graph[a, b] > 0 for a, b in near])),
                float(np.mean([_is_shown(graph, a, b) for a, b in near])),
            ]
        return found


def _pairs(what: str, given: Sequence[Any]) -> dict[str, list[tuple[str, str]]]:
    """Return the pairs of words of each topic."""
    found: dict[str, list[tuple[str, str]]] = {}
    for text in map(str, given):
        name, _, edges = text.partition(":")
        pairs = [edge.split("-") for edge in edges.split()]
        if not name.strip() or not pairs or any(len(pair) != 2 or "" in pair for pair in pairs):
            raise InputError(f"{what} has {text!r}; write a topic and edges, such as 'War: united-states iraq-kuwait'.")
        found[name.strip()] = [(first, second) for first, second in pairs]
    return found


def _is_shown(graph: csr_array, first: int, second: int) -> bool:
    """Return whether two words have an edge of positive weight that is among the two strongest of one of them."""
    near = second in truncated(graph, first, NEIGHBOURS)[0] or first in truncated(graph, second, NEIGHBOURS)[0]
    return bool(near and graph[first, second] > 0)


def _from(progress: Callable[..., None], place: int, whole: int) -> Callable[[int, int], None]:
    """Return a function that reports the progress of one of several parts of equal size."""
    return lambda done, total: progress(place * total + done, whole * total, "steps")


def binary_documents(corpus: WordCounts, topics: LdaTopics, topic: int, min_df: int = 1) -> csr_array:
    """Return the binary documents of a topic, as in the paper."""
    return topic_documents(corpus.counts, topics.assignments, topics.theta[:, topic], topic, min_df=min_df).binary


def topic_with_most(corpus: WordCounts, topics: LdaTopics, edges: Sequence[tuple[int, int]]) -> int:
    """Return the topic in which most of the edges have both words in two documents or more."""
    found = []
    for topic in range(topics.theta.shape[1]):
        df = binary_documents(corpus, topics, topic).sum(axis=0)
        found.append(sum(min(df[list(edge)]) >= 2 for edge in edges))
    return int(np.argmax(found))
