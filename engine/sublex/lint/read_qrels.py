"""Read a qrels file past every mistake: findings about its lines and cells, and the judgements that are left."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np

from sublex.lint.check_qrels import check_qrels
from sublex.lint.detect import COLUMNS
from sublex.lint.findings import ERROR, NOTE, Finding, show_id
from sublex.lint.located import Located
from sublex.lint.read_rows import Rows, read_rows, without_header
from sublex.readers.lines import read_whole
from sublex.readers.signatures import BOM
from sublex.readers.source import FileSource
from sublex.tools.messages import counted
from sublex.tools.strings import Strings
from sublex.trec.columns import first_repeated, offsets
from sublex.trec.qrels import GRADE, GRADES, Qrels

EXPECTED = {4: "qid 0 docno grade", 3: "query-id corpus-id score"}
# The beginning of a text that C's atol, and so trec_eval, reads as a number.
_DIGITS = re.compile(r"[+-]?[0-9]+", re.ASCII)


def lint_qrels(source: FileSource, form: str) -> tuple[str, list[Finding], Located]:
    """Read and check a qrels file of this form.

    Return what it holds in words, the findings about it, and its judgements, with grades as trec_eval would read them.
    """
    if form == "json":
        rows, findings = _json_rows(source)
    else:
        rows, findings = read_rows(source, COLUMNS[form], EXPECTED[COLUMNS[form]])
        if form == "beir":
            rows = rows.where(np.arange(1, len(rows.lines)))
    if form == "beir without a header":
        text = (
            "The file has three columns but not the header query-id corpus-id score: trec_eval stops, and Sublex refuses the file; "
            "add the header, or a second column of zeros."
        )
        findings.insert(0, Finding.at(source.path, rows.lines[:1], "header", ERROR, text))
    last = len(rows.tables) - 1
    rows, header = without_header(source.path, rows, not len(rows.lines) or _is_grade(rows.cell(0, last)))
    texts, numbers = rows.tables[last].tolist(), rows.numbers[last]
    whole = np.array([_is_grade(text) for text in texts], np.bool_)[numbers]
    grades = np.array([_as_trec_eval_reads(text) for text in texts], np.int64)[numbers]
    findings += header + _bad_grades(source.path, rows, last, whole)
    first, repeated = _repeated(source.path, rows, grades)
    located = _qrels(source.path, rows.where(first), grades[first], form)
    what = f"{counted(len(located.lines), 'judgement')} of {counted(len(located.columns), 'topic')}"
    return what, findings + repeated + check_qrels(located), located


def _is_grade(text: str) -> bool:
    return bool(GRADE.fullmatch(text)) and GRADES.min <= int(text) <= GRADES.max


def _as_trec_eval_reads(text: str) -> int:
    digits = _DIGITS.match(text)
    return min(max(int(digits[0][:19]), int(GRADES.min)), int(GRADES.max)) if digits else 0


def _bad_grades(path: str, rows: Rows, column: int, whole: np.ndarray) -> list[Finding]:
    wrong = np.flatnonzero(~whole)
    if not len(wrong):
        return []
    text = rows.cell(wrong[0], column)
    return [Finding.at(
        path, rows.lines[wrong], "grade", ERROR,
        f"The grade {show_id(text)} is not a whole number of 32 bits: trec_eval reads {_as_trec_eval_reads(text)}, and Sublex refuses "
        "the file; write whole numbers.",
    )]  # fmt: skip


def _repeated(path: str, rows: Rows, grades: np.ndarray) -> tuple[np.ndarray, list[Finding]]:
    """Return a mask of the rows that judge a document of a topic for the first time, and findings about the others."""
    column = len(rows.tables) - 2
    earlier, later = first_repeated(rows.numbers[0], rows.numbers[column])
    first = np.ones(len(grades), np.bool_)
    first[later] = False
    findings = []
    same = grades[earlier] == grades[later]
    for chosen, severity in ((same, NOTE), (~same, ERROR)):
        a, b = earlier[chosen], later[chosen]
        if not len(b):
            continue
        order = np.argsort(rows.lines[b], kind="stable")
        before, again = a[order[0]], b[order[0]]
        place = f"on line {rows.lines[before]}" if rows.lines[before] else "before"
        subject = f"Topic {show_id(rows.cell(again, 0))} judges {show_id(rows.cell(again, column))}"
        text = (
            f"{subject} as {grades[again]} here and {place} too: trec_eval stops, and other tools count it once; keep one."
            if severity == NOTE
            else f"{subject} as {grades[again]} here and as {grades[before]} {place}: trec_eval stops, Sublex refuses the file, and "
            "ir_measures takes the last; keep one."
        )
        findings.append(Finding.at(path, rows.lines[b[order]], "duplicate", severity, text))
    return first, findings


def _qrels(path: str, rows: Rows, grades: np.ndarray, form: str) -> Located:
    """Return the rows as judgements, with the line of each."""
    column = len(rows.tables) - 2
    order = np.argsort(rows.numbers[0], kind="stable")
    qids = rows.tables[0].tolist()
    docs, docnos = rows.numbers[column][order], rows.tables[column]
    qrels = Qrels(
        qids, offsets(rows.numbers[0][order], len(qids)), docs, grades[order].astype(np.int32), docnos, path, form
    )
    return Located(qrels, path, rows.lines[order])


def _json_rows(source: FileSource) -> tuple[Rows, list[Finding]]:
    """Return the judgements of a JSON object as rows, whose lines are 0, and findings about its form."""
    findings: list[Finding] = []
    with source.open() as stream:
        data = read_whole(stream, source.path).removeprefix(BOM)
    pairs: Any = ()
    try:
        # Pairs in place of dictionaries keep keys that come twice.
        pairs = json.loads(data, object_pairs_hook=tuple)
    except json.JSONDecodeError as error:
        text = f"The file is not JSON ({error.msg}), so nothing of it was checked; correct this line."
        findings.append(Finding.at(source.path, [error.lineno], "json", ERROR, text))
    except (ValueError, RecursionError):
        text = "The file is not JSON that can be read, so nothing of it was checked; correct it."
        findings.append(Finding.at(source.path, [0], "json", ERROR, text))
    odd = [qid for qid, judged in pairs if not isinstance(judged, tuple)]
    if odd:
        text = (
            f'Topic {show_id(odd[0])} has no object of grades such as {{"docno": 1}}: Sublex refuses the file; write one, or '
            "remove the topic."
        )
        findings.append(Finding.at(source.path, [0] * len(odd), "json", ERROR, text))
    cells = [
        (qid, docno, grade if isinstance(grade, str) else json.dumps(grade, default=str))
        for qid, judged in pairs
        if isinstance(judged, tuple)
        for docno, grade in judged
    ]
    columns = [list(column) for column in zip(*cells, strict=True)] or [[], [], []]
    tables = [list(dict.fromkeys(column)) for column in columns]
    places = [{text: place for place, text in enumerate(table)} for table in tables]
    numbers = [
        np.array([known[text] for text in column], np.int32) for known, column in zip(places, columns, strict=True)
    ]
    return Rows([Strings.of(table) for table in tables], numbers, np.zeros(len(cells), np.int64)), findings
