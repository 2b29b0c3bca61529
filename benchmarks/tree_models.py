"""Train small models with LightGBM and XGBoost, and write what the two programs predict: the golden files of tests/golden/trees.

    pip install lightgbm xgboost
    python benchmarks/tree_models.py tests/golden/trees

For each model there are the file that the program saved, and a JSON file with rows of features (null for NaN), the program's sums of
trees for them, and its Shapley values.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import xgboost

FEATURES = 5
NAMES = ["BM25", "PL2", "zscore(DirichletLM)", "lsi(e=20)", "RM3 >> BM25"]


def data() -> tuple[np.ndarray, np.ndarray, list[int]]:
    """Return rows with missing values and zeros, grades from 0 to 3, and the sizes of groups."""
    random = np.random.default_rng(7)
    rows = random.normal(size=(600, FEATURES)).round(3)
    rows[random.random(rows.shape) < 0.1] = np.nan
    rows[random.random(rows.shape) < 0.1] = 0
    grades = np.clip(np.nan_to_num(rows[:, 0] * rows[:, 1] + rows[:, 2]).round(), 0, 3).astype(int)
    return rows, grades, [30] * 20


def write(folder: Path, name: str, rows: np.ndarray, sums: Any, shares: Any, by: str) -> None:
    """Write the predictions of a model for rows."""
    given = [[None if np.isnan(value) else value for value in row] for row in rows.tolist()]
    record = {
        "by": by,
        "rows": given,
        "sums": np.asarray(sums, float).tolist(),
        "contributions": np.asarray(shares, float).tolist(),
    }
    (folder / f"{name}.json").write_text(json.dumps(record, indent=1) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    rows, grades, sizes = data()
    shown, by = rows[:40], f"lightgbm {lightgbm.__version__}"
    options = {"n_estimators": 6, "num_leaves": 9, "verbose": -1, "random_state": 1}
    for name, more in (("ranker", {}), ("zeros", {"zero_as_missing": True}), ("none_missing", {"use_missing": False})):
        model = lightgbm.LGBMRanker(**options, **more).fit(rows, grades, group=sizes, feature_name=NAMES)
        model.booster_.save_model(folder / f"lightgbm_{name}.txt")
        shares = model.booster_.predict(shown, pred_contrib=True)
        write(folder, f"lightgbm_{name}", shown, model.booster_.predict(shown, raw_score=True), shares, by)
    by = f"xgboost {xgboost.__version__}"
    table = xgboost.DMatrix(rows, grades)
    table.set_group(sizes)
    binary = xgboost.DMatrix(rows, grades > 0)
    for name, objective, given in (("ranker", "rank:ndcg", table), ("logistic", "binary:logistic", binary)):
        booster = xgboost.train({"objective": objective, "max_depth": 3, "base_score": 0.3, "seed": 1}, given, 6)
        booster.save_model(folder / f"xgboost_{name}_model.json")
        asked = xgboost.DMatrix(shown)
        shares = booster.predict(asked, pred_contribs=True)
        write(folder, f"xgboost_{name}", shown, booster.predict(asked, output_margin=True), shares, by)


if __name__ == "__main__":
    main()
