"""Conjugate gradients for one positive definite matrix and many right-hand sides, the matrix given as a function.

M. R. Hestenes and E. Stiefel, Methods of conjugate gradients for solving linear systems, 1952; preconditioned by the diagonal.
Every column has steps and a stop of its own; columns share the products, which is what makes them fast.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sublex.errors import InputError
from sublex.estimators import kernels
from sublex.estimators.blocks import in_order, one_thread, spans

# Columns solved together. It is part of the result to the last bit, so it does not depend on the number of workers.
WIDTH = 32


def solve(
    product: Callable[[np.ndarray], np.ndarray],
    right: Callable[[slice], np.ndarray],
    diagonal: np.ndarray,
    out: np.ndarray,
    tol: float = 1e-8,
    steps: int = 1000,
    workers: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> np.ndarray:
    """Fill `out` with the X of A X = B and return how many steps each column took.

    `product(V)` is A V for a C-contiguous float64 V of any number of columns, called from several threads; `right(columns)` is
    that part of B; `diagonal` is A's. A column is done when the preconditioned residual, sqrt(r' D^-1 r), is `tol` of what it
    was. `progress` gets the columns done and all of them, and may raise to end the work.
    """
    diagonal = np.asarray(diagonal, np.float64)
    if not (np.isfinite(diagonal) & (diagonal > 0)).all():
        raise InputError("A matrix whose diagonal is not above 0 cannot be solved by conjugate gradients.")
    inverse = 1.0 / diagonal
    total = out.shape[1]
    took = np.zeros(total, np.int32)

    def work(columns: slice) -> int:
        out[:, columns], took[columns] = _block(product, right(columns), inverse, tol, steps)
        return columns.stop

    with one_thread():
        for done in in_order(work, spans(total, WIDTH), workers):
            if progress:
                progress(done, total)
    return took


def _block(
    product: Callable[[np.ndarray], np.ndarray], b: np.ndarray, inverse: np.ndarray, tol: float, steps: int
) -> tuple[np.ndarray, np.ndarray]:
    """The solutions of a block of columns, and the steps of each."""
    r = np.array(b, np.float64, order="C")
    x, p = np.zeros_like(r), np.zeros_like(r)
    solution, took = np.zeros_like(r), np.zeros(r.shape[1], np.int32)
    rho, curve, beta = np.zeros((3, r.shape[1]))
    # A step of length 0 takes the measure of b.
    kernels.advance(beta, p, p, inverse, x, r, rho)
    if not np.isfinite(rho).all():
        raise InputError("A right-hand side that is not finite has no solution.")
    enough = tol * tol * rho
    live = np.arange(r.shape[1])
    for step in range(steps + 1):
        done = rho <= enough
        if done.any():
            solution[:, live[done]], took[live[done]] = x[:, done], step
            live = live[~done]
            rho, curve, beta, enough = (a[~done] for a in (rho, curve, beta, enough))
            x, r, p = (np.ascontiguousarray(a[:, ~done]) for a in (x, r, p))
            if not len(live):
                return solution, took
        kernels.turn(beta, r, inverse, p)
        s = product(p)
        kernels.dots(p, s, curve)
        if not (curve > 0).all():
            raise InputError(
                "A matrix that is not positive definite, or not finite, cannot be solved by conjugate gradients."
            )
        before = rho.copy()
        kernels.advance(rho / curve, p, s, inverse, x, r, rho)
        beta = rho / before
    raise InputError(f"Conjugate gradients did not reach {tol:g} in {steps} steps; allow more, or a larger tol.")
