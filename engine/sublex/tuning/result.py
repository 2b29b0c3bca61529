"""The result of tuning: the score of every setting on every topic, the setting chosen in each fold, and the
cross-validated mean.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from sublex.forms.frames import data_frame
from sublex.forms.parts import InParts, Part
from sublex.forms.tables import Table
from sublex.language.expression import Expression, print_value
from sublex.tools.messages import counted

# Means are compared to this number of decimals. Smaller differences come from the order of summation.
DIGITS = 12
# The highest number of settings in a list, and the highest number of columns in a grid.
SHOWN = 10
OPTIMISTIC = "chosen and measured on the same topics: optimistic"
TRAINED = "trained and measured on the same topics: optimistic"


class Setting(NamedTuple):
    """An expression with numbers in place of its ranges.

    `text` is the expression as the user wrote it, `expression` its canonical form with all defaults left out, and `values` the
    numbers by the names of the ranges. `tree` is the canonical form as an `Expression`. It includes the Python objects,
    so `index.search(query, setting.tree)` runs any setting.
    """

    text: str
    expression: str
    values: dict[str, float]
    tree: Expression


class ScoredSetting(NamedTuple):
    """A setting and its score on each topic."""

    setting: Setting
    by_topic: np.ndarray

    @property
    def score(self) -> float:
        """The mean over all topics."""
        return float(self.by_topic.mean())


class Fold(NamedTuple):
    """The topics held out together, and the setting with the highest mean on all other topics.

    `training` is the setting's mean on the other topics, `held_out` its mean on the topics of the fold.
    """

    qids: tuple[str, ...]
    setting: Setting
    training: float
    held_out: float


class Figure(NamedTuple):
    """A mean over all topics.

    `chosen_on_topics` is true if the setting was chosen on the same topics on which it is measured.
    """

    name: str
    value: float
    setting: str
    description: str
    chosen_on_topics: bool = False


@dataclass(frozen=True, eq=False, repr=False)
class Tuning(InParts):
    """The result of `sublex.tune`.

    `settings` are all settings tried, and `scores[setting, topic]` their scores on the topics `qids`. `folds` has the
    setting chosen in each fold of cross-validation. `held_out` has the score of each topic under the setting that was
    chosen without this topic.

    `best` is the setting with the highest mean on all topics. `at_end` names the ranges whose number in `best` is at an
    end of the range. `default` is the expression without its ranges, or None if this expression cannot run. `names` are
    the names of the ranges. `unused` has the ids of judged topics that are not in the `topics` of `sublex.tune`.
    `language` is the language of the topics.
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
    best: ScoredSetting
    default: ScoredSetting | None
    at_end: tuple[str, ...]
    language: str = "plain"

    @cached_property
    def means(self) -> np.ndarray:
        """The mean of each setting over all topics."""
        return self.scores.mean(axis=1)

    @property
    def cross_validated(self) -> float:
        """The mean score over all topics.

        Each topic is scored under the setting that was chosen without the topic's fold.
        """
        return float(self.held_out.mean())

    def figures(self) -> list[Figure]:
        """Return the figures to compare: cross-validated, best on all topics, and defaults if they can run."""
        best = self.best.setting.text
        figures = [
            Figure("cross-validated", self.cross_validated, "", "each topic by the setting that the other folds chose"),
            Figure("best on all topics", self.best.score, best, f"{best} ({OPTIMISTIC})", chosen_on_topics=True),
        ]
        if self.default:
            text = self.default.setting.text
            figures.append(Figure("defaults", self.default.score, text, text))
        return figures

    def table(self, digits: int = 4, figures: bool = False) -> Table:
        """Return a table with a row per fold.

        With `figures`, the figures over all topics follow. A mean stands in the column "training" if its topics were
        used to choose the setting, else in the column "held out".
        """
        head = ["fold", "topics", "best setting", "training", "held out"]
        rows = []
        for n, fold in enumerate(self.folds, 1):
            means = [f"{mean:.{digits}f}" for mean in (fold.training, fold.held_out)]
            rows.append([str(n), f"{len(fold.qids)}", fold.setting.text, *means])
        for figure in self.figures() if figures else []:
            value = f"{figure.value:.{digits}f}"
            columns = [value, ""] if figure.chosen_on_topics else ["", value]
            rows.append([figure.name, f"{len(self.qids)}", figure.setting, *columns])
        return Table(head, rows, 3)

    def settings_table(self, digits: int = 4) -> Table:
        """Return a table of the settings' means, with the best in bold.

        For a grid search over two ranges, the table is a grid of the first range by the second. For one range, it is a
        list in the order of the range. If the grid or the list is too large, and for all other searches, the table
        lists the best settings.
        """
        best = self.settings.index(self.best.setting)
        columns = {setting.values[self.names[-1]] for setting in self.settings}
        if self.search == "grid" and len(self.names) == 2 and len(columns) <= SHOWN:
            return self._grid(best, digits)
        if len(self.names) == 1 and len(self.settings) <= 2 * SHOWN:
            order = np.argsort([setting.values[self.names[0]] for setting in self.settings])
        else:
            # If means are equal, `best` comes first, because the search preferred it.
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
        """Return a DataFrame with a row per setting: the numbers of its ranges, and its mean. pandas must be installed."""
        numbers = {name: [setting.values[name] for setting in self.settings] for name in self.names}
        expressions = [setting.expression for setting in self.settings]
        return data_frame({**numbers, self.measure: self.means}, ("setting", expressions))

    def __repr__(self) -> str:
        figures = ", ".join(f"{figure.name} {figure.value:.4f}" for figure in self.figures())
        tried, topics = counted(len(self.settings), "setting"), counted(len(self.qids), "topic")
        return f"<{self.expression} by {self.measure}: {figures}; {tried}, {topics}, {len(self.folds)} folds>"

    def parts(self) -> list[Part]:
        """Return the facts of the search, tables of folds, figures and settings, remarks, and the best command."""
        language = "" if self.language == "plain" else f", language={self.language!r}"
        run = f"To run the best setting: index.search(query, tuning.best.setting.tree{language})"
        return [self.tried(), self.table(figures=True), self.settings_table(), self.remark(), run]

    def tried(self) -> str:
        """Return the expression, the measure, and the numbers of settings, topics and folds, on one line."""
        size = f"{counted(len(self.settings), 'setting')}, {len(self.qids):,} topics, {len(self.folds)} folds"
        return f"{self.expression} by {self.measure}: {size}"

    def left_out(self, topics: int) -> list[str]:
        """Return sentences about topics without judgements, and judged topics that were not given.

        `topics` is the number of topics that were given.
        """
        counts = (
            (topics - len(self.qids), "topics have no judgements"),
            (len(self.unused), "judged topics are not among the topics"),
        )
        return [f"{count:,} {problem} and are left out." for count, problem in counts if count]

    def remark(self) -> str:
        """Return a sentence about numbers of the best setting that are at an end of their range, or an empty text."""
        if not self.at_end:
            return ""
        names = " and ".join(self.at_end)
        return f"The best setting has {names} at an end of its range; a wider range may hold a better one."


class Training(Tuning):
    """The result of `sublex.tune` for an expression that ends with a learned model, as in `"BM25 % 200" >> sublex.learned(…)`.

    In each fold a copy of the model is trained on all other topics, and measured on the topics of the fold. `best` has the model
    that was trained on all topics, and `default` the expression before the model, which finds the candidates.
    """

    def figures(self) -> list[Figure]:
        """Return the figures to compare: cross-validated, trained on all topics, and the ranking before the model."""
        text, first = self.best.setting.text, self.default
        assert first is not None
        return [
            Figure(
                "cross-validated", self.cross_validated, "", "each topic by the model that learned from the other folds"
            ),
            Figure("trained on all topics", self.best.score, text, f"{text} ({TRAINED})", chosen_on_topics=True),
            Figure("before the model", first.score, first.setting.text, first.setting.text),
        ]

    def tried(self) -> str:
        """Return the expression, the measure, and the numbers of topics and folds, on one line."""
        return f"{self.expression} by {self.measure}: {len(self.qids):,} topics, {len(self.folds)} folds"

    def parts(self) -> list[Part]:
        """Return the facts of the training, the table of folds and figures, and the code for the model of all topics."""
        return [
            self.tried(),
            self.table(figures=True),
            "To run the model: index.search(query, tuning.best.setting.tree)",
        ]

    def __repr__(self) -> str:
        figures = ", ".join(f"{figure.name} {figure.value:.4f}" for figure in self.figures())
        return f"<{self.tried()}: {figures}>"
