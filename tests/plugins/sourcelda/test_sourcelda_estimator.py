"""Tests of Source-LDA: against sums written out, Geweke's test, corpora drawn from the model, and the paper's examples."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.special import rel_entr

from sublex.errors import InputError
from sublex.estimators.blocks import random
from sublex.estimators.topics.counts import Tokens, tokens_of, whole_counts_of
from sublex_sourcelda.gibbs import SourceChain
from sublex_sourcelda.gibbs_kernels import sweep
from sublex_sourcelda.model import MODELS, SourceLDA
from sublex_sourcelda.priors import EPSILON, HIDDEN, UNLABELLED, Priors, points_of, source_priors
from sublex_sourcelda.smoothing import EXPONENTS, Smoothing, divergence


def js(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Return the Jensen-Shannon divergence of rows in nats."""
    middle = (p + q) / 2
    return (rel_entr(p, middle).sum(axis=-1) + rel_entr(q, middle).sum(axis=-1)) / 2


def drawn(theta: np.ndarray, phi: np.ndarray, length: int, seed: int = 0) -> csr_array:
    """Return counts of documents whose tokens are drawn from mixtures of topics; `phi` has a row for each topic."""
    rng = np.random.default_rng(seed)
    return csr_array(np.array([rng.multinomial(length, row @ phi) for row in theta]))


def some_sources(seed: int = 0) -> csr_array:
    """Return the counts of five sources over 40 words; few counts differ, and some listed words have the count 0."""
    rng = np.random.default_rng(seed)
    listed = rng.random((5, 40)) < 0.4
    counts = np.where(listed, rng.integers(0, 6, (5, 40)), 0)
    counts[:, 0] = 1
    rows = csr_array(listed.astype(float) + (counts > 0))
    rows.data = counts[np.repeat(np.arange(5), np.diff(rows.indptr)), rows.indices].astype(float)
    return rows


def state(model: str, seed: int = 0) -> tuple[SourceChain, csr_array]:
    """Return a chain in a random state, in which one topic without a label and one with a label are hidden, and its sources."""
    rng = np.random.default_rng(seed)
    rows = csr_array(rng.multinomial(25, np.full(40, 1 / 40), 30))
    sources = some_sources(seed)
    estimator = SourceLDA(k=3, model=model, points=6, smooth=False, high=1.5, alphas=50, epsilon=0.01, seed=seed)
    chain = estimator.start(tokens_of(whole_counts_of(rows)), sources)
    if estimator.reduces:
        chain.priors.kinds[[1, 5]] = HIDDEN
    return chain, sources


def naive(chain: SourceChain, model: str, sources: csr_array, document: int, token: int) -> np.ndarray:
    """Return the probabilities of the topics of a token, without itself: the formulas of the paper and its program written out."""
    z, words, starts = chain.z.copy(), chain.tokens.words, chain.tokens.starts
    visible = chain.priors.kinds != HIDDEN
    word, alpha, size = int(words[token]), 50 / visible.sum(), len(chain.n_w)
    n_w, n_t = chain.n_w.astype(float), chain.totals.copy()
    n_w[word, z[token]] -= 1
    n_t[z[token]] -= 1
    n_d = np.bincount(
        np.delete(z[starts[document] : starts[document + 1]], token - starts[document]), minlength=len(n_t)
    )
    if model == "mixture":
        lambdas, weights = np.array([1.0]), np.array([1.0])
    else:
        lambdas = np.linspace(0.1, 1.3, 6)
        weights = np.exp(-((lambdas - 0.7) ** 2) / (2 * 0.3**2))
        weights /= weights.sum()
    unlabelled = 0 if model == "bijective" else 3
    listed = {(k, w) for k in range(5) for w in sources.indices[sources.indptr[k] : sources.indptr[k + 1]].tolist()}
    counts, p = sources.toarray(), np.zeros(len(n_t))
    beta, beta_c = 200 / size, 200 / len({w for _, w in listed})
    for t in np.flatnonzero(visible).tolist():
        k = t - unlabelled
        if k < 0:
            p[t] = (n_w[word, t] + beta) / (n_t[t] + size * beta) * (n_d[t] + alpha)
        elif model == "eda":
            inside = counts[k, word] / counts[k].sum() * (n_d[t] + alpha)
            p[t] = inside if (k, word) in listed else beta / (n_t[t] + size * beta) * alpha
        elif model == "ctm":
            inside = (n_w[word, t] + beta_c) / (n_t[t] + size * beta_c) * (n_d[t] + alpha)
            p[t] = inside if (k, word) in listed else beta_c / (n_t[t] + size * beta_c) * alpha
        else:
            for value, weight in zip(lambdas, weights, strict=True):
                delta = (counts[k] + 0.01) ** value
                p[t] += weight * (n_w[word, t] + delta[word]) / (n_t[t] + delta.sum()) * (n_d[t] + alpha)
    return p / p.sum()


def draw_one(chain: SourceChain, document: int, token: int, uniform: float) -> int:
    """Have the kernel draw the topic of one token, in a copy of the state, and return it."""
    p = chain.priors
    starts = chain.tokens.starts
    # The tokens before and after keep their topics: the token becomes the only one of a document, whose others the counts still have.
    begin, end = starts[document], starts[document + 1]
    order = np.concatenate([[token], np.delete(np.arange(begin, end), token - begin)])
    words, z, uniforms = chain.tokens.words[order], chain.z[order], np.full(len(order), uniform)
    n_w, totals, kinds = chain.n_w.copy(), chain.totals.copy(), p.kinds.copy()
    sweep(
        0, 1, np.array([0, len(order)]), words, z, uniforms, n_w, totals, kinds, p.starts, p.topics, p.classes, p.powers,
        p.sums, p.floors, p.weights, chain.beta, chain.alphas, chain.least,
    )  # fmt: skip
    return int(z[0])


@pytest.mark.parametrize("model", MODELS)
def test_the_probabilities_of_topics_are_the_sums_written_out(model):
    rng = np.random.default_rng(1)
    for seed in range(2):
        chain, sources = state(model, seed)
        for document in rng.integers(0, 30, 3).tolist():
            begin, end = chain.tokens.starts[document : document + 2].tolist()
            token = int(rng.integers(begin, end))
            edges = np.cumsum(naive(chain, model, sources, document, token))
            # On either side of each edge of the distribution function, the kernel takes the topic that ends or begins there.
            for t in np.flatnonzero(np.diff(edges, prepend=0) > 1e-9)[:-1].tolist():
                assert draw_one(chain, document, token, edges[t] - 1e-12) == t
                after = np.flatnonzero(edges > edges[t] + 1e-12)[0]
                assert draw_one(chain, document, token, edges[t] + 1e-12) == after


@pytest.mark.parametrize("model", MODELS)
def test_phi_is_the_equation_written_out(model):
    chain, sources = state(model)
    phi, document = chain.phi(), 3
    token = int(chain.tokens.starts[document])
    # A Gibbs step takes its token out of the counts first, and phi counts all tokens. So count the token twice before the step.
    word, topic = int(chain.tokens.words[token]), int(chain.z[token])
    chain.n_w[word, topic] += 1
    chain.totals[topic] += 1
    n_d = np.bincount(chain.z[token + 1 : chain.tokens.starts[document + 1]], minlength=len(chain.ids))
    if model in ("eda", "ctm"):
        listed = set(chain.priors.topics[chain.priors.starts[word] : chain.priors.starts[word + 1]].tolist())
        n_d = np.array([n if k in listed or chain.priors.kinds[k] == UNLABELLED else 0 for k, n in enumerate(n_d)])
    expected = phi[word] * (n_d + chain.alpha)
    np.testing.assert_allclose(naive(chain, model, sources, document, token), expected / expected.sum(), atol=1e-14)
    if model in ("full", "mixture", "bijective"):
        np.testing.assert_allclose(chain.phi().sum(axis=0)[chain.priors.kinds != HIDDEN], 1)


@pytest.mark.slow
def test_geweke():
    """Draws of words and topics from the prior, and a chain that redraws words and topics in turn, have the same distribution.

    The chain is Gibbs sampling for a single lambda. With several, the weights of lambda stay those of the prior, as in the paper, so the
    conditional probabilities belong to no joint distribution, and there is nothing to test.
    """
    words, lengths, alpha, beta = 5, [4, 3, 5], 0.7, 0.4
    sources = csr_array(np.array([[3, 1, 0, 0, 0], [0, 0, 2, 0, 4]]))
    priors = source_priors(sources, 1, points_of(0.6, 0, 1), 0.05)
    deltas = np.vstack([np.full(words, beta), (sources.toarray() + 0.05) ** 0.6])
    starts, rng = np.append(0, np.cumsum(lengths)), np.random.default_rng(4)
    document = np.repeat(np.arange(3), lengths)

    def words_of(z: np.ndarray) -> np.ndarray:
        phi = np.cumsum(np.array([rng.dirichlet(delta) for delta in deltas]), axis=1)[z]
        return np.minimum((phi < rng.random(len(z))[:, None]).sum(axis=1), words - 1).astype(np.int32)

    def topics() -> np.ndarray:
        theta = np.cumsum(rng.dirichlet(np.full(3, alpha), 3), axis=1)[document]
        return np.minimum((theta < rng.random(len(document))[:, None]).sum(axis=1), 2).astype(np.int32)

    def facts(w: np.ndarray, z: np.ndarray) -> np.ndarray:
        n_w = np.zeros((words, 3))
        np.add.at(n_w, (w, z), 1)
        pairs = np.bincount(document * 3 + z, minlength=9)
        totals = n_w.sum(axis=0)
        return np.concatenate([n_w.ravel(), (n_w**2).ravel(), totals**2, pairs**2])

    number = 8000
    alone = []
    for _ in range(number):
        z = topics()
        alone.append(facts(words_of(z), z))
    z = topics()
    w, turns = words_of(z), []
    for _ in range(number):
        n_w = np.zeros((words, 3), np.int32)
        np.add.at(n_w, (w, z), 1)
        p = priors
        sweep(
            0, 3, starts, w, z, rng.random(len(z)), n_w, n_w.sum(axis=0, dtype=float), p.kinds.copy(), p.starts, p.topics,
            p.classes, p.powers, p.sums, p.floors, p.weights, beta, 3 * alpha, 3,
        )  # fmt: skip
        w = words_of(z)
        turns.append(facts(w, z))
    first, second = np.array(alone), np.array(turns)
    # The turns are dependent, so their error is estimated from the means of 80 batches.
    batches = second.reshape(80, -1, second.shape[1]).mean(axis=1)
    error = np.sqrt(first.var(axis=0) / number + batches.var(axis=0, ddof=1) / 80)
    scores = (first.mean(axis=0) - second.mean(axis=0)) / error
    assert np.abs(scores).max() < 4 and np.sqrt((scores**2).mean()) < 1.3


def test_counts_stay_those_of_the_tokens():
    chain, _ = state("full")
    chain.least = 2
    for turn in range(4):
        chain.hide(turn % 2)
        chain.sweep()
        expected = np.zeros_like(chain.n_w)
        np.add.at(expected, (chain.tokens.words, chain.z), 1)
        np.testing.assert_array_equal(chain.n_w, expected)
        np.testing.assert_array_equal(chain.totals, expected.sum(axis=0))
        assert len(chain.ids) == len(chain.priors.kinds) == chain.n_w.shape[1] == int(chain.priors.kinds.size)
    assert len(chain.ids) == 8 - 2 - 2
    assert chain.alpha == 50 / 4


def test_a_topic_without_tokens_disappears_unless_too_few_would_be_left():
    rows = csr_array(np.array([[3, 0, 0, 2], [0, 4, 0, 1]]))
    sources = csr_array(np.array([[5.0, 0, 0, 1], [0, 5, 0, 1], [0, 0, 9, 0]]))
    chain = SourceLDA(k=1, model="full", smooth=False, alphas=50).start(tokens_of(whole_counts_of(rows)), sources)
    for _ in range(30):
        chain.sweep()
    assert 1 <= len(chain.ids) < 4 and chain.alpha == 50 / len(chain.ids)
    mixture = SourceLDA(k=1, model="mixture").start(tokens_of(whole_counts_of(rows)), sources)
    for _ in range(30):
        mixture.sweep()
    assert len(mixture.ids) == 4


# Recovery.


def test_sources_that_the_corpus_follows_closely_are_found_again():
    rng = np.random.default_rng(2)
    sources = np.array([rng.multinomial(600, rng.dirichlet(np.full(60, 0.15))) for _ in range(6)])
    phi = np.array([rng.dirichlet(row + EPSILON) for row in sources])
    theta = rng.dirichlet(np.full(6, 0.3), 200)
    model = SourceLDA(model="bijective", iterations=60, mu=1, sigma=0, smooth=False, alphas=2).fit(
        drawn(theta, phi, 60), sources
    )
    assert js(model.phi_.T, phi).max() < 0.01
    assert np.abs(model.chain_.theta() - theta).mean() < 0.05


@pytest.mark.slow
def test_topics_that_owe_nothing_to_their_source_are_found_with_lambda_0_only():
    rng = np.random.default_rng(3)
    phi = rng.dirichlet(np.full(30, 0.1), 3)
    sources = np.array([rng.multinomial(3000, rng.dirichlet(np.ones(30))) for _ in range(3)])
    rows = drawn(rng.dirichlet(np.full(3, 0.1), 150), phi, 80)

    def furthest(mu: float) -> float:
        model = SourceLDA(
            model="bijective", iterations=80, mu=mu, sigma=0, smooth=False, alphas=1, epsilon=0.1, seed=1
        ).fit(rows, sources)
        return max(min(js(topic, other) for other in phi) for topic in model.phi_.T)

    assert furthest(0) < 0.02
    assert furthest(1) > 0.05


def picture() -> tuple[np.ndarray, np.ndarray]:
    """Return the ten topics of section IV.A, rows and columns of a grid of 5 x 5 pixels, and the same with one pixel of each moved."""
    lines = np.zeros((10, 5, 5))
    for k in range(5):
        lines[k, k], lines[5 + k, :, k] = 1, 1
    lines = lines.reshape(10, 25)
    moved, rng = lines.copy(), np.random.default_rng(0)
    for row in moved:
        gone, new = rng.choice(np.flatnonzero(row == 1)), rng.choice(np.flatnonzero(row == 0))
        row[gone], row[new] = 0, 1
    return lines, moved / 5


@pytest.mark.slow
def test_topics_of_the_graphical_example_are_found_from_sources_with_a_wrong_pixel():
    lines, truth = picture()
    theta = np.random.default_rng(1).dirichlet(np.ones(10), 1000)
    rows = drawn(theta, truth, 25)
    chains = [
        SourceLDA(
            model="bijective", iterations=100, mu=25, sigma=0, smooth=False, alphas=10, epsilon=0.1, seed=seed
        ).fit(rows, lines)
        for seed in range(2)
    ]
    best = max(chains, key=lambda model: model.chain_.log_likelihood())
    assert js(best.phi_.T, truth).mean() < 0.03
    # EDA keeps the words of the sources: one pixel of five is wrong.
    assert js(lines / 5, truth).mean() == pytest.approx(0.2 * np.log(2), abs=1e-12)


def test_the_example_of_pencils_and_umpires():
    words = ["pencil", "umpire", "ruler", "baseball"]
    rows = csr_array(np.array([[2, 1, 0, 0], [0, 0, 2, 1]]))
    supplies, baseball = [30, 0, 20, 0], [0, 25, 0, 40]
    model = SourceLDA(model="bijective", iterations=20, mu=1, sigma=0, smooth=False, alphas=2).fit(
        rows, [supplies, baseball]
    )
    assert model.chain_.z.tolist() == [0, 0, 1, 0, 0, 1]
    assert [words[k] for k in model.phi_.argmax(axis=0)] == ["pencil", "baseball"]


def test_an_informed_start_draws_topics_by_the_words_of_the_sources():
    words = np.repeat(np.arange(4), 500).astype(np.int32)
    sources = csr_array(np.array([[30.0, 10, 0, 0], [0, 10, 30, 0]]))
    estimator = SourceLDA(k=1, model="mixture", informed=True, betas=4, seed=2)
    chain = estimator.start(Tokens(np.array([0, 1000, 2000]), words), sources)
    shares = np.array([np.bincount(chain.z[words == w], minlength=3) / 500 for w in range(4)])
    # Without tokens, the topic without a label gives each word 1/4, and the others the share in their source.
    expected = np.array([[0.25, 0.75, 0], [0.25, 0.25, 0.25], [0.25, 0, 0.75], [0.25, 0, 0]])
    np.testing.assert_allclose(shares, expected / expected.sum(axis=1, keepdims=True), atol=0.08)
    np.testing.assert_array_equal(chain.n_w.sum(axis=1), 500)


def test_likeness_is_1_for_equal_words_and_0_without_a_label():
    model = fitted(model="bijective", iterations=1)
    sources = some_sources().toarray()
    sources /= sources.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.likeness(some_sources()), np.sqrt(model.phi_.T * sources).sum(axis=1))
    model.phi_ = sources.T
    model.topics_[3] = -1
    np.testing.assert_allclose(model.likeness(some_sources()), [1, 1, 1, 0, 1])


@pytest.mark.slow
@pytest.mark.parametrize("model", ["full", "eda", "ctm"])
def test_surplus_topics_are_given_up_until_exactly_k_are_left(model):
    rng = np.random.default_rng(5)
    sources = np.array([rng.multinomial(300, rng.dirichlet(np.full(80, 0.05))) for _ in range(10)])
    other = rng.dirichlet(np.full(80, 0.05))
    phi = np.vstack([sources[[1, 4, 7]] / 300, other])
    rows = drawn(rng.dirichlet(np.full(4, 0.3), 150), phi, 50)
    for k in (4, 6):
        estimator = SourceLDA(k=k, model=model, iterations=40, alphas=1, points=5, smooth=False).fit(rows, sources)
        assert len(estimator.topics_) == len(estimator.alpha_) == estimator.phi_.shape[1] == k
        np.testing.assert_allclose(estimator.phi_.sum(axis=0), 1)
        if model != "ctm":
            assert {1, 4, 7} <= set(estimator.topics_.tolist())
    assert estimator.trace_[0] > k and sorted(estimator.trace_, reverse=True) == estimator.trace_
    assert estimator.alpha_[0] == 1 / 6


# Smoothing and points.


def test_smoothing_makes_the_divergence_fall_along_a_line():
    counts, lacking = np.array([30.0, 12, 8, 5, 5, 3, 2, 2] + [1] * 30), 400
    g = Smoothing(counts, lacking, random(0))
    assert g(np.array([0.0, 1.0])).tolist() == [0, 1] and (np.diff(g(np.linspace(0, 1, 50))) >= 0).all()
    fresh = random(1)
    at = [divergence(counts, lacking, float(g(x)), fresh) for x in np.linspace(0, 1, 11)]
    line = np.linspace(at[0], at[-1], 11)
    assert np.abs(at - line).max() <= 0.02 * (at[0] - at[-1])
    # Without it the line is missed by far.
    plain = [divergence(counts, lacking, x, fresh) for x in (0.0, 0.5, 1.0)]
    assert abs(plain[1] - (plain[0] + plain[2]) / 2) > 0.1 * (plain[0] - plain[2])


def test_words_that_a_source_lacks_may_be_drawn_as_one():
    counts, rng = np.array([6.0, 3, 1, 1]), np.random.default_rng(0)
    weights = np.append(counts, np.zeros(20)) + EPSILON
    for exponent in (0.0, 0.02, 0.3, 1.0):
        topics = rng.dirichlet(weights**exponent, 4000)
        expected = js(topics, weights / weights.sum())
        found = [divergence(counts, 20, exponent, random(seed)) for seed in range(10)]
        assert np.mean(found) == pytest.approx(expected.mean(), abs=4 * expected.std() / np.sqrt(2000))


def test_points_lie_within_two_sigma_and_the_bounds():
    points = points_of(0.7, 0.3, 25, 0, 1)
    assert (points.values[0], points.values[-1], len(points.values)) == (pytest.approx(0.1), 1, 25)
    assert points.weights.sum() == pytest.approx(1) and points.values[points.weights.argmax()] == pytest.approx(
        0.7, abs=0.04
    )
    assert points_of(25, 0, 25).values.tolist() == [25] and points_of(0.5, 1, 1).weights.tolist() == [1]
    assert len(EXPONENTS) >= 15


def test_the_priors_of_some_topics_are_those_of_their_sources_alone():
    sources = some_sources()
    points = points_of(0.7, 0.3, 4)
    kept = source_priors(sources, 2, points).keep(np.array([1, 3, 6]))
    alone = source_priors(csr_array(sources.toarray()[[1, 4]]), 1, points)
    for name in set(Priors._fields) - {"classes", "powers"}:
        np.testing.assert_allclose(getattr(kept, name), getattr(alone, name), err_msg=name)
    np.testing.assert_allclose(kept.powers[kept.classes], alone.powers[alone.classes])


# Behaviour.


def fitted(**changes: Any) -> SourceLDA:
    rng = np.random.default_rng(7)
    rows = csr_array(rng.multinomial(20, np.full(40, 1 / 40), 60))
    return SourceLDA(**{"k": 4, "iterations": 20, "smooth": False, "points": 3, **changes}).fit(rows, some_sources())


def test_the_same_seed_gives_the_same_bytes():
    first, again, other = fitted(seed=3), fitted(seed=3), fitted(seed=4)
    assert first.phi_.tobytes() == again.phi_.tobytes() and first.chain_.z.tobytes() == again.chain_.z.tobytes()
    assert first.phi_.tobytes() != other.phi_.tobytes()


def test_documents_are_folded_in_alone():
    model = fitted()
    rows = csr_array(np.random.default_rng(0).multinomial(15, np.full(40, 1 / 40), 5))
    together = model.topic_counts(rows)
    np.testing.assert_allclose(together.sum(axis=1), 15)
    np.testing.assert_array_equal(model.topic_counts(rows[[2]])[0], together[2])
    assert model.theta(rows).sum(axis=1) == pytest.approx(1)
    one = csr_array(np.eye(40)[[0]])
    np.testing.assert_allclose(model.settle(one)[0], model.phi_[0] * model.alpha_ / (model.phi_[0] @ model.alpha_))


def test_a_fit_can_be_stopped():
    class StopError(Exception):
        pass

    def stop(done: int, total: int) -> None:
        if done == 3:
            raise StopError

    with pytest.raises(StopError):
        SourceLDA(k=2, iterations=20, smooth=False).fit(csr_array(np.ones((5, 40))), some_sources(), progress=stop)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model": "lda"}, "model=lda is none of full, mixture"),
        ({"k": 0}, "k and points must be at least 1"),
        ({"iterations": 9}, "iterations at least 10"),
        ({"alphas": 0}, "must be above 0"),
        ({"sigma": -1}, "sigma not below 0"),
        ({"mu": 3, "smooth": True}, "no lambda within two sigma of mu=3 is between 0 and 1"),
        ({"k": 36}, "41 topics are more than the 40 words"),
    ],
)
def test_unsuitable_parameters_are_refused_in_a_sentence(changes, message):
    with pytest.raises(InputError, match=message):
        fitted(**changes)


def test_unsuitable_counts_are_refused_in_a_sentence():
    rows = csr_array(np.ones((3, 4)))
    model = SourceLDA(k=1, model="bijective", smooth=False)
    with pytest.raises(InputError, match="one document shows none"):
        model.fit(rows[[0]], np.ones((1, 4)))
    with pytest.raises(InputError, match="every source needs a word"):
        model.fit(rows, np.array([[1.0, 0, 0, 0], [0, 0, 0, 0]]))
    with pytest.raises(InputError, match="finite and not below 0"):
        model.fit(rows, np.array([[1.0, -1, 0, 0]]))
    with pytest.raises(InputError, match="every source needs a word"):
        model.fit(rows, np.zeros((0, 4)))


def test_documents_may_be_empty_and_tokens_in_any_order():
    tokens = Tokens(np.array([0, 3, 3, 5]), np.array([2, 0, 2, 1, 0], np.int32))
    model = SourceLDA(model="bijective", iterations=5, smooth=False).fit_tokens(tokens, np.eye(3)[:2] * 4)
    assert len(model.chain_.z) == 5 and model.chain_.theta().shape == (3, 2)
