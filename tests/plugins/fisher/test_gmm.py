"""Tests of mixtures of Gaussians: against the textbook's steps, on planted clusters, and with input that makes no sense."""

from __future__ import annotations

import naive
import numpy as np
import pytest

from sublex.errors import InputError
from sublex_fisher import gmm


def clusters(seed=0, number=300, e=5, k=3):
    """Return points around some centres, in dimensions of very different scales, and their weights."""
    chance = np.random.default_rng(seed)
    points = chance.normal(size=(k, e))[chance.integers(k, size=number)] * 4 + chance.normal(size=(number, e))
    return points * 10.0 ** np.arange(-2, e - 2), chance.integers(1, 6, number).astype(float)


def same_bytes(a, b):
    return all(x.tobytes() == y.tobytes() for x, y in zip(a, b, strict=True))


def test_the_likelihood_never_falls():
    for seed in range(5):
        points, weights = clusters(seed)
        fit, _ = gmm.fit(points, weights, 4, starts=1, seed=seed)
        rises = np.diff(fit.trace)
        assert rises.min() >= -1e-12 * abs(fit.trace[-1]) and len(fit.trace) > gmm.MIN_STEPS


def test_a_weight_is_a_repeated_point():
    points, weights = clusters()
    x = (points - points.mean(axis=0)) / points.std(axis=0)
    begin = gmm.initial_mixture(x, 3)
    weighted = gmm.em(x, weights, begin)
    repeated = gmm.em(np.repeat(x, weights.astype(int), axis=0), np.ones(int(weights.sum())), begin)
    assert len(weighted.trace) == len(repeated.trace)
    for a, b in zip(weighted.mixture, repeated.mixture, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)


def test_a_step_of_em_is_the_textbooks():
    points, weights = clusters(number=40)
    x = (points - points.mean(axis=0)) / points.std(axis=0)
    begin = gmm.initial_mixture(x, 3)
    found = gmm._maximisation(begin, weights.sum(), *gmm._expectation(x, weights, gmm._quadratic(begin))[1:])
    for a, b in zip(found[:3], naive.em_step(x, weights, *begin[:3]), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12)
    assert begin.likelihood(x, weights) == pytest.approx(naive.mixture_likelihood(x, weights, *begin[:3]), rel=1e-12)


def test_posteriors_are_probabilities_however_far_the_point():
    points, weights = clusters()
    mixture = gmm.fit(points, weights, 3)[0].mixture
    far = mixture.posteriors(np.array([[1e6] * 5, [-1e6] * 5, [0.0] * 5]))
    assert np.isfinite(far).all()
    np.testing.assert_allclose(far.sum(axis=1), 1)


def test_planted_centres_are_found():
    points, weights = clusters(number=3000)
    mixture = gmm.fit(points, weights, 3)[0].mixture
    assert np.sort(mixture.shares) == pytest.approx([1 / 3] * 3, abs=0.05)
    assert (mixture.variances < 0.5).any(axis=1).all()


def test_the_fit_does_not_depend_on_scale_or_place():
    points, weights = clusters()
    one = gmm.fit(points, weights, 4)[0].mixture
    two = gmm.fit(points * 2.0 ** np.arange(-9, 6, 3) + 8, weights, 4)[0].mixture
    for a, b in zip(one[:3], two[:3], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-8)


def test_the_best_start_is_kept():
    points, weights = clusters()
    fit, likelihoods = gmm.fit(points, weights, 6, starts=4)
    assert fit.trace[-1] == max(likelihoods) and len(set(likelihoods)) > 1
    assert gmm.fit(points, weights, 6, starts=1)[1] == likelihoods[:1]


@pytest.mark.slow
def test_the_mixture_is_the_same_for_any_number_of_workers():
    points, weights = clusters(number=9000)
    one, two, three = (gmm.fit(points, weights, 3, starts=2, workers=n)[0].mixture for n in (1, 2, 3))
    assert same_bytes(one, two) and same_bytes(one, three)
    assert not same_bytes(one, gmm.fit(points, weights, 3, starts=2, seed=1)[0].mixture)


def test_there_are_no_more_gaussians_than_points():
    points = np.repeat([[0.0, 1.0], [2.0, 3.0]], 5, axis=0)
    mixture = gmm.fit(points, np.ones(10), 16)[0].mixture
    assert len(mixture.shares) <= 2 and all(np.isfinite(a).all() for a in mixture)
    one = gmm.fit(points[:1], np.ones(1), 3)[0].mixture
    assert one.shares.tolist() == [1.0] and one.centre.tolist() == [0.0, 1.0]


def test_no_variance_falls_below_the_floor():
    points = np.repeat(np.random.default_rng(0).normal(size=(4, 3)), 10, axis=0)
    mixture = gmm.fit(points, np.ones(40), 4)[0].mixture
    assert mixture.variances.min() == gmm.VARIANCE_FLOOR


def test_a_dimension_that_never_changes_does_no_harm():
    points, weights = clusters()
    points[:, 2] = 7.3
    fit, _ = gmm.fit(points, weights, 3)
    assert all(np.isfinite(a).all() for a in fit.mixture) and np.diff(fit.trace).min() > -1e-9


@pytest.mark.parametrize(
    ("points", "weights", "message"),
    [
        (np.ones((3, 2)), np.ones(2), "do not match"),
        (np.ones((3, 2)), -np.ones(3), "not negative"),
        (np.ones((3, 2)), np.zeros(3), "nothing to fit"),
        (np.ones((0, 2)), np.zeros(0), "nothing to fit"),
        (np.ones((3, 0)), np.ones(3), "nothing to fit"),
        (np.full((3, 2), np.nan), np.ones(3), "not finite"),
    ],
)
def test_wrong_input_to_the_mixture_is_one_sentence(points, weights, message):
    with pytest.raises(InputError, match=message):
        gmm.fit(points, weights, 2)


def test_points_that_do_not_count_may_be_anything():
    points, weights = clusters()
    more = np.vstack((points, np.full((1, 5), np.nan)))
    assert same_bytes(gmm.fit(points, weights, 3)[0].mixture, gmm.fit(more, np.append(weights, 0), 3)[0].mixture)
