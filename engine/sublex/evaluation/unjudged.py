"""Compute how much unjudged documents could change the comparison of two systems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from sublex.evaluation.measures import parse_measures
from sublex.evaluation.run_evaluation import evaluate
from sublex.statistics.sentences import format_difference
from sublex.tools.messages import counted

if TYPE_CHECKING:
    from sublex.evaluation.comparison import Comparison
    from sublex.evaluation.systems import System
    from sublex.trec.runs import Run

# The depth to which runs are read for a measure without a cutoff.
DEPTH = 10


class DifferenceBounds(NamedTuple):
    """The difference of two systems, and their differences in two cases that further judgements could bring.

    `unjudged` is the number of documents without a judgement among the first `depth` of one of the systems. In the best
    case for `a`, exactly the unjudged documents that `a` ranks higher are relevant. In the worst case, it is those that
    `b` ranks higher. For P@k, no judgements lead beyond these differences. For other measures, they are two of the
    possible cases.
    """

    a: str
    b: str
    measure: str
    depth: int
    unjudged: int
    difference: float
    worst: float
    best: float

    @property
    def is_safe(self) -> bool:
        """Whether the same system is ahead in both cases."""
        return self.difference * self.worst > 0 and self.difference * self.best > 0

    def sentence(self) -> str:
        """Return the bounds in words."""
        ahead, behind, low, high = self.a, self.b, self.worst, self.best
        if self.difference < 0:
            ahead, behind, low, high = behind, ahead, -high, -low
        among = f"among the first {self.depth:,} of {ahead} or {behind} for each topic"
        if not self.unjudged:
            return f"No document {among} is unjudged."
        does = "would not reverse" if self.is_safe else "could reverse" if self.difference else "could decide"
        return (
            f"{counted(self.unjudged, 'document')} {among} {'is' if self.unjudged == 1 else 'are'} unjudged, which {does} their "
            f"order: if those that favour {behind} were relevant, {self._lead(ahead, behind, low)}; if those that favour {ahead} "
            f"were, {self._lead(ahead, behind, high)}."
        )

    def _lead(self, one: str, other: str, difference: float) -> str:
        """Return in words which system is ahead, and by how much."""
        if not round(difference, 4):
            return f"both would have the same {self.measure}"
        return (
            f"{one if difference > 0 else other} would be ahead by {format_difference(abs(difference))} {self.measure}"
        )


def bounds(comparison: Comparison, a: int, b: int) -> DifferenceBounds:
    """Return the bounds of two systems for the main measure. `a` and `b` are their places in the comparison."""
    measure = comparison.main
    cutoff = parse_measures([measure])[0].params.get("cutoff")
    depth = int(cutoff or DEPTH)
    systems = comparison.systems[a], comparison.systems[b]
    # A measure ignores hits below its cutoff, so they are dropped.
    runs = [_hits(system.run.top(depth) if cutoff else system.run, comparison.qids) for system in systems]
    grades = {qid: comparison.qrels[qid] for qid in comparison.qids}
    highest = max(1, max((grade for judged in grades.values() for grade in judged.values()), default=1))
    sides = {qid: _sides(systems, qid, grades[qid], depth) for qid in comparison.qids}
    now = comparison.mean(measure)
    ends = []
    for favoured in (1, 0):
        judged = {
            qid: {**grades[qid], **{docno: highest if side == favoured else 0 for docno, side in sides[qid].items()}}
            for qid in comparison.qids
        }
        first, second = (_mean(measure, judged, run) for run in runs)
        ends.append(first - second)
    unjudged = sum(map(len, sides.values()))
    names = comparison.names
    return DifferenceBounds(names[a], names[b], measure, depth, unjudged, float(now[a] - now[b]), *ends)


def _hits(run: Run, qids: Sequence[str]) -> dict[str, dict[str, float]]:
    """Return the hits of each topic with descending scores, to be read once for both cases."""
    return {
        qid: {docno: float(-rank) for rank, docno in enumerate(run.docnos.take(run.topic(qid)[0]).tolist(), 1)}
        for qid in qids
    }


def _mean(measure: str, judged: Mapping[str, Mapping[str, int]], hits: Mapping[str, Mapping[str, float]]) -> float:
    """Return the mean of a measure. For speed, AP is computed here, from the ranks of relevant documents only."""
    if measure != "AP":
        return evaluate(judged, hits, [measure]).mean_of(measure)
    total = 0.0
    for qid, grades in judged.items():
        relevant = [docno for docno, grade in grades.items() if grade > 0]
        ranks = sorted(-hits[qid][docno] for docno in relevant if docno in hits[qid])
        total += sum(place / rank for place, rank in enumerate(ranks, 1)) / max(1, len(relevant))
    return total / len(judged)


def _sides(systems: Sequence[System], qid: str, grades: Mapping[str, int], depth: int) -> dict[str, int]:
    """Return, for each unjudged document in the first hits of a system, the place of the system that ranks it higher.

    A document with the same rank in both systems gets 2.
    """
    ranks = []
    for system in systems:
        docnos = system.run.docnos.take(system.run.topic(qid)[0][:depth]).tolist()
        ranks.append({docno: rank for rank, docno in enumerate(docnos)})
    sides = {}
    for docno in dict.fromkeys([*ranks[0], *ranks[1]]):
        if grades.get(docno, -1) < 0:
            one, other = (own.get(docno, depth) for own in ranks)
            sides[docno] = 2 if one == other else int(other < one)
    return sides
