"""Source-LDA on an index: it stores the expected tokens of each document in each topic, and compares the topics of
query and document.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from sublex.contracts.fitted import Corpus, Job, Store, Stored, View
from sublex.contracts.stored import Declared, Json, Numbers
from sublex.errors import InputError
from sublex.estimators.topics.coherence import npmi, top_words
from sublex.estimators.topics.page import topics_page
from sublex.estimators.topics.representation import TopicRepresentation, of_topics
from sublex.estimators.word_sums import VOCABULARY, check_model, frequent_counts
from sublex_sourcelda.knowledge import count_lines, read_knowledge
from sublex_sourcelda.model import SourceLDA

# Comes before the words of a topic without a label.
UNLABELLED = "unlabelled"
# The largest number of labels without a known word that the model's card lists.
LISTED = 20


class SourceLDARepresentation(TopicRepresentation):
    """Scores by topics, as `lda` does. Some topics have the labels of texts; the other topics are named by their words.

    A topic loses its label if its words are less similar to its text than `likeness`. `share` and `mu` are only used
    with score="likelihood".
    """

    version = 1
    estimator: SourceLDA

    def __init__(
        self, *, source: str, closeness: float, spread: float, likeness: float, min_df: int, max_df: float, score: str,
        share: float, mu: float, **params: Any,
    ):  # fmt: skip
        estimator = SourceLDA(mu=closeness, sigma=spread, informed=True, **params)
        super().__init__(estimator, min_df=min_df, max_df=max_df, score=score, share=share, mu=mu)
        self.source, self.least_likeness = source, likeness
        self.labels_name = f"labels, likeness={likeness}"
        # For each topic: the label of its text, its similarity to the text, and the label if the similarity is large
        # enough.
        self.texts: list[str | None] = []
        self.likeness = np.zeros(0)
        self.topic_labels: list[str | None] = []
        self.unknown: list[str] = []

    def fit(self, corpus: Corpus, job: Job) -> None:
        """Read the knowledge source, and learn the topics from the counts of words that are neither too rare nor too common."""
        if len(corpus.docs) < 2:
            raise InputError("sourcelda: topics are learned from several documents; add some more.")
        self.vocabulary, matrix = frequent_counts("sourcelda", corpus, self.min_df, self.max_df)
        path, progress = job.resource(self.source), partial(job.progress, unit="sweeps")
        knowledge = read_knowledge(
            path, self.vocabulary, corpus.analyze, lambda done: progress(0, self.estimator.iterations)
        )
        self.estimator.fit(matrix, knowledge.counts, job.workers, progress)
        self.coherence = npmi(matrix, top_words(self.estimator.phi_))
        self.texts = [knowledge.labels[k] if k >= 0 else None for k in self.estimator.topics_.tolist()]
        self.likeness = self.estimator.likeness(knowledge.counts)
        self.unknown = knowledge.unknown

    def save(self, store: Store) -> None:
        """Store the vocabulary, the topics with their labels, and the tokens of words in topics."""
        fitted = self.estimator
        store.put("vocabulary", list(self.vocabulary))
        store.put("texts", self.texts)
        store.put("likeness", self.likeness)
        store.put("phi", fitted.phi_)
        store.put("alpha", fitted.alpha_)
        store.put("word_topics", csr_array(fitted.word_topics_.astype(np.float64)))
        store.put("coherence", self.coherence)
        store.put("trace", fitted.trace_)
        store.put("unknown", self.unknown)

    def declares(self) -> Mapping[str, Declared]:
        """Return the declaration of each stored value, by name. Each topic has the label of its text, or null."""
        return {
            **VOCABULARY,
            "texts": Json(list[str | None], "topics"),
            "likeness": Numbers(("topics",)),
            "phi": Numbers(("words", "topics"), least=0),
            "word_topics": Numbers(("words", "topics"), least=0, sparse=True),
            "unknown": Json(list[str]),
            **of_topics("topics"),
        }

    def load(self, store: Stored) -> None:
        """Restore the model."""
        for name in ("vocabulary", "texts", "likeness", "unknown", "coherence"):
            setattr(self, name, store.get(name))
        check_model(len(self.texts) > 0)
        self.estimator.restore(*(store.get(name) for name in ("phi", "alpha", "word_topics")))
        self.check_restored(store)
        self.topic_labels = [
            text if like >= self.least_likeness else None
            for text, like in zip(self.texts, self.likeness.tolist(), strict=True)
        ]

    def estimate(self, corpus: Corpus, job: Job) -> int:
        """Return the bytes of the counts, of the tokens with their topics, and of the tables of words by topics."""
        topics = self.estimator.k + count_lines(job.resource(self.source))
        return 80 * int(corpus.lengths.sum()) + (4 + 3 * 8) * len(corpus.vocabulary) * topics

    def describe(self, view: View) -> Mapping[str, Any]:
        """Return the figures of the fit, and the topics with their labels, words, coherence and documents. The topics
        with the largest shares come first.
        """
        labelled = [label for label in self.topic_labels if label is not None]
        facts: dict[str, Any] = {
            "alpha": float(f"{self.estimator.alpha_[0]:.4g}"),
            "topics at first": self.estimator.trace_[0],
            "labelled topics": len(labelled),
            "unlabelled topics": len(self.topic_labels) - len(labelled),
            "mean coherence": round(float(self.coherence.mean()), 3),
        }
        if self.unknown:
            facts["labels without a known word"] = _listed(self.unknown)
        drifted = [
            (-like, text)
            for text, like in zip(self.texts, self.likeness.tolist(), strict=True)
            if text is not None and like < self.least_likeness
        ]
        if drifted:
            facts["labels below likeness"] = _listed([f"{text} ({-like:.2f})" for like, text in sorted(drifted)])
        facts["topics"] = [
            {
                "label": self.topic_labels[topic.number] or f"({UNLABELLED})",
                "likeness": round(float(self.likeness[topic.number]), 2),
                **topic.summary(),
            }
            for topic in self._topics(view)
        ]
        return facts

    def page(self, view: View, title: str) -> str:
        """Return the topics as a self-contained HTML page."""
        names = {number: label or f"{number} ({UNLABELLED})" for number, label in enumerate(self.topic_labels)}
        return topics_page(title, self._topics(view), names)

    def _label(self, topic: int, view: View) -> str:
        """Return the label of a topic. A topic without a label is named by its most probable words."""
        return self.topic_labels[topic] or f"{UNLABELLED}: {self._words(topic, view)}"

    def _name(self, topic: int, view: View, share: float) -> str:
        """Return the label of a topic, its share in the document, and its most probable words."""
        label = self.topic_labels[topic] or f"{topic} ({UNLABELLED})"
        return f"topic {label} ({share:.2f}): {self._words(topic, view)}"


def _listed(labels: list[str]) -> str:
    """Return the first labels as one string, with the number of the other labels."""
    rest = len(labels) - LISTED
    return ", ".join(labels[:LISTED]) + (f" and {rest:,} others" if rest > 0 else "")
