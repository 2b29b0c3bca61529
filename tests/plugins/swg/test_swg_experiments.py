"""The experiment on sparse word graphs: counts in the format of lda-c, and the edges of named topics."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import digamma, gammaln

from sublex.contracts.experiments import Experiment, ExperimentWork
from sublex.errors import InputError
from sublex_swg import experiments
from sublex_swg.experiments import TopicEdges, read_corpus
from sublex_swg.lda_c import best_alpha, variational_em

WORK = ExperimentWork(None, 1, lambda *given: None, lambda *given: None)
WORDS = ["bank", "money", "loan", "river", "water", "fish"]


@pytest.fixture
def files(tmp_path):
    """Counts of documents about money or about water, in which bank-money and river-water always come together."""
    chance, lines = np.random.default_rng(0), []
    for number in range(60):
        first = 0 if number % 2 else 3
        words = (
            [first, first + 1, *([first + 2] if chance.random() < 0.5 else [])]
            if chance.random() < 0.7
            else [first + 2]
        )
        lines.append(f"{len(words)} {' '.join(f'{word}:{chance.integers(2, 5)}' for word in words)}")
    (tmp_path / "ap.dat").write_text("\n".join(lines) + "\n")
    (tmp_path / "vocab.txt").write_text("\n".join(WORDS) + "\n")
    return str(tmp_path / "ap.dat"), str(tmp_path / "vocab.txt")


def experiment(files, **given):
    options = {
        "rho": 0.5,
        "seeds": 2,
        "iterations": 5,
        "strongest": ["Money: bank-money"],
        "neighbours": ["Money: money-bank"],
    }
    return TopicEdges(counts=files[0], vocabulary=files[1], **{**options, **given})


def test_words_that_always_come_together_have_the_strongest_edge(files, monkeypatch):
    monkeypatch.setattr(experiments, "TOPICS", 1)
    made = experiment(files)
    assert isinstance(made, Experiment) and made.cases == ("Money",) and made.units == ("seed 0", "seed 1")
    edges, documents, named, joined, shown = made.measure("seed 0", WORK)["Money"]
    assert edges > 0 and documents > 0 and named == joined == shown == 1
    far = experiment(files, neighbours=["Money: bank-river"]).measure("seed 0", WORK)["Money"]
    assert far[3:] == [0, 0]


def test_counts_are_those_of_the_file(files):
    corpus = read_corpus(*files)
    with open(files[0]) as lines:
        for row, line in enumerate(lines):
            counts = dict(entry.split(":") for entry in line.split()[1:])
            assert corpus.counts[[row]].toarray()[0].tolist() == [float(counts.get(str(word), 0)) for word in range(6)]
    assert corpus.words == WORDS and corpus.counts.shape == (60, 6)


def test_topics_by_variational_em_raise_the_bound(files):
    counts = read_corpus(*files).counts
    bounds = [variational_em(counts, 2, 0, iterations).bound for iterations in (1, 3, 10)]
    assert bounds == sorted(bounds) and bounds[0] < bounds[-1]


def test_the_bound_is_equation_15_of_blei_ng_and_jordan(files):
    counts = read_corpus(*files).counts.toarray()
    beta = np.random.default_rng(0).random((6, 2)) + 1 / 6
    beta /= beta.sum(axis=0)
    alpha, bound, shares = 0.1, 0.0, []
    for row in counts:
        gamma = np.full(2, alpha + row.sum() / 2)
        for _ in range(500):
            phi = beta * np.exp(digamma(gamma))
            phi /= phi.sum(axis=1, keepdims=True)
            gamma = alpha + row @ phi
        logs = digamma(gamma) - digamma(gamma.sum())
        bound += gammaln(2 * alpha) - 2 * gammaln(alpha) + (alpha - 1) * logs.sum()
        bound += (row[:, None] * phi * (logs + np.log(beta) - np.log(phi))).sum()
        bound -= gammaln(gamma.sum()) - gammaln(gamma).sum() + ((gamma - 1) * logs).sum()
        shares.append(gamma / gamma.sum())
    found = variational_em(read_corpus(*files).counts, 2, 0, iterations=1, steps=500)
    assert found.bound == pytest.approx(bound, rel=1e-4)
    np.testing.assert_allclose(found.theta, shares, atol=0.02)


@pytest.mark.parametrize(("documents", "topics", "means"), [(5, 3, -40.0), (60, 2, -300.0)])
def test_alpha_has_the_largest_bound(documents, topics, means):
    alphas = np.geomspace(1e-3, 7, 20_001)
    bounds = documents * (gammaln(topics * alphas) - topics * gammaln(alphas)) + alphas * means
    assert best_alpha(documents, topics, means) == pytest.approx(alphas[bounds.argmax()], rel=1e-2)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"strongest": ["Money bank"]}, "strongest has 'Money bank'; write a topic and edges"),
        ({"neighbours": ["War: bank-money"]}, "name different topics"),
        ({"strongest": ["Money: bank-coin"]}, "coin is no word of"),
    ],
)
def test_a_mistake_costs_a_sentence(files, given, message):
    with pytest.raises(InputError, match=message):
        experiment(files, **given).measure("seed 0", WORK)


def test_a_damaged_file_costs_a_sentence(files):
    with open(files[0], "a") as file:
        file.write("1 9:1\n")
    with pytest.raises(InputError, match="line 61: '9:1' is no word:count of a vocabulary of 6 words"):
        read_corpus(*files)
