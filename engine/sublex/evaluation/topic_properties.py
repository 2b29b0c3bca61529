"""Properties of topics, such as the length of the query.

`slices` groups topics by them. A value is a number, a text or None.

`PROPERTIES` maps each name to a function of `Facts`. For a field of the topics and for a fitted model, the values are
texts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from sublex.errors import InputError
from sublex.evaluation.systems import System
from sublex.statistics.agreement import rbo

if TYPE_CHECKING:
    from sublex.pipeline.index import Index
    from sublex.retrieval.term_table import TermTable
    from sublex.trec.qrels import Qrels
    from sublex.trec.topics import Topic, Topics

# The value of one topic.
Value = float | str | None
# The numbers of first documents that `judged` and `agreement` read of a ranking.
TOP, DEPTH = 10, 100
# Clarity makes the model of a query from this number of documents. In a document's model, its own words have this
# weight.
CLARITY_DOCS, CLARITY_WEIGHT = 500, 0.6


@dataclass(frozen=True)
class Facts:
    """The facts about the topics `qids`: the systems, the judgements and, if they are known, the topics and the index."""

    qids: Sequence[str]
    systems: Sequence[System]
    qrels: Qrels
    topics: Topics | None = None
    index: Index | None = None

    def need_topics(self, by: str) -> list[Topic]:
        """Return the topics of `qids`. Raise InputError if there are none."""
        if not self.topics:
            raise InputError(f"--by {by} reads the topics; name a topic file too.")
        known = {topic.qid: topic for topic in self.topics}
        return [known[qid] for qid in self.qids]

    def need_index(self, by: str) -> Index:
        """Return the index. Raise InputError if there is none."""
        if self.index is None:
            raise InputError(f"--by {by} reads an index; use sublex compare with INDEX TOPICS QRELS.")
        return self.index


def length(facts: Facts) -> list[Value]:
    """The number of terms of the query; without an index, the number of its words."""
    index = facts.index
    return [
        float(len(index.analyze(topic.text) if index is not None else topic.text.split()))
        for topic in facts.need_topics("length")
    ]


def df(facts: Facts) -> list[Value]:
    """The mean document frequency of the query's terms, which tells how common its words are."""
    index = facts.need_index("df")
    values: list[Value] = []
    for topic in facts.need_topics("df"):
        found = [index.snapshot.term(term) for term in dict.fromkeys(index.analyze(topic.text))]
        values.append(float(np.mean([term.df if term else 0 for term in found])) if found else None)
    return values


def clarity(facts: Facts) -> list[Value]:
    """The clarity of the query in bits, which tells how much the words of the documents found differ from the collection."""
    from sublex.retrieval.term_table import TermTable

    index = facts.need_index("clarity")
    table = TermTable(index.snapshot)
    return [clarity_of(index, table, topic.text) for topic in facts.need_topics("clarity")]


def relevant(facts: Facts) -> list[Value]:
    """The number of relevant documents."""
    return [float((facts.qrels.topic(qid)[1] > 0).sum()) for qid in facts.qids]


def judged(facts: Facts) -> list[Value]:
    """The share of judged documents among the first ten of each system."""
    values: list[Value] = []
    for qid in facts.qids:
        grades = facts.qrels[qid]
        tops = [system.run.docnos.take(system.run.topic(qid)[0][:TOP]).tolist() for system in facts.systems]
        found = [docno in grades for top in tops for docno in top]
        values.append(float(np.mean(found)) if found else None)
    return values


def agreement(facts: Facts) -> list[Value]:
    """The agreement (RBO) of the systems' first hundred documents, as the mean over pairs of systems."""
    if len(facts.systems) < 2:
        raise InputError("--by agreement compares systems; give two or more.")
    values: list[Value] = []
    for qid in facts.qids:
        lists = [system.run.docnos.take(system.run.topic(qid)[0][:DEPTH]).tolist() for system in facts.systems]
        values.append(float(np.mean([rbo(a, b) for a, b in combinations(lists, 2)])))
    return values


PROPERTIES: Mapping[str, Callable[[Facts], list[Value]]] = {
    each.__name__: each for each in (length, df, clarity, relevant, judged, agreement)
}
# The properties as sentences name them.
IN_WORDS = {
    "length": "the length of the query",
    "df": "the document frequency of the query's words",
    "clarity": "the clarity of the query",
    "relevant": "the number of relevant documents",
    "judged": "the share of judged documents",
    "agreement": "the agreement of the systems",
}


def clarity_of(index: Index, table: TermTable, text: str) -> float | None:
    """Return the clarity of a query in bits; None if no document contains a word of the query.

    The clarity is the divergence of the query's model from the collection's. The query's model is a mean of the models
    of the first 500 documents, weighted by the likelihood of the query in each document. A document's model mixes its
    own words (weight 0.6) with those of the collection.

    S. Cronen-Townsend, Y. Zhou and W. B. Croft, Predicting query performance, SIGIR 2002.
    """
    from sublex.expanders.feedback_documents import FeedbackDocuments, known_terms
    from sublex.retrieval.feedback import Feedback

    query = index.query(text)
    hits = index.answer(query, "JelinekMercerLM", CLARITY_DOCS).hits
    if not len(hits):
        return None
    context = Feedback(hits, table)
    documents, tokens = FeedbackDocuments.read(context, hits.docs), context.collection.tokens
    common = context.stats(documents.terms).cf / tokens
    shares = documents.tfs / documents.lengths[documents.rows]
    likelihood = np.zeros(len(hits))
    weights = query.word_weights()
    for term, number in known_terms(context, weights).items():
        place = int(np.searchsorted(documents.terms, number))
        # The logarithm is finite: each word that the index knows has a share above 0 in the collection.
        background = (1 - CLARITY_WEIGHT) * context.stats(np.array([number])).cf[0] / tokens
        own = np.zeros(len(hits))
        if place < len(documents.terms) and documents.terms[place] == number:
            entries = documents.columns == place
            own[documents.rows[entries]] = shares[entries]
        likelihood += weights[term] * np.log(CLARITY_WEIGHT * own + background)
    chances = np.exp(likelihood - likelihood.max())
    chances /= chances.sum()
    model = CLARITY_WEIGHT * documents.sum_by_term(shares * chances[documents.rows]) + (1 - CLARITY_WEIGHT) * common
    # The ratio of model and collection is the same for all words that none of these documents contains.
    unseen = (1 - CLARITY_WEIGHT) * np.log2(1 - CLARITY_WEIGHT) * max(0.0, 1 - float(common.sum()))
    return float((model * np.log2(model / common)).sum() + unseen)


def field_of(facts: Facts, by: str, name: str) -> list[Value]:
    """Return for each topic the text of its field `name`; None for a topic without this field.

    `by` is the property as the user wrote it, for messages.
    """
    topics = facts.need_topics(by)
    if not any(name in topic.fields for topic in topics):
        known = dict.fromkeys(field for topic in topics for field in topic.fields)
        raise InputError(f"No topic has a field {name}; there are {', '.join(known) or 'none'}.")
    return [topic.fields.get(name) or None for topic in topics]


def label_of(facts: Facts, expression: str) -> list[Value]:
    """For each topic, return the label of a fitted model that fits its relevant documents best.

    The shares of a label in the relevant documents are added up; the label with the largest sum counts. A topic has None if
    no relevant document is in the index or has a label.
    """
    index = facts.need_index(expression)
    model = index.representation(expression)
    if not model.labels:
        raise InputError(
            f"{model.name} has no labels to group topics by; name a fitted model of topics, such as lda(k=20)."
        )
    merged = model.applied_decisions.merged
    values: list[Value] = []
    for qid in facts.qids:
        wanted = [docno for docno, grade in facts.qrels[qid].items() if grade > 0]
        docs = np.array([doc for docno in wanted if (doc := index.doc(docno)) is not None], np.int64)
        sums = np.asarray(model.label_shares(docs).sum(axis=0)).ravel() if len(docs) else np.zeros(1)
        best = int(sums.argmax())
        values.append(model.labels[merged.get(best, best)] if sums.any() else None)
    return values
