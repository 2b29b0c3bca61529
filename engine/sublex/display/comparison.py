"""Show a comparison of systems: their measures, their tests against the first one, and what follows in sentences."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from sublex.forms.lines import Line, Shown, figure_lines, figures, line
from sublex.forms.tables import Table

if TYPE_CHECKING:
    from sublex.evaluation.comparison import Comparison


def comparison(compared: Comparison) -> Shown:
    """Return a comparison as Shown."""
    return figures(compared.table(), lambda: _as_json(compared), lines=lambda: _lines(compared))


def _lines(compared: Comparison) -> Iterator[Line]:
    yield from figure_lines(compared.table())
    yield line()
    yield from figure_lines(_against_first(compared))
    sentences = compared.headlines()
    if sentences:
        yield line()
    for sentence in sentences:
        yield line(f"* {sentence}", indent=2)


def _against_first(compared: Comparison) -> Table:
    """Return a table of the main measure: the mean of each system with its interval, its test against the first system,
    and the mean time of a topic."""
    from sublex.statistics.sentences import p_cell

    head = ["", "system", compared.main, f"{100 - 100 * compared.plan.alpha:g} % interval", "difference",
            "corrected p", "better/same/worse", "ms a topic"]  # fmt: skip
    rows = []
    for row in compared.summaries():
        pair = row.pair
        rows.append(
            [
                row.letter,
                row.name,
                f"{row.mean:.4f}",
                f"{row.interval[0]:.4f} to {row.interval[1]:.4f}" if row.interval else "-",
                _signed(-pair.difference) if pair else "-",
                p_cell(pair.corrected) if pair else "-",
                f"{pair.losses}/{pair.ties}/{pair.wins}" if pair else "-",
                f"{row.milliseconds:.3g}" if row.milliseconds is not None else "-",
            ]
        )
    return Table(head, rows, 2)


def _signed(value: float) -> str:
    text = f"{value:+.4f}"
    return text if float(text) else "0"


def _as_json(compared: Comparison) -> dict[str, Any]:
    systems = [
        {
            "name": system.name,
            "measures": evaluation.mean,
            "intervals": {measure: ends[place] for measure, ends in compared.intervals.items()},
            "missing": evaluation.missing,
            "milliseconds": system.mean_milliseconds,
            "by topic": dict(evaluation.topics()),
        }
        for place, (system, evaluation) in enumerate(zip(compared.systems, compared.evaluations, strict=True))
    ]
    pairs = [
        {
            "measure": measure, "a": pair.a, "b": pair.b, "difference": pair.difference, "p": pair.p,
            "corrected": pair.corrected, "effect": pair.effect, "detectable": pair.detectable,
            "interval": pair.interval, "wins": pair.wins, "ties": pair.ties, "losses": pair.losses,
        }
        for measure in compared.tested
        for pair in compared.pairs(measure)
    ]  # fmt: skip
    plan = compared.plan._asdict()
    return {"topics": len(compared.qids), "plan": plan, "notes": compared.notes, "systems": systems, "pairs": pairs}
