"""Show the result of tuning: the setting chosen for each fold, the figures to compare, and the means of all settings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from sublex.forms.lines import Line, Shown, figure_lines, figures, line

if TYPE_CHECKING:
    from sublex.tuning.result import ScoredSetting, Setting, Tuning


def tuned(tuning: Tuning, command: str, notes: Sequence[str]) -> Shown:
    """Return a tuning as Shown. `command` runs the best setting."""
    table, exact = tuning.table(4, figures=True), lambda: tuning.table(10, figures=True)
    return figures(table, lambda: _as_json(tuning, command), exact, notes, lambda: _lines(tuning, command))


def _lines(tuning: Tuning, command: str) -> Iterator[Line]:
    """Yield the choice of each fold, the figures to compare, the means of settings, and the command for the best one."""
    yield line(tuning.tried())
    yield line()
    yield from figure_lines(tuning.table())
    yield line()
    for figure in tuning.figures():
        yield line(f"{figure.name:<20}{figure.value:.4f}  {figure.description}")
    yield line()
    yield from figure_lines(tuning.settings_table())
    if tuning.at_end:
        yield line()
        yield line(tuning.remark())
    yield line()
    yield line(f"Run it: {command}")


def _as_json(tuning: Tuning, command: str) -> dict[str, Any]:
    def scored(best: ScoredSetting) -> dict[str, Any]:
        return {**_setting(best.setting), "score": best.score}

    return {
        "expression": tuning.expression, "measure": tuning.measure, "search": tuning.search,
        "topics": tuning.qids, "unused": tuning.unused,
        "cross-validated": tuning.cross_validated, "best on all topics": scored(tuning.best),
        "defaults": scored(tuning.default) if tuning.default else None,
        "folds": [
            {"topics": fold.qids, **_setting(fold.setting), "training": fold.training, "held out": fold.held_out}
            for fold in tuning.folds
        ],
        "settings": [
            {**_setting(setting), "score": mean} for setting, mean in zip(tuning.settings, tuning.means.tolist(), strict=True)
        ],
        "command": command,
    }  # fmt: skip


def _setting(setting: Setting) -> dict[str, Any]:
    return {"setting": setting.text, "expression": setting.expression, "values": setting.values}
