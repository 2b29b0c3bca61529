"""Slices: measures of systems for groups of topics. Tests tell whether the difference of two systems depends on the group."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sublex.evaluation.grouping import Grouping
from sublex.evaluation.topic_properties import IN_WORDS
from sublex.forms.frames import data_frame
from sublex.forms.parts import InParts, Part
from sublex.forms.tables import Table
from sublex.statistics.corrections import CORRECTIONS
from sublex.statistics.interaction import interaction
from sublex.statistics.intervals import bootstrap
from sublex.statistics.sentences import format_difference, format_p, p_cell
from sublex.tools.hints import resolve_hints

if TYPE_CHECKING:
    from sublex.evaluation.comparison import Comparison

# Groups with fewer topics are called small.
SMALL = 10


class Slice(NamedTuple):
    """The figures of one system in one group of topics.

    `difference` is the difference to the first system. The first system has None for `difference`, `interval` and `p`;
    a group of one topic has no `interval`. `p` comes from a test of the group's differences against those of all other
    topics. `corrected` is p corrected for all groups and systems. Both are None if there are too few topics.
    """

    system: str
    group: str
    topics: int
    mean: float
    difference: float | None
    interval: tuple[float, float] | None
    p: float | None
    corrected: float | None

    @property
    def is_small(self) -> bool:
        """Whether the group has so few topics that its figures say little."""
        return self.topics < SMALL


class Slices(InParts):
    """A comparison for groups of topics: the figures of each group, and tests of whether differences depend on the group."""

    def __init__(self, comparison: Comparison, found: Grouping):
        self.comparison, self.grouping, self.by = comparison, found, found.by
        self._slices: dict[str, list[Slice]] = {}
        self._overall: dict[str, dict[str, float]] = {}

    @cached_property
    def groups(self) -> dict[str, list[str]]:
        """The ids of the topics of each group."""
        qids = np.array(self.comparison.qids, object)
        return {name: qids[self.grouping.numbers == number].tolist() for number, name in enumerate(self.grouping.names)}

    def slices(self, measure: str | None = None) -> list[Slice]:
        """Return the figures of each group and system by a measure, by default the main measure."""
        self._compute(measure := measure or self.comparison.main)
        return self._slices[measure]

    def overall(self, measure: str | None = None) -> dict[str, float]:
        """Return the p-value of each system but the first: whether its difference to the first depends on the group.

        p is corrected for the number of systems. It is NaN if the groups have too few topics.
        """
        self._compute(measure := measure or self.comparison.main)
        return self._overall[measure]

    def _compute(self, measure: str) -> None:
        if measure in self._slices:
            return
        compared, (_, names, numbers) = self.comparison, self.grouping
        plan, scores = compared.plan, compared.scores(measure)
        gains = scores - scores[0]
        tests = [interaction(row, numbers, plan.test, plan.seed) for row in gains[1:]]
        # With two groups, testing one group against the rest is the same as testing the other one.
        family = np.array([test.groups for test in tests]).reshape(len(tests), len(names))
        # Tukey's correction is for means of systems, and not for differences of groups.
        correction = plan.correction if plan.correction in CORRECTIONS else "holm"
        corrected = _corrected(family[:, :1] if len(names) == 2 else family, correction)
        corrected = np.broadcast_to(corrected, family.shape)
        rows = []
        for group, name in enumerate(names):
            of_group = numbers == group
            for place, system in enumerate(compared.names):
                mean, size = float(scores[place, of_group].mean()), int(of_group.sum())
                if not place:
                    rows.append(Slice(system, name, size, mean, None, None, None, None))
                    continue
                low, high = bootstrap(gains[place, of_group], 1 - plan.alpha, seed=plan.seed)
                p, p_corrected = tests[place - 1].groups[group], corrected[place - 1, group]
                rows.append(
                    Slice(
                        system, name, size, mean, float(gains[place, of_group].mean()),
                        (float(low), float(high)) if np.isfinite(low) else None,
                        None if np.isnan(p) else float(p), None if np.isnan(p) else float(p_corrected),
                    )
                )  # fmt: skip
        overall = _corrected(np.array([test.overall for test in tests]), correction)
        self._slices[measure] = rows
        self._overall[measure] = dict(zip(compared.names[1:], overall.tolist(), strict=True))

    def table(self, measure: str | None = None) -> Table:
        """Return a table with a row for each group and system."""
        name = measure or self.comparison.main
        level = f"{100 - 100 * self.comparison.plan.alpha:g} % interval"
        several = len(self.comparison.names) > 1
        head = [self.by, "system", "topics", name, *(["difference", level, "p against others"] if several else [])]
        rows = []
        for each in self.slices(measure):
            row = [each.group, each.system, f"{each.topics:,}{' (small)' * each.is_small}", f"{each.mean:.4f}"]
            rows.append([*row, *(_cells(each) if several else [])])
        return Table(head, rows, 2)

    def sentences(self, measure: str | None = None) -> list[str]:
        """Return a sentence for each system but the first: whether its difference to the first depends on the group."""
        name, plan = measure or self.comparison.main, self.comparison.plan
        first, slices = self.comparison.names[0], self.slices(measure)
        what = IN_WORDS.get(self.by, self.by)
        is_corrected = len(self.comparison.names) > 2 and plan.correction != "none"
        found = []
        for system, p in self.overall(measure).items():
            about = f"{system} over {first} in {name}"
            evidence = f"{'corrected ' * is_corrected}p {format_p(p, plan.alpha)}"
            if np.isnan(p):
                found.append(
                    f"The gain of {about} cannot be tested by {what}: two groups with varied topics are needed."
                )
                continue
            gains = [each for each in slices if each.system == system]
            worst, *_, best = sorted(gains, key=lambda each: each.difference or 0.0)
            if p <= plan.alpha:
                found.append(
                    f"The gain of {about} depends on {what} ({evidence}): it is {format_difference(best.difference or 0)} for "
                    f"the group {best.group}, and {format_difference(worst.difference or 0)} for {worst.group}."
                )
            else:
                found.append(f"These topics do not show that the gain of {about} depends on {what} ({evidence}).")
        return found

    @property
    def remarks(self) -> list[str]:
        """Sentences about small groups and about the columns of the table."""
        small = [name for name, size in zip(self.grouping.names, self.grouping.sizes, strict=True) if size < SMALL]
        if not small:
            return []
        return [f"Small groups, of fewer than {SMALL} topics, say little: {', '.join(small)}."]

    def parts(self) -> list[Part]:
        """Return the table of the main measure by groups, and the sentences below it."""
        return [self.table(), (*self.sentences(), *self.remarks)]

    def to_pandas(self) -> Any:
        """Return a DataFrame with a row for each measure, group and system; pandas must be installed."""
        rows = [(measure, *each) for measure in self.comparison.tested for each in self.slices(measure)]
        names = ("measure", *Slice._fields)
        return data_frame(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))

    def to_json(self) -> dict[str, Any]:
        """Return the figures of all measures as a value for JSON."""
        return {
            "by": self.by,
            "groups": self.groups,
            "measures": {
                measure: {
                    "overall": self.overall(measure),
                    "slices": [{**each._asdict(), "small": each.is_small} for each in self.slices(measure)],
                }
                for measure in self.comparison.tested
            },
        }

    def __repr__(self) -> str:
        sizes = zip(self.grouping.names, self.grouping.sizes.tolist(), strict=True)
        return f"<{self.by}: {', '.join(f'{name} ({size:,})' for name, size in sizes)}>"


def _corrected(p: np.ndarray, correction: str) -> np.ndarray:
    """Return p-values corrected for their number. NaN stands for a missing test and stays NaN."""
    corrected, known = p.copy(), ~np.isnan(p)
    corrected[known] = CORRECTIONS[correction](p[known])
    return corrected


def _cells(row: Slice) -> list[str]:
    if row.difference is None:
        return ["-", "-", "-"]
    interval = f"{row.interval[0]:+.4f} to {row.interval[1]:+.4f}" if row.interval else "-"
    return [
        f"{row.difference:+.4f}" if round(row.difference, 4) else "0",
        interval,
        "-" if row.corrected is None else p_cell(row.corrected),
    ]


resolve_hints(__name__)
