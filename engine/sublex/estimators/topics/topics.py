"""Topics as people see them: their share, words, coherence and best documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csc_array

from sublex.contracts.fitted import View
from sublex.estimators.sparse_rows import lengths, row_numbers
from sublex.estimators.topics.coherence import listed_words
from sublex.estimators.topics.model import TopicModel

# The numbers of words and of documents that are kept for each topic, and the numbers that `sublex card` prints.
WORDS, DOCUMENTS = 20, 5
CARD_WORDS, CARD_DOCUMENTS = 8, 3


class FittedTopic(NamedTuple):
    """A topic of a fitted model.

    `share` is its share of all tokens. `words` has its most probable words with their probabilities. `documents` has
    the docno and the title of the documents that have most of the topic, with the share of the topic in each.
    """

    number: int
    share: float
    coherence: float
    words: list[tuple[str, float]]
    documents: list[tuple[str, str, float]]

    def summary(self) -> dict[str, Any]:
        """Return the topic as values that JSON can hold, for `sublex card`."""
        return {
            "topic": self.number,
            "share": round(self.share, 4),
            "coherence": round(self.coherence, 3),
            "words": [word for word, _ in self.words[:CARD_WORDS]],
            "documents": [docno for docno, _, _ in self.documents[:CARD_DOCUMENTS]],
        }


def topics_of(fitted: TopicModel, coherence: np.ndarray, vocabulary: Sequence[str], view: View) -> list[FittedTopic]:
    """Return the topics of a fitted model, largest share first. `coherence` has the coherence of each topic."""
    tokens = np.asarray(fitted.word_topics_.sum(axis=0)).ravel()
    shares = tokens / tokens.sum()
    documents = _best_documents(fitted.alpha_, view)
    topics = []
    for k, words in enumerate(listed_words(fitted.phi_, WORDS)):
        named = [(view.surface(vocabulary[word]), float(fitted.phi_[word, k])) for word in words.tolist()]
        topics.append(FittedTopic(k, float(shares[k]), float(coherence[k]), named, documents[k]))
    return sorted(topics, key=lambda topic: -topic.share)


def _best_documents(alpha: np.ndarray, view: View) -> list[list[tuple[str, str, float]]]:
    """Return for each topic the live documents in which its probability is largest, as (docno, title, probability).

    The probabilities are smoothed by `alpha`, so that a document of a single word is not ranked first.
    """
    rows = view.rows()
    theta = (rows.data + alpha[rows.indices]) / (lengths(rows) + alpha.sum())[row_numbers(rows)]
    columns = csc_array((theta, (row_numbers(rows), rows.indices)), shape=rows.shape)
    best = []
    for k in range(len(alpha)):
        part = slice(columns.indptr[k], columns.indptr[k + 1])
        order = np.lexsort((columns.indices[part], -columns.data[part]))
        found: list[tuple[str, str, float]] = []
        for place in order.tolist():
            doc = int(columns.indices[part][place])
            docno = view.docno(doc)
            if docno is not None:
                found.append((docno, view.title(doc), float(columns.data[part][place])))
            if len(found) == DOCUMENTS:
                break
        best.append(found)
    return best
