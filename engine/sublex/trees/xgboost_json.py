"""Read a model that XGBoost saved as JSON."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np

from sublex.trees.forest import Forest, Tree, UnreadModel
from sublex.trees.tree_kernels import LEAF, NAN

COLUMNS = ("left_children", "right_children", "split_indices", "split_conditions", "default_left", "sum_hessian")


def from_xgboost(text: str) -> Forest:
    """Return the model in a text. If the text is not such a model, raise UnreadModel or an exception of Python."""
    learner = json.loads(text)["learner"]
    booster, about = learner["gradient_booster"], learner["learner_model_param"]
    if booster["name"] != "gbtree":
        raise UnreadModel(f"its booster is {str(booster['name'])[:20]}; train it with gbtree")
    if int(about.get("num_class", "0")) > 1 or int(about.get("num_target", "1")) > 1:
        raise UnreadModel("it predicts several numbers; train it to predict one")
    model = booster["model"]
    if any(model["tree_info"]) or int(model["gbtree_model_param"].get("num_parallel_tree", "1")) < 1:
        raise UnreadModel("it predicts several numbers; train it to predict one")
    trees = [_tree(tree, number) for number, tree in enumerate(model["trees"])]
    names = [str(name) for name in learner.get("feature_names", [])]
    return Forest(trees, int(about["num_feature"]), names, _base(learner), single=True)


def _base(learner: dict[str, Any]) -> float:
    """Return the number to which the values of the trees are added.

    The file has this number in the units of the objective, such as a probability, from which it is converted.
    """
    base = float(str(learner["learner_model_param"]["base_score"]).strip("[]"))
    objective = str(learner["objective"]["name"])
    if objective.startswith(("count:", "reg:gamma", "reg:tweedie", "survival:")):
        raise UnreadModel(f"its objective is {objective[:30]}; train it with one for ranking or regression")
    if not objective.endswith("logistic"):
        return base
    if not 0 < base < 1:
        raise UnreadModel("its base_score is no probability")
    return math.log(base / (1 - base))


def _tree(tree: dict[str, Any], number: int) -> Tree:
    if any(tree.get("split_type", ())) or tree.get("categories"):
        raise UnreadModel(f"tree {number} has splits into categories, which are not read; train it without them")
    left, right = tree["left_children"], tree["right_children"]
    if len({len(tree[name]) for name in COLUMNS}) > 1:
        raise UnreadModel(f"tree {number} has columns of different lengths")
    is_leaf = [child == -1 for child in left]
    # XGBoost keeps numbers as float32, and a value goes left if it is below the threshold. That is the same as "at most the
    # next lower float32".
    with np.errstate(over="ignore"):
        conditions = np.asarray(tree["split_conditions"], np.float64).astype(np.float32)
    below = np.nextafter(conditions, np.float32(-np.inf)).astype(np.float64)
    return Tree(
        [LEAF if leaf else int(feature) for feature, leaf in zip(tree["split_indices"], is_leaf, strict=True)],
        np.where(is_leaf, 0.0, below).tolist(),
        [0 if leaf else int(child) for child, leaf in zip(left, is_leaf, strict=True)],
        [0 if leaf else int(child) for child, leaf in zip(right, is_leaf, strict=True)],
        [bool(flag) for flag in tree["default_left"]],
        [NAN] * len(is_leaf),
        np.where(is_leaf, conditions.astype(np.float64), 0.0).tolist(),
        [float(weight) for weight in tree["sum_hessian"]],
    )
