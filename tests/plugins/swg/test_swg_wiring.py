"""Tests of how word graphs are put together: which documents and words of a topic count, and which parameters reach the graphs."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csc_array, csr_array

import sublex
from sublex.language.expression import Call
from sublex.language.parser import parse
from sublex_swg import PARAMS, expander, make
from sublex_swg.expander import SWG
from sublex_swg.neighbourhoods import neighbourhoods
from sublex_swg.word_senses import Sense, chances

TEXTS = {
    "a": "river boat mud mud", "b": "river boat reed", "c": "river mud reed", "d": "boat mud reed", "e": "river boat heron",
    "f": "mud heron", "g": "river heron",
}  # fmt: skip
# The share of the first of two topics in each document.
SHARES = {"a": 1.0, "b": 0.9, "c": 0.8, "d": 0.6, "e": 0.25, "f": 0.2499, "g": 0.0}


def fitted(tmp_path: Path, assigned: dict[tuple[str, str], int], progress: list | None = None, **params: object) -> SWG:
    """Return graphs of the texts by a model of two topics whose shares and topics of words are given.

    `assigned` has the words of documents that have the second topic; all other words have the first.
    """
    index = sublex.build([{"id": name, "text": text} for name, text in TEXTS.items()], tmp_path / "i", analyzer="plain")
    vocabulary = sorted({word for text in TEXTS.values() for word in text.split()})

    def theta(counts: csr_array, workers: int) -> np.ndarray:
        first = np.array(list(SHARES.values()))
        return np.column_stack((first, 1 - first))

    def assign(counts: csr_array, workers: int) -> csr_array:
        rows = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
        names = [*TEXTS]
        pairs = zip(rows.tolist(), counts.indices.tolist(), strict=True)
        topics = np.array([assigned.get((names[row], vocabulary[word]), 0) for row, word in pairs])
        return csr_array((topics, counts.indices, counts.indptr), shape=counts.shape)

    told = [] if progress is None else progress
    estimator = SimpleNamespace(theta_and_topics=lambda *given: (theta(*given), assign(*given)))
    topics = SimpleNamespace(vocabulary=vocabulary, estimator=estimator)
    job = SimpleNamespace(
        model=lambda expression: topics, workers=1, map=map, progress=lambda *counts: told.append(counts)
    )
    made = make(**{param.name: param.default for param in PARAMS} | {"topics": Call("lda")} | params)
    made.fit(index.corpus, job)
    return made


def documents_with(found: SWG, topic: int) -> dict[str, int]:
    """Return the number of documents of each word in a topic, without words in none."""
    return {word: int(n) for word, n in zip(found.graphs.vocabulary, found.graphs.df[topic], strict=True) if n}


def test_a_document_needs_a_quarter_of_the_topic_and_a_word_three_of_its_documents(tmp_path):
    found = fitted(tmp_path, {})
    # Documents a to e have a quarter of the first topic; heron is in one of them, all others are in three or more.
    assert found.graphs.sizes.tolist() == [5, 4]
    assert documents_with(found, 0) == {"river": 4, "boat": 4, "mud": 3, "reed": 3}
    # The model gives the first topic to every word, so the second topic has documents and no words.
    assert documents_with(found, 1) == {}


def test_a_word_counts_only_where_it_has_the_topic(tmp_path):
    found = fitted(
        tmp_path, {("a", "river"): 1, ("a", "boat"): 1, ("g", "heron"): 1, ("f", "heron"): 1, ("e", "heron"): 1}
    )
    # The second topic has a quarter of the documents d to g.
    assert documents_with(found, 0) == {"river": 3, "boat": 3, "mud": 3, "reed": 3}
    assert found.graphs.sizes.tolist() == [5, 4]
    assert documents_with(found, 1) == {"heron": 3}


def test_rho_reaches_the_regressions_and_a_large_one_leaves_no_edge(tmp_path, monkeypatch):
    given = []
    real = expander.word_graph
    monkeypatch.setattr(
        expander, "word_graph", lambda binary, rho, **more: given.append(rho) or real(binary, rho, **more)
    )
    assert not fitted(tmp_path / "a", {}, rho=50.0).graphs.graphs.nnz
    assert fitted(tmp_path / "b", {}, rho=0.05).graphs.graphs.nnz
    assert set(given) == {50.0, 0.05}


def test_closeness_counts_the_topics_documents_in_which_words_stand_near_each_other(tmp_path, monkeypatch):
    given = []
    monkeypatch.setattr(expander, "closeness", lambda graph, *others: given.append(others) or graph)
    found = fitted(tmp_path, {("a", "river"): 1})
    number = {word: k for k, word in enumerate(found.graphs.vocabulary)}
    pairs = csr_array(np.ones((len(number), len(number)), np.int8))
    counts = pairs.astype(np.int64)
    counts.data = given[0][-1](pairs)
    counts = counts.toarray()
    # Of the first topic's documents a to e, all but c and d have both words. In a, river has the other topic.
    assert counts[number["river"], number["boat"]] == 2 and counts[number["boat"], number["river"]] == 3
    # Documents a and d; c has no boat.
    assert counts[number["boat"], number["mud"]] == counts[number["mud"], number["boat"]] == 2
    # Too few of the topic's documents have heron.
    assert counts[number["heron"]].sum() == 0


def test_of_more_documents_than_are_taken_those_with_the_largest_shares_are(tmp_path):
    found = fitted(tmp_path, {}, documents=3)
    # Documents a, b and c.
    assert found.graphs.sizes.tolist() == [3, 3]
    assert documents_with(found, 0) == {"river": 3}


@pytest.mark.parametrize("name", ["terms", "weight", "sense", "rho"])
def test_parameters_of_an_expression_reach_the_expander(name):
    defaults = {param.name: param.default for param in PARAMS} | {"topics": parse("lda(k=3)")}
    other = {"terms": 3, "weight": 0.7, "sense": "main", "rho": 2.5}[name]
    made = make(**defaults | {name: other})
    found = {key: getattr(made, key) for key in ("terms", "weight", "sense", "rho")}
    assert found == {key: defaults[key] for key in found} | {name: other}
    assert made.depends() == (parse("lda(k=3)"),)


# Graphs.


def test_the_callers_matrix_is_not_changed():
    binary = csc_array(np.array([[1, 0, 1], [0, 1, 1], [1, 1, 0], [0, 0, 1]], np.int8))
    binary.data[2] = 0
    before = [part.copy() for part in (binary.data, binary.indices, binary.indptr)]
    neighbourhoods(binary)
    for part, old in zip((binary.data, binary.indices, binary.indptr), before, strict=True):
        np.testing.assert_array_equal(part, old)


def test_the_chances_of_senses_are_their_scores_as_shares():
    assert chances([]) == []
    senses = [Sense(3, 5, np.log(6.0) - 500), Sense(0, 9, np.log(3.0) - 500), Sense(1, 2, np.log(1.0) - 500)]
    assert chances(senses) == pytest.approx([0.6, 0.3, 0.1])


def test_progress_counts_topics_evenly(tmp_path):
    told = []
    fitted(tmp_path, {("f", "heron"): 1, ("g", "heron"): 1, ("e", "heron"): 1}, progress=told)
    # Each of the two topics is half of the work.
    assert told == sorted(told) and told[-1][0] == told[-1][1]
    assert told[0][1] / 2 in [done for done, _ in told]
