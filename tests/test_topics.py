"""Tests of what models of topics share: inference against enumeration, scores against SciPy's, coherence and matching by hand."""

from __future__ import annotations

import naive
import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import jensenshannon

from sublex.estimators.sparse_rows import cosines, norms
from sublex.estimators.topics.coherence import npmi, top_words
from sublex.estimators.topics.counts import whole_counts_of
from sublex.estimators.topics.inference import mixtures, sample, settle
from sublex.estimators.topics.matching import affinities, matched
from sublex.estimators.topics.scores import overlaps, similarities

ALPHA = np.array([0.4, 0.9])
PHI = np.array([[0.6, 0.1], [0.3, 0.2], [0.1, 0.7]])


def test_sampled_topics_of_a_document_come_near_their_exact_expectation():
    row = whole_counts_of(np.array([[2, 1, 1]]))
    exact, _ = naive.expected_counts([0, 0, 1, 2], PHI, ALPHA)
    sums, topics = sample(row, PHI, ALPHA, samples=40_000)
    np.testing.assert_allclose(sums[0], exact, atol=0.03)
    assert topics.tolist() == [0, 0, 1]


def test_the_fixed_point_of_one_word_is_the_probability_of_topics_given_the_word():
    row = csr_array(np.array([[0.0, 1.0, 0.0]]))
    expected = PHI[1] * ALPHA / (PHI[1] @ ALPHA)
    np.testing.assert_allclose(settle(row, PHI, ALPHA)[0], expected, atol=1e-12)
    np.testing.assert_allclose(settle(row * 0.25, PHI, ALPHA)[0], 0.25 * expected, atol=1e-12)
    theta = mixtures(settle(row, PHI, ALPHA), ALPHA)[0]
    np.testing.assert_allclose(theta, (naive.expected_counts([1], PHI, ALPHA)[0] + ALPHA) / (1 + ALPHA.sum()))


def test_the_fixed_point_fulfils_its_equation():
    weights = np.array([2.0, 0.5, 1.0])
    n = settle(csr_array(weights[None]), PHI, ALPHA)[0]
    r = PHI * ALPHA
    r /= r.sum(axis=1, keepdims=True)
    for _ in range(2000):
        for w in range(3):
            others = weights @ r - min(weights[w], 1) * r[w]
            r[w] = PHI[w] * (ALPHA + others) / (PHI[w] @ (ALPHA + others))
    np.testing.assert_allclose(n, weights @ r, atol=1e-5)
    assert n.sum() == pytest.approx(weights.sum())


def test_weights_that_are_not_above_zero_are_ignored():
    odd, plain = np.array([[2.0, -1.0, 0.0]]), np.array([[2.0, 0.0, 0.0]])
    np.testing.assert_array_equal(settle(csr_array(odd), PHI, ALPHA), settle(csr_array(plain), PHI, ALPHA))
    assert not settle(csr_array(np.array([[-1.0, 0.0, 0.0]])), PHI, ALPHA).any()


def test_similarities_are_those_of_scipy_and_numpy():
    rng = np.random.default_rng(0)
    rows = np.where(rng.random((30, 8)) < 0.5, rng.gamma(1, 5, (30, 8)), 0)
    rows[3] = 0
    query = rng.dirichlet(np.ones(8))
    found, angles = similarities(csr_array(rows), query), cosines(rows @ query, norms(csr_array(rows)), query)
    for k, row in enumerate(rows):
        if k == 3:
            assert found[k] == angles[k] == 0
            continue
        assert found[k] == pytest.approx(1 - jensenshannon(row, query, base=2) ** 2, abs=1e-12)
        assert angles[k] == pytest.approx(row @ query / np.linalg.norm(row) / np.linalg.norm(query))
    assert overlaps(np.array([0.0, 0.3, 0.5]), np.array([0.2, 0.0, 0.5])).tolist() == [0, 0, 0.5]


def test_npmi_is_the_formula_by_hand():
    # Words 0 and 1 share two of four documents, 0 and 2 none, 1 and 2 one; word 3 is in every document, word 4 in none.
    x = np.array([[1, 1, 0, 1, 0], [3, 1, 0, 2, 0], [0, 1, 1, 1, 0], [0, 0, 1, 1, 0]])
    pair = {
        (0, 1): np.log(0.5 / (0.5 * 0.75)) / -np.log(0.5),
        (0, 2): -1.0,
        (1, 2): np.log(0.25 / (0.75 * 0.5)) / -np.log(0.25),
    }
    topics = [np.array([1, 0, 2]), np.array([0, 3]), np.array([3, 4]), np.array([2]), np.array([3, 3])]
    found = npmi(x, topics)
    assert found[0] == pytest.approx(sum(pair.values()) / 3)
    assert found[1] == 0.0, "word 3 says nothing about word 0"
    assert found[2:].tolist() == [-1.0, 0.0, 1.0]


def test_top_words_are_the_most_probable_and_ties_go_by_number():
    assert [words.tolist() for words in top_words(np.array([[0.2, 0.1], [0.5, 0.1], [0.2, 0.8]]), 2)] == [
        [1, 0],
        [2, 0],
    ]


def test_topics_are_matched_one_to_one_by_their_words():
    phi = np.array([[0.7, 0.1, 0.0], [0.3, 0.1, 0.0], [0.0, 0.8, 1.0]])
    partner, affinity = matched(phi, phi[:, [2, 0]])
    assert partner.tolist() == [1, -1, 0]
    np.testing.assert_allclose(affinity, [1, 0, 1])
    np.testing.assert_allclose(affinities(phi, phi)[0, 1], np.sqrt(0.07) + np.sqrt(0.03))
