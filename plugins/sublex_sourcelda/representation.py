"""Source-LDA on an index: it stores the expected tokens of each document in each topic, and compares the topics of
query and document.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from sublex.contracts.base import Proposal
from sublex.contracts.fitted import Corpus, Job, Store, Stored, View
from sublex.contracts.labels import PROBABLY
from sublex.contracts.stored import Declared, Json, Numbers
from sublex.errors import InputError
from sublex.estimators.topics.coherence import listed_words, npmi
from sublex.estimators.topics.page import topics_page
from sublex.estimators.topics.representation import TopicRepresentation, of_topics
from sublex.estimators.word_sums import VOCABULARY, check_model, frequent_counts
from sublex.tools.messages import counted
from sublex_sourcelda.enriching import FEWEST, enrich
from sublex_sourcelda.evidence import LIKELY, SURE, evidence_of
from sublex_sourcelda.knowledge import count_lines, read_knowledge
from sublex_sourcelda.model import SourceLDA

# The names of the numbers that are stored for each label of the source.
COUNTS = ("known", "missing", "matching", "added")
# A label needs this number of known words to be useful.
FEW_WORDS = 2
# This text comes before the words of a topic without a label.
UNLABELLED = "unlabelled"
# The largest number of labels without a known word that the model's card lists.
LISTED = 20


class SourceLDARepresentation(TopicRepresentation):
    """Scores by topics, as `lda` does. Some topics have the labels of texts; the other topics are named by their words.

    A topic loses its label if the evidence for it is below `evidence`, or if the similarity of its words to its text is
    below `likeness`. `share` and `mu` are only used with score="likelihood".
    """

    version = 2
    estimator: SourceLDA

    def __init__(
        self, *, source: str, closeness: float, spread: float, enrich: int, evidence: float, likeness: float, min_df: int,
        max_df: float, score: str, share: float, mu: float, **params: Any,
    ):  # fmt: skip
        estimator = SourceLDA(mu=closeness, sigma=spread, informed=True, **params)
        super().__init__(estimator, min_df=min_df, max_df=max_df, score=score, share=share, mu=mu)
        self.source, self.enrich, self.least_evidence, self.least_likeness = source, enrich, evidence, likeness
        self.labels_name = f"labels, evidence={evidence}, likeness={likeness}"
        # For each topic: the label of its text, the evidence for the label, and the topic's similarity to the text.
        self.texts: list[str | None] = []
        self.evidence, self.likeness = np.zeros(0), np.zeros(0)
        # All labels of the source with a known word. For each label there are four numbers: its known words, its words
        # that no document has, the documents with two of the known words, and the words that enrichment added.
        self.labels_read: list[str] = []
        self.known = self.missing = self.matching = self.added = np.zeros(0, np.int64)
        self.unknown: list[str] = []

    def fit(self, corpus: Corpus, job: Job) -> None:
        """Read the knowledge source, and learn the topics from the counts of words that are neither too rare nor too common."""
        if len(corpus.docs) < 2:
            raise InputError("sourcelda: topics are learned from several documents; add some more.")
        self.vocabulary, matrix = frequent_counts("sourcelda", corpus, self.min_df, self.max_df)
        path, progress = job.resource(self.source), partial(job.progress, unit="sweeps")
        others = set(corpus.vocabulary).difference(self.vocabulary)
        knowledge = read_knowledge(
            path, self.vocabulary, corpus.analyze, lambda done: progress(0, self.estimator.iterations), others
        )
        counts, self.known, self.matching, self.added = enrich(matrix, knowledge.counts, self.enrich)
        self.labels_read, self.missing = knowledge.labels, knowledge.missing
        self._guide(job.say)
        self.estimator.fit(matrix, counts, job.workers, progress)
        self.coherence = npmi(matrix, listed_words(self.estimator.phi_))
        self.evidence = evidence_of(matrix, self.estimator, knowledge.counts, knowledge.missing)
        self.texts = [knowledge.labels[k] if k >= 0 else None for k in self.estimator.topics_.tolist()]
        self.likeness = self.estimator.likeness(counts)
        self.unknown = knowledge.unknown

    def _guide(self, say: Callable[[str], None]) -> None:
        """Say which labels have little text, and what the user can do about it. `say` shows a message."""
        labels, enriched = len(self.labels_read), int((self.added > 0).sum())
        if enriched:
            say(
                f"{enriched:,} of {counted(labels, 'label')} have fewer than {self.enrich:,} known words, and get words of the "
                "documents that match them; enrich=0 leaves them as they are."
            )
        poor = [
            label
            for label, matching, added in zip(self.labels_read, self.matching, self.added, strict=True)
            if not added and matching < FEWEST
        ]
        if poor:
            verb = "has" if len(poor) == 1 else "have"
            say(
                f"{_listed(poor)} {verb} fewer than {FEWEST} documents with two of the label's words; a label needs three words or "
                "more that occur together."
            )

    def save(self, store: Store) -> None:
        """Store the vocabulary, the topics with their labels, and the tokens of words in topics."""
        fitted = self.estimator
        store.put("vocabulary", list(self.vocabulary))
        store.put("texts", self.texts)
        store.put("likeness", self.likeness)
        store.put("evidence", self.evidence)
        store.put("labels_read", self.labels_read)
        for name in COUNTS:
            store.put(name, getattr(self, name))
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
            "evidence": Numbers(("topics",), least=0, most=1),
            "labels_read": Json(list[str], "labels"),
            **{name: Numbers(("labels",), "i8", least=0) for name in COUNTS},
            "phi": Numbers(("words", "topics"), least=0),
            "word_topics": Numbers(("words", "topics"), least=0, sparse=True),
            "unknown": Json(list[str]),
            **of_topics("topics"),
        }

    def load(self, store: Stored) -> None:
        """Restore the model."""
        for name in ("vocabulary", "texts", "likeness", "evidence", "labels_read", *COUNTS, "unknown", "coherence"):
            setattr(self, name, store.get(name))
        check_model(len(self.texts) > 0)
        self.estimator.restore(*(store.get(name) for name in ("phi", "alpha", "word_topics")))
        self.check_restored(store)

    def estimate(self, corpus: Corpus, job: Job) -> int:
        """Return the bytes of memory that fitting takes: counts, tokens with their topics, and tables of words by
        topics.
        """
        topics = self.estimator.k + count_lines(job.resource(self.source))
        return 80 * int(corpus.lengths.sum()) + (4 + 3 * 8) * len(corpus.vocabulary) * topics

    def describe(self, view: View) -> Mapping[str, Any]:
        """Return the figures of the fit, the topics with their labels, words, coherence and documents, and the labels that
        are not shown. Labelled topics come first, and then the topics with the largest shares.
        """
        topics = self._topics(view)
        titles = {topic.number: self._title(topic.number, view) for topic in topics}
        labelled = sum(map(bool, titles.values()))
        facts: dict[str, Any] = {
            "alpha": float(f"{self.estimator.alpha_[0]:.4g}"),
            "topics at first": self.estimator.trace_[0],
            "labelled topics": labelled,
            "unlabelled topics": len(topics) - labelled,
            "mean coherence": round(float(self.coherence.mean()), 3),
        }
        short = int((self.added > 0).sum())
        if short:
            facts["labels with words of documents"] = f"{short:,} of {len(self.labels_read):,}"
        if self.unknown:
            facts["labels without a known word"] = _listed(self.unknown)
        facts["topics"] = [
            {
                "label": titles[topic.number] or f"({UNLABELLED})",
                "evidence": round(float(self.evidence[topic.number]), 2),
                "likeness": round(float(self.likeness[topic.number]), 2),
                **topic.summary(),
            }
            for topic in sorted(topics, key=lambda topic: not titles[topic.number])
        ]
        if absent := self._absent(view, {topic.number: topic.share for topic in topics}):
            facts["labels that are not shown"] = absent
        return facts

    def _absent(self, view: View, shares: Mapping[int, float]) -> list[dict[str, Any]]:
        """Return for each label that no topic shows: its words, the documents that match them, and the reason.

        `shares` has the share of each topic. Labels that people rejected are left out.
        """
        numbers = {text: number for number, text in enumerate(self.texts) if text is not None}
        rows = []
        for text, known, missing, matching, added in zip(
            self.labels_read, *(getattr(self, name).tolist() for name in COUNTS), strict=True
        ):
            topic = numbers.get(text, -1)
            if topic >= 0 and (topic in self.named or topic in self.merged or self._own_label(topic)):
                continue
            rows.append(
                {
                    "label": text,
                    "known words": f"{known} of {known + missing}",
                    "documents with two": matching,
                    "share": round(shares.get(topic, 0.0), 4),
                    "evidence": round(float(self.evidence[topic]), 2) if topic >= 0 else 0.0,
                    "why": self._why(topic, known, matching, added),
                }
            )
        return sorted(rows, key=lambda row: (-row["evidence"], row["label"]))[:LISTED]

    def _why(self, topic: int, known: int, matching: int, added: int) -> str:
        """Return the reason why the label of a topic is not shown, and the steps that may help.

        `known`, `matching` and `added` are the label's known words, the documents that match them, and the words that
        enrichment added. `topic` is -1 if the label has no topic left.
        """
        if known < FEW_WORDS:
            return "few of its words are in the documents; add words that they use"
        if matching < FEWEST:
            return "hardly a document holds two of its words; add words that occur together, or drop it"
        if topic < 0:
            return "its topic was given up as one of the smallest; raise k, or use model=mixture"
        if self.evidence[topic] < self.least_evidence:
            if added or not self.enrich:
                return "its topic took other words; add words that are typical of it, or drop it" + (
                    "" if self.enrich else ", or set enrich"
                )
            return f"its topic took other words; give it more text, or set enrich above {known:,}"
        return "its topic is unlike its text; lower likeness"

    def page(self, view: View, title: str) -> str:
        """Return the topics as a self-contained HTML page, those with a label first."""
        topics = self._topics(view)
        titles = {topic.number: label for topic in topics if (label := self._title(topic.number, view))}
        return topics_page(title, topics, titles, UNLABELLED)

    def proposals(self, view: View) -> list[Proposal]:
        """Return for each topic the label of its text, with the confidence in words, and its most probable words."""
        found = []
        for topic, own in enumerate(super().proposals(view)):
            text = self.texts[topic]
            if text is None:
                found.append(own)
            else:
                found.append(
                    own._replace(text=text, label=text, confidence=self._confidence(topic), shown=self._shows(topic))
                )
        return found

    def _confidence(self, topic: int) -> str:
        """Return the confidence in the label of a topic, in words."""
        if self.evidence[topic] >= SURE:
            return "sure"
        return PROBABLY.strip() if self.evidence[topic] >= LIKELY else "doubtful"

    def _shows(self, topic: int) -> bool:
        """Return whether there is enough evidence for the label of a topic to show it."""
        return bool(self.evidence[topic] >= self.least_evidence and self.likeness[topic] >= self.least_likeness)

    def _own_label(self, topic: int) -> str:
        """Return the label that is shown for a topic, or "". An unsure label says so, unless the user wants all labels."""
        text = self.texts[topic]
        if text is None or not self._shows(topic):
            return ""
        return text if self.evidence[topic] >= SURE or not self.least_evidence else PROBABLY + text

    def _label(self, topic: int, view: View) -> str:
        """Return the label of a topic. A topic without a label is named by its most probable words."""
        return self._title(topic, view) or f"{UNLABELLED}: {self._words(topic, view)}"

    def _name(self, topic: int, view: View, share: float) -> str:
        """Return the label of a topic, its share in the document, and its most probable words."""
        label = self._title(topic, view) or f"{topic} ({UNLABELLED})"
        return f"topic {label} ({share:.2f}): {self._words(topic, view)}"


def _listed(labels: list[str]) -> str:
    """Return the first labels as one string, with the number of the other labels."""
    rest = len(labels) - LISTED
    return ", ".join(labels[:LISTED]) + (f" and {rest:,} others" if rest > 0 else "")
