"""Show evaluations: the measures of runs, as a table and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sublex.forms.tables import Table

if TYPE_CHECKING:
    from sublex.evaluation.grouping import Grouping
    from sublex.evaluation.run_evaluation import Evaluation


def evaluation_json(evaluation: Evaluation, by_topic: bool) -> dict[str, Any]:
    """Return the measures of a run as an object. With `by_topic`, the object also has the measures of each topic."""
    topics = {"by topic": dict(evaluation.topics())} if by_topic else {}
    return {
        "run": evaluation.name, "topics": len(evaluation.qids), "missing": evaluation.missing,
        "measures": evaluation.mean, **topics,
    }  # fmt: skip


def evaluation_table(evaluations: Sequence[Evaluation], by_topic: bool, digits: int = 4) -> Table:
    """Return a table with a row of means for each run. With `by_topic`, rows for the topics come before it."""
    from sublex.evaluation.run_evaluation import format_values

    first = evaluations[0]
    rows = []
    for evaluation in evaluations:
        if by_topic:
            for qid, figures in evaluation.topics():
                rows.append([evaluation.name, qid, *format_values(figures.values(), first.counts, digits)])
        means = format_values(evaluation.mean.values(), first.counts, digits)
        rows.append([evaluation.name, *(["all"] if by_topic else []), *means])
    return Table(["run", *(["topic"] if by_topic else []), *first.measures], rows, 1 + by_topic)


def slices_table(evaluations: Sequence[Evaluation], groupings: Sequence[Grouping], digits: int = 4) -> Table:
    """Return a table with a row for each pair of a group of topics and a run."""
    from sublex.evaluation.run_evaluation import format_values
    from sublex.evaluation.slices import SMALL

    first = evaluations[0]
    rows = []
    for found in groupings:
        for number, (name, size) in enumerate(zip(found.names, found.sizes.tolist(), strict=True)):
            for evaluation in evaluations:
                means = evaluation.means_of(found.numbers == number)
                cells = format_values(means.values(), first.counts, digits)
                rows.append([found.by, name, evaluation.name, f"{size:,}{' (small)' * (size < SMALL)}", *cells])
    return Table(["by", "group", "run", "topics", *first.measures], rows, 3)


def slices_json(evaluation: Evaluation, groupings: Sequence[Grouping]) -> dict[str, Any]:
    """Return the measures of a run for each group of topics as an object, by property and group."""
    return {
        found.by: {
            name: {"topics": int(size), "measures": evaluation.means_of(found.numbers == number)}
            for number, (name, size) in enumerate(zip(found.names, found.sizes.tolist(), strict=True))
        }
        for found in groupings
    }
