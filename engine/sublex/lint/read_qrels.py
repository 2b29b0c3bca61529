"""A qrels file line by line: what its cells get wrong, and the judgements that are left."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np

from sublex.lint.check_qrels import check_qrels
from sublex.lint.detect import COLUMNS
from sublex.lint.findings import ERROR, NOTE, Finding, Placed, counted, finding, shown
from sublex.lint.read_lines import Rows, read_rows, without_header
from sublex.readers.signatures import BOM
from sublex.readers.source import FileSource
from sublex.strings import Strings
from sublex.trec.columns import first_repeated, offsets
from sublex.trec.qrels import GRADE, GRADES, Qrels

EXPECTED = {4: "qid 0 docno grade", 3: "query-id corpus-id score"}
# What C's atol takes of a text.
_DIGITS = re.compile(r"[+-]?[0-9]+", re.ASCII)


def lint_qrels(source: FileSource, form: str) -> tuple[str, list[Finding], Placed]:
    """What the file holds, what is wrong with it, and its judgements as trec_eval would read them."""
    if form == "json":
        rows, found = _json(source)
    else:
        rows, found = read_rows(source, COLUMNS[form], EXPECTED[COLUMNS[form]])
        if form == "beir":
            rows = rows.where(np.arange(1, len(rows.lines)))
    last = len(rows.tables) - 1
    if form == "beir without a header":
        text = (
            "Three columns without the header query-id corpus-id score: trec_eval stops, and Sublex refuses the file; add the "
            "header, or a second column of zeros."
        )
        found.insert(0, finding(source.path, rows.lines[:1], "header", ERROR, text))
    rows, header = without_header(source.path, rows, not len(rows.lines) or _is_grade(rows.cell(0, last)))
    texts, numbers = rows.tables[last].tolist(), rows.numbers[last]
    whole = np.array([_is_grade(text) for text in texts], np.bool_)[numbers]
    grades = np.array([_as_read(text) for text in texts], np.int64)[numbers]
    found += header + _grades(source.path, rows, last, whole)
    kept, repeated = _repeated(source.path, rows, grades)
    given = _qrels(source.path, rows.where(kept), grades[kept], form)
    what = f"{counted(len(given.lines), 'judgement')} of {counted(len(given.columns), 'topic')}"
    return what, found + repeated + check_qrels(given), given


def _is_grade(text: str) -> bool:
    return bool(GRADE.fullmatch(text)) and GRADES.min <= int(text) <= GRADES.max


def _as_read(text: str) -> int:
    found = _DIGITS.match(text)
    return min(max(int(found[0][:19]), int(GRADES.min)), int(GRADES.max)) if found else 0


def _grades(path: str, rows: Rows, column: int, whole: np.ndarray) -> list[Finding]:
    wrong = np.flatnonzero(~whole)
    if not len(wrong):
        return []
    text = rows.cell(wrong[0], column)
    return [finding(
        path, rows.lines[wrong], "grade", ERROR,
        f"The grade {shown(text)} is not a whole number that fits: trec_eval reads {_as_read(text)}, and Sublex refuses the file.",
    )]  # fmt: skip


def _repeated(path: str, rows: Rows, grades: np.ndarray) -> tuple[np.ndarray, list[Finding]]:
    """Which rows are the first of their topic and document, and what is wrong with the others."""
    column = len(rows.tables) - 2
    earlier, later = first_repeated(rows.numbers[0], rows.numbers[column])
    kept = np.ones(len(grades), np.bool_)
    kept[later] = False
    found = []
    same = grades[earlier] == grades[later]
    for chosen, severity in ((same, NOTE), (~same, ERROR)):
        a, b = earlier[chosen], later[chosen]
        if not len(b):
            continue
        order = np.argsort(rows.lines[b], kind="stable")
        one, other = a[order[0]], b[order[0]]
        place = f" (line {rows.lines[one]})" if rows.lines[one] else ""
        pair = f"Topic {shown(rows.cell(other, 0))} judges {shown(rows.cell(other, column))}"
        text = (
            f"{pair} twice, as {grades[other]} both times, before{place} and here: trec_eval stops, and others count it once."
            if severity == NOTE
            else f"{pair} as {grades[other]}, and before{place} as {grades[one]}: trec_eval stops, Sublex refuses the file, and "
            "ir_measures takes the last; keep one."
        )
        found.append(finding(path, rows.lines[b[order]], "duplicate", severity, text))
    return kept, found


def _qrels(path: str, rows: Rows, grades: np.ndarray, form: str) -> Placed:
    column = len(rows.tables) - 2
    order = np.argsort(rows.numbers[0], kind="stable")
    qids = rows.tables[0].tolist()
    docs, docnos = rows.numbers[column][order], rows.tables[column]
    qrels = Qrels(
        qids, offsets(rows.numbers[0][order], len(qids)), docs, grades[order].astype(np.int32), docnos, path, form
    )
    return Placed(qrels, path, rows.lines[order])


def _json(source: FileSource) -> tuple[Rows, list[Finding]]:
    """The judgements of a JSON object, without lines."""
    found: list[Finding] = []
    cells: list[tuple[str, str, str]] = []
    with source.open() as stream:
        data = stream.read().removeprefix(BOM)
    try:
        pairs: Any = json.loads(data, object_pairs_hook=tuple)
    except (ValueError, RecursionError) as error:
        line = error.lineno if isinstance(error, json.JSONDecodeError) else 0
        reason = (
            f"is not JSON ({error.msg})" if isinstance(error, json.JSONDecodeError) else "is not JSON that can be read"
        )
        text = f"The file {reason}: nothing of it can be used."
        found.append(finding(source.path, [line], "json", ERROR, text))
        pairs = ()
    odd = [qid for qid, judged in pairs if not isinstance(judged, tuple)]
    if odd:
        text = f'Topic {shown(odd[0])} has no object of grades, {{"docno": 1}}: Sublex refuses the file.'
        found.append(finding(source.path, [0] * len(odd), "json", ERROR, text))
    for qid, judged in pairs:
        for docno, grade in judged if isinstance(judged, tuple) else ():
            cells.append((qid, docno, grade if isinstance(grade, str) else json.dumps(grade, default=str)))
    columns = [list(column) for column in zip(*cells, strict=True)] or [[], [], []]
    tables = [list(dict.fromkeys(column)) for column in columns]
    places = [{text: place for place, text in enumerate(table)} for table in tables]
    numbers = [
        np.array([known[text] for text in column], np.int32) for known, column in zip(places, columns, strict=True)
    ]
    return Rows([Strings.of(table) for table in tables], numbers, np.zeros(len(cells), np.int64)), found
