"""Count one document of each group of near duplicates.

In a run it is the first one; in judgements, the one with the highest grade.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sublex.errors import InputError
from sublex.evaluation.systems import System
from sublex.tools.arguments import file_path, text
from sublex.tools.messages import counted
from sublex.tools.plain_files import read_text
from sublex.trec.given_tables import qrels_of, run_of

if TYPE_CHECKING:
    from sublex.trec.qrels import Qrels

# The largest file of groups that is read, in bytes.
MOST_BYTES = 1 << 30
COLUMNS = ["document", "group"]


def read_groups(path: str) -> dict[str, str]:
    """Read the CSV of `sublex duplicates`.

    Return a dictionary from each document to the first document of its group.

    Raise InputError, with the line number, for any other file.
    """
    lines = read_text(path, MOST_BYTES, "the CSV of sublex duplicates").splitlines() or [""]
    first: dict[str, str] = {}
    found: dict[str, str] = {}
    try:
        for number, row in enumerate(csv.reader(lines), 1):
            if number == 1 and row[:2] != COLUMNS:
                raise InputError(f"{path} does not begin with document,group; give the CSV of sublex duplicates.")
            if number == 1 or not row:
                continue
            if len(row) < 2 or row[0] in found:
                raise InputError(f"{path}, line {number}: each document stands on one line, with its group.")
            found[row[0]] = first.setdefault(row[1], row[0])
    except csv.Error as error:
        raise InputError(f"{path} is no CSV: {error}.") from None
    return found


def collapsed(systems: Sequence[System], judgements: Qrels, groups: Any) -> tuple[list[System], Qrels, list[str]]:
    """Return systems and judgements in which each group is one document, and notes on the number of documents left out.

    `groups` is a file, the CSV of `sublex duplicates`; a result of `Index.duplicates`; or a dictionary from documents to groups.
    Without groups, systems and judgements come back unchanged.
    """
    if groups is None or groups == "":
        return list(systems), judgements, []
    name, known = _named(groups)
    runs, qrels = collapsed_systems(systems, known), collapsed_qrels(judgements, known)
    hits = sum(len(before.run.docs) - len(after.run.docs) for before, after in zip(systems, runs, strict=True))
    judged = sum(len(grades) - len(qrels[qid]) for qid, grades in judgements.items())
    note = f"{name}: near duplicates were left out, {counted(hits, 'hit')} and {counted(judged, 'judgement')}."
    if not hits and not judged:
        note = f"{name}: no two documents of a group are hits or judged for one topic, so nothing was left out."
    return runs, qrels, [note]


def _named(given: Any) -> tuple[str, Mapping[str, str]]:
    """Return the name of the groups in messages, and a dictionary from each document to the first of its group."""
    from sublex.pipeline.near_duplicates import NearDuplicates

    if isinstance(given, NearDuplicates):
        return "collapse", {docno: group.docnos[0] for group in given.groups for docno in group.docnos}
    if isinstance(given, Mapping):
        first: dict[Any, str] = {}
        return "collapse", {
            text(docno, "A document of collapse"): first.setdefault(group, docno) for docno, group in given.items()
        }
    path = file_path(given, "The file of near duplicates")
    return path, read_groups(path)


def collapsed_qrels(qrels: Qrels, groups: Mapping[str, str]) -> Qrels:
    """Return judgements in which a group is one document, with the highest of its grades."""
    judged: dict[str, dict[str, int]] = {}
    for qid, grades in qrels.items():
        kept: dict[str, int] = {}
        for docno, grade in grades.items():
            name = groups.get(docno, docno)
            kept[name] = max(grade, kept.get(name, grade))
        judged[qid] = kept
    found = qrels_of(judged)
    found.path, found.format, found.notes = qrels.path, qrels.format, qrels.notes
    return found


def collapsed_systems(systems: Sequence[System], groups: Mapping[str, str]) -> list[System]:
    """Return systems whose runs have one hit for each group, at the best rank of its documents.

    The hit has the docno of the group's first document.
    """
    return [system._replace(run=run_of(_collapsed(system, groups), system.run.tag)) for system in systems]


def _collapsed(system: System, groups: Mapping[str, str]) -> dict[str, dict[str, float]]:
    run: dict[str, dict[str, float]] = {}
    for qid, hits in system.run.items():
        kept: dict[str, float] = {}
        for docno, score in hits.items():
            kept.setdefault(groups.get(docno, docno), float(score))
        run[qid] = kept
    return run
