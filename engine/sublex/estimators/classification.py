"""How well rows of numbers tell the classes of documents: the accuracy of a linear support vector machine, by scikit-learn."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from sublex.errors import MissingExtra

# The costs of errors, C, that are tried.
COSTS = (1.0, 10.0, 100.0)
# Folds of the labelled documents by which C is chosen. With many labels one fold is enough.
FOLDS = 5


def accuracy(
    blocks: Sequence[Any], classes: np.ndarray, labelled: np.ndarray, others: np.ndarray, costs: Sequence[float] = COSTS
) -> float:
    """Train a linear SVM on the documents `labelled`.

    Return the share of the documents `others` whose class it predicts. `classes` has the class of each document.
    `blocks` are matrices with a row for each document, sparse or dense; the columns of all blocks together are the
    features. The cost C is one of `costs`, chosen by cross-validation within `labelled`.
    """
    known, new = coordinates(blocks, labelled, others)
    within = classes[labelled]
    folds = _folds(len(known))[: max(1, FOLDS * 100 // len(known))]
    means = [float(np.mean([_correct(c, known[a], within[a], known[b], within[b]) for a, b in folds])) for c in costs]
    return _correct(costs[int(np.argmax(means))], known, within, new, classes[others])


def coordinates(blocks: Sequence[Any], labelled: np.ndarray, others: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the coordinates of labelled and of other documents in the space that the rows of the labelled ones span.

    A linear SVM that learns from these coordinates makes the same predictions as one that learns from the rows.
    """
    inner, outer = 0.0, 0.0
    for block in blocks:
        inner, outer = inner + _products(block, labelled, labelled), outer + _products(block, others, labelled)
    values, vectors = np.linalg.eigh(np.asarray(inner, np.float64))
    there = values > 1e-9 * values[-1]
    roots = np.sqrt(values[there])
    return vectors[:, there] * roots, outer @ vectors[:, there] / roots


def _products(block: Any, rows: np.ndarray, others: np.ndarray) -> Any:
    found = block[rows] @ block[others].T
    return found.toarray() if hasattr(found, "toarray") else found


def _folds(documents: int) -> list[tuple[np.ndarray, np.ndarray]]:
    from sklearn.model_selection import KFold

    return list(KFold(FOLDS, shuffle=True, random_state=0).split(np.empty(documents)))


def _correct(c: float, x: np.ndarray, classes: np.ndarray, new: np.ndarray, truth: np.ndarray) -> float:
    """Train an SVM of cost `c` on the rows `x` with their classes. Return the share of rows `new` whose class is right.

    `truth` has the classes of the rows `new`.
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.svm import LinearSVC

    names, sizes = np.unique(classes, return_counts=True)
    # Rows of zeros tell nothing, and the most frequent class is the best guess.
    if len(names) == 1 or not x.shape[1]:
        return float((truth == names[sizes.argmax()]).mean())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        machine = LinearSVC(C=c, random_state=0, max_iter=2000, tol=1e-3).fit(x, classes)
    return float((machine.predict(new) == truth).mean())


def expect_scikit_learn(what: str) -> None:
    """Raise MissingExtra if scikit-learn is not installed. `what` names the thing that needs it, for the message."""
    try:
        import sklearn  # noqa: F401
    except ImportError:
        raise MissingExtra(what, "experiments") from None


def draws(pool: np.ndarray, number: int, seed: Sequence[int]) -> np.ndarray:
    """Return `number` documents drawn at random from `pool`, without repetition; all of them if the pool is smaller."""
    return np.random.default_rng(list(seed)).choice(pool, min(number, len(pool)), replace=False)
