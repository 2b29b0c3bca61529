"""Show a comparison of systems: their measures, their tests against the first system, and sentences with the conclusions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sublex.forms.lines import Shown, figures
from sublex.forms.parts import part_lines
from sublex.forms.tables import Table

if TYPE_CHECKING:
    from sublex.evaluation.comparison import Comparison


def comparison(compared: Comparison) -> Shown:
    """Return a comparison as Shown."""
    table = joined_slices(compared) if compared.slices else compared.table()
    shown = figures(table, lambda: _as_json(compared), lines=lambda: part_lines(compared.parts()))
    shown.forms = {**shown.forms, "markdown": compared.markdown}
    return shown


def joined_slices(compared: Comparison) -> Table:
    """Return the tables of all slices as one, with the property in the first column."""
    tables = [each.table() for each in compared.slices]
    rows = [[each.by, *row] for each, table in zip(compared.slices, tables, strict=True) for row in table.rows]
    return Table(["by", "group", *tables[0].head[1:]], rows, 3)


def _as_json(compared: Comparison) -> dict[str, Any]:
    systems = [
        {
            "name": system.name,
            "expression": system.expression or None,
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
    slices = {"slices": [each.to_json() for each in compared.slices]} if compared.slices else {}
    return {
        "topics": len(compared.qids), "plan": plan, "notes": compared.notes, "systems": systems, "pairs": pairs,
        "unjudged": [{**each._asdict(), "safe": each.is_safe} for each in compared.bounds()], **slices,
    }  # fmt: skip
