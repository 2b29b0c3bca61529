"""Tests of the models of LightGBM and XGBoost that Sublex reads itself: their predictions, Shapley values, and forged files."""

from __future__ import annotations

import itertools
import json
import math
import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sublex.errors import InputError
from sublex.trees.forest import Forest, Tree, read_forest
from sublex.trees.tree_kernels import LEAF, NAN, NOTHING, ZEROS

GOLDEN = Path(__file__).parent / "golden" / "trees"
MODELS = {
    "lightgbm_ranker": ".txt",
    "lightgbm_zeros": ".txt",
    "lightgbm_none_missing": ".txt",
    "xgboost_ranker": "_model.json",
    "xgboost_logistic": "_model.json",
}


def golden(name: str) -> tuple[Forest, np.ndarray, np.ndarray, np.ndarray]:
    """Return a model, rows, and what the program that trained the model says about them."""
    told = json.loads((GOLDEN / f"{name}.json").read_text())
    rows = np.array([[math.nan if value is None else value for value in row] for row in told["rows"]])
    return read_forest(GOLDEN / f"{name}{MODELS[name]}"), rows, np.array(told["sums"]), np.array(told["contributions"])


@pytest.mark.parametrize("name", MODELS)
def test_predictions_and_contributions_are_those_of_the_program_that_trained_the_model(name):
    forest, rows, sums, contributions = golden(name)
    # LightGBM adds in float64 as we do, XGBoost in float32.
    near = 1e-12 if name.startswith("lightgbm") else 1e-5
    assert np.abs(forest.predict(rows) - sums).max() < near
    assert np.ptp(sums) > 0.1
    found = np.array([forest.contributions(row) for row in rows])
    assert np.abs(found - contributions).max() < near
    assert np.abs(found.sum(axis=1) - sums).max() < near


def test_the_names_of_features_are_read():
    names = ("BM25", "PL2", "zscore(DirichletLM)", "lsi(e=20)", "RM3_>>_BM25")
    assert read_forest(GOLDEN / "lightgbm_ranker.txt").names == names
    assert read_forest(GOLDEN / "xgboost_ranker_model.json").names == ()


def random_tree(random: random.Random, width: int, depth: int) -> Tree:
    """Return a tree whose nodes stand in the order in which a walk from the root meets them."""
    columns: list[list] = [[] for _ in Tree._fields]

    def grow(left: int, cover: float) -> int:
        number = len(columns[0])
        inner = left > 0 and random.random() < 0.8
        missing = random.choice([NOTHING, ZEROS, NAN])
        values = [
            random.randrange(width) if inner else LEAF, random.choice([-1.0, 0.0, 0.5]), 0, 0, random.random() < 0.5, missing,
            0.0 if inner else random.choice([-2.0, 1.0, 3.0]), cover,
        ]  # fmt: skip
        for column, value in zip(columns, values, strict=True):
            column.append(value)
        if inner:
            share = random.choice([0.25, 0.5, 0.7])
            columns[2][number] = grow(left - 1, cover * share)
            columns[3][number] = grow(left - 1, cover * (1 - share))
        return number

    grow(depth, 100.0)
    return Tree(*columns)


def expected_value(tree: Tree, row: list[float], known: frozenset[int], node: int = 0) -> float:
    """Return the value of a tree when only some features are known: at others, both branches count by their cover."""
    if tree.feature[node] == LEAF:
        return tree.value[node]
    feature = tree.feature[node]
    left, right = tree.left[node], tree.right[node]
    if feature in known:
        value, missing = row[feature], tree.missing[node]
        if math.isnan(value) and missing == NOTHING:
            value = 0.0
        is_missing = math.isnan(value) or (missing == ZEROS and value == 0)
        goes_left = tree.missing_left[node] if is_missing else value <= tree.threshold[node]
        return expected_value(tree, row, known, left if goes_left else right)
    both = tree.cover[left] + tree.cover[right]
    parts = (tree.cover[child] / both * expected_value(tree, row, known, child) for child in (left, right))
    return sum(parts)


@given(st.randoms(use_true_random=False))
def test_contributions_are_the_mean_effects_over_all_orders_of_the_features(random):
    width = random.randint(1, 4)
    trees = [random_tree(random, width, random.randint(0, 5)) for _ in range(random.randint(1, 3))]
    forest = Forest(trees, width, (), 0.25, single=False)
    row = [random.choice([-1.0, 0.0, 0.3, 2.0, math.nan]) for _ in range(width)]

    def value(known: frozenset[int]) -> float:
        return 0.25 + sum(expected_value(tree, row, known) for tree in trees)

    orders = list(itertools.permutations(range(width)))
    effects = [
        sum(
            value(frozenset(order[: order.index(f) + 1])) - value(frozenset(order[: order.index(f)]))
            for order in orders
        )
        / len(orders)
        for f in range(width)
    ]
    assert forest.predict([row])[0] == pytest.approx(value(frozenset(range(width))), abs=1e-12)
    assert forest.contributions(row) == pytest.approx([*effects, value(frozenset())], abs=1e-9)


def test_a_row_of_another_width_is_refused():
    forest = read_forest(GOLDEN / "lightgbm_ranker.txt")
    with pytest.raises(InputError, match="trained with 5 features, and gets 3"):
        forest.predict(np.zeros((2, 3)))


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("left_child=", "left_child=0 ", "left_child has 9 numbers, not 8"),
        ("split_feature=", "split_feature=9 ", "split_feature has 9 numbers"),
        ("max_feature_idx=4", "max_feature_idx=1", "looks at a feature that is not there"),
        ("max_feature_idx=4", "max_feature_idx=99999999999", "features"),
        ("num_class=1", "num_class=3", "several classes"),
        ("num_cat=0", "num_cat=1", "categories"),
        ("is_linear=0", "is_linear=1", "linear leaves"),
        ("num_leaves=9", "num_leaves=0", "has no leaf|numbers, not 0"),
        ("num_leaves=9", "num_leaves=nine", "it is damaged"),
        ("leaf_value=", "leaf_values=", "leaf_value has 0 numbers"),
        ("\nTree=", "\nBush=", "it has no tree"),
    ],
)
def test_a_damaged_model_of_lightgbm_costs_a_sentence(tmp_path, old, new, reason):
    text = (GOLDEN / "lightgbm_ranker.txt").read_text()
    assert old in text
    (tmp_path / "model.txt").write_text(text.replace(old, new))
    with pytest.raises(InputError, match=f"Cannot read the model .*model.txt: .*({reason})"):
        read_forest(tmp_path / "model.txt")


def test_a_tree_whose_walk_would_not_end_is_refused(tmp_path):
    lines = (GOLDEN / "lightgbm_ranker.txt").read_text().splitlines()
    at = next(number for number, text in enumerate(lines) if text.startswith("left_child="))
    # The left child of every node is the root, so a walk to the left never ends.
    lines[at] = "left_child=" + " ".join("0" for _ in lines[at].split("=")[1].split())
    (tmp_path / "model.txt").write_text("\n".join(lines))
    with pytest.raises(InputError, match="tree 0 is no tree"):
        read_forest(tmp_path / "model.txt")


def test_numbers_that_are_not_finite_are_refused(tmp_path):
    text = (GOLDEN / "lightgbm_ranker.txt").read_text()
    for name in ("leaf_value", "threshold", "internal_count"):
        (tmp_path / "model.txt").write_text(text.replace(f"{name}=", f"{name}=nan "))
        with pytest.raises(InputError, match="Cannot read the model"):
            read_forest(tmp_path / "model.txt")
        changed = [
            f"{name}=" + " ".join(["nan", *line.split("=")[1].split()[1:]]) if line.startswith(f"{name}=") else line
            for line in text.splitlines()
        ]
        (tmp_path / "model.txt").write_text("\n".join(changed))
        with pytest.raises(InputError, match="not finite"):
            read_forest(tmp_path / "model.txt")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda learner: learner["gradient_booster"].update(name="dart"), "its booster is dart"),
        (lambda learner: learner["learner_model_param"].update(num_class="3"), "several numbers"),
        (lambda learner: learner["learner_model_param"].update(num_feature="0"), "0 features"),
        (lambda learner: learner["objective"].update(name="count:poisson"), "its objective is count:poisson"),
        (lambda learner: learner["learner_model_param"].update(base_score="x"), "it is damaged"),
        (
            lambda learner: learner["gradient_booster"]["model"]["trees"][0].pop("left_children"),
            "left_children is missing",
        ),
        (lambda learner: learner["gradient_booster"]["model"].update(trees=[]), "no tree"),
        (lambda learner: learner["gradient_booster"]["model"]["trees"][0].update(split_type=[1] * 15), "categories"),
        (lambda learner: learner["gradient_booster"]["model"]["trees"][0].update(left_children=[0] * 15), "tree"),
        (lambda learner: learner["gradient_booster"]["model"]["trees"][0].update(sum_hessian=[1.0]), "lengths"),
    ],
)
def test_a_damaged_model_of_xgboost_costs_a_sentence(tmp_path, change, reason):
    told = json.loads((GOLDEN / "xgboost_ranker_model.json").read_text())
    change(told["learner"])
    (tmp_path / "model.json").write_text(json.dumps(told))
    with pytest.raises(InputError, match=f"Cannot read the model .*model.json: .*{reason}"):
        read_forest(tmp_path / "model.json")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "hello",
        "{",
        "{}",
        "[]",
        '{"learner": 3}',
        "tree\nnum_class=1",
        "tree\n\nTree=0\nnum_leaves=1",
        "{" * 100_000,
    ],
)
def test_a_file_that_is_no_model_costs_a_sentence(tmp_path, text):
    (tmp_path / "model").write_text(text)
    with pytest.raises(InputError):
        read_forest(tmp_path / "model")


@given(st.randoms(use_true_random=False), st.sampled_from(sorted(MODELS)))
def test_forged_models_are_refused_or_predict_finite_numbers(tmp_path_factory, random, name):
    data = bytearray((GOLDEN / f"{name}{MODELS[name]}").read_bytes())
    for _ in range(random.randint(1, 6)):
        at = random.randrange(len(data))
        data[at : at + random.randint(0, 3)] = random.choice(
            [b"0", b"-1", b"99999999999", b"1e400", b"nan", b" ", b"", b"-"]
        )
    path = tmp_path_factory.mktemp("forged") / "model"
    path.write_bytes(bytes(data))
    try:
        forest = read_forest(path)
    except InputError:
        return
    rows = np.zeros((3, forest.width))
    assert np.isfinite(forest.predict(rows)).all()
    assert np.isfinite(forest.contributions(rows[0])).all()
