"""Tests of the script that changes the code of plugins: which changes it makes, and which tests it chooses."""

from __future__ import annotations

from pathlib import Path

import pytest
from mutations import KINDS, PLUGINS, Changes, changed_source, changes_of, chosen, defaults_of

SOURCE = '''\
"""A module."""

LEAST = 3


def fit(rows, rho=0.5, *, tol: float = 1e-3):
    """Return something."""
    if rows.size < LEAST and not rows.empty:
        raise ValueError(f"{rows.size + 1} is too small.")
    found = solve(rows, self.rho, tol=tol, workers=2, strict=True)
    found += np.sqrt(rows) * 2
    note(found)
    return found
'''


@pytest.mark.parametrize(
    ("kind", "after"),
    [
        ("keyword", ["solve(rows, self.rho, workers=2, strict=True)", "solve(rows, self.rho, tol=tol, strict=True)"]),
        ("swapped", ["solve(self.rho, rows, tol=tol, workers=2, strict=True)"]),
        ("default", ["solve(rows, 0.1, tol=tol, workers=2, strict=True)"]),
        ("term", ["np.sqrt(rows)", "(2)"]),
        ("call", ["(rows)"]),
        ("constant", ["7", "1.0", "0.002", "5", "5"]),
        ("comparison", ["(rows.size >= LEAST)"]),
        ("bound", ["(rows.size <= LEAST)"]),
        ("logic", ["(rows.size < LEAST or not rows.empty)", "(rows.empty)"]),
        ("statement", ["pass", "pass"]),
    ],
)
def test_a_change_of_each_kind(kind, after):
    found = [change for change in Changes(Path("x.py"), SOURCE, {"rho": 0.1}).found if change.kind == kind]
    assert sorted(change.after for change in found) == sorted(after)
    for change in found:
        new = changed_source(SOURCE, change)
        assert new != SOURCE and new.count("\n") <= SOURCE.count("\n")
        compile(new, "x.py", "exec")


def test_tests_are_chosen_by_the_lines_of_a_change(tmp_path):
    found = Changes(Path("plugins/x.py"), SOURCE, {})
    (change,) = (change for change in found.found if change.kind == "call")
    tests = {
        "a.py::slow": {"seconds": 2.0, "files": {"x.py": [10, 11]}},
        "a.py::quick": {"seconds": 0.1, "files": {"x.py": [11]}},
        "b.py::other": {"seconds": 0.1, "files": {"x.py": [12], "y.py": [11]}},
        "b.py::too_long": {"seconds": 9.0, "files": {"x.py": [11]}},
    }
    assert change.line == 11 and not change.imported
    assert chosen(change, str(tmp_path / "plugins"), tmp_path, tests, 5.0) == ["a.py::quick", "a.py::slow"]
    # What runs at import may be noticed by any test.
    (constant,) = (change for change in found.found if change.after == "7")
    assert constant.imported
    assert len(chosen(constant, str(tmp_path / "plugins"), tmp_path, tests, 60.0)) == 4


@pytest.mark.slow
def test_the_code_of_each_plugin_can_be_changed():
    for plugin in PLUGINS:
        changes = list(changes_of(plugin, KINDS, ()))
        assert len(changes) > 20 and not any(change.path.stem.endswith("kernels") for change in changes), plugin
    assert defaults_of("swg").items() >= {"terms": 10, "weight": 0.1, "sense": "auto", "rho": 2.0}.items()
