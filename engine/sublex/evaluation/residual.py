"""The residual collection: rankings and judgements without the documents that feedback has seen.

A ranker that learned from judged documents ranks them high, so a measure that counts them again is flattering. The usual
remedy is to leave them out of all rankings and judgements of the topic: C. Buckley, G. Salton and J. Allan, The effect of
adding relevance information in a relevance feedback environment, SIGIR 1994.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sublex.errors import InputError
from sublex.evaluation.systems import System
from sublex.tools.messages import counted
from sublex.trec.given_tables import qrels_of
from sublex.trec.metadata import value_at
from sublex.trec.qrels import Qrels

# Warnings about rankings that are measured by the documents from which they learned.
FLATTERED = (
    "Rankings by feedback from judged documents have these documents at the top, which flatters them; leave the documents "
    "out of rankings and judgements by {residual}."
)

FLATTERED_RUNS = (
    "Made by feedback from judged documents: {runs}. These documents are at the top of the rankings, which flatters them; "
    "leave the documents out of rankings and judgements by {residual}."
)


def flattered_runs(systems: Sequence[System], residual: str) -> list[str]:
    """Return a list with a sentence on the runs that rank documents from which they learned, as their metadata say.

    `residual` is the option that leaves these documents out, for the sentence. The list is empty if there is no such
    run.
    """
    made = {each.name: value_at(each.run.metadata, ("method",)) for each in systems}
    names = [
        name for name, method in made.items() if value_at(method, ("judged",)) and not value_at(method, ("residual",))
    ]
    return [FLATTERED_RUNS.format(runs=", ".join(names), residual=residual)] if names else []


def needed(k: int, seen: Mapping[str, Mapping[str, int]] | None) -> int:
    """Return the number of hits to find for each topic, so that k are left without the documents that `seen` judges."""
    return k + max(map(len, (seen or {}).values()), default=0)


def residual(
    systems: Sequence[System], judgements: Qrels, seen: Qrels | None, k: int | None = None
) -> tuple[list[System], Qrels, list[str]]:
    """Return systems and judgements without the documents that `seen` judges, by topic, and a note of how many these are.

    For each topic, a system keeps the best k of the other documents, or all of them if k is None. A topic without a
    remaining judgement above 0 is not measured. If `seen` is None, everything is returned unchanged.
    """
    if seen is None:
        return list(systems), judgements, []
    left = {
        qid: {docno: grade for docno, grade in grades.items() if qid not in seen or docno not in seen[qid]}
        for qid, grades in judgements.items()
    }
    kept = {qid: grades for qid, grades in left.items() if any(grade > 0 for grade in grades.values())}
    out = sum(map(len, judgements.values())) - sum(map(len, left.values()))
    notes = [f"{counted(out, 'judgement')} left out of {len(judgements.docs):,}, with their documents (residual)."]
    if lost := len(left) - len(kept):
        notes.append(f"{counted(lost, 'topic')} of {len(left):,} not measured: no relevant document is left.")
    if not kept:
        raise InputError("All relevant documents are left out by residual; give judgements that have others.")
    qrels = qrels_of(kept)
    qrels.path, qrels.format, qrels.notes = judgements.path, judgements.format, judgements.notes
    runs = [system.run.without(seen) for system in systems]
    runs = runs if k is None else [run.top(k) for run in runs]
    return [system._replace(run=run) for system, run in zip(systems, runs, strict=True)], qrels, notes
