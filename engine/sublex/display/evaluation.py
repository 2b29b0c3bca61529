"""Show evaluations: the measures of runs, as a table and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sublex.forms.tables import Table

if TYPE_CHECKING:
    from sublex.evaluation.run_evaluation import Evaluation


def evaluation_json(evaluation: Evaluation, by_topic: bool) -> dict[str, Any]:
    """Return the measures of a run as an object, with those of each topic if `by_topic`."""
    topics = {"by topic": dict(evaluation.topics())} if by_topic else {}
    return {
        "run": evaluation.name, "topics": len(evaluation.qids), "missing": evaluation.missing,
        "measures": evaluation.mean, **topics,
    }  # fmt: skip


def evaluation_table(evaluations: Sequence[Evaluation], by_topic: bool, digits: int = 4) -> Table:
    """Return a table with a row for the means of each run, after a row for each topic if `by_topic`."""
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
