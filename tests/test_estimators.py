"""Tests of the estimators that plugins share: singular value decomposition, linear scores."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from sublex.errors import InputError
from sublex.estimators import bag_kernels, linear
from sublex.estimators.blocks import blocks_of, in_order, rows_of, spans, totals
from sublex.estimators.svd import truncated_svd


def counts(rows=60, columns=40, seed=0, density=0.2):
    """Return small random counts, documents by terms, with an empty document and a term that occurs in none."""
    chance = np.random.default_rng(seed)
    made = chance.poisson(2, (rows, columns)) * (chance.random((rows, columns)) < density)
    made[rows // 3], made[:, columns // 3] = 0, 0
    return csr_array(made.astype(np.int32))


def same_bytes(a, b):
    return all(x.tobytes() == y.tobytes() for x, y in zip(a, b, strict=True))


# The singular value decomposition.


@pytest.mark.parametrize("shape", [(60, 40), (40, 60), (300, 25)])
def test_the_svd_is_numpys(shape):
    matrix = counts(*shape)
    found = truncated_svd(matrix, 5, powers=60)
    _, values, vectors = np.linalg.svd(matrix.toarray().astype(float))
    np.testing.assert_allclose(found.values, values[:5], rtol=1e-9)
    np.testing.assert_allclose(np.abs(found.vectors.T), np.abs(vectors[:5]), atol=1e-6)


def test_few_powers_are_enough_where_singular_values_fall():
    chance = np.random.default_rng(3)
    left, right = np.linalg.qr(chance.normal(size=(500, 80)))[0], np.linalg.qr(chance.normal(size=(90, 80)))[0]
    values = 0.8 ** np.arange(80)
    found = truncated_svd(csr_array(left * values @ right.T), 10)
    np.testing.assert_allclose(found.values, values[:10], rtol=1e-8)
    np.testing.assert_allclose(np.abs((found.vectors * right[:, :10]).sum(axis=0)), 1, rtol=1e-8)


def test_vectors_are_orthonormal_and_their_greatest_entry_is_positive():
    vectors = truncated_svd(counts(), 8).vectors
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(8), atol=1e-12)
    assert (vectors[np.abs(vectors).argmax(axis=0), np.arange(8)] > 0).all()


def test_the_svd_stops_at_the_rank():
    chance = np.random.default_rng(0)
    matrix = csr_array(chance.integers(0, 5, (50, 3)) @ chance.integers(0, 5, (3, 30)))
    found = truncated_svd(matrix, 20)
    assert found.values.shape == (3,) and found.vectors.shape == (30, 3)
    np.testing.assert_allclose(found.values, np.linalg.svd(matrix.toarray())[1][:3])
    assert truncated_svd(counts(6, 40), 200).values.size <= 6


@pytest.mark.parametrize("shape", [(0, 7), (7, 0), (0, 0), (5, 7)])
def test_the_svd_of_nothing_has_no_dimensions(shape):
    found = truncated_svd(csr_array(shape), 3)
    assert found.values.shape == (0,) and found.vectors.shape == (shape[1], 0)


@pytest.mark.slow
def test_the_svd_is_the_same_for_any_number_of_workers():
    matrix = counts(9000, 120, density=0.05)
    one, two, three = (truncated_svd(matrix, 70, workers=n) for n in (1, 2, 3))
    assert same_bytes(one, two) and same_bytes(one, three)


def test_the_svd_of_blocks_is_that_of_the_matrix():
    matrix = counts(9000, 50, density=0.05)
    blocks = [matrix[span] for span in spans(9000)]
    whole = truncated_svd(matrix, 6)
    assert same_bytes(whole, truncated_svd(blocks, 6, workers=2))
    assert same_bytes(whole, truncated_svd(lambda: iter(blocks), 6))
    other = truncated_svd([matrix[span] for span in spans(9000, 1000)], 6)
    np.testing.assert_allclose(other.vectors, whole.vectors, atol=1e-9)


def test_the_seed_changes_the_svd_by_rounding_alone():
    matrix = counts()
    one, two = truncated_svd(matrix, 3, powers=80, seed=1), truncated_svd(matrix, 3, powers=80, seed=2)
    assert not same_bytes(one, two)
    np.testing.assert_allclose(one.vectors, two.vectors, atol=1e-7)


def test_wrong_input_to_the_svd_is_one_sentence():
    with pytest.raises(InputError, match="e=0"):
        truncated_svd(counts(), 0)
    with pytest.raises(InputError, match="powers=1"):
        truncated_svd(counts(), 3, powers=1)
    with pytest.raises(InputError, match="not finite"):
        truncated_svd(csr_array([[1.0, np.nan]]), 1)
    with pytest.raises(InputError, match="40 columns and another 30"):
        truncated_svd([counts(columns=40), counts(columns=30)], 1)


# Linear scores, blocks, kernels.


@given(st.integers(0, 10_000), st.sampled_from([np.int32, np.float32, np.float64]))
def test_sums_over_the_forward_index_are_the_plain_product(seed, dtype):
    chance = np.random.default_rng(seed)
    rows = csr_array((chance.poisson(1, chance.integers(1, 9, 2)) * 1.0).astype(dtype))
    values, weights = chance.normal(size=(2, rows.shape[1]))
    found = linear.sums(rows, lambda words, out: out.__setitem__(words, values[words]), weights)
    np.testing.assert_allclose(found, rows.toarray() @ (values * weights), atol=1e-12)


def test_few_rows_and_many_get_the_same_scores():
    matrix = counts(400, 30, density=0.6)
    values = np.random.default_rng(0).normal(size=30)
    give = lambda words, out: out.__setitem__(words, values[words])  # noqa: E731
    every = linear.sums(matrix, give, np.ones(30), workers=3)
    assert linear.sums(matrix[[3, 77]], give, np.ones(30)).tolist() == every[[3, 77]].tolist()


def test_distinct_terms_leave_no_trace():
    seen, found = np.zeros(9, np.bool_), np.empty(6, np.int64)
    assert bag_kernels.distinct(np.array([4, 1, 4, 8, 1, 4], np.int32), seen, found) == 3
    assert found[:3].tolist() == [4, 1, 8] and not seen.any()


def test_a_query_is_dense_or_sparse():
    dense = np.array([0, 2.0, 0, 1])
    for query in (dense, dense.tolist(), csr_array(dense[None]), csr_array(dense)):
        row = linear.query_of(query, 4)
        assert row.indices.tolist() == [1, 3] and row.data.tolist() == [2, 1]
    with pytest.raises(InputError, match="4 where the model wants one row of 5"):
        linear.query_of(dense, 5)
    with pytest.raises(InputError, match="not finite"):
        linear.query_of([np.nan], 1)


def test_totals_are_the_same_from_blocks():
    matrix = counts()
    for given_as in (matrix, [matrix[:7], matrix[7:]], lambda: iter([matrix[:7], matrix[7:]])):
        docs, cf, df = totals(blocks_of(given_as))
        assert docs == 60
        assert cf.tolist() == matrix.sum(axis=0).tolist() and df.tolist() == (matrix.toarray() > 0).sum(axis=0).tolist()


def test_work_comes_back_in_order():
    assert list(in_order(lambda n: n * n, range(50), 3)) == [n * n for n in range(50)]
    assert list(in_order(str, [], 2)) == []
    with pytest.raises(ZeroDivisionError):
        list(in_order(lambda n: 1 // n, [1, 0], 2))


def test_rows_of_anything_are_what_kernels_read():
    assert rows_of(np.array([[1, 0], [0, 2]], np.uint8)).dtype == np.float64
    assert rows_of(counts()).dtype == np.int32
    with pytest.raises(InputError, match="40 columns where the model knows 7 words"):
        rows_of(counts(), 7)
    with pytest.raises(InputError, match="1 dimensions"):
        rows_of(np.ones(3))
