"""Measure the evidence that a labelled topic is about its label, in the collection from which the topic was learned.

A topic may drift away from its source and take other words. Two measures support a label. Association: documents with
words of the label also have the topic's best words. Held-out words: documents that have the topic by other words also
have words of the label. Both are NPMI (normalised pointwise mutual information), from -1 to 1. The evidence is their
mean over words of the label; a negative mean counts as 0.

All words of a short label are tested, and a word that no document has counts as 0. For a text, the most typical words
are tested, and two rare words that never occur together count little against the label.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sublex.estimators.topics.coherence import listed_words

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from sublex_sourcelda.model import SourceLDA

# A source with more distinct words is a text. This number of the words of a text is tested: those with the largest
# products of count and idf.
SHORT, TYPICAL = 10, 5
# A document has a topic if at least this number and this share of its tokens belong to the topic.
LEAST_TOKENS, LEAST_SHARE = 2, 0.1
# The evidence from which a label is likely (the default of the parameter `evidence`), and from which it is sure. Both
# were chosen on other documents than those of the published tables of 20 Newsgroups and arxiv-cs.
LIKELY, SURE = 0.2, 0.3


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
        terms, counts = row.indices[own_words], row.data[own_words]
        is_text, absent = len(terms) > SHORT, int(missing[model.topics_[topic]])
        tested, counts = typical(terms, counts, df, rows.shape[0]) if is_text else (terms, counts)
        own = order[edges[topic] : edges[topic + 1]]
        held = held_out(columns, words, tested, document[own], tokens.words[own], is_text)
        others = [word for word in best[topic].tolist() if word not in set(tested.tolist())]
        values = (held + association(columns, tested, others, is_text)) / 2
        absent = 0 if is_text else min(absent, SHORT - len(terms))
        found[topic] = max(0.0, float((counts * values).sum() / (counts.sum() + absent * counts.mean())))
    return found


def typical(words: np.ndarray, counts: np.ndarray, df: np.ndarray, documents: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the `TYPICAL` words of a text with the largest products of count and idf, with their counts.

    `words` are the words of the text, `df` the number of documents of every word, and `documents` that of all
    documents.
    """
    weights = counts * np.log(documents / np.maximum(df[words], 1))
    best = np.argsort(-weights, kind="stable")[:TYPICAL]
    return words[best], counts[best]


def association(columns: csr_array, tested: np.ndarray, best: list[int], lenient: bool = False) -> np.ndarray:
    """Return for each tested word its mean NPMI with the best words of the topic; -1 if there are no best words.

    `columns` has the counts of documents by words, as sparse columns. For `lenient`, see `npmi_of`.
    """
    if not best:
        return np.full(len(tested), -1.0)
    first, second = (columns[:, numbers].astype(bool).astype(np.float64) for numbers in (tested, best))
    together = np.asarray((first.T @ second).todense())
    alone = [np.asarray(part.sum(axis=0)).ravel() for part in (first, second)]
    return npmi_of(together, alone[0][:, None], alone[1][None, :], columns.shape[0], lenient).mean(axis=1)


def held_out(
    columns: csr_array,
    words: np.ndarray,
    tested: np.ndarray,
    document: np.ndarray,
    word: np.ndarray,
    lenient: bool = False,
) -> np.ndarray:
    """Return for each tested word its NPMI with the topic: with the documents that have the topic even without this
    word.

    `columns` has the counts of documents by words, as sparse columns, and `words` the length of each document.
    `document` and `word` have the document and the word of each token of the topic. For `lenient`, see `npmi_of`.
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
        found.append(npmi_of(has[columns.indices[part]].sum(), has.sum(), part.stop - part.start, size, lenient))
    return np.array(found, np.float64)


def npmi_of(together: Any, first: Any, second: Any, documents: int, lenient: bool = False) -> np.ndarray:
    """Return the NPMI of pairs of events, from numbers of documents.

    `together` has the number of documents with both events, and `first` and `second` those with the first and with the
    second. A pair that never occurs together has -1. With `lenient`, it has minus the probability that it would have
    occurred together by chance, so a pair of rare words gets a value near 0.
    """
    met = np.asarray(together, np.float64)
    expected = np.asarray(first, np.float64) * second / documents
    with np.errstate(divide="ignore", invalid="ignore"):
        values = np.log(met / expected) / -np.log(met / documents)
    never = np.expm1(-expected) if lenient else -1.0
    return np.where(met == 0, never, np.where(met >= documents, 1.0, values))
