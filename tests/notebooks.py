"""Run the code cells of a notebook in order and return their outputs, without Jupyter.

`python tests/notebooks.py` writes the outputs into the notebooks in `docs/notebooks`.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from sublex.evaluation.comparison import Comparison

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


def read(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8"))


def run(notebook: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Return the notebook with the outputs of its code cells, run where it lies: in `docs/notebooks` of a checkout.

    `folder` becomes a checkout with the demo collection alone.
    """
    (folder / "queries").symlink_to(ROOT / "queries")
    place = folder / "docs" / "notebooks"
    place.mkdir(parents=True)
    names: dict[str, Any] = {"__name__": "__main__"}
    before = Path.cwd()
    os.chdir(place)
    try:
        cells, count = [], 0
        for cell in notebook["cells"]:
            if cell["cell_type"] == "code":
                count += 1
                cell = {**cell, "execution_count": count, "outputs": outputs("".join(cell["source"]), names, count)}
            cells.append(cell)
    finally:
        os.chdir(before)
    return {**notebook, "cells": cells}


def outputs(code: str, names: dict[str, Any], count: int) -> list[dict[str, Any]]:
    """Run one cell, and return what Jupyter would keep: the printed text, and the value of a last expression."""
    tree, printed = ast.parse(code), io.StringIO()
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, f"cell {count}", "exec"), names)
        value = None if last is None else eval(compile(ast.Expression(last.value), f"cell {count}", "eval"), names)
    found: list[dict[str, Any]] = []
    if text := printed.getvalue():
        found.append({"name": "stdout", "output_type": "stream", "text": text.splitlines(keepends=True)})
    if value is not None:
        if isinstance(value, Comparison):
            # Times differ from run to run.
            value.systems = tuple(system._replace(milliseconds=None) for system in value.systems)
        # The HTML of other packages depends on their versions.
        ours = type(value).__module__.startswith("sublex.") and hasattr(value, "_repr_html_")
        kinds = {"text/html": value._repr_html_()} if ours else {"text/plain": repr(value)}
        data = {kind: text.splitlines(keepends=True) for kind, text in kinds.items()}
        found.append({"data": data, "execution_count": count, "metadata": {}, "output_type": "execute_result"})
    return found


def written(notebook: dict[str, Any]) -> str:
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    for path in NOTEBOOKS:
        with tempfile.TemporaryDirectory() as folder:
            path.write_text(written(run(read(path), Path(folder))), encoding="utf-8")
        print(path, file=sys.stderr)
