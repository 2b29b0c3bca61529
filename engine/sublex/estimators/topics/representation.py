"""A base class for models of topics on an index.

It stores the expected tokens of each document in each topic, and compares the topics of query and document.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from sublex.contracts.base import Explanation, Mark, Proposal
from sublex.contracts.fitted import Representation, Stored, View
from sublex.contracts.stored import POSITIVE, Declared, Json, Numbers, Size
from sublex.estimators.sparse_rows import cosines, lengths, norms
from sublex.estimators.topics.coherence import listed_words
from sublex.estimators.topics.model import TopicModel
from sublex.estimators.topics.page import topics_page
from sublex.estimators.topics.scores import overlaps, similarities, topic_shares, word_chances
from sublex.estimators.topics.topics import FittedTopic, topics_of
from sublex.estimators.word_sums import check_model

# The number of topics that an explanation lists, and the number of words that name a topic.
LISTED_TOPICS, NAMING_WORDS = 5, 4
# A topic with a smaller share of a document's tokens is not stored. With k topics the limit is at most 1 / k, so at
# least one topic is stored.
LEAST_SHARE = 0.01


def of_topics(topics: Size) -> dict[str, Declared]:
    """Return the declarations of the values that a model stores about its topics and its fit, by name."""
    return {
        "alpha": Numbers((topics,), least=POSITIVE),
        "coherence": Numbers((topics,)),
        "trace": Json(list[float]),
    }


class TopicQuery(NamedTuple):
    """A query: the numbers of its words, their weights, and the shares of topics in it; 0 if no word is known."""

    words: np.ndarray
    weights: np.ndarray
    shares: np.ndarray


class TopicRepresentation(Representation):
    """A representation that scores documents by the topics of an estimator.

    `min_df` and `max_df` choose the words of the vocabulary. `share`, the weight of the topics, and `mu`, the
    smoothing of the document's words, matter only for score="likelihood".

    Subclasses implement `fit`, `save`, `load` and `describe`, and may name topics by labels.
    """

    def __init__(self, estimator: TopicModel, *, min_df: int, max_df: float, score: str, share: float, mu: float):
        self.estimator, self.min_df, self.max_df = estimator, min_df, max_df
        self.kind, self.share, self.mu = score, share, mu
        self.coherence = np.zeros(0)

    def check_restored(self, store: Stored) -> None:
        """Raise `IndexCorrupt` unless phi has probabilities in its columns and no word has probability 0 in all topics.

        The method also restores the trace of the fit.
        """
        phi, alpha, total = self.estimator.phi_, self.estimator.alpha_, self.estimator.word_topics_.sum()
        check_model(0 < total < np.inf)
        check_model((np.isfinite(phi.sum(axis=0)) & (phi.sum(axis=0) < 2)).all() and (phi @ alpha > 0).all())
        self.row_values = Numbers((len(alpha),), "f4", POSITIVE, sparse=True)
        self.estimator.trace_ = store.get("trace")
        check_model(len(self.estimator.trace_) > 0)

    def encode_documents(self, inputs: csr_array) -> csr_array:
        """Return for each document the expected number of tokens in each topic (float32). Topics that hardly occur are left out."""
        counts = self.estimator.topic_counts(inputs)
        tokens = counts.sum(axis=1, keepdims=True)
        least = min(LEAST_SHARE, 1 / (counts.shape[1] + 1))
        counts[counts < least * tokens] = 0
        kept = counts.sum(axis=1, keepdims=True)
        return csr_array((counts * np.divide(tokens, kept, out=np.zeros_like(kept), where=kept > 0)).astype(np.float32))

    def transform(self, inputs: csr_array) -> csr_array:
        """Return theta, the share of each topic in each document, as sparse rows. A document without known words gets zeros."""
        return topic_shares(self.encode_documents(inputs))

    def word_vectors(self) -> np.ndarray:
        """Return phi: the probability of each word in each topic, by word and topic."""
        return self.estimator.phi_

    def encode_queries(self, inputs: csr_array) -> list[TopicQuery]:
        """Return the encoded queries. Words whose weight is not above 0 are ignored, since a topic has no negative share."""
        queries = []
        for number in range(inputs.shape[0]):
            row = inputs[[number]]
            positive = row.data > 0
            expected = self.estimator.settle(row)[0]
            total = expected.sum()
            shares = expected / total if total > 0 else np.zeros(len(expected))
            queries.append(TopicQuery(row.indices[positive], row.data[positive], shares))
        return queries

    def score(self, query: TopicQuery, view: View, docs: np.ndarray | None = None) -> np.ndarray:
        """Return the scores; -inf for a query or a document without known words."""
        tokens = _of_rows(view, "tokens of topics", lengths, docs)
        if not len(query.words):
            return np.full(len(tokens), -np.inf)
        if self.kind == "likelihood":
            scores = np.zeros(len(tokens))
            every = zip(query.words.tolist(), query.weights.tolist(), view.counts_of(query.words, docs), strict=True)
            for word, weight, counts in every:
                scores += weight * np.log(self._chances(word, counts, view, docs)[0])
        elif self.kind == "cosine":
            products = view.products(query.shares, docs)
            scores = cosines(products, _of_rows(view, "norms of topics", norms, docs), query.shares)
        else:
            scores = view.map_rows(lambda rows: similarities(rows, query.shares), docs)
        return np.where(tokens > 0, scores, -np.inf)

    def explain(self, query: TopicQuery, view: View, doc: int) -> Explanation:
        """Return an explanation: by topics for a cosine or a similarity, and by the query's words for a likelihood."""
        docs = np.array([doc])
        rows = view.rows(docs)
        if self.kind == "likelihood":
            return self._explain_likelihood(query, rows, view, docs)
        own = np.asarray(rows.todense(), np.float64)[0]
        own /= own.sum()
        if self.kind == "cosine":
            values = own * query.shares / (np.linalg.norm(own) * np.linalg.norm(query.shares))
            label = "cosine of the topics of query and document"
        else:
            values, label = (
                overlaps(own, query.shares),
                "1 - Jensen-Shannon divergence of the topics of query and document",
            )
        order = np.argsort(-values, kind="stable")
        order = order[values[order] > 0]
        parts = [
            Explanation(
                float(values[k]),
                self._name(k, view, float(own[k])),
                evidence={
                    "share in the query": round(float(query.shares[k]), 4),
                    "in the document": round(float(own[k]), 4),
                },
            )
            for k in order[:LISTED_TOPICS].tolist()
        ]
        rest = order[LISTED_TOPICS:]
        if len(rest):
            parts.append(Explanation(float(values[rest].sum()), f"{len(rest):,} other topics"))
        return Explanation(sum(part.value for part in parts), label, "sum", tuple(parts))

    def page(self, view: View, title: str) -> str:
        """Return the topics as a self-contained HTML page. Topics with a label come first."""
        topics = self._topics(view)
        names = {topic.number: label for topic in topics if (label := self._title(topic.number, view))}
        return topics_page(title, topics, names)

    def labels(self, view: View) -> list[str]:
        """Return for each topic its label, or its most probable words."""
        return [self._label(topic, view) for topic in range(len(self.estimator.alpha_))]

    def label_shares(self, view: View, docs: np.ndarray) -> csr_array:
        """Return theta, the share of each topic in each document."""
        return topic_shares(view.rows(docs))

    def marks(self, query: TopicQuery, view: View, doc: int) -> list[Mark]:
        """Return the words of a document that the model knows, each with its most probable topic in this document.

        The result is the same for every query.
        """
        docs = np.array([doc])
        row = view.terms(docs)
        mixture = np.asarray(view.rows(docs).todense(), np.float64)[0]
        known = row.indices[row.data > 0]
        if not len(known) or not mixture.any():
            return []
        chances = mixture * self.estimator.phi_[known]
        best = chances.argmax(axis=1)
        sure = chances[np.arange(len(known)), best] / chances.sum(axis=1)
        names = {topic: self._label(topic, view) for topic in np.unique(best).tolist()}
        return [
            Mark((self.vocabulary[word],), topic, names[topic], weight)
            for word, topic, weight in zip(known.tolist(), best.tolist(), sure.tolist(), strict=True)
        ]

    def proposals(self, view: View) -> list[Proposal]:
        """Return a proposal for each topic, which its most probable words identify. Topics of this class have no labels."""
        return [
            Proposal(" ".join(self.vocabulary[word] for word in words), self._words(topic, view))
            for topic, words in enumerate(self._naming_words)
        ]

    def _title(self, topic: int, view: View) -> str:
        """Return the label of a topic: the name that people gave to it, or else the model's label; "" if it has none.

        For a topic that people merged into another one, it names the other one and the topic's own words.
        """
        if topic in self.merged:
            return f"part of {self._label(self.merged[topic], view)}: {self._words(topic, view)}"
        return (self.named[topic] or "") if topic in self.named else self._own_label(topic)

    def _own_label(self, topic: int) -> str:
        """Return the label that the model shows for a topic, or "" without a label."""
        return ""

    def _topics(self, view: View) -> list[FittedTopic]:
        return topics_of(self.estimator, self.coherence, self.vocabulary, view)

    @cached_property
    def _naming_words(self) -> list[list[int]]:
        """The numbers of the words that name each topic."""
        return [words.tolist() for words in listed_words(self.estimator.phi_, NAMING_WORDS)]

    def _words(self, topic: int, view: View) -> str:
        """Return the most probable words of a topic."""
        return ", ".join(view.surface(self.vocabulary[word]) for word in self._naming_words[topic])

    def _label(self, topic: int, view: View) -> str:
        """Return the label of a topic, or its most probable words."""
        return self._title(topic, view) or self._words(topic, view)

    def _name(self, topic: int, view: View, share: float) -> str:
        """Return the name of a topic in an explanation; `share` is its share in the document."""
        label = self._title(topic, view)
        return f"topic {f'{label} ({share:.2f})' if label else topic}: {self._words(topic, view)}"

    def _chances(
        self, word: int, counts: np.ndarray, view: View, docs: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the probability of `word` in each document, as three arrays. `counts` says how often it occurs there.

        The second array has the probability by the document's topics, and the third that by the document's own words.
        The first is a mixture of both, in which the topics have the weight `share`.
        """
        fitted, tokens = self.estimator, _of_rows(view, "tokens of topics", lengths, docs)
        by_topics = word_chances(view.products(fitted.phi_[word], docs), tokens, fitted.phi_[word], fitted.alpha_)
        by_words = (counts + self.mu * self._shares_of_words[word]) / (tokens + self.mu)
        return self.share * by_topics + (1 - self.share) * by_words, by_topics, by_words

    @cached_property
    def _shares_of_words(self) -> np.ndarray:
        """The share of each word in the collection: its tokens in all topics, among those of all words."""
        tokens = np.asarray(self.estimator.word_topics_.sum(axis=1)).ravel()
        shares: np.ndarray = tokens / tokens.sum()
        return shares

    def _explain_likelihood(self, query: TopicQuery, rows: csr_array, view: View, docs: np.ndarray) -> Explanation:
        """Return an explanation of a log-likelihood: a part for each query word, with its probabilities and their topics."""
        theta = np.asarray(rows.todense(), np.float64)[0] + self.estimator.alpha_
        theta /= theta.sum()
        parts = []
        every = zip(query.words.tolist(), query.weights.tolist(), view.counts_of(query.words, docs), strict=True)
        for word, weight, counts in every:
            both, by_topics, by_words = (float(values[0]) for values in self._chances(word, counts, view, docs))
            best = int(np.argmax(theta * self.estimator.phi_[word]))
            evidence = {
                "weight": weight, "by topics": float(f"{by_topics:.3g}"), "by words": float(f"{by_words:.3g}"),
                "mostly": self._name(best, view, float(theta[best])),
            }  # fmt: skip
            parts.append(
                Explanation(weight * float(np.log(both)), view.surface(self.vocabulary[word]), evidence=evidence)
            )
        label = "log-likelihood of the query by topics and words of the document"
        return Explanation(sum(part.value for part in parts), label, "sum", tuple(parts))


def _of_rows(view: View, name: str, function: Callable[[csr_array], np.ndarray], docs: np.ndarray | None) -> np.ndarray:
    """Return for each document the value that `function` computes from its row.

    The values of all documents are computed at the first call, and the view keeps them under `name`.
    """
    values: np.ndarray = view.once(name, lambda: view.map_rows(function))
    return values if docs is None else values[docs]
