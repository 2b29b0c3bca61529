"""Tests of dCoT: its map against all corruptions, samples of them and a direct solution; layers; explanations; hostile input."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array, random_array
from strategies import examples

import sublex
from sublex.errors import InputError
from sublex_dcot.maps import RIDGE, expectations
from sublex_dcot.model import DCoT

EXACT = {"storage": "float64", "tol": 1e-13, "min_df": 1}


def counts(n: int, d: int, seed: int, density: float = 0.2) -> csr_array:
    """Return random counts, most of them 1, of words with very different frequencies; some documents are empty."""
    rng = np.random.default_rng(seed)
    common = rng.random(d) ** 2 * 2 * density
    return csr_array(np.where(rng.random((n, d)) < common, rng.geometric(0.6, (n, d)), 0).astype(np.int32))


def direct(x: np.ndarray, prototypes: np.ndarray, p: float) -> np.ndarray:
    """Return W = E[P] E[Q]⁻¹ by equations (4) to (6), entry by entry."""
    bar = np.concatenate([x, np.ones((len(x), 1))], axis=1)
    S = bar.T @ bar
    q = [1 - p] * x.shape[1] + [1.0]
    Q = np.array([[S[i, j] * (q[i] if i == j else q[i] * q[j]) for j in range(len(q))] for i in range(len(q))])
    Q += np.diag([RIDGE] * x.shape[1] + [0.0])
    P = np.array([[S[i, j] * q[j] for j in range(len(q))] for i in prototypes])
    return np.linalg.solve(Q, P.T).T


def by_words(model: DCoT) -> np.ndarray:
    """Return the first map in the paper's layout, with words in the order of the matrix."""
    W = np.zeros((len(model.prototypes_), model.columns_ + 1))
    W[:, model.words_] = model.W_[0][:-1].T
    W[:, -1] = model.W_[0][-1]
    return W


def dense(x: csr_array) -> np.ndarray:
    return x.toarray().astype(np.float64)


# The map.


@settings(max_examples=examples(60))
@given(
    st.integers(1, 40),
    st.integers(1, 30),
    st.integers(1, 40),
    st.sampled_from([0.1, 0.5, 0.7, 0.9, 0.99]),
    st.integers(0, 99),
)
def test_the_map_is_the_direct_solution(n, d, r, p, seed):
    x = counts(n, d, seed)
    if not x.nnz:
        return
    model = DCoT(r=r, p=p, **EXACT).fit(x)
    expected = direct(dense(x), model.prototypes_, p)
    assert np.abs(by_words(model) - expected).max() <= 1e-8 * max(1, np.abs(expected).max())


def test_the_map_of_a_larger_matrix_is_the_direct_solution():
    x = counts(900, 700, 1, 0.05)
    model = DCoT(r=100, **EXACT).fit(x)
    S = np.concatenate([dense(x)[:, model.words_], np.ones((900, 1))], axis=1)
    P, Q = expectations(S.T @ S, 100, 0.9)
    np.testing.assert_allclose(model.W_[0], np.linalg.solve(Q, P.T), atol=1e-8)
    assert model.steps_.max() < 60
    single = DCoT(r=100, min_df=1).fit(x)
    assert single.W_[0].dtype == np.float32
    np.testing.assert_allclose(single.W_[0], model.W_[0], atol=1e-5)


@pytest.mark.parametrize("p", [0.3, 0.9])
def test_the_map_minimises_the_loss_over_every_corruption_there_is(p):
    # Equation (1) with all 2^d corruptions of each document, weighted by their probability.
    x, d, r = dense(counts(12, 6, 4, 0.5)), 6, 3
    masks = np.array(list(product([0.0, 1.0], repeat=d)))
    chance = np.prod(np.where(masks, 1 - p, p), axis=1)
    model = DCoT(r=r, p=p, **EXACT).fit(csr_array(x))
    rows = np.concatenate([np.append(document * mask, 1.0)[None] for document in x for mask in masks])
    weight = np.sqrt(np.tile(chance, len(x)))[:, None]
    wanted = np.repeat(x[:, model.prototypes_], len(masks), axis=0)
    ridge = np.sqrt(RIDGE) * np.eye(d, d + 1)
    least, *_ = np.linalg.lstsq(
        np.concatenate([rows * weight, ridge]), np.concatenate([wanted * weight, np.zeros((d, r))])
    )
    np.testing.assert_allclose(by_words(model), least.T, atol=1e-9)


def test_samples_of_corruptions_come_nearer_the_expectations_with_their_root():
    x, p = dense(counts(400, 30, 5, 0.4)), 0.5
    S = np.concatenate([x, np.ones((400, 1))], axis=1)
    P, Q = expectations(S.T @ S, 10, p)
    Q -= np.diag([RIDGE] * 30 + [0.0])
    rng = np.random.default_rng(0)

    def errors(m: int) -> tuple[float, float]:
        p_sum, q_sum = np.zeros_like(P), np.zeros_like(Q)
        for _ in range(m):
            corrupted = np.concatenate([x * (rng.random(x.shape) >= p), np.ones((400, 1))], axis=1)
            p_sum += x[:, :10].T @ corrupted
            q_sum += corrupted.T @ corrupted
        return tuple(
            np.linalg.norm(found / m - true) / np.linalg.norm(true) for found, true in ((p_sum, P), (q_sum, Q))
        )

    few, many = errors(40), errors(40 * 64)
    assert max(few) <= 0.03
    for before, after in zip(few, many, strict=True):
        assert 4 < before / after < 16, "64 times the samples are 8 times as near"


def test_a_map_learned_from_samples_predicts_as_the_closed_form_does():
    x, p = dense(counts(60, 10, 6, 0.5)), 0.6
    model = DCoT(r=4, p=p, **EXACT).fit(csr_array(x))
    rng = np.random.default_rng(1)
    rows = np.concatenate([x * (rng.random(x.shape) >= p) for _ in range(4000)])
    bar = np.concatenate([rows, np.ones((len(rows), 1))], axis=1)
    sampled = np.linalg.lstsq(bar, np.tile(x[:, model.prototypes_], (4000, 1)))[0]
    np.testing.assert_allclose(by_words(model), sampled.T, atol=0.02)


# What the prototypes are, and the rows.


def test_prototypes_are_the_most_frequent_words_and_ties_go_by_column():
    x = csr_array(np.array([[1, 0, 3, 2, 0, 1], [0, 0, 0, 2, 4, 0]]))
    model = DCoT(r=3, min_df=1).fit(x)
    assert model.words_.tolist() == [3, 4, 2, 0, 5]
    assert model.prototypes_.tolist() == [3, 4, 2]
    assert DCoT(r=3, min_df=2).fit(x).words_.tolist() == [3]


def test_rows_are_the_map_of_counts_squashed():
    x = counts(50, 40, 7)
    for log in (False, True):
        model = DCoT(r=10, log=log, **EXACT).fit(x)
        rows = np.log1p(dense(x)) if log else dense(x)
        np.testing.assert_allclose(by_words(model), direct(rows, model.prototypes_, 0.9), atol=1e-8)
        expected = np.tanh(rows @ by_words(model)[:, :-1].T + by_words(model)[:, -1])
        np.testing.assert_allclose(model.transform(x), expected, atol=1e-12)
        np.testing.assert_allclose(DCoT(r=10, log=log, min_df=1).fit(x).transform(x), expected, atol=2e-5)
        np.testing.assert_allclose(model.empty_, np.tanh(by_words(model)[:, -1]), atol=1e-15)


def test_deeper_layers_are_learned_from_the_one_before():
    x = counts(80, 30, 8)
    model = DCoT(r=12, layers=3, p=0.7, **EXACT).fit(x)
    h = model.transform(x).reshape(80, 3, 12)
    for k in (1, 2):
        W = direct(h[:, k - 1], np.arange(12), 0.7)
        np.testing.assert_allclose(model.W_[k].T, W, atol=1e-8)
        np.testing.assert_allclose(h[:, k], np.tanh(h[:, k - 1] @ W[:, :-1].T + W[:, -1]), atol=1e-8)
    shallow = DCoT(r=12, p=0.7, **EXACT).fit(x)
    assert (shallow.W_[0] == model.W_[0]).all()


def test_synonyms_that_never_meet_evoke_each_other_in_deeper_layers():
    # The paper's own example: tasty and delicious are never used together, but with the same words.
    words = "food dinner wonderful expensive tasty delicious rain sun wind".split()
    rng = np.random.default_rng(0)
    texts = []
    for number in range(200):
        context, synonym = words[6:] if number % 2 else words[:4], [rng.choice(words[4:6])]
        texts.append(
            [*rng.choice(context, 2, replace=False), *(synonym if number % 2 == 0 and rng.random() < 0.6 else [])]
        )
    x = np.array([[text.count(word) for word in words] for text in texts])
    model = DCoT(r=9, layers=3, p=0.7).fit(x)
    delicious = np.eye(9)[[words.index("delicious")]]
    raised = (model.transform(delicious)[0] - model.empty_).reshape(3, 9)
    tasty = raised[:, model.prototypes_.tolist().index(words.index("tasty"))]
    assert tasty[0] < tasty[1] < tasty[2]
    assert tasty[0] < 0 < tasty[2]


def test_the_concatenation_has_the_counts_and_every_layer_times_its_weight():
    x = counts(30, 20, 9)
    model = DCoT(r=5, layers=2, **EXACT).fit(x)
    h = model.transform(x)
    np.testing.assert_allclose(model.concatenation(x).toarray(), np.concatenate([dense(x), h], axis=1))
    weighted = np.concatenate([0.5 * dense(x), 2 * h[:, :5], 3 * h[:, 5:]], axis=1)
    np.testing.assert_allclose(model.concatenation(x, (0.5, 2, 3)).toarray(), weighted)
    with pytest.raises(InputError, match="3 weights are needed, for x and each layer; there are 2"):
        model.concatenation(x, (1, 2))


def test_scores_are_cosines_from_the_empty_document():
    x, queries = counts(30, 20, 9), csr_array(counts(4, 20, 10) * np.array([[0], [1], [1], [1]]))
    model = DCoT(r=5, layers=2, **EXACT).fit(x)
    g, h = (model.transform(one) - model.empty_ for one in (queries, x))
    q, d = (np.concatenate([2 * dense(one), rows], axis=1) for one, rows in ((queries, g), (x, h)))
    for found, a, b in (
        (model.score(model.transform(queries), model.transform(x)), g, h),
        (model.score_concatenation(queries, x, weights=(2, 1, 1)), q, d),
        (model.score_concatenation(queries, x, model.transform(x), (2, 1, 1)), q, d),
    ):
        assert found.shape == (4, 30)
        for i, j in product(range(4), range(30)):
            lengths = np.linalg.norm(a[i]) * np.linalg.norm(b[j])
            assert found[i, j] == pytest.approx(a[i] @ b[j] / lengths if lengths else 0.0, abs=1e-12)


def test_every_word_has_its_exact_share_of_what_it_raises():
    x = counts(100, 30, 11)
    row = csr_array(x[[int(np.argmax(np.diff(x.indptr)))]])
    for layers in (1, 2):
        model = DCoT(r=8, layers=layers, **EXACT).fit(x)
        found = model.explain(row, prototypes=8, words=30, layer=1)
        h = model.transform(row)[0][:8]
        assert [one.value for one in found] == sorted((h - model.empty_[:8]).tolist(), reverse=True)
        W = by_words(model)
        for one in found:
            j = model.prototypes_.tolist().index(one.prototype)
            assert one.raised == pytest.approx(sum(share for _, share in one.shares), abs=1e-12)
            assert np.tanh(one.raised + W[j, -1]) == pytest.approx(h[j], abs=1e-12)
            assert {word for word, _ in one.shares} == set(row.indices.tolist())
            for word, share in one.shares:
                assert share == pytest.approx(W[j, word] * dense(row)[0, word], abs=1e-12)
        deepest = model.explain(row, prototypes=3, words=2)
        values = model.transform(row)[0][-8:] - model.empty_[-8:]
        assert [one.value for one in deepest] == sorted(values.tolist(), reverse=True)[:3]
        assert all(len(one.shares) == 2 for one in deepest)
    with pytest.raises(InputError, match="One document is explained at a time, not 2"):
        model.explain(x[[0, 1]])
    with pytest.raises(InputError, match="no layer 3; there are 2"):
        model.explain(row, layer=3)


# Determinism.


def test_the_bytes_do_not_depend_on_the_workers():
    x = csr_array(random_array((3000, 200), density=0.05, rng=1, data_sampler=lambda size: np.ones(size)))
    found = []
    for workers in (1, 2, 3):
        model = DCoT(r=100, layers=3).fit(x, workers=workers)
        found.append((model.transform(x, workers).tobytes(), *(W.tobytes() for W in model.W_)))
    assert len(set(found)) == 1


def test_a_row_does_not_depend_on_the_others():
    x = counts(200, 50, 12)
    model = DCoT(r=33, layers=2).fit(x)
    together = model.transform(x)
    for k in (0, 7, 199):
        assert model.transform(x[[k]]).tobytes() == together[[k]].tobytes()


def test_the_input_stays_as_it_was_and_its_form_does_not_matter():
    x = counts(40, 20, 13)
    before = x.copy()
    doubled = csr_array((np.repeat(x.data / 2, 2), np.repeat(x.indices, 2), 2 * x.indptr), shape=x.shape)
    expected = DCoT(r=5, log=True).fit(x).transform(x)
    for form in (x.toarray(), x.tocoo(), x.tocsc(), x.astype(np.float32), doubled):
        assert DCoT(r=5, log=True).fit(form).transform(form).tobytes() == expected.tobytes()
    assert (x != before).nnz == 0 and not doubled.has_canonical_format


# Hostile input.


@pytest.mark.parametrize("shape", [(0, 0), (0, 5), (5, 0), (5, 5)])
def test_nothing_to_learn_from_is_refused(shape):
    with pytest.raises(InputError, match="nothing to learn from: no word is in 1 or more"):
        DCoT(min_df=1).fit(csr_array(shape))


def test_few_documents_and_words_are_enough():
    one = csr_array(np.array([[2, 0, 1]]))
    model = DCoT(r=500, layers=2, min_df=1).fit(one)
    assert model.transform(one).shape == (1, 4)
    # One document tells nothing about words: its own counts are the bias, and no word adds to them.
    np.testing.assert_allclose(model.W_[0], [[0, 0], [0, 0], [2, 1]], atol=1e-6)
    x = counts(20, 4, 14, 0.5)
    assert DCoT(r=4).fit(x).transform(x).shape == DCoT(r=5).fit(x).transform(x).shape == (20, 4)
    assert DCoT().fit(x).transform(csr_array((0, 4))).shape == (0, 4)


def test_a_word_in_every_document_and_words_in_none_are_harmless():
    x = counts(30, 10, 15).toarray()
    x[:, 3] = 2
    x[:, [4, 7]] = 0
    x[:5] = 0
    x[:5, 3] = 2
    model = DCoT(r=10, **EXACT).fit(x)
    assert not {4, 7} & set(model.words_.tolist())
    assert np.isfinite(model.transform(x)).all()
    unseen = np.zeros((1, 10))
    unseen[0, 4] = 3
    assert (model.transform(unseen)[0] == model.empty_).all()
    assert not model.score(model.transform(unseen), model.transform(x)).any()


def test_long_documents_saturate_without_harm():
    x = counts(30, 10, 16) * 1e6
    h = DCoT(r=5, layers=3).fit(x).transform(x)
    assert np.isfinite(h).all() and np.abs(h).max() <= 1


@pytest.mark.parametrize(
    "params",
    [
        {"p": 0.0},
        {"p": 1.0},
        {"p": -1},
        {"p": float("nan")},
        {"tol": 0},
        {"r": 0},
        {"r": 1.5},
        {"layers": 0},
        {"min_df": 0},
    ],
)
def test_a_parameter_out_of_range_is_named(params):
    name = next(iter(params))
    with pytest.raises(InputError, match=rf"^DCoT's {name} is .*; it must .*\.$"):
        DCoT(**params).fit(counts(10, 5, 0))


def test_mistakes_are_named():
    x = counts(10, 5, 17, 0.5)
    with pytest.raises(InputError, match="storage is float16; it may be float32 or float64"):
        DCoT(storage="float16").fit(x)
    with pytest.raises(InputError, match="call fit first"):
        DCoT().transform(x)
    model = DCoT().fit(x)
    with pytest.raises(InputError, match="The matrix has 4 words; DCoT was fitted on 5"):
        model.transform(csr_array((1, 4)))
    with pytest.raises(InputError, match="needs a matrix"):
        DCoT().fit(np.ones(4))
    for bad in (-1.0, np.nan, np.inf):
        with pytest.raises(InputError, match="negative or not finite"):
            DCoT().fit(csr_array([[1.0, bad]]))
    with pytest.raises(InputError, match="DCoT has no parameter q; it has r, layers, p"):
        model.set_params(q=1)


def test_parameters_are_read_and_changed_as_scikit_learn_does():
    model = DCoT(r=7, p=0.5)
    assert model.get_params()["r"] == 7 and model.get_params()["layers"] == 1
    assert DCoT(**model.get_params()).get_params() == model.set_params(p=0.5).get_params()
    assert model.set_params(p=0.8, log=True) is model and (model.p, model.log) == (0.8, True)
    assert repr(model).startswith("DCoT(r=7, layers=1, p=0.8, log=True")


def test_progress_counts_the_prototypes():
    told = []
    DCoT(r=40).fit(counts(100, 60, 18), progress=lambda *one: told.append(one))
    assert told[-1] == (40, 40)


def test_the_plugin_is_imported_without_its_algorithm():
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    code = "import sys, sublex_dcot; print({'numpy', 'scipy', 'numba'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.strip() == "set()"


# Real documents.


@pytest.mark.slow
def test_names_evoke_what_they_are_news_of(collections, tmp_path):
    with tarfile.open(collections / "reuters21578" / "reuters21578.tar.xz") as archive:
        members = [one for one in archive.getmembers() if one.name.endswith(tuple(f"{k:03}.sgm" for k in range(6)))]
        archive.extractall(tmp_path, members, filter="data")
    index = sublex.build(sorted(tmp_path.rglob("*.sgm")), tmp_path / "index", reader="reuters")
    words = index.corpus.vocabulary
    model = DCoT(min_df=2).fit(index.corpus.matrix(), workers=2)

    def evoked(word: str) -> set[str]:
        column = words.index(word)
        row = csr_array(([1.0], ([0], [column])), shape=(1, len(words)))
        return {words[one.prototype] for one in model.explain(row, 10) if one.shares[0].word == column}

    assert {"stock", "secur", "trade"} <= evoked("nasdaq")
    assert {"presid", "administr", "hous"} <= evoked("reagan")
