"""Read a model that LightGBM saved as text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sublex.trees.forest import Forest, Tree, UnreadModel
from sublex.trees.tree_kernels import LEAF

# `decision_type` has bits. The bit CATEGORIES means a split into categories. The bit LEFT means that missing values go left.
# The bits from place MISSING on say which values are missing.
CATEGORIES, LEFT, MISSING = 1, 2, 2


def from_lightgbm(text: str) -> Forest:
    """Return the model in a text. If the text is not such a model, raise UnreadModel or an exception of Python."""
    head, *blocks = text.split("\nTree=")
    about = _values(head)
    if int(about.get("num_class", "1")) != 1 or int(about.get("num_tree_per_iteration", "1")) != 1:
        raise UnreadModel("it has several classes; train it to predict one number")
    trees = [_tree(_values(block.partition("\nend of trees")[0]), number) for number, block in enumerate(blocks)]
    if "average_output" in head.splitlines():
        trees = [tree._replace(value=[value / len(trees) for value in tree.value]) for tree in trees]
    names = about.get("feature_names", "").split(" ")
    width = int(about["max_feature_idx"]) + 1
    return Forest(trees, width, names if len(names) == width else (), 0.0, single=False)


def _values(text: str) -> dict[str, str]:
    return dict(line.split("=", 1) for line in text.splitlines() if "=" in line)


def _tree(values: dict[str, str], number: int) -> Tree:
    """Return one tree. In the file, splits and leaves have separate numbers. The child -n - 1 is leaf n."""
    leaves = int(values["num_leaves"])
    if int(values.get("num_cat", "0")) or int(values.get("is_linear", "0")):
        kind = "linear leaves" if int(values.get("is_linear", "0")) else "splits into categories"
        raise UnreadModel(f"tree {number} has {kind}, which are not read; train it without them")
    worth = _numbers(values, "leaf_value", float, leaves)
    splits = leaves - 1
    if leaves < 1:
        raise UnreadModel(f"tree {number} has no leaf")
    kinds = _numbers(values, "decision_type", int, splits)
    if any(kind & CATEGORIES for kind in kinds):
        raise UnreadModel(f"tree {number} has splits into categories, which are not read; train it without them")
    left, right = (
        [_node(child, splits) for child in _numbers(values, side, int, splits)]
        for side in ("left_child", "right_child")
    )
    # In some versions of LightGBM, a tree with a single leaf has no count.
    counts = _numbers(values, "leaf_count", float, leaves) if splits else [1.0]
    cover = [*_numbers(values, "internal_count", float, splits), *counts]
    return Tree(
        [*_numbers(values, "split_feature", int, splits), *[LEAF] * leaves],
        [*_numbers(values, "threshold", float, splits), *[0.0] * leaves],
        [*left, *[0] * leaves],
        [*right, *[0] * leaves],
        [*(bool(kind & LEFT) for kind in kinds), *[False] * leaves],
        [*(kind >> MISSING for kind in kinds), *[0] * leaves],
        [*[0.0] * splits, *worth],
        cover,
    )


def _node(child: int, splits: int) -> int:
    return child if child >= 0 else splits - child - 1


def _numbers(values: dict[str, str], name: str, kind: Callable[[str], Any], count: int) -> list[Any]:
    found = [kind(word) for word in values.get(name, "").split()]
    if len(found) != count:
        raise UnreadModel(f"{name} has {len(found)} numbers, not {count}")
    return found
