"""Statistics: worked examples, reference implementations and properties; tests hold their level and have the power they claim."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc
from dataclasses import replace
from fractions import Fraction

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from strategies import examples

from sublex.errors import InputError
from sublex.statistics import power, significance, tukey
from sublex.statistics.agreement import kendall, over_topics, rbo, tau_ap
from sublex.statistics.corrections import CORRECTIONS, bh, bonferroni, holm, none
from sublex.statistics.intervals import bootstrap
from sublex.statistics.power import detectable
from sublex.statistics.sentences import format_difference, format_p, letters, p_cell, sentence
from sublex.statistics.significance import CHOICES, TESTS, Pair, compare_all, randomisation, t, wilcoxon

NAMES = [f"system{k}" for k in range(10)]
ALPHABET = "abcdefghijklmnopqrstuvwxyz"
TOLERANCE = 0.015

# Hours of sleep gained by ten patients with two drugs: Cushny and Peebles (1905), Student (1908), R's `sleep`.
SLEEP = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0], [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]
# A depression scale at a patient's first and second visit: Hollander and Wolfe (1973), R's example of wilcox.test.
DEPRESSION = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30], [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29]  # fmt: skip
# Crossed less self-fertilised plants, in eighths of an inch: Darwin (1876), Fisher (1935, section 21).
MAIZE = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]

# Scores with many ties and zeros, as measures at a cutoff have them.
coarse = st.integers(0, 10).map(lambda tenth: tenth / 10)
paired = st.integers(1, 9).flatmap(lambda n: st.tuples(*[st.lists(coarse, min_size=n, max_size=n)] * 2))
probabilities = st.lists(st.one_of(st.floats(0, 1), st.sampled_from((0.0, 0.01, 0.05, 1.0))), min_size=1, max_size=12)
rankings = st.lists(st.integers(0, 30), unique=True, max_size=20)


def precision_like(pairs: int, systems: int, topics: int, seed: int) -> np.ndarray:
    """Return scores like average precision, pairs × systems × topics: skewed, from 0 to 1. Systems differ only by chance.

    Topics differ in difficulty and in how far the systems spread; on some topics all systems score the same.
    """
    random = np.random.default_rng(seed)
    easy = random.beta(0.8, 2.0, (pairs, 1, topics))
    spread = random.gamma(2.0, 0.04, (pairs, 1, topics)) * (random.random((pairs, 1, topics)) > 0.1)
    return np.clip(easy + spread * (random.gumbel(size=(pairs, systems, topics)) - 0.5), 0, 1)


# Worked examples, and SciPy.


def test_student_s_sleep_data_give_what_r_gives():
    pair = compare_all(SLEEP, ["1", "2"])[0]
    assert pair.p == pair.corrected == t(*SLEEP) == pytest.approx(0.002833, abs=5e-7)
    assert pair.difference == pytest.approx(-1.58)
    assert pair.interval == pytest.approx((-2.4598858, -0.7001142), abs=5e-8)
    assert (pair.wins, pair.ties, pair.losses, pair.topics) == (0, 1, 9, 10)
    assert pair.effect == pytest.approx(-4.0621 / np.sqrt(10), abs=5e-5)


def test_hollander_and_wolfe_s_example_of_the_signed_rank_test():
    assert wilcoxon(*DEPRESSION) == pytest.approx(2 * 0.01953, abs=1e-5)


def test_fisher_s_count_of_darwin_s_maize():
    assert randomisation(MAIZE, np.zeros(15)) == 1726 / 32768


@pytest.mark.slow
@pytest.mark.parametrize("topics", [5, 16, 17, 40, 50, 51, 200])
def test_the_tests_agree_with_scipy(topics):
    a, b = precision_like(1, 2, topics, seed=topics)[0]
    assert t(a, b) == pytest.approx(stats.ttest_rel(a, b).pvalue, rel=1e-9)
    d = a - b
    assert wilcoxon(a, b) == pytest.approx(stats.wilcoxon(d[d != 0]).pvalue, rel=1e-9)
    permuted = stats.permutation_test((d,), np.mean, permutation_type="samples", n_resamples=20_000, rng=1)
    assert randomisation(a, b) == pytest.approx(permuted.pvalue, abs=0.015)


def test_ties_in_the_signed_rank_test_are_counted_exactly_where_they_are_few():
    d = [0.1, 0.1, -0.1, 0.2, 0.3, 0.3, 0.0]
    assert wilcoxon(d, np.zeros(7)) == stats.wilcoxon(d).pvalue == naive.sign_flips([2, 2, -2, 4, 5.5, 5.5])


def test_the_corrections_of_five_probabilities_by_hand():
    p = [0.05, 0.01, 0.03, 0.02, 0.04]
    assert holm(p) == pytest.approx([0.09, 0.05, 0.09, 0.08, 0.09])
    assert bonferroni(p) == pytest.approx([0.25, 0.05, 0.15, 0.10, 0.20])
    assert bh(p) == pytest.approx([0.05] * 5)
    assert none(p).tolist() == p


def test_benjamini_and_hochberg_s_own_example():
    p = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0]  # fmt: skip
    assert (bh(p) <= 0.05).sum() == 4 and (bonferroni(p) <= 0.05).sum() == 3


@pytest.mark.parametrize("d, topics", [(0.2, 199), (0.5, 34), (0.8, 15)])
def test_the_number_of_topics_that_cohen_s_effects_need(d, topics):
    """Small, medium and large effects in a paired t test with 80 % power, as G*Power 3.1 has them."""
    assert detectable(1, topics) <= d < detectable(1, topics - 1)


@pytest.mark.slow
def test_the_table_of_the_studentized_range():
    """Upper 5 % points as they are printed in textbooks: 3 means, 20 degrees of freedom; 5 and 20; 10 and 120."""
    for systems, degrees, q in ((3, 20, 3.58), (5, 20, 4.23), (10, 120, 4.56)):
        assert tukey.quantile(systems, degrees, 0.05) * np.sqrt(2) == pytest.approx(q, abs=0.005)


def test_tukey_s_differences_of_two_systems_are_the_t_test():
    pair, plain = (compare_all(SLEEP, ["1", "2"], correction=c)[0] for c in ("tukey", "none"))
    assert (pair.corrected, pair.detectable) == pytest.approx((plain.p, plain.detectable), rel=1e-6)
    assert pair.interval == pytest.approx(plain.interval, rel=1e-6)


@pytest.mark.slow
def test_tukey_s_differences_by_their_definition():
    scores = precision_like(1, 4, 20, seed=4)[0]
    scores[0] += 0.1
    pairs = compare_all(scores, NAMES[:4], correction="tukey")
    error = np.sqrt(naive.residual_mean_square(scores) / 20)
    for pair in pairs:
        q = abs(pair.difference) / error
        assert pair.corrected == pytest.approx(stats.studentized_range.sf(q, 4, 57), rel=1e-6)
        assert pair.p == pytest.approx(2 * stats.t.sf(q / np.sqrt(2), 57), rel=1e-6)
        assert pair.significant == (pair.interval[0] > 0 or pair.interval[1] < 0)
        assert (pair.test, pair.correction) == ("tukey", "tukey")
    assert any(pair.significant for pair in pairs)
    assert pairs == compare_all(scores, NAMES[:4], "wilcoxon", "tukey")


def test_the_bootstrap_agrees_with_scipy():
    scores = precision_like(1, 3, 40, seed=2)[0]
    for row, ends in zip(scores, bootstrap(scores, samples=20_000), strict=True):
        theirs = stats.bootstrap((row,), np.mean, method="BCa", n_resamples=20_000, rng=1).confidence_interval
        assert ends == pytest.approx(list(theirs), abs=0.003)
        assert ends[0] < row.mean() < ends[1]


def test_the_example_of_the_paper_on_rank_biased_overlap():
    """Figure 5: abcdefg and zcavwxy agree by 0, 0, 2/3, 2/4, 2/5, 2/6, 2/7 at depths 1 to 7."""
    agreement = [Fraction(x, d) for d, x in enumerate((0, 0, 2, 2, 2, 2, 2), 1)]
    p = Fraction(9, 10)
    expected = (1 - p) * sum(a * p**d for d, a in enumerate(agreement)) + agreement[-1] * p**7
    assert rbo("abcdefg", "zcavwxy") == pytest.approx(float(expected), rel=1e-12)


@pytest.mark.parametrize(
    "other, p, expected",
    [
        ("karfvodcjmwgzlypebunq", 0.9, 0.468431),
        ("zhatsimjpnkvcfxwqgoeryubd", 0.9, 0.364444),
        ("f", 0.9, 0.053090),
        ("zclx", 0.9, 0.233312),
        ("av", 0.2, 0.900000),
        ("kxcnarvmwyp", 0.99, 0.529392),
    ],
)
def test_rankings_of_unequal_length_get_what_webber_s_program_gives(other, p, expected):
    """Values of the paper's first author's rbo_ext, from the tests of the Rust crate rbo (github.com/mpetri/rbo)."""
    assert rbo(ALPHABET, other, p) == rbo(other, ALPHABET, p) == pytest.approx(expected, abs=5e-7)


def test_tau_ap_by_hand():
    """Of ten items, the first two or the last two exchanged: 2/9 (0 + 8) - 1 and 2/9 (8 + 8/9) - 1."""
    right = list(range(10))
    assert tau_ap([1, 0, *right[2:]], right) == pytest.approx(7 / 9)
    assert tau_ap([*right[:8], 9, 8], right) == pytest.approx(79 / 81)
    # c a b against a b c: nothing right above a, one of two above b; the other way a, b right, nothing above c.
    assert tau_ap("cab", "abc") == pytest.approx(2 / 2 * (0 + 1 / 2) - 1)
    assert tau_ap("abc", "cab") == pytest.approx(2 / 2 * (1 + 0) - 1)
    assert tau_ap("cab", "abc", symmetric=True) == pytest.approx(-0.25)


# References and properties.


@given(paired)
def test_exact_tests_equal_brute_force(scores):
    a, b = scores
    d = [round(10 * x) - round(10 * y) for x, y in zip(a, b, strict=True)]
    assert randomisation(a, b) == naive.sign_flips(d)
    nonzero = [x for x in d if x]
    ranks = naive.midranks([abs(x) for x in nonzero])
    assert wilcoxon(a, b) == naive.sign_flips([np.sign(x) * r for x, r in zip(nonzero, ranks, strict=True)])


@pytest.mark.parametrize("test", TESTS)
@given(paired, st.randoms())
def test_p_is_a_probability_that_depends_neither_on_sides_nor_on_the_order_of_topics(test, scores, random):
    a, b = scores
    p = TESTS[test](a, b)
    assert 0 <= p <= 1
    assert TESTS[test](b, a) == p
    order = random.sample(range(len(a)), len(a))
    assert TESTS[test](np.array(a)[order], np.array(b)[order]) == pytest.approx(p, rel=1e-9)
    assert TESTS[test](np.array(a) * 3, np.array(b) * 3) == pytest.approx(p, rel=1e-9)
    if a == b or len(a) == 1:
        assert p == 1


@given(probabilities)
def test_corrections_keep_the_order_and_never_make_p_smaller(p):
    raw = np.array(p)
    for correct in CORRECTIONS.values():
        corrected = correct(p)
        assert (corrected >= raw).all() and (corrected <= 1).all()
        assert (np.diff(corrected[np.argsort(raw, kind="stable")]) >= 0).all()
    assert holm(p) == pytest.approx(naive.holm(p))
    assert (holm(p) <= bonferroni(p) + 1e-15).all() and (bh(p) <= holm(p) + 1e-15).all()
    assert raw.tolist() == p


@given(rankings, rankings, st.floats(0.05, 0.98))
def test_rank_biased_overlap_equals_its_reference_and_is_symmetric(a, b, p):
    found = rbo(a, b, p)
    assert 0 <= found <= 1 and found == rbo(b, a, p)
    if a and b:
        assert found == pytest.approx(naive.rbo(a, b, p), abs=1e-9)
    assert rbo(a, a, p) == pytest.approx(1)
    assert rbo(a, [*(item + 100 for item in b), -1], p) == 0
    assert found == rbo(np.array(a, np.int64), [*b], p)


@given(rankings, rankings)
def test_tau_ap_equals_its_reference(a, b):
    if len(set(a) & set(b)) < 2:
        assert np.isnan(tau_ap(a, b)) and np.isnan(tau_ap(a, b, symmetric=True))
        return
    assert tau_ap(a, b) == pytest.approx(naive.tau_ap(a, b))
    assert tau_ap(a, b, symmetric=True) == pytest.approx((naive.tau_ap(a, b) + naive.tau_ap(b, a)) / 2)
    assert tau_ap(a, b, symmetric=True) == pytest.approx(tau_ap(b, a, symmetric=True))


@given(st.lists(st.integers(), unique=True, min_size=2, max_size=20))
def test_the_ends_of_tau_ap(ranking):
    assert tau_ap(ranking, ranking) == 1
    assert tau_ap(ranking, ranking[::-1]) == -1


@pytest.mark.slow
@settings(max_examples=examples(30))
@given(paired.filter(lambda scores: len(scores[0]) > 1), st.sampled_from(sorted(TESTS)), st.sampled_from(CHOICES))
def test_a_pair_with_its_systems_exchanged_has_the_opposite_difference(scores, test, correction):
    one, other = (compare_all(s, n, test, correction)[0] for s, n in ((scores, "ab"), (scores[::-1], "ba")))
    assert (one.wins, one.ties, one.losses) == (other.losses, other.ties, other.wins)
    assert [one.difference, one.effect, *one.interval] == pytest.approx(
        [-other.difference, -other.effect, -other.interval[1], -other.interval[0]], rel=1e-9
    )
    assert [one.p, one.corrected, one.detectable] == pytest.approx(
        [other.p, other.corrected, other.detectable], rel=1e-9
    )


@pytest.mark.parametrize("test", TESTS)
def test_a_pair_has_the_same_p_whichever_other_pairs_are_tested(test):
    scores = precision_like(1, 5, 60, seed=3)[0]
    every = {(pair.a, pair.b): pair.p for pair in compare_all(scores, NAMES[:5], test)}
    assert list(every) == [(NAMES[i], NAMES[j]) for i in range(5) for j in range(i + 1, 5)]
    alone = compare_all(scores[[1, 3]], ["system1", "system3"], test)[0]
    assert alone.p == every["system1", "system3"]
    assert TESTS[test](scores[1], scores[3]) == alone.p
    assert TESTS[test](scores[[0, 1]], scores[[2, 3]]).tolist() == [every["system0", "system2"], alone.p]


def test_sampled_signs_come_near_all_signs_and_depend_on_the_seed_alone(monkeypatch):
    a, b = precision_like(1, 2, 16, seed=8)[0]
    exact = randomisation(a, b)
    monkeypatch.setattr(significance, "ENUMERATED", 0)
    sampled = randomisation(a, b, seed=1)
    assert sampled == pytest.approx(exact, abs=0.005) and sampled != exact
    assert sampled == randomisation(a, b, seed=1) != randomisation(a, b, seed=2)
    monkeypatch.setattr(significance, "CELLS", 1000)
    assert sampled == randomisation(a, b, seed=1)
    assert randomisation(np.ones(40) + a[0], np.zeros(40), samples=99) == 1 / 100


# Level, power and coverage.


@pytest.mark.slow
@pytest.mark.parametrize("test", TESTS)
def test_a_test_rejects_one_true_null_hypothesis_in_twenty(test):
    scores = precision_like(2000, 2, 50, seed=5)
    more = {"samples": 10_000} if test == "randomisation" else {}
    p = TESTS[test](scores[:, 0], scores[:, 1], **more)
    assert (p <= 0.05).mean() == pytest.approx(0.05, abs=TOLERANCE)


def test_one_family_in_twenty_has_a_false_alarm_under_holm_and_tukey():
    scores = precision_like(2000, 5, 50, seed=6)
    first, second = np.triu_indices(5, 1)
    p = t(scores[:, first], scores[:, second])
    alarms = np.array([(holm(row) <= 0.05).any() for row in p])
    assert 0.02 < alarms.mean() < 0.05 + TOLERANCE
    assert (p <= 0.05).any(-1).mean() > 0.2
    error = np.sqrt(2 * tukey.mean_square(scores) / 50)
    alarms = np.ptp(scores.mean(-1), axis=-1) / error > tukey.quantile(5, 4 * 49, 0.05)
    assert alarms.mean() == pytest.approx(0.05, abs=TOLERANCE)


@pytest.mark.parametrize("topics", [4, 30])
def test_a_detectable_difference_is_found_four_times_in_five(topics):
    d = np.random.default_rng(7).normal(detectable(0.1, topics), 0.1, (5000, topics))
    assert (t(d, np.zeros_like(d)) <= 0.05).mean() == pytest.approx(0.8, abs=0.02)


def test_a_detectable_difference_of_tukey_s_hsd_is_found_four_times_in_five():
    degrees, topics, sd = 3 * 24, 25, 0.1
    critical = tukey.quantile(4, degrees, 0.05)
    scores = np.random.default_rng(7).normal(0, sd, (5000, 4, topics))
    scores[:, 0] += power.noncentrality(degrees, critical) * sd * np.sqrt(2 / topics)
    error = np.sqrt(2 * tukey.mean_square(scores) / topics)
    difference = scores[:, 0].mean(-1) - scores[:, 1].mean(-1)
    assert (np.abs(difference) / error > critical).mean() == pytest.approx(0.8, abs=0.02)


@pytest.mark.slow
def test_the_intervals_of_pairs_and_means_cover_the_true_value():
    scores = precision_like(1000, 2, 50, seed=9)
    pairs = [compare_all(both, NAMES[:2])[0] for both in scores[:300]]
    assert np.mean([pair.interval[0] <= 0 <= pair.interval[1] for pair in pairs]) == pytest.approx(0.95, abs=0.03)
    truth = precision_like(1, 1, 1_000_000, seed=10).mean()
    ends = bootstrap(scores[:, 0], samples=2000)
    assert ((ends[:, 0] <= truth) & (truth <= ends[:, 1])).mean() == pytest.approx(0.94, abs=0.025)


@pytest.mark.slow
def test_intervals_over_ten_thousand_topics_keep_to_their_memory():
    scores = precision_like(1, 10, 10_000, seed=11)[0]
    tracemalloc.start()
    ends = bootstrap(scores, samples=2000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 120e6
    near = 1.96 * scores.std(-1) / 100
    assert ends[:, 0] == pytest.approx(scores.mean(-1) - near, abs=0.001)
    assert ends.tolist() == bootstrap(scores, samples=2000).tolist()


# Edges and mistakes.


@pytest.mark.slow
@pytest.mark.parametrize("correction", CHOICES)
@pytest.mark.parametrize("test", TESTS)
def test_systems_that_score_the_same_are_not_told_apart(test, correction):
    row = np.random.default_rng(1).random(30)
    # The third row differs only by rounding noise.
    pairs = compare_all([row, row, row + 1e-16], NAMES[:3], test, correction)
    for pair in pairs:
        assert (pair.p, pair.corrected, pair.difference, pair.effect) == (1, 1, 0, 0)
        assert (pair.wins, pair.ties, pair.losses) == (0, 30, 0)


def test_differences_that_do_not_vary():
    pair = compare_all([[0.3] * 20, [0.1] * 20], "ab")[0]
    assert (pair.p, pair.effect, pair.detectable) == (0, np.inf, 0)
    assert pair.interval == pytest.approx((0.2, 0.2))
    pair = compare_all([[0.3] * 6, [0.1] * 6], "ab", "wilcoxon")[0]
    assert pair.p == 2 / 2**6


@pytest.mark.parametrize("correction", CHOICES)
@pytest.mark.parametrize("test", TESTS)
def test_with_one_topic_p_is_1(test, correction):
    for pair in compare_all([[0.5], [0.1], [0.2]], "abc", test, correction):
        assert (pair.p, pair.corrected) == (1, 1)
        assert np.isnan([pair.effect, pair.detectable, *pair.interval]).all()
    assert np.isnan(bootstrap([0.5])).all()


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: t([1, 2], [1]), "not paired"),
        (lambda: wilcoxon([], []), "no topics"),
        (lambda: randomisation([1, np.nan], [1, 2]), "missing or infinite"),
        (lambda: compare_all([[1, 2], [1]], "ab"), "differ in their topics"),
        (lambda: compare_all([[1, 2], [np.inf, 1]], "ab"), "missing or infinite"),
        (lambda: compare_all([[1, 2]], "ab"), "not a table of 2 systems"),
        (lambda: compare_all([[1, 2]], "a"), "two systems or more"),
        (lambda: compare_all([[1, 2]] * 2, "aa"), "its own name"),
        (lambda: compare_all([[1, 2]] * 2, "ab", "sign"), "No test sign; there are t, wilcoxon, randomisation"),
        (lambda: compare_all([[1, 2]] * 2, "ab", correction="sidak"), "No correction sidak; there are .*tukey"),
        (lambda: compare_all([[1, 2]] * 2, "ab", alpha=0), "out of range"),
        (lambda: detectable(1, 10, power=0.01), "out of range"),
        (lambda: holm([0.5, 1.5]), "from 0 to 1"),
        (lambda: bootstrap([[0.1, np.nan]]), "finite"),
        (lambda: bootstrap([0.1, 0.2], level=95), "No interval"),
        (lambda: rbo("ab", "ab", 1), "0 < p < 1"),
        (lambda: tau_ap("aa", "ab"), "twice"),
        (lambda: kendall([1, 2], [1]), "Kendall"),
        (lambda: over_topics({"1": "a"}, {"2": "a"}), "no topic in common"),
    ],
)
def test_a_mistake_is_refused_in_one_sentence(call, message):
    with pytest.raises(InputError, match=message) as caught:
        call()
    assert str(caught.value).endswith(".") and "\n" not in str(caught.value)


def test_orders_of_systems_and_rankings_over_topics():
    a, b = [0.1, 0.2, 0.3, 0.3], [0.3, 0.1, 0.4, 0.5]
    assert kendall(a, b) == stats.kendalltau(a, b).statistic
    assert np.isnan(kendall([1, 1], [1, 2])) and kendall([1, 2, 3], [3, 2, 1]) == -1
    one, other = {"1": "abc", "2": "abc", "3": "x"}, {"2": "abd", "1": "abc", "4": "x"}
    assert over_topics(one, other) == pytest.approx((1 + rbo("abc", "abd")) / 2)
    assert over_topics({"1": "ab", "2": "a"}, {"1": "ab", "2": "a"}, tau_ap) == 1
    assert (rbo("", ""), rbo("", "a")) == (1, 0)


def test_scipy_is_loaded_when_it_is_needed():
    modules = "sublex.statistics.sentences, sublex.statistics.intervals, sublex.statistics.agreement"
    code = f"import sys, {modules}; print('scipy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


# Words.

PAIR = Pair("BM25", "PL2", 0.0123, 0.0005, 0.0031, 0.4, 31, 0, 14, 0.0182, (0.0041, 0.0203), "t", "holm", 6)


def test_a_difference_in_words():
    assert sentence(PAIR, "AP") == (
        "BM25 beats PL2 by .012 AP (95 % interval .004 to .020, p = .003 after Holm's correction over 6 pairs); "
        "it is better on 31 topics, worse on 14."
    )
    other = replace(PAIR, difference=-0.0123, interval=(-0.0203, -0.0041), ties=5, family=1, alpha=0.01)
    assert sentence(other, "nDCG@10") == (
        "PL2 beats BM25 by .012 nDCG@10 (99 % interval .004 to .020, p = .003); "
        "it is better on 14 topics, worse on 31, equal on 5."
    )
    assert "p = .003 by Tukey's HSD over 6 pairs" in sentence(replace(PAIR, correction="tukey"), "AP")
    assert "(simultaneous 95 % interval" in sentence(replace(PAIR, correction="tukey"), "AP")
    assert "p = .003 without correction over 6 pairs" in sentence(replace(PAIR, correction="none"), "AP")
    even = replace(PAIR, difference=0.0, test="wilcoxon", family=1)
    assert sentence(even, "AP") == "BM25 and PL2 have the same mean AP, but differ over 45 topics (p = .003)."


def test_no_difference_in_words():
    pair = replace(PAIR, difference=-0.004, corrected=0.312, ties=5)
    assert sentence(pair, "AP") == (
        "These 50 topics cannot tell BM25 and PL2 apart (difference .004 AP, corrected p = .31); "
        "tested alone, a true difference of .018 or more would have been found four times in five."
    )
    assert "p = .31); a true difference" in sentence(replace(pair, family=1), "AP")
    same = replace(pair, difference=0.0, corrected=1, wins=0, losses=0, ties=45)
    assert sentence(same, "AP") == "BM25 and PL2 have the same AP on all 45 topics."
    one = compare_all([[0.5], [0.4]], ["BM25", "PL2"])[0]
    assert sentence(one, "AP") == "One topic cannot tell BM25 and PL2 apart (difference .100 AP)."


def test_numbers_as_they_are_printed():
    assert [format_difference(x) for x in (0.5, -0.0041, 1.25, 0.00012, 0, 0.9999)] == [
        ".500",
        "-.004",
        "1.250",
        ".0001",
        "0",
        "1.000",
    ]
    assert [format_p(p) for p in (0.00002, 0.0312, 0.31, 0.998, 1)] == ["< .001", "= .031", "= .31", "> .99", "= 1"]
    assert [format_p(p, 0.0005) for p in (0, 0.00002, 0.0004, 0.0006)] == ["< .0001", "< .0001", "= .0004", "= .001"]
    assert [p_cell(p) for p in (0, 0.00009, 0.0001, 0.0312, 1)] == ["< .0001", "< .0001", "0.0001", "0.0312", "1.0000"]
    assert (format_p(0.0499), format_p(0.0502), format_p(0.05)) == ("= .050", "= .0502", "= .050")


def test_each_system_has_the_letters_of_those_it_beats():
    scores = precision_like(1, 3, 60, seed=12)[0] * 0.5
    scores[1] += 0.2
    scores[2] += 0.4
    found = letters(compare_all(scores, ["low", "mid", "high"]))
    assert {name: (mine.letter, str(mine)) for name, mine in found.items()} == {
        "low": ("a", ""),
        "mid": ("b", "a"),
        "high": ("c", "ab"),
    }
    many = letters(compare_all(np.outer(np.arange(1, 29), [0.01, 0.02]), [f"s{k}" for k in range(28)], "randomisation"))
    assert [many[name].letter for name in ("s0", "s25", "s26", "s27")] == ["a", "z", "aa", "ab"]
