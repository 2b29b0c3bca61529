"""The report of a study as one HTML page: tables, plots, tests and provenance. Every text on it is escaped."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sublex.forms.parts import parts_html
from sublex.report import svg
from sublex.studies.results import StudyResult
from sublex.studies.store import REPORTS, file_name
from sublex.studies.study_plans import PlotPlan
from sublex.tools.messages import counted

TEMPLATES = Path(__file__).parent / "templates"
STYLE = Path(svg.__file__).parent / "templates" / "style.css"


def study_page(result: StudyResult) -> str:
    """Return the report of a study as the text of an HTML page."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader([TEMPLATES, STYLE.parent]), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    sets = [
        {
            "name": each.name,
            "parts": [parts_html([part]) for part in each.parts],
            "plot": each.plot,
            "notes": each.notes,
            "failures": each.failures,
            "report": f"{REPORTS}/{file_name(each.name)}.html",
            "tuned": [(system.name, parts_html(system.tuning)) for system in each.systems if system.tuning],
            "expressions": [(system.name, system.expression) for system in each.systems if system.expression],
            "facts": f"{counted(len(each.qids), 'judged topic')}, {counted(each.documents, 'document')} in the index {each.index_name}",
        }
        for each in result.sets
    ]
    tables, kept = (
        [(plan, parts_html(result.table_parts(plan)[1:])) for plan in plans] for plans in result.divided_tables()
    )
    plots = [(plan, text) for plan in result.study.plots if (text := _plot(result, plan))]
    return environment.get_template("study.html").render(
        study=result.study, experiments=[(each.name, each.expression, parts_html(each.parts()[-1:])) for each in result.experiments],
        overview=parts_html([result.overview()]) if len(sets) > 1 else "", sets=sets, tables=tables, kept=kept, plots=plots,
        claims=[parts_html([part]) for part in result.claim_parts()],
        legend={plan.name: _legend(plan) for plan, _ in plots}, facts=_facts(result), provenance=_provenance(result.lock),
        file=result.study.text,
    )  # fmt: skip


def _plot(result: StudyResult, plan: PlotPlan) -> str:
    """Return a plot as SVG; "" if no line has two figures."""
    lines = []
    for line in plan.lines:
        points = [
            (x, value)
            for topics, name, x in sorted(line.points, key=lambda point: point[2])
            if (value := result.value(topics, name, plan.measure)) is not None
        ]
        if len(points) > 1:
            lines.append((line.name, [x for x, _ in points], [y for _, y in points]))
    return svg.lines(lines, plan.label, plan.measure, from_zero=False) if lines else ""


def _legend(plan: PlotPlan) -> list[str]:
    return [line.name for line in plan.lines] if len(plan.lines) > 1 else []


def _facts(result: StudyResult) -> list[tuple[str, str]]:
    study, plan = result.study, result.study.compare
    names = study.collections or study.indexes
    facts = [("Collections", ", ".join(names))] if names else []
    if result.sets:
        facts += [
            ("Topics", ", ".join(f"{each.name} ({len(each.qids):,})" for each in result.sets)),
            ("Systems", f"{len(study.systems):,}"),
            ("Test", f"{plan.test}, corrected by {plan.correction}, level {plan.alpha:g}"),
        ]
    if result.experiments:
        facts.append(("Experiments", ", ".join(f"{each.name} ({len(each.units)})" for each in result.experiments)))
    return facts


def _provenance(lock: Mapping[str, Any]) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return the versions, files and indexes in the lock, as groups of names and values."""

    def flat(value: Any) -> str:
        if isinstance(value, Mapping):
            return ", ".join(f"{name} {flat(inner)}" for name, inner in value.items())
        return ", ".join(map(str, value)) if isinstance(value, list) else str(value)

    groups = ("versions", "plugins", "collections", "indexes", "topics")
    found = [(name, [(key, flat(value)) for key, value in lock.get(name, {}).items()]) for name in groups]
    return [*((name, rows) for name, rows in found if rows), ("machine", [("machine", str(lock.get("machine", "")))])]
