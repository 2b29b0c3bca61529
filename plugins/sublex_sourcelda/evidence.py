"""Evidence that a labelled topic is about its label, from the collection that the topic was learned from.

A topic may drift away from its source and take other words. Two things speak for a label: documents that hold words of the label
hold the topic's best words too (association), and documents that have the topic by their other words hold words of the label
(held-out words). Both are NPMI, from -1 to 1. The evidence is their mean over the words of the label. A word that no document has
counts as 0 if the label has only a few words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sublex.estimators.topics.coherence import listed_words

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from sublex_sourcelda.model import SourceLDA

# The words of a source that are tested: those with the largest products of count and idf.
TESTED = 10
# A document has a topic if at least this number of its tokens, and this share, are the topic's.
LEAST_TOKENS, LEAST_SHARE = 2, 0.1
# With more evidence than this, a label is sure. It was set on other documents than those of the published table.
SURE = 0.3


def evidence_of(matrix: csr_array, model: SourceLDA, sources: csr_array, missing: np.ndarray) -> np.ndarray:
    """Return the evidence for the label of each topic, from 0 to 1; 0 for a topic without a label.

    `matrix` has the documents that the model was fitted to, and `sources` the words of labels before enrichment. `missing`
    has for each label the number of its words that no document has.
    """
    assert model.chain_ is not None
    rows, columns = matrix.tocsr(), matrix.tocsc()
    words = np.bincount(columns.indices, columns.data, rows.shape[0])
    df = np.diff(columns.indptr)
    tokens, topics = model.chain_.tokens, model.chain_.z
    document = np.repeat(np.arange(rows.shape[0]), np.diff(tokens.starts))
    order = np.argsort(topics, kind="stable")
    edges = np.searchsorted(topics[order], np.arange(len(model.topics_) + 1))
    best = listed_words(model.phi_)
    found = np.zeros(len(model.topics_))
    for topic in np.flatnonzero(model.topics_ >= 0).tolist():
        row = sources[[model.topics_[topic]]]
        own_words = row.data > 0
        tested = tested_words(row.indices[own_words], row.data[own_words], df, rows.shape[0])
        own = order[edges[topic] : edges[topic + 1]]
        held = held_out(columns, words, tested, document[own], tokens.words[own])
        near = association(columns, tested, [word for word in best[topic].tolist() if word not in set(tested.tolist())])
        words_tested = min(TESTED, len(tested) + int(missing[model.topics_[topic]]))
        found[topic] = max(0.0, float((held + near).sum()) / 2 / words_tested)
    return found


def tested_words(words: np.ndarray, counts: np.ndarray, df: np.ndarray, documents: int) -> np.ndarray:
    """Return the words of a source that say most about it."""
    weights = counts * np.log(documents / np.maximum(df[words], 1))
    return words[np.argsort(-weights, kind="stable")[:TESTED]]


def association(columns: csr_array, tested: np.ndarray, best: list[int]) -> np.ndarray:
    """Return for each tested word its mean NPMI with the best words of the topic; -1 if the topic has no other words."""
    if not best:
        return np.full(len(tested), -1.0)
    first, second = (columns[:, numbers].astype(bool).astype(np.float64) for numbers in (tested, best))
    together = np.asarray((first.T @ second).todense())
    alone = [np.asarray(part.sum(axis=0)).ravel() for part in (first, second)]
    return npmi_of(together, alone[0][:, None], alone[1][None, :], columns.shape[0]).mean(axis=1)


def held_out(
    columns: csr_array, words: np.ndarray, tested: np.ndarray, document: np.ndarray, word: np.ndarray
) -> np.ndarray:
    """Return for each tested word its NPMI with the documents that have the topic by their other words.

    `document` and `word` are those of each token of the topic, and `words` the length of each document.
    """
    size = len(words)
    in_topic = np.bincount(document, minlength=size)
    found = []
    for each in tested.tolist():
        part = slice(columns.indptr[each], columns.indptr[each + 1])
        rest = words.copy()
        rest[columns.indices[part]] -= columns.data[part]
        others = in_topic - np.bincount(document[word == each], minlength=size)
        has = (others >= LEAST_TOKENS) & (others >= LEAST_SHARE * rest)
        found.append(npmi_of(has[columns.indices[part]].sum(), has.sum(), part.stop - part.start, size))
    return np.array(found, np.float64)


def npmi_of(together: np.ndarray, first: np.ndarray, second: np.ndarray, documents: int) -> np.ndarray:
    """Return the NPMI of pairs that occur in so many documents together, and in so many each."""
    with np.errstate(divide="ignore", invalid="ignore"):
        chances = np.asarray(together, np.float64) / documents
        values = np.log(chances * documents * documents / (np.asarray(first, np.float64) * second)) / -np.log(chances)
    return np.where(np.asarray(together) == 0, -1.0, np.where(chances >= 1, 1.0, values))
