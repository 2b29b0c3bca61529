"""What a search for the best setting found: every setting's score by topic, what each fold chose, and what that is worth."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from sublex.evaluation.run_evaluation import data_frame
from sublex.expression import print_value
from sublex.tables import Table

# Means that differ by less are equal: their sums were rounded differently.
DIGITS = 12
# So many settings are shown where they form neither a line nor a grid, and a grid's columns are as many at most.
SHOWN = 10
OPTIMISTIC = "chosen and measured on the same topics: optimistic"


class Setting(NamedTuple):
    """The expression with numbers in place of its ranges, the same as it is printed everywhere, and the numbers by name."""

    text: str
    expression: str
    values: dict[str, float]


class Scored(NamedTuple):
    """A setting with its score on each topic."""

    setting: Setting
    by_topic: np.ndarray

    @property
    def score(self) -> float:
        """The mean over all topics."""
        return float(self.by_topic.mean())


class Fold(NamedTuple):
    """Topics held out, the setting that was best on all others, its mean there, and its mean on those held out."""

    qids: tuple[str, ...]
    setting: Setting
    training: float
    held_out: float


@dataclass(frozen=True, eq=False, repr=False)
class Tuning:
    """All settings with `scores[setting, topic]`; `held_out` has each topic's score by the setting that its fold was given.

    `fitted` is the setting that is best on all topics, `default` what holds without the ranges; `names` are those of the ranges,
    `at_end` those that `fitted` puts at an end of their range, and `unused` the judged topics that no topic was there for.
    """

    expression: str
    measure: str
    search: str
    names: tuple[str, ...]
    qids: tuple[str, ...]
    unused: tuple[str, ...]
    settings: tuple[Setting, ...]
    scores: np.ndarray
    folds: tuple[Fold, ...]
    held_out: np.ndarray
    fitted: Scored
    default: Scored | None
    at_end: tuple[str, ...]

    @cached_property
    def means(self) -> np.ndarray:
        """The mean of each setting over all topics."""
        return self.scores.mean(axis=1)

    @property
    def honest(self) -> float:
        """The cross-validated figure: the mean over all topics of what each scored while it was held out."""
        return float(self.held_out.mean())

    def figures(self) -> list[tuple[str, float, str]]:
        """The figures to compare: what they are, their values, and what they are of."""
        found = [
            ("cross-validated", self.honest, "each topic by the setting that the other folds chose"),
            ("best on all topics", self.fitted.score, f"{self.fitted.setting.text} ({OPTIMISTIC})"),
        ]
        if self.default:
            found.append(("defaults", self.default.score, self.default.setting.text))
        return found

    def table(self, digits: int = 4, figures: bool = False) -> Table:
        """A row a fold; with `figures` the figures for all topics beneath, each in the column of the topics it was measured on."""
        head = ["fold", "topics", "best setting", "training", "held out"]
        rows = [
            [str(n), f"{len(qids)}", setting.text, f"{training:.{digits}f}", f"{held_out:.{digits}f}"]
            for n, (qids, setting, training, held_out) in enumerate(self.folds, 1)
        ]
        if figures:
            topics = f"{len(self.qids)}"
            rows.append(["cross-validated", topics, "", "", f"{self.honest:.{digits}f}"])
            fitted = f"{self.fitted.score:.{digits}f}"
            rows.append(["best on all topics", topics, self.fitted.setting.text, fitted, ""])
            if self.default:
                default = f"{self.default.score:.{digits}f}"
                rows.append(["defaults", topics, self.default.setting.text, "", default])
        return Table(head, rows, 3)

    def curve(self, digits: int = 4) -> Table:
        """The means: of one range a line, of two a grid of the first by the second; else, and of many, those of the best settings."""
        best = self.settings.index(self.fitted.setting)
        columns = {setting.values[self.names[-1]] for setting in self.settings}
        if self.search == "grid" and len(self.names) == 2 and len(columns) <= SHOWN:
            return self._grid(best, digits)
        if len(self.names) == 1 and len(self.settings) <= 2 * SHOWN:
            order = np.argsort([setting.values[self.names[0]] for setting in self.settings])
        else:
            # Of equals the chosen one comes first.
            order = np.lexsort((np.arange(len(self.means)) != best, -np.round(self.means, DIGITS)))[:SHOWN]
        rows = [
            [*map(print_value, self.settings[k].values.values()), f"{self.means[k]:.{digits}f}"] for k in order.tolist()
        ]
        bold = [(row, len(self.names)) for row, k in enumerate(order.tolist()) if k == best]
        return Table([*self.names, self.measure], rows, len(self.names), bold)

    def _grid(self, best: int, digits: int) -> Table:
        first, second = self.names
        lines = list(dict.fromkeys(setting.values[first] for setting in self.settings))
        columns = list(dict.fromkeys(setting.values[second] for setting in self.settings))
        cells = [[""] * len(columns) for _ in lines]
        for setting, mean in zip(self.settings, self.means.tolist(), strict=True):
            line, column = lines.index(setting.values[first]), columns.index(setting.values[second])
            cells[line][column] = f"{mean:.{digits}f}"
        chosen = self.settings[best].values
        bold = [(lines.index(chosen[first]), 1 + columns.index(chosen[second]))]
        head = [f"{first} \\ {second}", *map(print_value, columns)]
        return Table(head, [[print_value(value), *row] for value, row in zip(lines, cells, strict=True)], 1, bold)

    def to_pandas(self) -> Any:
        """A DataFrame with a row a setting: the numbers of its ranges, and the mean of the measure."""
        numbers = [[*setting.values.values(), mean] for setting, mean in zip(self.settings, self.means, strict=True)]
        return data_frame(numbers, [s.expression for s in self.settings], "setting", [*self.names, self.measure])

    def __repr__(self) -> str:
        figures = ", ".join(f"{name} {value:.4f}" for name, value, _ in self.figures())
        counted = f"{len(self.settings):,} settings, {len(self.qids):,} topics, {len(self.folds)} folds"
        return f"<{self.expression} by {self.measure}: {figures}; {counted}>"

    def _repr_html_(self) -> str:
        return self.table(figures=True).html() + self.curve().html()
