"""Tests of sparse word graphs: the regressions of words against proximal gradient descent and liblinear, graphs, and topic documents."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from sublex.errors import InputError
from sublex_swg.graph import join, strongest, truncated, word_graph
from sublex_swg.neighbourhoods import neighbourhoods
from sublex_swg.topic_documents import topic_documents

RHO = 0.1


def documents(rows=120, words=300, seed=0):
    """Return binary documents as a topic has them: few words in many documents, most in a few, some always together, one in none."""
    chance = np.random.default_rng(seed)
    popular = 1 / np.arange(2, words + 2) ** 0.9
    made = (chance.random((rows, words)) < popular).astype(np.int8)
    made[:, 16:20] |= made[:, 5:9] & (chance.random((rows, 4)) < 0.8)
    made[:, 11], made[:, words - 1] = made[:, 10], 0
    return csr_array(made)


def objective(x, y, weights, intercept, rho):
    logits = x @ weights + intercept
    return np.sum(np.logaddexp(0, logits) - y * logits) + rho * np.abs(weights).sum()


def one_word(binary, word):
    """Return the other words' columns and the word's, dense."""
    dense = binary.toarray().astype(float)
    return np.delete(dense, word, 1), dense[:, word]


def fitted_to(found, word):
    return np.delete(found.weights[[word]].toarray()[0], word), found.intercepts[word]


def proximal_gradient(x, y, rho, steps=6000):
    """Return the smallest objective that accelerated proximal gradient descent finds."""
    one = np.column_stack((x, np.ones(len(y))))
    length = 4 / np.linalg.norm(one, 2) ** 2
    w = ahead = np.zeros(one.shape[1])
    momentum = 1.0
    for _ in range(steps):
        step = ahead - length * one.T @ (1 / (1 + np.exp(-one @ ahead)) - y)
        new = np.sign(step) * np.maximum(np.abs(step) - length * rho, 0)
        new[-1] = step[-1]
        grown = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        ahead, w, momentum = new + (momentum - 1) / grown * (new - w), new, grown
    return objective(x, y, w[:-1], w[-1], rho)


# Regressions.


@pytest.mark.slow
@pytest.mark.parametrize("rho", [0.3, 2.0])
def test_the_objective_is_that_of_proximal_gradient_descent(rho):
    binary = documents(40, 25, 1)
    found = neighbourhoods(binary, rho=rho, tol=1e-9)
    for word in (0, 10, 22):
        x, y = one_word(binary, word)
        assert objective(x, y, *fitted_to(found, word), rho) == pytest.approx(proximal_gradient(x, y, rho), rel=1e-6)


def test_no_objective_is_above_that_of_liblinear():
    from sklearn.linear_model import LogisticRegression

    binary = documents(60, 120)
    found = neighbourhoods(binary, RHO)
    words = np.flatnonzero(np.isfinite(found.intercepts))
    for word in np.random.default_rng(0).choice(words, 6, replace=False):
        x, y = one_word(binary, word)
        with warnings.catch_warnings():
            # scikit-learn renames its options, and liblinear stops before it has converged.
            warnings.simplefilter("ignore")
            peer = LogisticRegression(penalty="l1", C=1 / RHO, solver="liblinear", intercept_scaling=1e3).fit(x, y)
        reached = objective(x, y, peer.coef_[0], peer.intercept_[0], RHO)
        assert objective(x, y, *fitted_to(found, word), RHO) <= reached * (1 + 1e-4)


@pytest.mark.parametrize("tol", [1e-3, 1e-9])
def test_the_conditions_of_the_optimum_hold(tol):
    binary = documents()
    found = neighbourhoods(binary, RHO, tol=tol)
    assert found.violations.max() <= tol
    for word in range(0, 300, 7):
        x, y = one_word(binary, word)
        weights, intercept = fitted_to(found, word)
        residuals = 1 / (1 + np.exp(-x @ weights - intercept)) - y
        gradient = x.T @ residuals
        off = np.where(weights != 0, gradient + RHO * np.sign(weights), np.maximum(np.abs(gradient) - RHO, 0))
        assert max(np.abs(off).max(), abs(residuals.sum())) <= (tol + 1e-12) * RHO, word


def test_words_in_the_same_documents_share_a_weight_equally_and_have_each_other():
    binary = documents()
    weights = neighbourhoods(binary, RHO, tol=1e-9).weights.toarray()
    np.testing.assert_allclose(weights[:, 10][12:], weights[:, 11][12:], rtol=1e-12)
    assert weights[10, 11] == weights[11, 10] > 0
    assert np.count_nonzero(weights[10]) == 1


def test_a_word_without_examples_has_no_neighbours_and_is_no_neighbour():
    dense = documents(50, 40).toarray()
    dense[:, 3], dense[:, 7] = 1, 0
    found = neighbourhoods(dense, 0.5)
    assert found.intercepts[3] == np.inf and found.intercepts[7] == -np.inf
    assert not found.weights[[3, 7]].nnz and not found.weights[:, [3, 7]].nnz


def test_a_large_penalty_leaves_the_intercepts_alone():
    dense = documents(50, 40).toarray()
    found = neighbourhoods(dense, 1e3)
    share = dense.mean(axis=0)
    assert not found.weights.nnz
    known = (share > 0) & (share < 1)
    np.testing.assert_allclose(found.intercepts[known], np.log(share[known] / (1 - share[known])))


@pytest.mark.slow
def test_the_result_is_the_same_for_any_number_of_workers_and_follows_the_order_of_the_words():
    binary = documents()
    one, *others = (neighbourhoods(binary, RHO, workers=workers) for workers in (1, 2, 3))
    for other in others:
        assert all(
            a.tobytes() == b.tobytes()
            for a, b in (
                (one.weights.data, other.weights.data),
                (one.weights.indices, other.weights.indices),
                (one.intercepts, other.intercepts),
            )
        )
    order = np.random.default_rng(0).permutation(300)
    exact, moved = (neighbourhoods(matrix, RHO, tol=1e-10) for matrix in (binary, binary[:, order]))
    np.testing.assert_allclose(moved.weights.toarray(), exact.weights.toarray()[order][:, order], atol=1e-6)


@given(st.integers(1, 12), st.integers(1, 8), st.integers(0, 10**6), st.sampled_from([0.01, 0.1, 1.0, 10.0]))
def test_any_small_matrix_converges(rows, words, seed, rho):
    binary = np.random.default_rng(seed).integers(0, 2, (rows, words))
    found = neighbourhoods(binary, rho, tol=1e-6)
    assert found.violations.max() <= 1e-6
    assert np.isfinite(found.weights.data).all() and found.weights.shape == (words, words)


def test_progress_counts_words_and_may_end_the_work():
    told: list[tuple[int, int]] = []
    neighbourhoods(documents(), RHO, workers=2, progress=lambda *counts: told.append(counts))
    assert told[-1] == (300, 300) and told == sorted(told) and len(told) > 3

    def cancel(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        neighbourhoods(documents(), RHO, progress=cancel)


def test_mistakes_are_named():
    for rho in (0, float("inf"), float("nan")):
        with pytest.raises(InputError, match=f"rho is {rho:g}; the weight of the penalty must be above 0"):
            neighbourhoods(documents(), rho)
    with pytest.raises(InputError, match="tol is 0"):
        neighbourhoods(documents(), tol=0)
    with pytest.raises(InputError, match="at least one document and one word"):
        neighbourhoods(np.zeros((0, 3)))
    with pytest.raises(InputError, match="combine=both is none of union, intersection"):
        word_graph(documents(), combine="both")


# Recovery of known graphs.


def tree(nodes, seed, samples):
    """Return the edges of a random tree with at most four edges at a node, and samples of an Ising model on it (equation 1)."""
    chance = np.random.default_rng(seed)
    degree, parents = np.zeros(nodes, int), np.zeros(nodes, int)
    for node in range(1, nodes):
        parents[node] = chance.choice(np.flatnonzero(degree[:node] < 4 - (np.arange(node) > 0)))
        degree[node], degree[parents[node]] = 1, degree[parents[node]] + 1
    # With 0 and 1 as likely at every node, a weight λ gives x = parent with probability 1 / (1 + exp(-λ / 2)).
    weights = chance.uniform(0.5, 1, nodes) * chance.choice([-1, 1], nodes)
    x = np.empty((samples, nodes), np.int8)
    x[:, 0] = chance.integers(0, 2, samples)
    for node in range(1, nodes):
        same = chance.random(samples) < 1 / (1 + np.exp(-weights[node] / 2))
        x[:, node] = np.where(same, x[:, parents[node]], 1 - x[:, parents[node]])
    return {(int(parents[node]), node) for node in range(1, nodes)}, x


def f1(edges, x):
    rho = 0.5 * np.sqrt(np.log(x.shape[1]) * len(x))
    found = strongest(word_graph(x, rho))
    pairs = set(zip(found.first.tolist(), found.second.tolist(), strict=True))
    return 2 * len(pairs & edges) / (len(pairs) + len(edges))


def test_the_graph_of_an_ising_model_is_recovered_better_with_more_samples():
    scores = [[f1(edges, x[:n]) for n in (300, 5000)] for edges, x in (tree(32, seed, 5000) for seed in range(3))]
    few, many = np.mean(scores, axis=0)
    assert many >= 0.95 and many > few


# Graphs.


def test_the_weight_of_an_edge_is_the_sum_of_both_words_weights():
    found = neighbourhoods(documents(), RHO)
    weights = found.weights.toarray()
    union, both = join(found).toarray(), join(found, "intersection").toarray()
    np.testing.assert_array_equal(union, weights + weights.T)
    np.testing.assert_array_equal(both, np.where((weights != 0) & (weights.T != 0), weights + weights.T, 0))
    np.testing.assert_array_equal(word_graph(documents(), RHO).toarray(), union)
    assert (union == union.T).all() and not union.diagonal().any()


def test_the_strongest_edges_come_first_and_equal_ones_by_number():
    graph = csr_array(np.array([[0, 2, -1, 2], [2, 0, 0, 5], [-1, 0, 0, 0], [2, 5, 0, 0]], float))
    edges = strongest(graph, 3)
    assert list(zip(*(part.tolist() for part in edges), strict=True)) == [(1, 3, 5), (0, 1, 2), (0, 3, 2)]
    assert len(strongest(graph).first) == 4
    words, weights = truncated(graph, 0)
    assert words.tolist() == [1, 3] and weights.tolist() == [2, 2]
    assert truncated(graph, 2)[1].tolist() == [-1]


# Documents of a topic.


def test_the_documents_of_a_topic_hold_the_words_that_have_it():
    counts = csr_array(np.array([[2, 1, 0], [0, 3, 1], [1, 1, 1], [0, 0, 0]]))
    assignments = np.array([0, 1, 1, 0, 0, 0, 1])
    shares = np.array([0.7, 0.25, 0.9, 0.2])
    found = topic_documents(counts, assignments, shares, 0)
    assert found.docs.tolist() == [0, 1, 2]
    assert found.binary.toarray().tolist() == [[1, 0, 0], [0, 0, 1], [1, 1, 0]]
    best = topic_documents(counts, assignments, shares, 0, most=2, min_df=2)
    assert best.docs.tolist() == [0, 2]
    assert best.binary.toarray().tolist() == [[1, 0, 0], [1, 0, 0]]
    with pytest.raises(InputError, match="7 entries in 4 documents, and there are 6 assignments and 4 shares"):
        topic_documents(counts, assignments[1:], shares, 0)
