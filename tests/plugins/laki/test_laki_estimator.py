"""Tests of LAKI: inference and learning against the enumeration of all states, pruning, structure, and networks that are damaged."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.sparse import csr_array

from sublex.errors import InputError
from sublex.tools.compiled import kernel
from sublex_laki.estimator import (
    CertaintyCurve,
    Network,
    calibrate,
    certain,
    certainty,
    come_back,
    concentration,
    decomposed,
    encode,
    evidence,
    evoked_by,
    inference,
    learn,
    odds_of_mentions,
    structure,
    unit_vectors,
    weighed,
)
from sublex_laki.estimator.inference import sampled
from sublex_laki.estimator.learning import ExpectedSums, expectation, maximisation
from sublex_laki.estimator.network import network_of
from sublex_laki.estimator.sampling_kernels import chain_of, flip
from sublex_laki.estimator.subgraphs import subgraphs, units_of
from sublex_laki.estimator.vectors import normalised, ppmi


def made(keyphrases=8, units=16, seed=0, leak=0.1, fanout=4):
    """Return a random network as PPL Bench makes them: exponential weights and leaks; phrases are the first units."""
    chance = np.random.default_rng(seed)
    links = np.zeros((keyphrases, keyphrases + units))
    for k in range(keyphrases):
        for child in chance.choice(np.arange(k + 1, keyphrases + units), fanout, replace=False):
            links[k, child] = chance.exponential() + 0.01
    leaks = chance.exponential(leak, keyphrases + units) + leak / 100
    return network_of(csr_array(links), leaks, np.where(np.arange(keyphrases) < units, np.arange(keyphrases), -1))


def without_mentions(network: Network) -> Network:
    """Return a network whose keyphrases no unit mentions."""
    return network_of(network.children, network.leaks, np.full(network.keyphrases, -1))


def documents(network, rows=6, seed=0, most=3):
    """Return counts of documents by units, about a quarter of the units in each, up to `most` times."""
    chance = np.random.default_rng(seed)
    shape = (rows, network.units)
    return csr_array((chance.random(shape) < 0.25) * chance.integers(1, most + 1, shape)).astype(np.float64)


def log_joint(network, state, counts):
    """Return log p(state, counts): each copy of a unit is a child of its own."""
    links = network.children.toarray()
    sums = network.leaks + state @ links
    logs = np.where(np.append(state, counts) > 0, np.log(-np.expm1(-sums)), -sums)
    return (logs * np.append(np.ones(len(state)), np.maximum(counts, 1))).sum()


def enumerated(network, counts):
    """Return all states and log p(state, counts) for each."""
    states = np.array(list(product((0, 1), repeat=network.keyphrases)), float)
    return states, np.array([log_joint(network, state, counts) for state in states])


def best_paths(network):
    """Return the largest product of strengths along a path from each keyphrase to each node."""
    strengths = -np.expm1(-network.children.toarray())
    paths = np.zeros_like(strengths)
    for k in range(network.keyphrases - 1, -1, -1):
        through = strengths[k, : network.keyphrases, None] * paths
        paths[k] = np.maximum(strengths[k], through.max(axis=0))
    return paths


def posterior(network, counts, only_ancestors):
    """Return all states and their probabilities given the counts; keyphrases that are no ancestors of a unit can be held off."""
    states, logs = enumerated(network, counts)
    if only_ancestors:
        others = ~(best_paths(network)[:, network.keyphrases :][:, counts > 0] > 0).any(axis=1)
        logs[(states[:, others] > 0).any(axis=1)] = -np.inf
    p = np.exp(logs - logs.max())
    return states, p / p.sum()


def exact(network, matrix):
    """Return the probabilities of keyphrases by documents, by enumeration of the states of ancestors."""
    rows = []
    for counts in matrix.toarray():
        states, p = posterior(network, counts, True)
        rows.append(p @ states)
    return np.array(rows)


def exact_statistics(network, matrix, only_ancestors=False):
    """Return the statistics of EM by enumeration; each is written as in the paper, with a loop over states."""
    links, children = network.children.toarray(), network.keyphrases + network.units
    total = None
    for counts in matrix.toarray():
        states, p = posterior(network, counts, only_ancestors)
        copies = np.append(np.ones(network.keyphrases), counts)
        shares, leaks, on = np.zeros_like(links), np.zeros(children), p @ states
        for state, weight in zip(states, p, strict=True):
            sums = network.leaks + state @ links
            active = np.append(state, counts > 0)
            each = weight * active * copies / -np.expm1(-sums)
            shares += state[:, None] * -np.expm1(-links) * each
            leaks += each * -np.expm1(-network.leaks)
        more = np.maximum(copies - 1, 0)
        child = np.repeat(np.arange(children), np.diff(network.starts))
        part = ExpectedSums(
            shares[network.parents, child], leaks, on, on[network.parents] * more[child], more, 1,
            float(np.logaddexp.reduce(enumerated(network, counts)[1])), counts.sum(),
        )  # fmt: skip
        total = total.plus(part) if total else part
    return total


# Inference.


@pytest.mark.slow
@pytest.mark.parametrize("estimate", ["probabilities", "samples"])
@pytest.mark.parametrize("swaps", [0, 3])
def test_gibbs_finds_the_probabilities_of_enumeration(estimate, swaps):
    for seed in range(3):
        network = made(10, seed=seed)
        rows = documents(network, 3, seed)
        found = encode(network, rows, swaps=swaps, estimate=estimate, method="gibbs").toarray()
        assert np.abs(found - exact(network, rows)).max() <= 0.03


def test_a_mean_of_probabilities_has_less_noise_than_a_share_of_samples():
    network = made(10, seed=4)
    rows = documents(network, 8)
    truth = exact(network, rows)
    errors = [
        np.mean(
            [
                np.abs(encode(network, rows, estimate=e, sweeps=500, seed=s, method="gibbs").toarray() - truth).mean()
                for s in range(5)
            ]
        )
        for e in ("probabilities", "samples")
    ]
    assert errors[0] < 0.8 * errors[1]


@kernel()
def flipped(starts, parents, weights, strengths, leaks, counts, outside, on, order):
    """Return the log-odds, the joint probability and the state after flips, and both anew; nothing is summed anew meanwhile."""
    empty = np.empty(0)
    chain = chain_of(starts, parents, weights, strengths, leaks, counts, outside, on, empty, empty)
    for k in order:
        flip(chain, k)
    anew = chain_of(starts, parents, weights, strengths, leaks, counts, outside, on, empty, empty)
    return chain.logodds, anew.logodds, chain.joint[0], anew.joint[0], on


def after_flips(network, counts, flips, seed=0):
    graphs = subgraphs(network, units_of(csr_array(counts[None]), network), 1000)
    order = np.random.default_rng(seed).integers(0, len(graphs.nodes), flips)
    return graphs, flipped(
        graphs.starts, graphs.parents, graphs.weights, graphs.strengths, graphs.leaks, graphs.counts, graphs.outside,
        graphs.on.copy(), order,
    )  # fmt: skip


@pytest.mark.slow
def test_log_odds_that_are_updated_are_those_computed_anew_after_many_flips():
    network = made(60, 200, fanout=12, leak=1e-4)
    graphs, (updated, anew, joint, joint_anew, on) = after_flips(network, documents(network, 1).toarray()[0], 100_000)
    assert len(graphs.nodes) > 50
    assert 0 < on[: len(graphs.nodes)].sum() < len(graphs.nodes)
    assert np.abs(updated - anew).max() < 1e-9
    assert abs(joint - joint_anew) < 1e-6


def test_log_odds_are_the_difference_of_two_joint_probabilities():
    network = made(9, 12, seed=3)
    counts = documents(network, 1, 5).toarray()[0]
    graphs, (updated, _, joint, _, on) = after_flips(network, counts, 500)
    state = np.zeros(network.keyphrases)
    state[graphs.nodes] = on[: len(graphs.nodes)]
    for k, found in zip(graphs.nodes, updated, strict=True):
        logs = [log_joint(network, np.where(np.arange(len(state)) == k, value, state), counts) for value in (0, 1)]
        assert found == pytest.approx(logs[1] - logs[0], abs=1e-10)
    quiet = network.leaks.sum() - graphs.leaks.sum()
    assert joint - quiet == pytest.approx(log_joint(network, state, counts), abs=1e-9)


def test_rare_flips_happen_as_often_as_they_should():
    # Here nearly all sweeps are skipped, so a mistake in counting them would show.
    network = network_of(csr_array([[0.0, 2.0, 0.0]]), np.array([3e-3, 0.9, 1e-3]), np.array([-1]))
    rows = csr_array([[1.0, 0.0]])
    truth = exact(network, rows)[0, 0]
    assert truth < 0.005
    for estimate, error in (("samples", 0.15), ("probabilities", 3e-5)):
        found = encode(network, rows, estimate=estimate, sweeps=1_000_000, method="gibbs").toarray()[0, 0]
        assert found == pytest.approx(truth, rel=error)


def test_belief_propagation_is_exact_on_a_tree(monkeypatch):
    links = np.zeros((4, 9))
    for parent, child, weight in (
        (0, 1, 1.0),
        (0, 2, 0.7),
        (2, 3, 0.4),
        (1, 4, 0.9),
        (2, 5, 1.3),
        (3, 6, 2.0),
        (0, 7, 0.5),
    ):
        links[parent, child] = weight
    network = network_of(csr_array(links), np.full(9, 0.05), np.full(4, -1))
    rows = csr_array([[1.0, 1, 0, 0, 0], [1, 0, 1, 1, 0], [0, 1, 1, 1, 1], [0, 0, 1, 0, 0]])
    found = encode(network, rows, method="propagation").toarray()
    truth = exact(network, rows)
    assert np.abs(found - truth).max() < 5e-3
    monkeypatch.setattr(inference, "TOLERANCE", 1e-10)
    found = encode(network, rows, method="propagation").toarray()
    assert np.abs(found - truth).max() < 1e-7
    assert (found > 0).sum() >= 12


def test_swaps_find_the_second_explanation_of_a_unit():
    # Two keyphrases explain one unit, and nearly nothing else does: one alone is on, either half of the time.
    links = csr_array(np.array([[0, 0, 2.0, 0], [0, 0, 2.0, 0]]))
    network = network_of(links, np.array([1e-4, 1e-4, 1e-7, 1e-3]), np.full(2, -1))
    rows = csr_array([[3.0, 0.0]])
    assert exact(network, rows)[0] == pytest.approx([0.5, 0.5], abs=1e-3)
    plain, swapped = (encode(network, rows, swaps=swaps, seed=3, method="gibbs").toarray()[0] for swaps in (0, 2))
    assert np.abs(plain - 0.5).max() > 0.2
    assert np.abs(swapped - 0.5).max() < 0.05


def test_a_document_without_known_units_has_no_keyphrases():
    found = encode(made(), csr_array((2, 16)), method="gibbs")
    assert found.shape == (2, 8)
    assert found.nnz == 0
    assert encode(made(), csr_array((0, 16)), method="gibbs").shape == (0, 8)


def test_results_do_not_depend_on_workers_or_on_other_documents():
    network = made(40, 100, fanout=8)
    rows = documents(network, 200)
    one, three = (encode(network, rows, sweeps=50, workers=workers, method="gibbs") for workers in (1, 3))
    assert (one.data == three.data).all()
    assert (one.indices == three.indices).all()
    order = np.random.default_rng(0).permutation(200)[:20]
    alone = encode(network, rows[order], sweeps=50, method="gibbs")
    assert (alone.toarray() == one[order].toarray()).all()


def test_large_counts_and_certain_links_give_finite_probabilities():
    network = network_of(
        csr_array(np.array([[0, 100.0, 100.0, 1e-12]])), np.array([1e-12, 100.0, 1e-12, 1e-12]), np.array([0])
    )
    for method in ("gibbs", "propagation"):
        found = encode(network, csr_array([[1e9, 1e9, 1.0], [0, 1, 0], [1, 0, 1]]), method=method).toarray()
        assert np.isfinite(found).all()
        assert ((found >= 0) & (found <= 1)).all()


def test_evidence_says_which_links_turned_a_unit_on():
    network = made(6, 10, seed=1)
    rows = documents(network, 1, 1)
    found = evidence(network, rows, sweeps=20_000).toarray()
    truth = exact_statistics(network, rows, only_ancestors=True)
    children = np.repeat(np.arange(16), np.diff(network.starts))
    copies = np.append(np.ones(6), np.maximum(rows.toarray()[0], 1))
    assert np.abs(found[network.parents, children] - truth.links / copies[children]).max() < 0.02


# Pruning.


def test_pruning_keeps_the_keyphrases_that_explain_the_units_best():
    network = without_mentions(made(30, 40, seed=2, fanout=5))
    rows = documents(network, 12)
    paths = best_paths(network)[:, 30:]
    leaks = network.leaks[30:]
    for counts in rows.toarray():
        single = np.log(1 - np.exp(-leaks) * (1 - paths)) - np.log(1 - np.exp(-leaks))
        scores = (single * counts).sum(axis=1)
        expected = np.sort(np.argsort(-scores, kind="stable")[: min(7, (scores > 0).sum())])
        assert subgraphs(network, csr_array(counts[None]), 7).nodes.tolist() == expected.tolist()


def test_mentioned_keyphrases_are_kept_before_others():
    network = structure(
        csr_array(np.ones((2, 40))),
        range(30),
        np.random.default_rng(0).standard_normal((40, 3)),
        weights="similarity",
        beta=0.5,
    )
    counts = np.zeros((1, 40))
    counts[0, [3, 8, 35]] = 1, 2, 1
    mentioned = [k for k in range(30) if network.phrases[k] in (3, 8)]
    assert subgraphs(network, csr_array(counts), 2).nodes.tolist() == mentioned
    assert subgraphs(without_mentions(network), csr_array(counts), 2).nodes.tolist() != mentioned
    more = subgraphs(network, csr_array(counts), 6).nodes
    assert set(mentioned) < set(more.tolist())
    assert len(more) == 6


def test_a_pruned_subgraph_is_the_network_with_other_keyphrases_off():
    network = made(30, 40, seed=2, fanout=5)
    rows = documents(network, 1)
    graphs = subgraphs(network, rows, 7)
    keep = np.append(graphs.nodes, 30 + rows.indices)
    links = network.children.toarray()[graphs.nodes]
    dense = np.zeros((7, len(keep)))
    dense[graphs.parents, np.repeat(np.arange(len(keep)), np.diff(graphs.starts))] = graphs.weights
    assert (dense == links[:, keep]).all()
    assert graphs.outside == pytest.approx(links.sum(axis=1) - dense.sum(axis=1))
    assert (graphs.leaks == network.leaks[keep]).all()
    assert graphs.counts.tolist() == [1.0] * 7 + rows.data.tolist()
    assert graphs.on.tolist() == [int(rows[0, k] > 0) for k in graphs.nodes] + [1] * rows.nnz


def clustered(keyphrases=600, units=1500, clusters=20):
    """Return a network as a collection gives it: links within subjects, weak on the average, and small leaks; and the subjects."""
    chance = np.random.default_rng(0)
    subjects = np.arange(keyphrases + units) % clusters
    links = np.zeros((keyphrases, keyphrases + units))
    for k in range(keyphrases):
        alike = np.flatnonzero(subjects == subjects[k])
        rarer, common = alike[(alike > k) & (alike < keyphrases)], chance.integers(keyphrases, keyphrases + 60, 5)
        own = np.concatenate((chance.choice(alike[alike >= keyphrases], 25, replace=False), common, rarer[:1]))
        links[k, own] = chance.exponential(0.3, len(own)) + 0.02
    leaks = np.exp(chance.uniform(np.log(2e-4), np.log(5e-3), keyphrases + units))
    return network_of(csr_array(links), leaks, np.full(keyphrases, -1)), subjects


def test_pruning_hardly_changes_the_ten_best_keyphrases():
    network, subjects = clustered()
    chance = np.random.default_rng(1)
    rows = np.zeros((6, 1500))
    for row, subject in zip(rows, chance.integers(0, 20, 6), strict=True):
        row[chance.choice(np.flatnonzero(subjects[600:] == subject), 25, replace=False)] = 1
        row[chance.integers(0, 1500, 15)] += 1
    few, many = (encode(network, csr_array(rows), most=most, method="gibbs").toarray() for most in (200, 600))
    assert ((many > 0).sum(axis=1) > 250).all()
    same = [len({*np.argsort(-a)[:10]} & {*np.argsort(-b)[:10]}) for a, b in zip(few, many, strict=True)]
    assert np.mean(same) >= 9


# Learning.


def test_em_never_lowers_the_likelihood():
    for seed in range(2):
        network = made(5, 10, seed=seed)
        rows = documents(network, 10, seed)
        likelihoods = []
        for _ in range(8):
            sums = exact_statistics(network, rows)
            likelihoods.append(sums.likelihood)
            network = maximisation(network, sums)
        assert (np.diff(likelihoods) > -1e-9).all()
        assert likelihoods[-1] > likelihoods[0] + 1


def test_one_parent_and_one_child_have_a_closed_form():
    leak, noise, weight = 0.2, 0.05, 0.7
    network = network_of(csr_array([[0.0, weight]]), np.array([leak, noise]), np.array([-1]))
    rows = csr_array(np.array([[1.0]] * 600 + [[0.0]] * 400))
    prior = -np.expm1(-leak)
    present = prior * -np.expm1(-noise - weight)
    p = present / (present + (1 - prior) * -np.expm1(-noise))
    r = p * np.expm1(-weight) / np.expm1(-noise - weight)
    # A document without the unit has no subgraph: its keyphrases are off.
    expected = -np.log(1 - 600 * r / (600 * p))
    learned = maximisation(network, expectation(network, rows, 2000, 10, 0, 1, False))
    # All documents with the unit share one chain, as they are equal.
    assert learned.weights == pytest.approx(expected, rel=0.02)
    assert learned.leaks[0] == pytest.approx(-np.log(1 - 0.6 * p), rel=0.05)


def test_the_statistics_of_sampling_are_those_of_enumeration():
    network = made(7, 9, seed=5, fanout=5)
    rows = csr_array(np.maximum(documents(network, 3).toarray(), np.eye(3, 9)))
    found, truth = (
        expectation(network, rows, 20_000, 100, 0, 1, False),
        exact_statistics(network, rows, only_ancestors=True),
    )
    for name in ("links", "on", "leaks", "link_copies"):
        assert np.abs(getattr(found, name) - getattr(truth, name)).max() < 0.1, name
    assert found.copies.tolist() == truth.copies.tolist()
    assert found.tokens == truth.tokens
    # Marginal entropies are at least the joint one.
    assert 0 <= found.likelihood - truth.likelihood < 0.1 * abs(truth.likelihood)


def test_the_units_that_a_short_text_lacks_count_in_part():
    # One keyphrase, its unit, and two units that the text lacks: the odds are those of the prior and of each unit.
    network = network_of(csr_array([[0.0, 0.5, 0.7, 0.9]]), np.full(4, 0.1), np.array([-1]))
    prior = np.expm1(0.1)
    here = np.expm1(0.1 + 0.5) / np.expm1(0.1) * np.exp(-0.5)
    for length, share in ((0.0, 1.0), (1.0, 1.0), (2.0, 0.5), (4.0, 0.25)):
        odds = prior * here * np.exp(-share * (0.7 + 0.9))
        for method in ("propagation", "gibbs"):
            found = encode(network, csr_array([[1.0, 0.0, 0.0]]), method=method, length=length)
            assert found.toarray()[0, 0] == pytest.approx(odds / (1 + odds), abs=3e-3)


def test_learning_lowers_the_perplexity_and_ends_when_it_is_stable():
    teacher, network = made(12, 40, seed=1, leak=0.02), made(12, 40, seed=1, leak=0.02)
    chance = np.random.default_rng(0)
    links, rows = teacher.children.toarray(), np.zeros((400, 52))
    for node in range(52):
        rows[:, node] = chance.random(400) < -np.expm1(-(teacher.leaks[node] + rows[:, :12] @ links[:, node]))
    start = network.with_values(np.full(len(network.weights), 0.5), np.full(52, 0.3))
    found = learn(start, csr_array(rows[:, 12:]), sweeps=100)
    assert found.perplexities[-1] < 0.9 * found.perplexities[0]
    assert 3 <= len(found.perplexities) <= 10
    again = learn(start, csr_array(rows[:, 12:]), sweeps=100, workers=3)
    assert (again.network.weights == found.network.weights).all()
    assert again.perplexities == found.perplexities


def test_learning_drops_links_that_do_nothing():
    # The keyphrase is always mentioned, its first unit always there, and its second never.
    network = network_of(csr_array([[0.0, 0.5, 0.5, 0.5]]), np.full(4, 0.01), np.array([0]))
    found = learn(network, csr_array(np.tile([1.0, 1.0, 0.0], (50, 1))), sweeps=20)
    assert found.network.silhouettes.toarray()[0].tolist()[2] == 0
    assert len(found.network.weights) == 2
    assert (found.network.weights > 4).all()


def test_learning_says_how_far_it_is_within_an_iteration():
    network = network_of(csr_array([[0.0, 0.5, 0.5, 0.5]]), np.full(4, 0.01), np.array([0]))
    calls = []
    rows = csr_array(np.tile([1.0, 1.0, 0.0], (600, 1)))
    learn(network, rows, iterations=2, sweeps=5, progress=lambda *call: calls.append(call))
    assert calls == [(512, 1200), (600, 1200), (1112, 1200), (1200, 1200)]


def test_a_mentioned_keyphrase_can_be_held_on():
    # Nothing but the mention speaks for the keyphrase: without holding it is soon off.
    network = network_of(csr_array([[0.0, 1e-3, 3.0]]), np.array([0.01, 0.5, 0.01]), np.array([0]))
    rows = csr_array(np.tile([1.0, 0.0], (20, 1)))
    held, free = (expectation(network, rows, 200, 10, 0, 1, hold).on[0] for hold in (True, False))
    assert held == 20
    assert free < 1


# Each keyphrase alone.


def test_evidence_is_a_ratio_of_likelihoods_without_the_keyphrases_own_unit():
    network, rows = made(6, 14, seed=3), documents(made(6, 14, seed=3), 5)
    links, units = network.silhouettes.toarray(), slice(network.keyphrases, None)
    for length in (0.0, 8.0):
        found = weighed(network, rows, length)
        dense = found.toarray()
        for d, counts in enumerate(rows.toarray()):
            entries = set(found.indices[found.indptr[d] : found.indptr[d + 1]].tolist())
            part = min(1.0, (counts > 0).sum() / length) if length else 1.0
            for k in range(6):
                others = np.arange(14) != network.phrases[k]
                off, on = network.leaks[units][others], (network.leaks[units] + links[k])[others]
                here = counts[others] > 0
                times = 1 + np.log(counts[others][here])
                present = (times * (np.log(-np.expm1(-on[here])) - np.log(-np.expm1(-off[here])))).sum()
                linked = ((links[k] > 0) & others & (counts > 0)).any() or counts[network.phrases[k]] > 0
                assert (k in entries) == linked
                if linked:
                    assert dense[d, k] == pytest.approx(present - part * (on - off)[~here].sum())


def test_weighing_does_not_depend_on_workers_or_on_other_documents():
    network = made(20, 60, seed=1)
    rows = documents(network, 150)
    one, three = weighed(network, rows, 9.0, 1), weighed(network, rows, 9.0, 3)
    assert (one.data == three.data).all() and (one.indices == three.indices).all()
    assert (weighed(network, rows[[77]], 9.0).data == one[[77]].data).all()


def test_the_curve_is_the_share_of_documents_that_mention_the_keyphrase():
    # Unit 0 mentions the keyphrase; units 1 and 2 speak for it. Documents with both mention it in 80 % of the cases, with
    # one in 30 %, and others never.
    network = network_of(csr_array([[0.0, 1.0, 1.0, 1.0]]), np.full(4, 0.2), np.array([0]))
    rows = np.zeros((3000, 3))
    rows[:1000, 1:], rows[1000:2000, 1] = 1, 1
    rows[:800, 0], rows[1000:1300, 0] = 1, 1
    curve = calibrate(network, csr_array(rows))
    evidence = weighed(network, csr_array(rows[[0, 1000]])).data
    assert curve.of(evidence) == pytest.approx([0.8, 0.3], abs=0.02)
    assert (np.diff(curve.evidence) > 0).all() and (np.diff(curve.chances) >= 0).all()
    backward = calibrate(network, csr_array(np.concatenate((1 - rows[:2000, :1], rows[:2000, 1:]), axis=1)))
    assert (np.diff(backward.chances) >= 0).all(), "more evidence never makes a keyphrase less probable"
    none = calibrate(network, csr_array((5, 3)))
    assert none.of(np.array([-9.0, 9.0])).tolist() == [0, 0]


def test_each_keyphrase_has_the_same_weight_in_the_curve():
    # Unit 2 speaks for both keyphrases: a tenth of its documents mention the first, and a hundredth the second, rare one.
    links = np.array([[0, 0, 3.0, 0, 1.0], [0, 0, 0, 3.0, 1.0]])
    network = network_of(csr_array(links), np.array([0.1, 0.01, 0.1, 0.01, 0.5]), np.array([0, 1]))
    rows = np.zeros((2000, 3))
    rows[:, 2] = 1
    rows[:200, 0], rows[200:220, 1] = 1, 1
    found = calibrate(network, csr_array(rows)).of(weighed(network, csr_array(rows[[999]])).data)
    weights = 0.055 / np.array([0.1, 0.01])
    mentioned = weights @ [200, 20]
    assert found == pytest.approx([mentioned / (mentioned + 4000 - 220)] * 2, rel=0.05)


def test_a_mention_is_surer_the_more_often_rarer_longer_and_more_telling_it_is():
    # Unit 0 is in 100 of 1,000 documents and twice in 50 of them; unit 1 in as many, and never twice; unit 2 in 10. By the
    # share of documents that come back to it, drawn to a quarter: 51 / 104, 1 / 104, 1 / 14. The documents of units 1 and 2
    # are as much alike, those of unit 0 less.
    counts = np.zeros((1000, 3))
    counts[:100, :2], counts[:50, 0], counts[:10, 2] = 1, 2, 1
    named, focus = np.array([0.9, 0.9, 0.3]), np.array([2.0, 5.0, 5.0])
    odds = odds_of_mentions(csr_array(counts), np.array([0, 1, 2]), np.array([1, 1, 2]), named, focus)
    facts = [
        [1, np.log(10), 5 / 6, 1 / 6, 0, 0.9],
        [1, np.log(10), 1 / 6, 2 / 3, 0, 0.9],
        [1, np.log(100), 1 / 2, 2 / 3, 1, 0.3],
    ]
    # The numbers that benchmarks/keyphrases_judged.py prints.
    assert odds == pytest.approx(np.array(facts) @ [-5.7, 0.37, 1.8, 2.3, 1.05, 3.5])
    network = network_of(csr_array([[0.0, 1.0, 1.0]]), np.full(3, 0.2), np.array([0]))
    curve = CertaintyCurve(np.array([0.0, 1.0]), np.array([0.2, 0.4]))
    found = certain(network, csr_array([[1.0, 0], [3.0, 1], [0, 1]]), curve, np.array([-1.0])).toarray()[:, 0]
    logistic = [1 / (1 + np.exp(-x)) for x in (-1, -1 + certainty.COUNT * np.log(3))]
    assert found[:2] == pytest.approx(logistic)
    assert found[2] == pytest.approx(curve.of(weighed(network, csr_array([[0.0, 1.0]])).data)[0])


def test_a_keyphrase_leads_to_the_units_that_nothing_else_explains():
    network = network_of(
        csr_array([[0, 0, 2.0, 1.0, 0], [0, 0, 0, 1.0, 0.5]]), np.array([0.1, 0.1, 0.01, 0.7, 0.2]), [0, -1]
    )
    found = evoked_by(network, csr_array([[1.0, 2.0, 0.0]]), csr_array([[0.5, 0.25]])).toarray()
    s, leak = 1 - np.exp(-np.array([2.0, 1.0])), 1 - np.exp(-np.array([0.01, 0.7]))
    on = s / (1 - (1 - s) * (1 - leak))
    assert found == pytest.approx(np.array([[0.5 * on[0], 0.5 * on[1], 0], [0, 0.25 * on[1], 0]]))


# Structure.


def test_units_that_texts_do_not_come_back_to_are_no_keyphrases():
    chance = np.random.default_rng(0)
    counts = (chance.random((500, 4)) < 0.5).astype(float)
    # Texts come back to the first two units in two fifths of the cases, to the third hardly ever; the fourth is rare.
    counts[:, :2] *= 1 + (chance.random((500, 2)) < 0.4)
    counts[:10, 2] *= 2
    counts[6:, 3] = 0
    rows = csr_array(counts)
    everything = np.ones(4, bool)
    assert come_back(rows, everything, 0.6).tolist() == [True, True, False, True]
    assert come_back(rows, everything, 0.0).all()
    assert come_back(csr_array(np.minimum(counts, 1)), everything, 1.0).all(), "no text comes back to anything"


def test_links_are_those_of_the_paper():
    chance = np.random.default_rng(0)
    counts = (chance.random((60, 12)) < np.linspace(0.7, 0.1, 12)) * 2
    vectors = chance.standard_normal((12, 3))
    keyphrases = [9, 0, 3, 5, 1]
    network = structure(csr_array(counts), keyphrases, vectors, weights="similarity", alpha=0.4, beta=0.2)
    df = (counts > 0).sum(axis=0)
    order = sorted(keyphrases, key=lambda unit: (-df[unit], unit))
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    expected = {}
    for i, k in enumerate(order):
        for j, other in enumerate(order):
            shared = ((counts[:, k] > 0) & (counts[:, other] > 0)).sum()
            if i < j and shared / df[other] >= 0.4 and unit[k] @ unit[other] >= 0.2:
                expected[i, j] = unit[k] @ unit[other]
        expected |= {(i, 5 + t): unit[k] @ unit[t] for t in range(12) if unit[k] @ unit[t] >= 0.2}
    links = network.children.tocoo()
    found = dict(zip(zip(*(c.tolist() for c in links.coords), strict=True), links.data, strict=True))
    assert found == pytest.approx(expected, abs=1e-6)
    assert any(child < 5 for _, child in expected)
    assert network.phrases.tolist() == order
    assert network.leaks == pytest.approx(np.append(df[order], df) / 60)


def test_a_keyphrase_leads_to_its_most_similar_units_only():
    chance = np.random.default_rng(0)
    counts, vectors = csr_array(np.ones((3, 50))), np.abs(chance.standard_normal((50, 4)))
    every, few = (
        structure(counts, range(20), vectors, weights="similarity", beta=0.5, most=most).silhouettes for most in (50, 6)
    )
    assert np.diff(few.indptr).tolist() == [min(6, size) for size in np.diff(every.indptr)]
    for k in range(20):
        weights = np.sort(every[[k]].data)[::-1][:6]
        assert np.sort(few[[k]].data)[::-1] == pytest.approx(weights)
        assert few[k, k] == 1.0


def test_a_keyphrase_leads_to_the_units_that_its_documents_have_more_often():
    chance = np.random.default_rng(0)
    counts = (chance.random((80, 15)) < np.linspace(0.6, 0.1, 15)) * 2.0
    counts[:, 14] = counts[:, 13] * (chance.random(80) < 0.8)
    vectors, keyphrases = np.ones((15, 1)), [13, 4, 8]
    network = structure(csr_array(counts), keyphrases, vectors, weights="shares", alpha=0.3, beta=0.2, most=99)
    here = counts > 0
    df = here.sum(axis=0)
    order = sorted(keyphrases, key=lambda unit: (-df[unit], unit))
    assert network.phrases.tolist() == order and network.leaks == pytest.approx(np.append(df[order], df) / 80)
    expected = {}
    for i, k in enumerate(order):
        for unit in range(15):
            # Five imagined documents have each unit as often as all documents.
            both, usual = (here[:, k] & here[:, unit]).sum(), df[unit] / 80
            share = (both + 5 * usual) / (df[k] + 5)
            if unit == k or (both >= 2 and share > 2 * usual):
                expected[i, 3 + unit] = -np.log(1 - (share - usual) / (1 - usual))
        for j, other in enumerate(order):
            both, usual = (here[:, k] & here[:, other]).sum(), df[other] / 80
            if i < j and both >= 0.3 * df[other]:
                expected[i, j] = max(1e-12, -np.log(1 - ((both + 5 * usual) / (df[k] + 5) - usual) / (1 - usual)))
    links = network.children.tocoo()
    found = dict(zip(zip(*(c.tolist() for c in links.coords), strict=True), links.data, strict=True))
    assert found == pytest.approx(expected)
    assert (order.index(13), 3 + 14) in expected and any(child < 3 for _, child in expected)


def test_of_many_units_a_keyphrase_leads_to_those_that_say_most_about_it():
    # Units 1 to 4 are in 10, 20, 4 and 12 of the 20 documents of unit 0, and in 10, 40, 4 and 50 of all 200. Unit 4 is in
    # more of them than unit 1, but is usual.
    counts = np.zeros((200, 5))
    for unit, (own, others) in enumerate([(20, 0), (10, 0), (20, 20), (4, 0), (12, 38)]):
        counts[:own, unit] = counts[20 : 20 + others, unit] = 1
    says = [
        n * np.log(((n + 5 * (n + m) / 200) / 25) / ((n + m) / 200)) for n, m in [(10, 0), (20, 20), (4, 0), (12, 38)]
    ]
    assert says[1] > says[0] > says[3] > says[2]
    for most, expected in ((1, [0]), (2, [0, 2]), (3, [0, 1, 2]), (4, [0, 1, 2, 4]), (5, [0, 1, 2, 3, 4])):
        network = structure(csr_array(counts), [0], np.ones((5, 1)), most=most)
        assert sorted(network.silhouettes.indices.tolist()) == expected, "its own unit is always kept"


@pytest.mark.parametrize("weights", ["shares", "similarity"])
def test_structure_is_the_same_for_any_number_of_workers(weights):
    chance = np.random.default_rng(1)
    counts = csr_array(chance.random((300, 400)) < 0.1).astype(np.float64)
    vectors = unit_vectors(counts, 10)
    one, two = (structure(counts, range(0, 400, 2), vectors, weights=weights, alpha=0.1, workers=n) for n in (1, 2))
    assert (one.parents == two.parents).all()
    assert (one.weights == two.weights).all()


def test_ppmi_is_its_formula():
    counts = np.array([[2.0, 0, 1], [0, 3, 1], [1, 1, 0]])
    n = counts.sum()
    expected = np.zeros((3, 3))
    for c, u in product(range(3), repeat=2):
        if counts[c, u]:
            expected[c, u] = max(0, np.log(counts[c, u] * n / (counts[c].sum() * counts[:, u].sum())))
    assert ppmi(counts).toarray() == pytest.approx(expected)


def test_units_of_the_same_documents_have_the_same_vector():
    chance = np.random.default_rng(0)
    counts = (chance.random((50, 20)) < 0.3).astype(float)
    counts[:, 7], counts[:, 9] = counts[:, 3], 0
    vectors = unit_vectors(csr_array(counts), 8)
    assert vectors[3] @ vectors[7] == pytest.approx(1, abs=1e-5)
    assert not vectors[9].any()
    assert np.linalg.norm(vectors, axis=1).round(5).tolist() == [float(unit != 9) for unit in range(20)]
    assert not normalised(np.zeros((2, 3))).any()


# Mistakes and damage.


def broken(**changes):
    """Return the arrays of a good network with some of them replaced."""
    network = made(3, 4, seed=1)
    arrays = {name: getattr(network, name).copy() for name in ("starts", "parents", "weights", "leaks", "phrases")}
    for name, change in changes.items():
        arrays[name] = change(arrays[name])
    return arrays


def replaced(place, value):
    def change(array):
        array[place] = value
        return array

    return change


DAMAGE = [
    {"starts": replaced(0, 1)}, {"starts": replaced(3, 1 << 40)}, {"starts": replaced(-1, 5)}, {"starts": replaced(4, -1)},
    {"parents": replaced(0, -1)}, {"parents": replaced(0, 3)}, {"parents": replaced(-1, 1 << 30)},
    {"parents": lambda a: a[::-1].copy()}, {"parents": lambda a: a.astype(float)}, {"parents": lambda a: a[:-1]},
    {"weights": replaced(0, np.nan)}, {"weights": replaced(0, -1.0)}, {"weights": replaced(1, np.inf)},
    {"weights": lambda a: a[:, None]}, {"weights": lambda a: a.tolist()}, {"weights": replaced(0, 0.0)},
    {"leaks": replaced(2, 0.0)}, {"leaks": replaced(2, 1e300)}, {"leaks": lambda a: a[:-1]}, {"leaks": lambda a: a[:2]},
    {"phrases": replaced(0, 4)}, {"phrases": replaced(0, -2)}, {"phrases": replaced(0, 1)}, {"phrases": lambda a: a[:1]},
]  # fmt: skip


@pytest.mark.parametrize("damage", range(len(DAMAGE)))
def test_a_damaged_network_is_refused(damage):
    with pytest.raises(InputError, match="LAKI"):
        Network(**broken(**DAMAGE[damage]))


def test_a_good_network_is_taken_from_other_types():
    arrays = broken(parents=lambda a: a.astype(np.uint64), weights=lambda a: a.astype(np.float32))
    network = Network(**arrays)
    assert network.parents.dtype == np.int32
    assert network.weights.dtype == np.float64


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda n, x: encode(n, x[:, :3], method="gibbs"), "3 columns where the network knows 16"),
        (lambda n, x: encode(n, -1 * x, method="gibbs"), "between 0 and a billion"),
        (lambda n, x: encode(n, x * np.nan, method="gibbs"), "not finite"),
        (lambda n, x: encode(n, x, method="magic"), "none of gibbs, propagation"),
        (lambda n, x: encode(n, x, estimate="magic", method="gibbs"), "none of probabilities, samples"),
        (lambda n, x: encode(n, x, sweeps=0, method="gibbs"), "sweeps is 0"),
        (lambda n, x: encode(n, x, most=0, method="gibbs"), "most is 0"),
        (lambda n, x: evidence(n, x), "one document"),
        (lambda n, x: learn(n, 0 * x), "no document"),
        (lambda n, x: learn(n, x, sweeps=0), "at least 1"),
        (lambda n, x: structure(x, [], np.ones((16, 2))), "some of the 16 units"),
        (lambda n, x: structure(x, [16], np.ones((16, 2))), "some of the 16 units"),
        (lambda n, x: structure(x, [1], np.ones((15, 2))), "vector"),
        (lambda n, x: structure(0 * x, [1], np.ones((16, 2))), "unit 1 is a keyphrase but occurs in no document"),
        (lambda n, x: structure(x, [1], np.ones((16, 2)), beta=0.0), "beta=0"),
        (lambda n, x: structure(x, [1], np.ones((16, 2)), weights="magic"), "none of shares, similarity"),
        (lambda n, x: unit_vectors(-1 * x), "must not be negative"),
    ],
)
def test_mistakes_cost_one_sentence(call, words):
    with pytest.raises(InputError, match=words):
        call(made(), documents(made()))


def test_one_sweep_is_enough_to_get_a_result():
    network = made()
    graphs = subgraphs(network, documents(network), 5)
    found = sampled(graphs, np.zeros(6, np.uint64), 1)
    assert set(found.shares.tolist()) <= {0.0, 1.0}
    assert ((found.means > 0) & (found.means < 1)).all()


def test_documents_with_a_term_of_a_subject_are_more_alike_than_those_with_a_general_word():
    chance = np.random.default_rng(0)
    counts = np.zeros((200, 42))
    for document in range(200):
        subject = document % 4
        counts[document, chance.choice(np.arange(10 * subject, 10 * subject + 10), 6)] = 1
        counts[document, 40] = subject == 1 and chance.random() < 0.5
        counts[document, 41] = chance.random() < 0.2
    counts[0, 40] = 0
    found = decomposed(csr_array(counts), 8)
    subject, general = concentration(found, np.array([40, 41]))
    assert subject > 2 and general < 1.5
    # The definition, document by document: the mean cosine of pairs, without the unit itself.
    vectors = found.svd.vectors / np.sqrt(found.svd.values)
    every = found.matrix.toarray()

    def mean(rows):
        rows = rows[np.linalg.norm(rows, axis=1) > 0]
        rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        cosines = rows @ rows.T
        return cosines[~np.eye(len(rows), dtype=bool)].mean()

    having = np.flatnonzero(every[:, 40] > 0)
    others = every[having].copy()
    others[:, 40] = 0
    assert subject == pytest.approx(mean(others @ vectors) / mean(every @ vectors))
