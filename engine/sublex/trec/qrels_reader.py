"""Read relevance judgements (qrels): TREC's four columns, BEIR's table with a header, or JSON.

This module imports no kernels: a file of judgements is small, and loading the compiler takes longer than reading it.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, count
from typing import Any, NamedTuple

import numpy as np

from sublex.contracts.base import Report
from sublex.errors import InputError
from sublex.readers.irds import PREFIX
from sublex.readers.lines import read_whole
from sublex.readers.source import FileSource
from sublex.tools.messages import counted
from sublex.tools.strings import Strings, first_faulty_id, id_fault
from sublex.trec.columns import offsets
from sublex.trec.kinds import QRELS, reads
from sublex.trec.qrels import Qrels
from sublex.trec.rows import (
    Fault,
    Listener,
    Rows,
    first_rows,
    header,
    is_number,
    miscounted,
    pieces_of_text,
    refuse,
    report_repeated,
)

# The columns of each form of lines.
BEIR_COLUMNS = ("query-id", "corpus-id", "score")
COLUMNS = {
    "trec": ("qid", "0", "docno", "grade"),
    "beir": BEIR_COLUMNS,
    "beir without a header": BEIR_COLUMNS,
}
EXPECTED = "expected are TREC's qid 0 docno grade, BEIR's query-id corpus-id score with that header, or JSON"
GRADES = np.iinfo(np.int32)
# The rules for a document that has several different grades for a topic: refuse the judgements, or take the first, the
# last or the highest grade.
CONTRADICTIONS = ("error", "first", "last", "highest")
# A file is cut into lines in pieces of this number of bytes.
PIECE = 1 << 20

IS_SPACE = np.isin(np.arange(256), list(b" \t\n\r\v\f"))

_GRADE = re.compile(r"[+-]?[0-9]{1,18}", re.ASCII)
# Blank lines and comments.
_COMMENTS = re.compile(rb"(?:[ \t\r\v\f]*(?:#[^\n]*)?\n)*")


class Judgements(NamedTuple):
    """Judgements as columns, with the line of each judgement. A format without lines, such as JSON, has 0 for each line."""

    qids: Iterable[str]
    docnos: Iterable[str]
    grades: Sequence[int]
    lines: np.ndarray | int = 0


@reads(QRELS)
def read_qrels(path: str | os.PathLike[str], contradictions: str = "error") -> Qrels:
    """Read a qrels file, plain or compressed, `-` for standard input, or `irds:NAME` for a data set of ir_datasets.

    The content shows the format. Raise InputError, with the line number, for a malformed line. `contradictions` is one
    of CONTRADICTIONS; with "error", contradicting judgements raise InputError, too.
    """
    return read_judgements(FileSource(path), refuse, contradictions)[0]


def read_judgements(
    source: FileSource, listen: Listener, contradictions: str = "error"
) -> tuple[Qrels, np.ndarray]:  # fmt: skip
    """Return the judgements of a qrels file and the line of each, and report the faults of the file.

    Lines with another number of columns are left out. A grade that is not a whole number gets the number that trec_eval
    reads. If a topic has several judgements of a document, only the first stays. It gets the grade that
    `contradictions` chooses.
    """
    path, report = source.path, Report()
    if path.startswith(PREFIX):
        return collect(_of_dataset(path, listen), path, "irds", listen, report, contradictions)
    with source.open() as stream:
        texts = pieces_of_text(stream, path, PIECE, listen, report)
        first, text = next(texts, (1, b""))
        while not (start := first_rows(text)) and (piece := next(texts, None)):
            first, text = piece
        texts = chain([(first, text)], texts)
        if start and start[0][0].startswith(b"{"):
            form, judgements = "json", _of_json(read_whole((text for _, text in texts), path), first, path, listen)
        else:
            form = form_of(start)
            judgements = _of_lines(texts, form, path, listen)
        qrels, numbers = collect(judgements, path, form, listen, report, contradictions)
    if not len(numbers):
        listen([Fault("empty", [0], f"{path} holds no judgements; {EXPECTED}.")])
    return qrels, numbers


def form_of(rows: Sequence[Sequence[bytes]]) -> str:
    """Return the form of rows, a key of COLUMNS.

    It is BEIR's form if the first row is the header of BEIR, else the form of most rows.
    """
    if rows and [cell.lower().decode("latin-1") for cell in rows[0]] == [*BEIR_COLUMNS]:
        return "beir"
    widths = Counter(len(cells) for cells in rows if is_judgement(cells))
    return "beir without a header" if widths[3] > widths[4] else "trec"


def is_judgement(cells: Sequence[bytes]) -> bool:
    """Return whether a row looks like a judgement: three or four columns, the last of them a number."""
    return len(cells) in (3, 4) and is_number(cells[-1])


def _of_lines(
    texts: Iterable[tuple[int, bytes]], form: str, path: str, listen: Listener
) -> Iterator[Judgements]:  # fmt: skip
    """Yield the judgements of each item of `texts`. An item has the number of its first line, and the text of whole lines."""
    columns, head, begun = COLUMNS[form], int(form == "beir"), False
    for first, text in texts:
        cells, begins, counts, lines = _cells(first, text)
        begins, counts, lines, head = begins[head:], counts[head:], lines[head:], head and not len(lines)
        faults = miscounted(path, columns, EXPECTED, lines, counts)
        begins, lines = begins[counts == len(columns)], lines[counts == len(columns)]
        if len(lines) and not begun:
            begun, row = True, [cell.decode() for cell in cells[begins[0] :][: len(columns)]]
            if form == "beir without a header":
                (fault,) = miscounted(path, COLUMNS["trec"], EXPECTED, lines[:1], np.array([len(columns)]))
                faults.append(fault._replace(kind="no header"))
            if not _is_grade(row[-1]) and (named := header(lines[0], row, _no_grade(path, lines[0], row[-1]))):
                faults, begins, lines = faults + named, begins[1:], lines[1:]
        places = begins, begins + len(columns) - 2, begins + len(columns) - 1
        qids, docnos, grades = ([*map(bytes.decode, cells[place])] for place in places)
        read = {grade: _as_trec_eval_reads(grade) for grade in set(grades)}
        if wrong := {grade for grade in read if not _is_grade(grade)}:
            rows = [row for row, grade in enumerate(grades) if grade in wrong]
            about = {"cell": grades[rows[0]], "read": read[grades[rows[0]]]}
            faults.append(Fault("grade", lines[rows], _no_grade(path, lines[rows[0]], grades[rows[0]]), about))
        listen(faults)
        yield Judgements(qids, docnos, [*map(read.__getitem__, grades)], lines)


def _cells(first: int, text: bytes) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return all cells of a text, and three arrays over lines: the first cell, the number of cells and the line number.

    The arrays over lines leave out blank lines and comments.
    """
    is_space = IS_SPACE[(buf := np.frombuffer(text, np.uint8))]
    starts = np.flatnonzero(~is_space & np.append(True, is_space[:-1]))
    ends = np.append(np.searchsorted(starts, np.flatnonzero(buf == ord("\n"))), len(starts))
    counts = np.diff(ends, prepend=0)
    lines = np.flatnonzero(counts)
    lines = lines[buf[starts[(ends - counts)[lines]]] != ord("#")]
    return np.array(text.split(), object), (ends - counts)[lines], counts[lines], first + lines


def _no_grade(path: str, line: int, grade: str) -> str:
    return f"{path}:{line}: the grade {grade[:50]!r} is not a whole number."


def _is_grade(text: str) -> bool:
    return bool(_GRADE.fullmatch(text)) and GRADES.min <= int(text) <= GRADES.max


def _as_trec_eval_reads(text: str) -> int:
    """Return the number that trec_eval reads from a grade with C's function `atol`: the digits at its beginning, or 0."""
    digits = _GRADE.match(text)
    return min(max(int(digits[0]), GRADES.min), GRADES.max) if digits else 0


def _of_json(data: bytes, first: int, path: str, listen: Listener) -> Iterator[Judgements]:
    """Yield the judgements of a JSON object `{topic: {docno: grade}}`. It begins on line `first`, perhaps after comments."""
    pairs: Any = ()
    begin = _COMMENTS.match(data).end()  # type: ignore[union-attr]
    try:
        # Read objects as pairs, not as dictionaries, so that a repeated name is noticed.
        pairs = json.loads(data[begin:].decode(), object_pairs_hook=tuple)
    except json.JSONDecodeError as error:
        line = first - 1 + data.count(b"\n", 0, begin) + error.lineno
        listen([Fault("json", [line], f"{path}:{line}:{error.colno}: not JSON: {error.msg}.", {"reason": error.msg})])
    except (ValueError, RecursionError):
        listen([Fault("unreadable json", [0], f"{path} is not JSON that Sublex can read; {EXPECTED}.")])
    for qid, judged in pairs:
        if not isinstance(judged, tuple):
            refusal = f'{path}: topic {qid} has no object of grades; write {{"{qid}": {{"docno": 1}}}}.'
            listen([Fault("no object", [0], refusal, {"qid": qid})])
            continue
        docnos, grades = zip(*judged, strict=True) if judged else ((), ())
        _check_ids(listen, path, [qid], docnos)
        refusals = (f"{path}: topic {qid}: the grade of {docno} is not a whole number." for docno in docnos)
        yield Judgements([qid] * len(judged), docnos, [*map(partial(_whole, listen), grades, refusals)])


def _of_dataset(path: str, listen: Listener) -> Iterator[Judgements]:
    """Yield the judgements of a data set of ir_datasets."""
    from sublex.trec.irds import judgements

    qids, docnos, grades = [*zip(*judgements(path), strict=True)] or ((), (), ())
    _check_ids(listen, path, qids, docnos)
    refusals = (
        f"{path}: topic {qid}, document {docno}: the grade {str(grade)!r} is not a whole number."
        for qid, docno, grade in zip(qids, docnos, grades, strict=True)
    )
    yield Judgements(qids, docnos, [*map(partial(_whole, listen), grades, refusals)])


def _check_ids(listen: Listener, path: str, qids: Iterable[str], docnos: Iterable[str]) -> None:
    """Report to `listen` the first id that trec_eval's code misreads. Use this for ids without lines, as in JSON."""
    for kind, ids in (("topic", qids), ("document", docnos)):
        if (text := first_faulty_id(Strings.of(ids))) is not None:
            reason = f"the {kind} id {text!r} {id_fault(text)}"
            listen([Fault("id", [0], f"{path}: {reason}; give it another id.", {"reason": reason})])


def _whole(listen: Listener, grade: Any, refusal: str) -> int:
    """Return a grade as a whole number. Report any other grade to `listen`, with the message `refusal`.

    Use this for grades without lines, such as those in JSON.
    """
    if type(grade) is int and GRADES.min <= grade <= GRADES.max:
        return grade
    read = _as_trec_eval_reads(str(grade))
    listen([Fault("grade", [0], refusal, {"cell": json.dumps(grade, default=str), "read": read})])
    return read


def collect(
    parts: Iterable[Judgements], path: str, form: str, listen: Listener, report: Report, contradictions: str = "error"
) -> tuple[Qrels, np.ndarray]:  # fmt: skip
    """Return the judgements of all parts, and the line of each. `form` is the format of the result.

    Report repeated judgements of a document for a topic to `listen`, and keep only the first of them. It gets the grade
    that `contradictions` chooses. Raise InputError for an unknown rule.
    """
    if contradictions not in CONTRADICTIONS:
        known = ", ".join(CONTRADICTIONS)
        raise InputError(f"There is no rule {contradictions} for contradictions; choose one of {known}.")
    # These dictionaries number each new id when it is looked up.
    qids: dict[str, int] = defaultdict(count().__next__)
    docnos: dict[str, int] = defaultdict(count().__next__)
    columns = [[np.empty(0, kind)] for kind in (np.int32, np.int32, np.int32, np.int64)]
    for part in parts:
        numbers = [*map(qids.__getitem__, part.qids)], [*map(docnos.__getitem__, part.docnos)], part.grades
        for column, values in zip(columns, (*numbers, np.full(len(part.grades), part.lines)), strict=True):
            column.append(np.array(values, column[0].dtype))
    rows = Rows(list(qids), Strings.of(docnos), *map(np.concatenate, columns))
    again = report_repeated(rows, path, listen, _other_grade if contradictions == "error" else lambda about: "")
    if len(again):
        rows = _settled(rows, again, contradictions, path or "The judgements", report)
    _, _, topics, docs, grades, lines = rows.without(again)
    order = np.argsort(topics, kind="stable")
    ends = offsets(topics[order], len(qids))
    qrels = Qrels(rows.qids, ends, docs[order], grades[order], rows.docnos, path, form, tuple(report.notes))
    return qrels, lines[order]


def _settled(rows: Rows, again: np.ndarray, contradictions: str, of: str, report: Report) -> Rows:
    """Give all judgements of a document for a topic the same grade, and return the rows.

    Note how many were repeated.

    `again` are the places of the rows that repeat the topic and document of an earlier row.
    """
    _, first, group = np.unique(rows.topics.astype(np.int64) << 32 | rows.docs, return_index=True, return_inverse=True)
    chosen = rows.values[first]
    contradicted = np.zeros(len(chosen), np.bool_)
    contradicted[group[rows.values != chosen[group]]] = True
    if same := len(again) - int(contradicted[group[again]].sum()):
        repeats = (
            "s repeat another with the same grade and count"
            if same > 1
            else " repeats another with the same grade and counts"
        )
        report.note(f"{of}: {same:,} judgement{repeats} once")
    if contradicted.any():
        if contradictions == "last":
            chosen[group] = rows.values  # If a place gets several values, NumPy keeps the last.
        elif contradictions == "highest":
            np.maximum.at(chosen, group, rows.values)
        pairs = counted(int(contradicted.sum()), "pair")
        report.note(f"{of}: different grades for {pairs} of topic and document; the {contradictions} grade counts")
    return rows._replace(values=chosen[group])


def _other_grade(about: Mapping[str, Any]) -> str:
    before = f" (line {about['line_before']})" if about["line_before"] else ""
    choice = "contradictions='first', 'last' or 'highest'"
    if about["where"]:
        choice = "--contradictions first, last or highest (in Python contradictions='first')"
    return (
        f"{about['where']}topic {about['qid']} judges {about['docno']} as {about['value']}, "
        f"and before{before} as {about['value_before']}; keep one of the two, or choose by {choice}."
    )
