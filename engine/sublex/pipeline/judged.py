"""Judgements as feedback: the judged documents of a query, and sentences about judgements that have no effect."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sublex.contracts.base import JudgedDocnos, Query
from sublex.errors import InputError
from sublex.pipeline.pipeline import Pipeline
from sublex.tools.arguments import shown, text
from sublex.tools.messages import counted
from sublex.trec.given_tables import whole_grade


def judged_of(grades: Mapping[str, int]) -> JudgedDocnos:
    """Return the judged documents of a query, from the grades of its topic: those with a grade above 0, and others."""
    if not isinstance(grades, Mapping):
        raise InputError(f"The judgements of a query are {shown(grades)}; give a dictionary {{docno: grade}}.")
    known = {text(docno, "A docno"): whole_grade(grade, f"Document {docno}") for docno, grade in grades.items()}
    relevant = sorted(docno for docno, grade in known.items() if grade > 0)
    return JudgedDocnos(tuple(relevant), tuple(sorted(known.keys() - set(relevant))))


def judged_notes(pipeline: Pipeline, queries: Sequence[Query]) -> list[str]:
    """Return sentences about judgements that have no effect; none if no query has judgements."""
    judged = [query.judged for query in queries if query.judged is not None]
    if not judged:
        return []
    if not pipeline.learns:
        return [f"{pipeline} has no expander, so judgements change nothing; for example {pipeline} >> Sharp >> BM25."]
    notes = []
    if left := len(queries) - len(judged):
        notes.append(
            f"{counted(left, 'topic')} of {len(queries):,} without judgements; their feedback is from the first documents."
        )
    docnos = {docno for each in judged for docno in (*each.relevant, *each.others)}
    if unknown := len(docnos) - len(pipeline.snapshot.docs_of(docnos)):
        notes.append(f"{counted(unknown, 'judged document')} of {len(docnos):,} not in the index.")
    return notes
