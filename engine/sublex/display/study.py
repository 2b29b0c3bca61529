"""Show a study: its tables, the place of its results, its plan, and the figures that moved."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from sublex.forms.lines import Line, Shown, figures, line, table_lines
from sublex.forms.parts import Part, part_lines, parts_markdown
from sublex.tools.messages import counted

if TYPE_CHECKING:
    from sublex.studies.plan import StudyPlan
    from sublex.studies.results import StudyResult
    from sublex.studies.study_lock import MovedFigure


def study(result: StudyResult, brief: bool = False) -> Shown:
    """Return the results of a study as Shown; `brief` leaves out comparisons. The exit code is 2 if a system failed."""

    def parts() -> list[Part]:
        return result.brief_parts() if brief else result.parts()

    def lines() -> Iterator[Line]:
        yield from part_lines(parts())
        yield line()
        done, kept = counted(_steps(result.done), "step"), counted(_steps(result.kept), "step")
        yield line(f"{done} done, {kept} kept, {result.seconds:.1f} s; all of it is in {result.folder}", indent=0)

    shown = figures(result.overview(), lambda: _as_json(result), lines=lines)
    shown.forms = {**shown.forms, "markdown": lambda: parts_markdown(parts())}
    shown.code = 2 if result.failures else 0
    return shown


def _steps(names: Sequence[str]) -> int:
    """Return the number of steps as a plan counts them.

    Measuring and comparing are parts of the runs, and do not count.
    """
    return len({name for name in names if name.partition(" ")[0] not in ("measures", "comparison")})


def _as_json(result: StudyResult) -> dict[str, Any]:
    def beside(figures: Sequence[Any]) -> list[dict[str, Any]]:
        return [{**each._asdict(), "within": each.is_within, "verdict": each.verdict} for each in figures]

    return {
        "title": result.study.title,
        "folder": str(result.folder),
        "topics": {
            each.name: {
                "index": each.index_name, "documents": each.documents, "topics": len(each.qids), "notes": each.notes,
                "systems": [
                    {"name": s.name, "expression": s.expression, "measures": s.means, "failure": s.failure} for s in each.systems
                ],
            }
            for each in result.sets
        },
        "experiments": {
            each.name: {
                "experiment": each.expression, "units": each.units, "failure": each.failure,
                "cases": [{"name": case.name, "measures": case.means} for case in each.systems],
            }
            for each in result.experiments
        },
        "published": beside(result.published),
        "expected": beside(result.expected),
        "claims": [
            {
                "name": each.plan.name, "title": each.plan.title, "source": each.plan.source, "verdict": each.verdict,
                "pairs": [order._asdict() for order in each.orders], "missing": each.missing,
            }
            for each in result.claims
        ],
        "untested": [dict(each.__dict__) for each in result.study.untested],
        "differs": result.study.differs,
        "done": result.done,
        "kept": result.kept,
        "seconds": result.seconds,
    }  # fmt: skip


def checked(result: StudyResult, moved: Sequence[MovedFigure], has_lock: bool) -> Shown:
    """Return the result of a check of a study as Shown: the figures that moved. The exit code is 1 if any figure moved.

    Without a lock, figures were compared only with the expected ones.
    """
    number = sum(len(system.means) for each in result.measured for system in each.systems)
    against = "study.lock and the expected figures" if result.expected else "study.lock"
    against = against if has_lock else "the expected figures"

    def lines() -> Iterator[Line]:
        yield from (line(f"* {each.sentence()}", indent=2) for each in moved)
        yield from (line(f"* {failure}", indent=2) for failure in result.failures)
        verdict = f"{counted(len(moved), 'figure')} moved" if moved else f"No figure moved, of {number:,}"
        yield line(f"{verdict}; compared with {against}.", indent=0)

    head = ("topics", "system", "measure", "before", "now", "tolerance", "against")
    data = {"moved": [each._asdict() for each in moved], "figures": number, "failures": result.failures}
    return Shown(
        lines, lambda: data, head, [tuple(each) for each in moved], code=1 if moved else 2 if result.failures else 0
    )


def planned(plan: StudyPlan) -> Shown:
    """Return the plan of a study as Shown. The exit code is 2 if the study could not run."""

    def lines() -> Iterator[Line]:
        rows = [
            (each.what, each.path, "may be downloaded" if each.nbytes is None else size(each.nbytes))
            for each in plan.reads
        ]
        yield line("It reads:")
        yield from table_lines(rows)
        yield from (line(f"* {problem}", indent=2) for problem in plan.problems)
        if not plan.steps:
            return
        yield line()
        yield line("Its steps:")
        yield from table_lines(
            [(s.step, s.state, *_cost(s.state, s.seconds, s.nbytes)) for s in plan.steps],
            right=(False, False, True, True),
        )
        yield line()
        if any(s.step.startswith("index ") and s.state not in ("kept", "read") for s in plan.steps):
            yield line("Models to fit are listed when their index is there.", indent=0)
        left = [each for each in plan.steps if each.state not in ("kept", "read")]
        known = [duration(plan.seconds)] * bool(plan.seconds) + [size(plan.nbytes)] * bool(plan.nbytes)
        about = f", about {' and '.join(known)} as far as is known" if left and known else ""
        yield line(f"{counted(len(left), 'step')} of {len(plan.steps)} to do{about}.", indent=0)

    head = ("step", "state", "seconds", "bytes")
    data = {
        "reads": [each._asdict() for each in plan.reads],
        "steps": [each._asdict() for each in plan.steps],
        "problems": plan.problems,
    }
    return Shown(lines, lambda: data, head, [tuple(each) for each in plan.steps], code=2 if plan.problems else 0)


def _cost(state: str, seconds: float | None, nbytes: int | None) -> tuple[str, str]:
    """Return the seconds and the bytes of a step as the cells of a table."""
    if state in ("kept", "read"):
        return "", ""
    return "?" if seconds is None else f"about {duration(seconds)}", "?" if nbytes is None else size(nbytes)


def duration(seconds: float) -> str:
    """Return a rough time: seconds, minutes or hours, at least a second."""
    for unit, length in (("h", 3600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{max(1, round(seconds))} s"


def size(nbytes: int) -> str:
    """Return a number of bytes in kB, MB or GB."""
    for unit, length in (("GB", 1e9), ("MB", 1e6)):
        if nbytes >= length:
            return f"{nbytes / length:.1f} {unit}"
    return f"{max(1, round(nbytes / 1e3))} kB"
