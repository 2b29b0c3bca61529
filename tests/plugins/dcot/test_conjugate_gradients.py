"""Tests of conjugate gradients against a direct solution, and of work in blocks."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from threadpoolctl import threadpool_info

from sublex.errors import InputError
from sublex.estimators.blocks import in_order, one_thread, spans
from sublex_dcot import conjugate_gradients


def positive(d: int, seed: int) -> np.ndarray:
    """Return a positive definite matrix; the entries of its diagonal span six orders of magnitude."""
    rng = np.random.default_rng(seed)
    a = rng.normal(size=(d, d))
    scale = 10.0 ** rng.uniform(-3, 3, d)
    return (a @ a.T / d + np.eye(d)) * scale * scale[:, None]


def solved(a: np.ndarray, b: np.ndarray, dtype: type = np.float64, **options) -> tuple[np.ndarray, np.ndarray]:
    out = np.full(b.shape, np.nan, dtype)
    steps = conjugate_gradients.solve(lambda v: a @ v, lambda columns: b[:, columns], a.diagonal(), out, **options)
    return out, steps


@given(st.integers(1, 40), st.integers(0, 80), st.integers(0, 1000))
def test_many_right_sides_are_solved_as_directly(d, columns, seed):
    a = positive(d, seed)
    b = np.random.default_rng(seed).normal(size=(d, columns)) * a.diagonal()[:, None]
    found, _ = solved(a, b, tol=1e-13)
    direct = np.linalg.solve(a, b)
    root = np.sqrt(a.diagonal())[:, None]
    assert np.abs((found - direct) * root).max(initial=0) <= 1e-9 * np.abs(direct * root).max(initial=1)


def test_each_column_stops_by_itself():
    a = positive(50, 1)
    _, vectors = np.linalg.eigh(a / np.sqrt(np.outer(a.diagonal(), a.diagonal())))
    root = np.sqrt(a.diagonal())[:, None]
    b = np.stack([vectors[:, 0], vectors[:, :3].sum(axis=1), vectors.sum(axis=1), np.zeros(50)], axis=1) * root
    together, steps = solved(a, b, tol=1e-9)
    assert steps[0] == 1 and steps[1] == 3 and steps[2] > 5 and steps[3] == 0
    assert not together[:, 3].any()
    for k in range(4):
        alone, one = solved(a, b[:, k : k + 1], tol=1e-9)
        assert one[0] == steps[k]
        np.testing.assert_allclose(alone[:, 0], together[:, k], rtol=1e-12)


def test_a_diagonal_matrix_takes_one_step():
    _, steps = solved(np.diag([1e-6, 1.0, 1e6]), np.ones((3, 5)))
    assert (steps == 1).all()


def test_a_looser_tolerance_takes_fewer_steps():
    a = positive(60, 2)
    b = np.random.default_rng(0).normal(size=(60, 40))
    assert solved(a, b, tol=1e-2)[1].sum() < solved(a, b, tol=1e-6)[1].sum() < solved(a, b, tol=1e-12)[1].sum()


def test_the_bytes_do_not_depend_on_the_workers():
    a = positive(80, 3)
    b = np.random.default_rng(0).normal(size=(80, 3 * conjugate_gradients.WIDTH + 7))
    found = [solved(a, b, workers=workers) for workers in (1, 2, 3)]
    assert len({(x.tobytes(), steps.tobytes()) for x, steps in found}) == 1


def test_the_solution_is_stored_in_the_type_asked_for():
    a = positive(30, 4)
    b = np.random.default_rng(0).normal(size=(30, 40))
    single, _ = solved(a, b, np.float32)
    assert single.dtype == np.float32
    assert (single == solved(a, b)[0].astype(np.float32)).all()


def test_what_cannot_be_solved_is_refused():
    with pytest.raises(InputError, match="diagonal is not above 0"):
        solved(np.diag([1.0, 0.0]), np.ones((2, 1)))
    with pytest.raises(InputError, match="diagonal is not above 0"):
        solved(np.diag([1.0, np.nan]), np.ones((2, 1)))
    with pytest.raises(InputError, match="not positive definite"):
        solved(np.array([[1.0, 2.0], [2.0, 1.0]]), np.array([[1.0], [-1.0]]))
    for bad in (np.nan, np.inf):
        with pytest.raises(InputError, match="not finite"):
            solved(np.eye(2), np.array([[1.0], [bad]]))
    with pytest.raises(InputError, match="did not reach 1e-12 in 2 steps"):
        solved(positive(30, 5), np.ones((30, 40)), tol=1e-12, steps=2)


def test_progress_is_told_in_order_and_may_end_the_work():
    a, b = positive(10, 6), np.ones((10, 2 * conjugate_gradients.WIDTH + 1))
    told: list[tuple[int, int]] = []
    solved(a, b, workers=2, progress=lambda *counts: told.append(counts))
    assert told == [
        (conjugate_gradients.WIDTH, 2 * conjugate_gradients.WIDTH + 1),
        (2 * conjugate_gradients.WIDTH, 2 * conjugate_gradients.WIDTH + 1),
        (2 * conjugate_gradients.WIDTH + 1, 2 * conjugate_gradients.WIDTH + 1),
    ]

    def cancel(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        solved(a, b, workers=2, progress=cancel)


@given(st.integers(0, 50), st.integers(1, 12), st.integers(1, 4))
def test_blocks_come_in_order_and_cover_everything(total, size, workers):
    parts = list(in_order(lambda part: part, spans(total, size), workers))
    assert [k for part in parts for k in range(part.start, part.stop)] == list(range(total))
    assert all(part.stop - part.start == size for part in parts[:-1])


def test_what_a_block_raises_comes_out_and_no_thread_is_left():
    def work(part: slice) -> None:
        if part.start == 3:
            raise InputError("The fourth.")

    before = threading.active_count()
    with pytest.raises(InputError, match="The fourth"):
        list(in_order(work, spans(1000, 1), 3))
    assert threading.active_count() == before


def test_blas_has_one_thread_and_gets_the_others_back():
    def threads() -> list[int]:
        return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]

    before = threads()
    with one_thread():
        assert set(threads()) <= {1}
    assert threads() == before
