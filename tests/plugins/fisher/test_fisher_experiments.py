"""The experiment on clusters: its measures beside scikit-learn's, its methods on data whose answer is known."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.sparse import csr_array

import sublex
from sublex_fisher.experiments import (
    adjusted_rand,
    mutual_information,
    plsa_clusters,
    spherical_means,
    weighted,
    yule,
    yule_vectors,
)

WORDS = {"left": [f"alpha{k}" for k in range(6)], "right": [f"beta{k}" for k in range(6)]}


@pytest.fixture
def texts():
    """Documents of two labels, each with words of its own and some words of both."""
    chance = np.random.default_rng(1)
    return [
        (label, " ".join([*chance.choice(WORDS[label], 12), *chance.choice(["some", "more", "text"], 2)]))
        for label in ("left", "right") * 20
    ]


@pytest.mark.parametrize("seed", range(5))
def test_agreement_is_that_of_scikit_learn(seed):
    metrics = pytest.importorskip("sklearn.metrics")
    chance = np.random.default_rng(seed)
    a, b = chance.integers(0, 4, 60), chance.integers(0, 3, 60)
    assert adjusted_rand(a, b) == pytest.approx(metrics.adjusted_rand_score(a, b))
    assert mutual_information(a, b) == pytest.approx(metrics.normalized_mutual_info_score(a, b))
    assert adjusted_rand(a, a) == mutual_information(a, a) == pytest.approx(1)


def test_spherical_means_finds_directions_and_never_leaves_a_cluster_empty():
    chance = np.random.default_rng(0)
    centres = np.eye(4)
    truth = np.repeat(np.arange(4), 25)
    rows = (centres[truth] + 0.1 * chance.random((100, 4))) * chance.random((100, 1))
    assert max(adjusted_rand(spherical_means(rows, 4, seed), truth) for seed in range(5)) == pytest.approx(1)
    same = np.ones((10, 2))
    assert len(np.unique(spherical_means(same, 3, 0))) == 3


def test_plsa_raises_the_likelihood_and_finds_topics_of_own_words():
    counts = csr_array(np.kron(np.eye(3), np.full((5, 4), 3.0)))
    truth = np.repeat(np.arange(3), 5)
    assert max(adjusted_rand(plsa_clusters(counts, 3, seed), truth) for seed in range(5)) == pytest.approx(1)


def test_yules_measure_is_its_formula():
    counts = (np.random.default_rng(0).random((30, 5)) < 0.4).astype(float) * 2
    found = yule(csr_array(counts))
    for i in range(5):
        for j in range(5):
            x, y = counts[:, i] > 0, counts[:, j] > 0
            a, b, c, d = (x & y).sum(), (x & ~y).sum(), (~x & y).sum(), (~x & ~y).sum()
            expected = (np.sqrt(a * d) - np.sqrt(b * c)) / (np.sqrt(a * d) + np.sqrt(b * c))
            assert found[i, j] == pytest.approx(expected, abs=1e-6)
    assert yule_vectors(csr_array(counts), 2).shape == (5, 2)


def test_rows_have_length_1():
    rows = weighted(csr_array([[1.0, 0, 3], [0, 2, 0], [0, 0, 1]]))
    assert rows.toarray()[0, 0] == pytest.approx(
        np.log(3) / np.hypot(np.log(3), (1 + np.log(3)) * np.log(1.5)), rel=0.2
    )
    assert np.linalg.norm(rows.toarray(), axis=1) == pytest.approx([1, 1, 1])


def test_a_study_measures_clusters(texts, tmp_path):
    lines = (json.dumps({"id": f"d{n}", "text": text, "label": label}) for n, (label, text) in enumerate(texts))
    (tmp_path / "docs.jsonl").write_text("\n".join(lines) + "\n")
    (tmp_path / "study.toml").write_text(
        """
[collections]
docs = "docs.jsonl"
[experiments.clusters]
index = "docs"
call = "fisher_clusters(width=4, gaussians=[2], lda=lda(k=2, iterations=50, max_df=1.0), yule=3, runs=5)"
[claims.order]
experiment = "clusters"
measure = "NMI"
higher = ["LSI"]
lower = ["PLSA"]
"""
    )
    found = sublex.study(tmp_path / "study.toml").experiment("clusters")
    assert not found.failure
    assert [case.name for case in found.systems] == [
        "FV, K = 2", "LSI", "PLSA", "LDA", "FV of Yule vectors, K = 32", "mean of Yule vectors",
    ]  # fmt: skip
    best = {case.name: case.values.max(axis=0).tolist() for case in found.systems}
    for name in ("LSI", "LDA", "PLSA"):
        assert best[name] == pytest.approx([1, 1]), name


def test_a_mixture_of_some_documents_is_that_of_these_documents_alone():
    from sublex.estimators.blocks import random
    from sublex_fisher import gmm
    from sublex_fisher.model import Fisher

    chance = np.random.default_rng(0)
    counts, words = csr_array(chance.poisson(0.6, (60, 12)).astype(float)), chance.normal(size=(12, 3))
    found = Fisher(words, k=2, seed=4, documents=20).fit(counts)
    chosen = np.sort(random(4, 60).permutation(60)[:20])
    alone, _ = gmm.fit(words, counts[chosen].sum(axis=0), 2, starts=5, seed=4)
    assert found.mixture.means == pytest.approx(alone.mixture.means)
    assert found.counts.tolist() == counts.sum(axis=0).tolist()
    everything = Fisher(words, k=2, seed=4).fit(counts).mixture
    for documents in (0, 60, 100):
        assert Fisher(words, k=2, seed=4, documents=documents).fit(counts).mixture.means == pytest.approx(
            everything.means
        )
    assert not np.allclose(found.mixture.means, everything.means)
