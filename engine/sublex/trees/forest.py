"""A forest: the decision trees of a model as arrays, checked so that no walk through them can leave the arrays or go on for ever."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from sublex.errors import InputError
from sublex.tools.plain_files import read_text
from sublex.trees import tree_kernels
from sublex.trees.tree_kernels import LEAF

# The largest file of a model, in bytes, and the longest path from a root to a leaf.
LARGEST, DEEPEST = 1 << 30, 512
WANTED = "a model that LightGBM saved as text (.txt) or XGBoost saved as JSON (.json)"


class UnreadModel(Exception):
    """A model is damaged, or Sublex cannot read its kind. The message is a clause that says why."""


class Tree(NamedTuple):
    """One tree as lists with an item for each node. The root is node 0.

    `feature` is the number of the feature that a node looks at, `LEAF` for a leaf. A value goes left if it is at most
    `threshold`. A missing value goes left if `missing_left` is true. `missing` says which values are missing: `NOTHING`,
    `ZEROS` or `NAN`. `value` is the number that a leaf adds, and `cover` the amount of training data that reached a node.
    """

    feature: Sequence[int]
    threshold: Sequence[float]
    left: Sequence[int]
    right: Sequence[int]
    missing_left: Sequence[bool]
    missing: Sequence[int]
    value: Sequence[float]
    cover: Sequence[float]


class Forest:
    """The sum of trees, plus `base`. Rows of features are arrays of float64.

    `names` are the names of the features in the file; they are empty if the file has none. `width` is the number of
    features. `single` says that values are rounded to float32 before they are compared, as XGBoost does.
    """

    def __init__(self, trees: Sequence[Tree], width: int, names: Sequence[str], base: float, single: bool):
        if not trees:
            raise UnreadModel("it has no tree")
        if not 0 < width <= 1 << 20:
            raise UnreadModel(f"it has {width} features")
        for number, tree in enumerate(trees):
            _check(tree, width, f"tree {number}")
        begins = np.cumsum([0, *(len(tree.feature) for tree in trees)])
        shifts = np.repeat(begins[:-1], np.diff(begins))
        joined = [np.concatenate([np.asarray(column) for column in columns]) for columns in zip(*trees, strict=True)]
        feature, threshold, left, right, missing_left, missing, value, cover = joined
        self.roots = begins[:-1].astype(np.int32)
        self.feature = feature.astype(np.int32)
        self.threshold = threshold.astype(np.float64)
        self.left, self.right = (left + shifts).astype(np.int32), (right + shifts).astype(np.int32)
        self.missing_left, self.missing = missing_left.astype(np.uint8), missing.astype(np.uint8)
        self.value, self.cover = value.astype(np.float64), cover.astype(np.float64)
        self.width, self.names, self.base, self.single = width, tuple(names), float(base), single
        if not np.isfinite(self.base):
            raise UnreadModel("a number in it is not finite")

    @property
    def _arrays(self) -> tuple[np.ndarray, ...]:
        nodes = self.feature, self.threshold, self.left, self.right, self.missing_left, self.missing, self.value
        return self.roots, *nodes

    def predict(self, rows: Any) -> np.ndarray:
        """Return the sum of the trees for each row, without the function that turns sums into probabilities or counts."""
        given = self._rows(rows)
        found = np.empty(len(given))
        tree_kernels.sums(*self._arrays, given.ravel(), np.int64(self.width), found)
        return found + self.base

    def contributions(self, row: Any) -> np.ndarray:
        """Return the number that each feature adds to the prediction of a row, and at the end the prediction without features.

        These are Shapley values: the number of a feature is its mean effect over all orders in which features become
        known. At a node whose feature is not known yet, both branches count, weighted by their shares of the training
        data. All numbers add up to the prediction. (Lundberg and others, "From local explanations to global
        understanding", 2020, whose algorithm for one leaf is used here.)
        """
        given = self._rows(np.reshape(np.asarray(row, np.float64), (1, -1)))
        found = np.zeros(self.width + 1)
        depth = np.int64(_deepest(self.feature, self.left, self.right, self.roots))
        tree_kernels.shapley(*self._arrays, self.cover, given.ravel(), depth, found)
        found[self.width] += self.base
        return found

    def _rows(self, rows: Any) -> np.ndarray:
        given = np.ascontiguousarray(rows, np.float64)
        if given.ndim != 2 or given.shape[1] != self.width:
            raise InputError(f"The model was trained with {self.width} features, and gets {given.shape[-1]}.")
        return given.astype(np.float32).astype(np.float64) if self.single else given


def read_forest(path: str | os.PathLike[str]) -> Forest:
    """Return the model in a file.

    Raise InputError, in one sentence, if the file holds no model of a kind that Sublex reads.
    """
    from sublex.trees.lightgbm_text import from_lightgbm
    from sublex.trees.xgboost_json import from_xgboost

    text = read_text(path, LARGEST, WANTED)
    begin = text[:100].lstrip()
    read = from_xgboost if begin.startswith("{") else from_lightgbm if begin.startswith("tree") else None
    if read is None:
        raise InputError(f"{path} is no model of LightGBM or XGBoost; give {WANTED}.")
    try:
        return read(text)
    except UnreadModel as error:
        reason = str(error)
    except KeyError as error:
        reason = f"{str(error.args[0])[:40]} is missing"
    except (ValueError, TypeError, AttributeError, IndexError, OverflowError, RecursionError):
        reason = "it is damaged"
    raise InputError(f"Cannot read the model {path}: {reason}.")


def _check(tree: Tree, width: int, name: str) -> None:
    """Raise UnreadModel if a walk from the root could leave the tree or reach a node twice, or if a number is not finite."""
    size = len(tree.feature)
    if not size or any(len(column) != size for column in tree):
        raise UnreadModel(f"{name} has columns of different lengths")
    feature, left, right = (np.asarray(column, np.int64) for column in (tree.feature, tree.left, tree.right))
    inner = feature != LEAF
    children = np.concatenate([left[inner], right[inner]])
    if ((feature[inner] < 0) | (feature[inner] >= width)).any():
        raise UnreadModel(f"{name} looks at a feature that is not there")
    # Each node except the root must be a child exactly once.
    if len(children) != size - 1 or not np.array_equal(np.sort(children), np.arange(1, size)):
        raise UnreadModel(f"{name} is no tree")
    if not _reaches_all(inner, left, right):
        raise UnreadModel(f"{name} is no tree")
    finite = np.isfinite(np.asarray(tree.value, np.float64)).all() and np.isfinite(np.asarray(tree.cover, float)).all()
    if not finite or np.isnan(np.asarray(tree.threshold, np.float64)).any() or (np.asarray(tree.cover) < 0).any():
        raise UnreadModel(f"a number in {name} is not finite")


def _reaches_all(inner: np.ndarray, left: np.ndarray, right: np.ndarray) -> bool:
    """Return whether the root reaches all nodes within `DEEPEST` steps.

    Each other node must have exactly one parent.
    """
    level, reached = np.zeros(1, np.int64), 1
    for _ in range(DEEPEST):
        level = level[inner[level]]
        if not len(level):
            return reached == len(inner)
        level = np.concatenate([left[level], right[level]])
        reached += len(level)
    return False


def _deepest(feature: np.ndarray, left: np.ndarray, right: np.ndarray, roots: np.ndarray) -> int:
    """Return the largest number of nodes on a path from a root to a leaf."""
    level, depth = roots, 0
    while len(level):
        level = level[feature[level] != LEAF]
        level, depth = np.concatenate([left[level], right[level]]), depth + 1
    return depth
