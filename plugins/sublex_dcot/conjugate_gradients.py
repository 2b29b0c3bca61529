"""Block conjugate gradients: solve A X = B for a positive definite matrix A, which is given as a function.

Each column of B has its own step lengths, and stops on its own. The columns share the products with A, which makes the
method fast. The diagonal of A is the preconditioner. After M. R. Hestenes and E. Stiefel, Methods of conjugate
gradients for solving linear systems, Journal of Research of the National Bureau of Standards 49 (1952).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sublex.errors import InputError
from sublex.estimators.blocks import in_order, one_thread, spans
from sublex_dcot import dcot_kernels

# Columns per block. The grouping of the columns changes the rounding, so the width does not depend on the number of
# workers.
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
    """Write the solution X of A X = B to `out`, and return the number of steps that each column took.

    Parameters
    ----------
    product : function
        Returns A V for a C-contiguous float64 matrix V of any number of columns. It is called from several threads.
    right : function
        Returns the columns of B for a slice.
    diagonal : array of shape (n,)
        The diagonal of A, all above 0.
    out : array of shape (n, columns)
        Receives X, converted to its type.
    tol : float
        A column is done when its preconditioned residual, sqrt(r' D⁻¹ r), has fallen to `tol` times its first value. D
        is the diagonal of A.
    steps : int
        The largest number of steps. `InputError` is raised if a column needs more.
    progress : function
        Called with two numbers: the columns done, and all columns. It may raise an exception to end the work.
    """
    diagonal = np.asarray(diagonal, np.float64)
    if not (np.isfinite(diagonal) & (diagonal > 0)).all():
        raise InputError("A matrix whose diagonal is not above 0 cannot be solved by conjugate gradients.")
    inverse = 1.0 / diagonal
    total = out.shape[1]
    steps_taken = np.zeros(total, np.int32)

    def solve_columns(columns: slice) -> int:
        out[:, columns], steps_taken[columns] = _solve_block(product, right(columns), inverse, tol, steps)
        return columns.stop

    with one_thread():
        for done in in_order(solve_columns, spans(total, WIDTH), workers):
            if progress:
                progress(done, total)
    return steps_taken


def _solve_block(
    product: Callable[[np.ndarray], np.ndarray], b: np.ndarray, inverse: np.ndarray, tol: float, steps: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the solutions x of A x = b for the columns of `b`, and the number of steps that each column took.

    `product` multiplies by A, and `inverse` is 1 divided by the diagonal of A. For `tol` and `steps` see `solve`.
    """
    r = np.array(b, np.float64, order="C")
    x, p = np.zeros_like(r), np.zeros_like(r)
    solution, steps_taken = np.zeros_like(r), np.zeros(r.shape[1], np.int32)
    rho, curve, beta = np.zeros((3, r.shape[1]))
    # The first call takes a step of length 0: it computes rho of the right-hand side.
    dcot_kernels.advance(beta, p, p, inverse, x, r, rho)
    if not np.isfinite(rho).all():
        raise InputError("A right-hand side that is not finite has no solution.")
    target = tol * tol * rho
    live = np.arange(r.shape[1])
    for step in range(steps + 1):
        done = rho <= target
        if done.any():
            solution[:, live[done]], steps_taken[live[done]] = x[:, done], step
            live = live[~done]
            rho, curve, beta, target = (a[~done] for a in (rho, curve, beta, target))
            x, r, p = (np.ascontiguousarray(a[:, ~done]) for a in (x, r, p))
            if not len(live):
                return solution, steps_taken
        dcot_kernels.turn(beta, r, inverse, p)
        s = product(p)
        dcot_kernels.dots(p, s, curve)
        if not (curve > 0).all():
            raise InputError(
                "A matrix that is not positive definite, or not finite, cannot be solved by conjugate gradients."
            )
        before = rho.copy()
        dcot_kernels.advance(rho / curve, p, s, inverse, x, r, rho)
        beta = rho / before
    raise InputError(f"Conjugate gradients did not reach {tol:g} in {steps} steps; allow more, or a larger tol.")
