"""Tests of LDA: against enumeration of all topics, generic optimisers, scikit-learn, and formulas written out."""

from __future__ import annotations

from itertools import product

import naive
import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.sparse import csr_array
from scipy.special import digamma, gammaln

from sublex.errors import InputError
from sublex.estimators.topics.counts import counts_of, whole_counts_of
from sublex.estimators.topics.inference import mixtures, settle
from sublex.estimators.topics.matching import matched
from sublex_lda import variational
from sublex_lda.choosing import compare_k, stability
from sublex_lda.gibbs import TopicChain
from sublex_lda.model import LDA
from sublex_lda.perplexity import completion, halves, left_to_right, per_token
from sublex_lda.priors import alpha_of_counts, alpha_of_logs, inverse_digamma

TINY = csr_array(np.array([[2, 1, 0], [0, 1, 1]]))
ALPHA, BETA = np.array([0.4, 0.9]), 0.3
PHI = np.array([[0.6, 0.1], [0.3, 0.2], [0.1, 0.7]])


def joint(x: np.ndarray, z: tuple[int, ...], alpha: np.ndarray, beta: float) -> float:
    """Return log p(words, topics), one document and one topic at a time."""
    tokens = [(d, w) for d, row in enumerate(x) for w, count in enumerate(row) for _ in range(count)]
    n_dk, n_kw = np.zeros((len(x), len(alpha))), np.zeros((len(alpha), x.shape[1]))
    for (d, w), k in zip(tokens, z, strict=True):
        n_dk[d, k] += 1
        n_kw[k, w] += 1
    return sum(naive.polya(row, alpha) for row in n_dk) + sum(
        naive.polya(row, np.full(x.shape[1], beta)) for row in n_kw
    )


def planted(seed: int = 0) -> tuple[csr_array, np.ndarray]:
    """Return 400 documents of 60 tokens, drawn from four topics that are easy to tell apart, and the topics, one in each row."""
    rng = np.random.default_rng(seed)
    phi = rng.dirichlet(np.full(80, 0.05), 4)
    return csr_array(np.array([rng.multinomial(60, rng.dirichlet(np.full(4, 0.2)) @ phi) for _ in range(400)])), phi


def corpus(documents: int = 120, words: int = 60, topics: int = 4, seed: int = 3, length: int = 40) -> csr_array:
    """Return documents drawn from LDA; every tenth is empty."""
    rng = np.random.default_rng(seed)
    phi = rng.dirichlet(np.full(words, 0.05), topics)
    rows = [
        rng.multinomial(length if d % 10 else 0, rng.dirichlet(np.full(topics, 0.3)) @ phi) for d in range(documents)
    ]
    return csr_array(np.array(rows))


# Gibbs sampling.


@pytest.mark.slow
@pytest.mark.parametrize("alpha", [ALPHA, np.array([0.2, 0.5, 0.3])])
def test_the_chain_visits_states_as_often_as_their_exact_posterior_says(alpha):
    x, sweeps = TINY.toarray(), 40_000
    states = list(product(range(len(alpha)), repeat=int(x.sum())))
    exact = np.exp([joint(x, z, alpha, BETA) for z in states])
    exact /= exact.sum()
    chain, seen = TopicChain(whole_counts_of(TINY), alpha, BETA, seed=1), dict.fromkeys(states, 0)
    for _ in range(sweeps):
        chain.sweep()
        seen[tuple(chain.z.tolist())] += 1
    distance = 0.5 * np.abs(np.array(list(seen.values())) / sweeps - exact).sum()
    # Independent draws would have a distance of about √(states / sweeps) / 2.5, and draws of a chain are not independent.
    assert distance < 2 * np.sqrt(len(states) / sweeps) / 2.5
    assert np.abs(exact - 1 / len(states)).sum() / 2 > 0.2, "the posterior is far from uniform, so the test can fail"


def test_the_log_likelihood_is_that_of_documents_and_topics_one_by_one():
    x = corpus(20, 12, 3)
    chain = TopicChain(whole_counts_of(x), np.array([0.2, 0.7, 0.4]), 0.05)
    for _ in range(3):
        chain.sweep()
    assert chain.log_likelihood() == pytest.approx(joint(x.toarray(), chain.z.tolist(), chain.alpha, 0.05), rel=1e-12)


def test_beta_reaches_the_chain_and_the_tokens_of_words_are_without_it():
    x, fits = corpus(40), []
    for beta in (0.5, 0.01):
        fitted, chain = (
            LDA(3, iterations=4, alpha=0.2, beta=beta, seed=1).fit(x),
            TopicChain(x, np.full(3, 0.2), beta, 1),
        )
        for _ in range(4):
            chain.sweep()
        np.testing.assert_array_equal(fitted.word_topics_.toarray(), chain.word_topics().toarray())
        # The trace has the last sweep, which is no tenth one.
        assert fitted.trace_ == [pytest.approx(chain.log_likelihood())]
        fits.append(fitted.word_topics_.toarray())
    assert (fits[0] != fits[1]).any(), "otherwise the test tells nothing"
    assert len(LDA(3, iterations=20).fit(x).trace_) == 2
    # What variational inference expects of the tokens of each word adds up to the tokens.
    expected = LDA(3, method="variational", iterations=3, beta=0.5).fit(x).word_topics_
    np.testing.assert_allclose(np.asarray(expected.sum(axis=1)).ravel(), np.asarray(x.sum(axis=0)).ravel(), rtol=1e-6)


def test_counts_stay_those_of_the_tokens():
    x = corpus()
    chain = TopicChain(whole_counts_of(x), np.full(7, 0.1), 0.01)
    for _ in range(5):
        chain.sweep()
    n_wk, n_dk = np.zeros((60, 7)), np.zeros((120, 7))
    document = np.repeat(np.arange(120), np.diff(chain.tokens.starts))
    np.add.at(n_wk, (chain.tokens.words, chain.z), 1)
    np.add.at(n_dk, (document, chain.z), 1)
    np.testing.assert_array_equal(chain.word_topics().toarray(), n_wk)
    np.testing.assert_array_equal(chain.document_topics().toarray(), n_dk)
    np.testing.assert_array_equal(chain.totals, n_wk.sum(axis=0))


@pytest.mark.parametrize("method", ["gibbs", "variational"])
def test_planted_topics_are_found(method):
    x, phi = planted()
    model = LDA(4, method, iterations=200, alpha=0.2, beta=0.05).fit(x)
    partner, affinity = matched(model.phi_, phi.T)
    assert sorted(partner) == [0, 1, 2, 3]
    assert affinity.min() > 0.97
    assert model.trace_[-1] > model.trace_[0]


@pytest.mark.slow
def test_the_learned_alpha_is_near_the_true_one():
    rng = np.random.default_rng(5)
    phi, alpha = rng.dirichlet(np.full(100, 0.03), 3), np.array([0.1, 0.3, 1.0])
    x = csr_array(np.array([rng.multinomial(80, rng.dirichlet(alpha) @ phi) for _ in range(500)]))
    for method in ("gibbs", "variational"):
        # A chain may keep two topics merged, so the likeliest of four counts.
        models = [LDA(3, method, 100, beta=0.03, learn_alpha="asymmetric", seed=seed).fit(x) for seed in range(4)]
        model = max(models, key=lambda model: model.trace_[-1])
        found = model.alpha_[matched(phi.T, model.phi_)[0]]
        np.testing.assert_allclose(found, alpha, rtol=0.3)
    same = LDA(3, iterations=50, learn_alpha="symmetric").fit(x).alpha_
    assert same[0] != 0.1
    assert (same == same[0]).all()


# Inference for new documents.


@pytest.mark.parametrize("method", ["gibbs", "variational"])
def test_a_row_alone_gets_what_it_gets_among_others(method):
    x = corpus()
    model = LDA(4, method, iterations=30).fit(x)
    whole, topics = model.topic_counts(x), model.assign(x)
    np.testing.assert_allclose(whole.sum(axis=1), x.sum(axis=1), atol=1e-8)
    for d in (0, 7, 119):
        np.testing.assert_array_equal(model.topic_counts(x[[d]])[0], whole[d])
        np.testing.assert_array_equal(model.assign(x[[d]]).data, topics[[d]].data)
    np.testing.assert_allclose(model.theta(x).sum(axis=1), 1)
    np.testing.assert_allclose(model.theta(x)[0], model.alpha_ / model.alpha_.sum())
    theta, both = model.theta_and_topics(x)
    np.testing.assert_array_equal(theta, model.theta(x))
    np.testing.assert_array_equal(both.toarray(), topics.toarray())


def test_every_word_of_a_document_gets_one_topic():
    x = corpus()
    for method in ("gibbs", "variational"):
        model = LDA(4, method, iterations=60, alpha=0.05).fit(x)
        topics = model.assign(x)
        assert topics.dtype == np.int32
        assert topics.indptr.tolist() == x.indptr.tolist()
        assert topics.indices.tolist() == x.indices.tolist()
        # A topic that a word has in a document is seldom one in which the word hardly occurs.
        chances = model.phi_[topics.indices, topics.data] / model.phi_[topics.indices].max(axis=1)
        assert np.median(chances) > 0.9


# Learning alpha.


@pytest.mark.slow
def test_minkas_fixed_point_is_the_optimum_of_a_generic_optimiser():
    rng = np.random.default_rng(2)
    counts = np.array([rng.multinomial(n, rng.dirichlet([0.3, 1.2, 0.1])) for n in rng.integers(0, 40, 200)])
    found = alpha_of_counts(csr_array(counts.astype(float)), np.full(3, 0.1))

    def loss(logs: np.ndarray) -> float:
        return -sum(naive.polya(row, np.exp(logs)) for row in counts)

    best = minimize(
        loss, np.log(found) + 0.3, method="Nelder-Mead", options={"xatol": 1e-8, "fatol": 1e-10, "maxiter": 5000}
    )
    np.testing.assert_allclose(found, np.exp(best.x), rtol=1e-4)
    same = alpha_of_counts(csr_array(counts.astype(float)), np.full(3, 0.1), symmetric=True)
    line = minimize(lambda x: loss(np.full(3, x[0])), [0.0], method="Nelder-Mead", options={"xatol": 1e-8})
    np.testing.assert_allclose(same, np.exp(line.x[0]), rtol=1e-4)


def test_the_alpha_of_mean_logs_is_the_optimum_of_a_generic_optimiser():
    logs = np.array([-0.9, -3.0, -2.2])

    def loss(x: np.ndarray) -> float:
        alpha = np.exp(x)
        return -float(gammaln(alpha.sum()) - gammaln(alpha).sum() + (alpha - 1) @ logs)

    best = minimize(loss, np.zeros(3), method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12, "maxiter": 5000})
    np.testing.assert_allclose(alpha_of_logs(logs, np.full(3, 0.1)), np.exp(best.x), rtol=1e-4)
    line = minimize(lambda x: loss(np.full(3, x[0])), [0.0], method="Nelder-Mead", options={"xatol": 1e-9})
    np.testing.assert_allclose(alpha_of_logs(logs, np.full(3, 0.1), symmetric=True), np.exp(line.x[0]), rtol=1e-6)


def test_digamma_is_scipys_and_its_inverse_undoes_it():
    from sublex_lda.lda_kernels import digamma as ours

    x = np.geomspace(1e-6, 1e6, 500)
    np.testing.assert_allclose([ours(value) for value in x], digamma(x), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(inverse_digamma(digamma(x)), x, rtol=1e-9)


# Variational Bayes.


def naive_bound(x: np.ndarray, weights: np.ndarray, gamma: np.ndarray, alpha: np.ndarray, beta: float) -> float:
    """Return the bound with every distribution over topics written out, for each document and word."""

    def e_log(parameters: np.ndarray) -> np.ndarray:
        return digamma(parameters) - digamma(parameters.sum())

    def entropy(parameters: np.ndarray) -> float:
        return float(
            gammaln(parameters).sum() - gammaln(parameters.sum()) - ((parameters - 1) * e_log(parameters)).sum()
        )

    def prior(parameters: np.ndarray, posterior: np.ndarray) -> float:
        return float(
            gammaln(parameters.sum()) - gammaln(parameters).sum() + ((parameters - 1) * e_log(posterior)).sum()
        )

    topics = [weights[:, k] for k in range(len(alpha))]
    total = sum(prior(np.full(len(weights), beta), topic) + entropy(topic) for topic in topics)
    for d, row in enumerate(x):
        total += prior(alpha, gamma[d]) + entropy(gamma[d])
        for w, count in enumerate(row):
            logs = e_log(gamma[d]) + np.array([e_log(topic)[w] for topic in topics])
            q = np.exp(logs) / np.exp(logs).sum()
            total += count * (q @ (logs - np.log(q)))
    return total


@pytest.mark.parametrize("learn", ["no", "symmetric", "asymmetric"])
def test_the_bound_never_falls_and_is_the_one_written_out(learn):
    x = corpus(30, 15, 3)
    found = variational.fit(counts_of(x), np.full(3, 0.2), 0.1, iterations=40, learn_alpha=learn)
    assert len(found.bounds) > 5
    rises = np.diff(found.bounds)
    assert rises.min() > -1e-9 * abs(found.bounds[0])
    expected = naive_bound(x.toarray(), found.weights, found.gamma, found.alpha, 0.1)
    assert found.bounds[-1] == pytest.approx(expected, rel=1e-10)


def test_an_iteration_is_that_of_figure_6_written_out():
    x, alpha, beta = corpus(12, 8, 3).toarray(), np.array([0.2, 0.5, 0.3]), 0.1
    weights = np.random.default_rng(0).gamma(100, 0.01, (8, 3))
    logs = np.column_stack([digamma(weights[:, k]) - digamma(weights[:, k].sum()) for k in range(3)])
    found = variational.infer(counts_of(x), np.exp(logs), alpha, steps=500, tolerance=1e-12)
    sums, shares = np.zeros((8, 3)), variational._shares(counts_of(x), found) * np.exp(logs)
    for d, row in enumerate(x):
        gamma = alpha + row.sum() / 3
        for _ in range(2000):
            q = np.exp(logs + digamma(gamma) - digamma(gamma.sum()))
            q /= q.sum(axis=1, keepdims=True)
            gamma = alpha + row @ q
        np.testing.assert_allclose(found.gamma[d], gamma, rtol=1e-8)
        sums += row[:, None] * q
    np.testing.assert_allclose(shares, sums, rtol=1e-7, atol=1e-12)


@pytest.mark.slow
def test_the_topics_of_documents_are_those_of_scikit_learn():
    from sklearn.decomposition import LatentDirichletAllocation

    x = corpus()
    theirs = LatentDirichletAllocation(
        4, doc_topic_prior=0.2, topic_word_prior=0.05, max_iter=20, mean_change_tol=1e-9, max_doc_update_iter=2000,
        random_state=0,
    ).fit(x)  # fmt: skip
    ours = LDA(4, "variational", alpha=0.2, beta=0.05).restore(theirs.components_.T - 0.05, np.full(4, 0.2))
    near = np.abs(ours.theta(x) - theirs.transform(x)).max(axis=1)
    assert np.median(near) < 1e-3
    assert np.quantile(near, 0.95) < 0.02


# Perplexity.


@pytest.mark.slow
def test_left_to_right_comes_near_the_exact_probability():
    words, row = [0, 0, 1, 2, 2], np.array([[2, 1, 2]])
    _, exact = naive.expected_counts(words, PHI, ALPHA)
    # The product of averages has a small bias, even with very many particles.
    found = left_to_right(PHI, ALPHA, row, particles=20_000)
    assert found[0] == pytest.approx(np.log(exact), abs=0.02)
    # The mean over documents of the unbiased estimate with one particle is the probability, within four standard errors.
    single = np.exp([left_to_right(PHI, ALPHA, row, 1, unbiased=True, seed=seed)[0] for seed in range(2000)])
    assert abs(single.mean() - exact) < 4 * single.std() / np.sqrt(len(single))
    assert single.std() > 0.02 * exact
    many = left_to_right(PHI, ALPHA, row, 20_000, unbiased=True)
    assert many[0] == pytest.approx(np.log(exact), abs=0.01)


def test_left_to_right_of_one_token_is_exact():
    found = left_to_right(PHI, ALPHA, np.array([[0, 1, 0], [0, 0, 0]]), particles=1)
    assert found[0] == pytest.approx(np.log(PHI[1] @ ALPHA / ALPHA.sum()), rel=1e-12)
    assert found[1] == 0.0
    assert per_token(found, np.array([[0, 1, 0], [0, 0, 0]])) == pytest.approx(ALPHA.sum() / (PHI[1] @ ALPHA))


def test_halves_are_halves_and_the_same_for_equal_rows():
    x = whole_counts_of(np.array([[4, 3, 0], [4, 3, 0], [1, 0, 0], [0, 0, 0]]))
    first = halves(x, seed=1)
    assert first.sum(axis=1).tolist() == [3, 3, 0, 0]
    assert (x - first).toarray().min() >= 0
    np.testing.assert_array_equal(first.toarray()[0], first.toarray()[1])
    assert any((halves(x, seed).toarray() != first.toarray()).any() for seed in range(2, 9))


def test_completion_is_the_formula_written_out():
    x = np.array([[2, 1, 3], [0, 4, 2]])
    first = halves(whole_counts_of(x)).toarray()
    total = 0.0
    for known, rest in zip(first, x - first, strict=True):
        theta = mixtures(settle(csr_array(known[None].astype(float)), PHI, ALPHA), ALPHA)[0]
        total += rest @ np.log(PHI @ theta)
    assert completion(PHI, ALPHA, x) == pytest.approx(np.exp(-total / 6), rel=1e-12)
    x = np.array([[5, 3, 4], [2, 6, 5]])
    found = [completion(PHI, ALPHA, x, seed) for seed in range(3)]
    assert len(set(found)) > 1, "the seed decides which half is given"
    with pytest.raises(InputError, match="Perplexity needs documents with words"):
        completion(PHI, ALPHA, np.zeros((2, 3)))


def test_one_topic_predicts_words_by_their_frequency():
    phi = PHI[:, :1]
    x = np.array([[2, 1, 3]])
    rest = x - halves(whole_counts_of(x)).toarray()
    assert completion(phi, np.ones(1), x) == pytest.approx(np.exp(-(rest @ np.log(phi))[0, 0] / 3))
    assert left_to_right(phi, np.ones(1), x)[0] == pytest.approx((x @ np.log(phi))[0, 0])


# Coherence, the number of topics, stability.


def test_the_true_number_of_topics_predicts_better_than_one_and_is_coherent():
    one, four = compare_k(corpus(300, 60, 4), [1, 4], words=5, iterations=100)
    assert (one.k, four.k) == (1, 4)
    assert four.perplexity < 0.9 * one.perplexity
    assert four.coherence > one.coherence
    with pytest.raises(InputError, match="10 documents or more, and not 3"):
        compare_k(corpus(3), [2])


def test_topics_are_matched_across_seeds():
    x, _ = planted()
    models = [LDA(4, iterations=100, seed=seed).fit(x) for seed in range(3)]
    found = stability([model.phi_ for model in models])
    assert found.min() > 0.9
    np.testing.assert_allclose(stability([models[0].phi_, models[0].phi_[:, ::-1]]), 1)
    partner, affinity = matched(models[0].phi_, models[0].phi_[:, [2, 0]])
    assert partner.tolist() == [1, -1, 0, -1]
    assert affinity[[1, 3]].tolist() == [0, 0]
    with pytest.raises(InputError, match="two models or more"):
        stability([models[0].phi_])


# The same bytes, and hostile input.


@pytest.mark.slow
@pytest.mark.parametrize("method", ["gibbs", "variational"])
def test_the_same_seed_gives_the_same_bytes_for_any_number_of_workers(method):
    x = corpus(900)

    def results(seed: int, workers: int) -> list[bytes]:
        model = LDA(4, method, iterations=15, learn_alpha="asymmetric", seed=seed).fit(x, workers=workers)
        values = (model.phi_, model.alpha_, model.topic_counts(x, workers), model.assign(x, workers).data)
        return [value.tobytes() for value in values]

    assert results(1, 1) == results(1, 1) == results(1, 3)
    assert results(1, 1) != results(2, 1)


def test_a_document_gets_the_same_topics_whatever_stands_beside_it():
    x = corpus(60)
    model = LDA(4, iterations=15).fit(x)
    order = np.random.default_rng(0).permutation(60)
    counts, assigned = model.topic_counts(x), model.assign(x).toarray()
    np.testing.assert_array_equal(model.topic_counts(x[order]), counts[order])
    np.testing.assert_array_equal(model.assign(x[order]).toarray(), assigned[order])
    np.testing.assert_array_equal(model.topic_counts(x[[7, 7, 3]]), counts[[7, 7, 3]])
    # The chains of another seed differ, though the topics are the same.
    other = LDA(4, seed=9).restore(model.word_topics_, model.alpha_)
    assert (other.topic_counts(x) != counts).any()


@pytest.mark.slow
@pytest.mark.parametrize("method", ["gibbs", "variational"])
@pytest.mark.parametrize("x", [[[3, 1]], [[0, 0], [2, 1], [0, 0]], [[1]], [[0, 5, 0, 0]]])
@pytest.mark.parametrize("k", [1, 2, 9])
def test_few_documents_words_or_topics_are_no_trouble(method, x, k):
    for learn in ("no", "symmetric", "asymmetric"):
        model = LDA(k, method, iterations=40, learn_alpha=learn).fit(np.array(x))
        assert model.phi_.shape == (len(x[0]), k)
        assert np.isfinite(model.alpha_).all()
        np.testing.assert_allclose(model.phi_.sum(axis=0), 1)
        np.testing.assert_allclose(model.topic_counts(np.array(x)).sum(axis=1), np.sum(x, axis=1), atol=1e-8)
        assert np.isfinite(model.trace_).all()


def test_unsuitable_input_is_refused_in_a_sentence():
    for x, message in (
        (np.zeros((2, 3)), "no words are left"),
        (np.zeros((0, 3)), "no words are left"),
        (np.array([[1, -1]]), "some counts are negative"),
        (np.array([[0.5, 1]]), "needs whole counts"),
        (np.array([[np.nan, 1]]), "not finite"),
    ):
        with pytest.raises(InputError, match=message):
            LDA(2).fit(x)
    for parameters, message in (
        ({"k": 0}, "must be at least 1"),
        ({"alpha": 0.0}, "must be above 0"),
        ({"method": "em"}, "method=em is none of gibbs, variational"),
        ({"learn_alpha": "yes"}, "learn_alpha=yes is none of"),
    ):
        with pytest.raises(InputError, match=message):
            LDA(**parameters).fit(np.ones((2, 2)))
    with pytest.raises(InputError, match="not fitted yet"):
        LDA().theta(np.ones((1, 2)))
    model = LDA(2, iterations=2).fit(np.ones((2, 2), int))
    with pytest.raises(InputError, match="3 columns where the model knows 2 words"):
        model.theta(np.ones((1, 3)))


def test_a_fit_can_be_stopped():
    def stop(done: int, total: int) -> None:
        assert total == 500
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        LDA(2).fit(np.ones((4, 4), int), progress=stop)


def test_the_input_is_left_as_it_is():
    x = csr_array((np.array([1.0, 2.0]), np.array([1, 0]), np.array([0, 2])), shape=(1, 2))
    LDA(2, iterations=2).fit(x)
    assert x.indices.tolist() == [1, 0]
    assert x.data.tolist() == [1.0, 2.0]
