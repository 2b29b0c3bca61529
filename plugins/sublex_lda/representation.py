"""LDA on an index: it stores the expected tokens of each document in each topic, and compares the topics of query and
document.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from sublex.contracts.base import Statistics
from sublex.contracts.fitted import Corpus, Cost, Job, Store, Stored, View
from sublex.contracts.stored import Declared, Numbers
from sublex.estimators.topics.coherence import npmi, top_words
from sublex.estimators.topics.representation import TopicRepresentation, of_topics
from sublex.estimators.topics.topics import FittedTopic
from sublex.estimators.word_sums import VOCABULARY, frequent_counts
from sublex_lda.model import LDA

# The seconds that one core needs for a token in an iteration.
SECONDS = 6e-8


class LDARepresentation(TopicRepresentation):
    """Scores documents by the topics of LDA. A topic is named by its words."""

    version = 1
    estimator: LDA

    def __init__(self, *, min_df: int, max_df: float, score: str, share: float, mu: float, **params: Any):
        super().__init__(LDA(**params), min_df=min_df, max_df=max_df, score=score, share=share, mu=mu)

    def fit(self, corpus: Corpus, job: Job) -> None:
        """Learn the topics from the counts of words that are neither too rare nor too common."""
        self.vocabulary, matrix = frequent_counts("lda", corpus, self.min_df, self.max_df)
        unit = "sweeps" if self.estimator.method == "gibbs" else "iterations"
        self.estimator.fit(matrix, workers=job.workers, progress=partial(job.progress, unit=unit))
        self.coherence = npmi(matrix, top_words(self.estimator.phi_))

    def save(self, store: Store) -> None:
        """Store the vocabulary, the tokens of words in topics, alpha and the coherence of the topics."""
        fitted = self.estimator
        store.put("vocabulary", list(self.vocabulary))
        store.put("word_topics", fitted.word_topics_)
        store.put("alpha", fitted.alpha_)
        store.put("coherence", self.coherence)
        store.put("trace", [float(value) for value in fitted.trace_])

    def declares(self) -> Mapping[str, Declared]:
        """Return the declaration of each stored value, by name."""
        k = self.estimator.k
        return {**VOCABULARY, "word_topics": Numbers(("words", k), least=0, sparse=None), **of_topics(k)}

    def load(self, store: Stored) -> None:
        """Restore the model."""
        self.vocabulary, self.coherence = store.get("vocabulary"), store.get("coherence")
        self.estimator.restore(store.get("word_topics"), store.get("alpha"))
        self.check_restored(store)

    def estimate(self, corpus: Corpus, job: Job) -> int:
        """Return the bytes of memory that fitting takes: counts, tokens with their topics, and four dense tables of
        words by topics.
        """
        return 64 * int(corpus.lengths.sum()) + 4 * 8 * len(corpus.vocabulary) * self.estimator.k

    def cost(self, collection: Statistics, terms: int) -> Cost:
        """Return the time of all iterations over all tokens, and the bytes of the topics of words and documents.

        The estimate assumes that a document has only a few topics, and a word still fewer.
        """
        fitted = self.estimator
        nbytes = fitted.k * (collection.docs + terms / 4)
        return Cost(SECONDS * collection.tokens * fitted.iterations, nbytes)

    def describe(self, view: View) -> Mapping[str, Any]:
        """Return the figures of the fit, and the topics with their words, coherence and documents. The topics with the
        largest shares come first.
        """
        alpha = self.estimator.alpha_
        return {
            "alpha": [float(f"{value:.4g}") for value in (alpha[:1] if np.ptp(alpha) == 0 else alpha)],
            "log-likelihood" if self.estimator.method == "gibbs" else "bound": round(self.estimator.trace_[-1], 1),
            "mean coherence": round(float(self.coherence.mean()), 3),
            "topics": [self._summary(topic, view) for topic in self._topics(view)],
        }

    def _summary(self, topic: FittedTopic, view: View) -> dict[str, Any]:
        """Return a topic as values that JSON can hold, with its label if people gave labels to topics."""
        label = {"label": self._title(topic.number, view)} if self.named or self.merged else {}
        return {**label, **topic.summary()}
