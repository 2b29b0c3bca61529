"""Coherence of topics: whether the best words of a topic occur in the same documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sublex.estimators.topics.counts import counts_of

# The number of best words of a topic that are compared.
WORDS = 10
# A word with a smaller probability in a topic is not listed.
NOTHING = 1e-9


def top_words(phi: np.ndarray, words: int = WORDS) -> list[np.ndarray]:
    """Return the numbers of the most probable words of each topic, best first.

    Equally probable words are in the order of their numbers. `phi` has a row for each word and a column for each topic.
    """
    return [np.argsort(-column, kind="stable")[:words] for column in phi.T]


def listed_words(phi: np.ndarray, words: int = WORDS) -> list[np.ndarray]:
    """Return the numbers of the most probable words of each topic, best first, without words of almost no probability.

    A topic that was given the few words of a short text has almost no probability for other words. At least one word is
    returned.
    """
    return [own[: max(1, int((phi[own, k] > NOTHING).sum()))] for k, own in enumerate(top_words(phi, words))]


def npmi(matrix: Any, topics: Sequence[np.ndarray]) -> np.ndarray:
    """Return the coherence of each topic: the mean NPMI over all pairs of its words. `topics` has the numbers of the words.

    NPMI is log(p(a, b) / (p(a) p(b))) / -log p(a, b), where p is the share of the documents of `matrix` that contain
    the words (Bouma 2009; Aletras and Stevenson 2013). It is -1 if no document has both words, and 1 if each document
    that has one word also has the other. A topic with fewer than two words has the coherence 0.
    """
    rows = counts_of(matrix)
    documents = max(1, rows.shape[0])
    used = np.unique(np.concatenate([np.asarray(words, np.int64) for words in topics] or [np.zeros(0, np.int64)]))
    occurs = rows[:, used].astype(bool).astype(np.float64)
    together = np.asarray((occurs.T @ occurs).todense()) / documents
    alone = together.diagonal()
    with np.errstate(divide="ignore", invalid="ignore"):
        values = np.log(together / np.outer(alone, alone)) / -np.log(together)
    # NPMI is -1 for words that are never together. It is 1 for words that are both in every document, where the
    # quotient is 0 / 0.
    values[together == 0], values[together == 1] = -1.0, 1.0
    found = np.zeros(len(topics))
    for number, words in enumerate(topics):
        places = np.searchsorted(used, words)
        first, second = np.triu_indices(len(places), 1)
        if len(first):
            found[number] = values[places[first], places[second]].mean()
    return found
