"""Tests of how the parts of Source-LDA are put together. What they expect follows from the paper, and from draws of their own."""

from __future__ import annotations

import json
from pathlib import Path
from shutil import copytree

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.special import rel_entr

import sublex
from sublex_sourcelda import PARAMS, make
from sublex_sourcelda.model import SourceLDA
from sublex_sourcelda.priors import EPSILON, Priors


def exponents_of(priors: Priors, epsilon: float) -> np.ndarray:
    """Return the exponents of labelled topics, which follow from epsilon^exponent. Rows are topics, columns are points."""
    return np.log(priors.floors[:, priors.weights > 0]) / np.log(epsilon)


def test_lambda_has_the_mean_of_closeness_and_the_deviation_of_spread():
    defaults = {param.name: param.default for param in PARAMS} | {"source": "none"}
    made = make(**defaults | {"closeness": 0.6, "spread": 0.15, "points": 7}).estimator
    assert isinstance(made, SourceLDA)
    made.smooth = False
    priors = made.priors(csr_array(np.array([[3.0, 1, 0, 0]])))
    weights = priors.weights[priors.weights > 0]
    # Seven points within two deviations of the mean.
    points = np.array([0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9])
    expected = np.exp(-((points - 0.6) ** 2) / (2 * 0.15**2))
    assert weights == pytest.approx(expected / expected.sum())
    assert exponents_of(priors, made.epsilon)[-1] == pytest.approx(points)
    # The last value is that of a topic of the first source: (3 + epsilon)^lambda, and so on, summed over the words.
    assert priors.sums[-1, :7] == pytest.approx(3**points + 1 + 2 * made.epsilon**points)


def test_no_parameter_is_lost_between_the_expression_and_the_estimator():
    given = {
        "source": "none", "k": 7, "model": "full", "iterations": 31, "closeness": 0.6, "spread": 0.15, "points": 9, "alphas": 3.0,
        "betas": 17.0, "min_df": 4, "max_df": 0.3, "seed": 5, "likeness": 0.2, "score": "js", "share": 0.7, "mu": 55.0,
    }  # fmt: skip
    unknown = {param.name: param.default for param in PARAMS if param.name not in given}
    made = make(**given | unknown)
    found = vars(made.estimator)
    expected = {
        "k": 7,
        "model": "full",
        "iterations": 31,
        "mu": 0.6,
        "sigma": 0.15,
        "points": 9,
        "alphas": 3.0,
        "betas": 17.0,
    }
    assert {name: found[name] for name in expected} == expected
    assert found["seed"] == 5 and found["smooth"] and found["informed"]
    assert (made.min_df, made.max_df, made.kind, made.share, made.mu) == (4, 0.3, "js", 0.7, 55.0)
    assert (made.source, made.least_likeness) == ("none", 0.2)


def js(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Return the Jensen-Shannon divergence of rows in nats."""
    middle = (p + q) / 2
    return (rel_entr(p, middle).sum(axis=-1) + rel_entr(q, middle).sum(axis=-1)) / 2


@pytest.mark.parametrize("epsilon", [0.01, EPSILON])
@pytest.mark.parametrize("lacking", [60, 0])
def test_equal_steps_of_lambda_change_the_divergence_equally_with_smoothing(lacking: int, epsilon: float):
    # A source lacks most words of the vocabulary, or none.
    counts = np.append([40.0, 25, 12, 8, 5, 3, 3, 2, 2, 1, 1], np.zeros(lacking))
    weights = counts + epsilon
    rng = np.random.default_rng(0)

    def departure(smooth: bool) -> float:
        """Return the largest distance of the mean divergence from a straight line, as a share of its range."""
        model = SourceLDA(1, mu=0.5, sigma=0.25, points=9, smooth=smooth, epsilon=epsilon, high=1.0)
        (exponents,) = exponents_of(model.priors(csr_array(counts[None])), epsilon)[1:]
        drawn = [js(rng.dirichlet(weights**x, 4000), weights / weights.sum()).mean() for x in exponents]
        line = np.linspace(drawn[0], drawn[-1], 9)
        return float(np.abs(np.array(drawn) - line).max() / (drawn[0] - drawn[-1]))

    assert departure(True) < 0.07
    assert departure(False) > 0.15


def test_each_labelled_topic_has_the_text_of_its_own_source(built_demo: Path, tmp_path: Path):
    copytree(built_demo, tmp_path / "demo")
    index = sublex.open(tmp_path / "demo")
    texts = {"Birds": "bird nest wing crane", "Money": "bank money loan coin", "Nothing": "zyzzyva quux"}
    source = tmp_path / "source.jsonl"
    source.write_text("\n".join(json.dumps({"label": name, "text": text}) for name, text in texts.items()))
    expression = f'sourcelda("{source}", k=2, model=mixture, iterations=20, seed=3)'
    index.fit(expression)
    model = index.representation(expression).model
    assert model.texts == [None, None, "Birds", "Money"] and model.unknown == ["Nothing"]
    assert model.likeness[:2].tolist() == [0, 0] and (model.likeness[2:] > 0.1).all()
    for topic, own, other in ((2, "Birds", "Money"), (3, "Money", "Birds")):
        shares = [
            sum(model.estimator.phi_[model.vocabulary.index(term), topic] for term in index.analyze(texts[name]))
            for name in (own, other)
        ]
        assert shares[0] > 10 * shares[1]
