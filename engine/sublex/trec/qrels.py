"""Read relevance judgements (qrels): TREC's four columns, BEIR's table with a header, or JSON."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from sublex.contracts.base import Report
from sublex.errors import InputError
from sublex.forms.frames import data_frame
from sublex.forms.tables import ROWS_SHOWN, summary
from sublex.readers.irds import PREFIX
from sublex.readers.lines import numbered_lines, read_whole, refuse, utf8_lines
from sublex.readers.source import FileSource, decode
from sublex.tools.messages import counted
from sublex.tools.strings import Strings
from sublex.trec.columns import Columns, first_repeated, offsets

BEIR_HEADER = ["query-id", "corpus-id", "score"]
EXPECTED = "expected are TREC's qid 0 docno grade, BEIR's query-id corpus-id score with that header, or JSON"
GRADE = re.compile(r"[+-]?[0-9]{1,18}", re.ASCII)
GRADES = np.iinfo(np.int32)
# The largest grade that measures take: above it trec_eval's nDCG takes seconds for a topic, then minutes.
LARGEST_GRADE = 10_000


class Judgement(NamedTuple):
    """One judgement of a qrels file, and its line; the line is 0 for JSON."""

    qid: str
    docno: str
    grade: int
    line: int


class IrMeasuresQrel(NamedTuple):
    """One judgement, with the field names of ir_measures."""

    query_id: str
    doc_id: str
    relevance: int
    iteration: str = "0"


class Qrels(Columns):
    """Judgements by topic: `qrels[qid]` is `{docno: grade}`. Topics and documents are in the order of the file.

    `grades` is the column of grades, int32. `format` is trec, beir, json or irds, and empty for judgements that were not
    read from a file; `notes` is what reading noticed.
    """

    def __init__(
        self,
        qids: list[str],
        offsets: np.ndarray,
        docs: np.ndarray,
        grades: np.ndarray,
        docnos: Strings,
        path: str = "",
        format: str = "",
        notes: tuple[str, ...] = (),
    ):
        super().__init__(qids, offsets, docs, grades, docnos)
        self.grades, self.path, self.format, self.notes = grades, path, format, notes

    def only(self, qids: Iterable[str]) -> Qrels:
        """Return the judgements of these topics only, in the order given; all of them must be judged."""
        names = list(qids)
        rows = [np.arange(place.start, place.stop) for place in map(self.slice, names)]
        ends = np.cumsum([0, *map(len, rows)])
        chosen = np.concatenate([np.empty(0, np.int64), *rows])
        columns = self.docs[chosen], self.grades[chosen]
        return Qrels(names, ends, *columns, self.docnos, self.path, self.format, self.notes)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the fields of `itertuples`. By these two ir_measures recognises judgements."""
        return IrMeasuresQrel._fields

    def itertuples(self) -> Iterator[IrMeasuresQrel]:
        """Yield each judgement in the form of ir_measures, topic by topic."""
        for qid, judged in self.items():
            for docno, grade in judged.items():
                yield IrMeasuresQrel(qid, docno, grade)

    def to_pandas(self) -> Any:
        """Return a DataFrame with a row for each judgement: qid, docno, label. pandas must be installed."""
        return data_frame({**self._by_row(), "label": self.grades})

    def __str__(self) -> str:
        source = f" from {self.path}" if self.path else ""
        form = f" ({self.format})" if self.format else ""
        return f"{counted(len(self.docs), 'judgement')} of {counted(len(self), 'topic')}{source}{form}"

    def __repr__(self) -> str:
        return f"<{self}>"

    def _repr_html_(self) -> str:
        rows = []
        for qid in self.qids[: ROWS_SHOWN + 1]:
            grades = self.topic(qid)[1]
            rows.append([qid, f"{len(grades):,}", f"{int((grades > 0).sum()):,}", f"{int(grades.max(initial=0))}"])
        return summary(str(self), ["qid", "judged", "relevant", "highest grade"], rows, len(self))


def read_qrels(path: str | os.PathLike[str]) -> Qrels:
    """Read a qrels file, plain or compressed, `-` for standard input, or `irds:NAME` for a data set of ir_datasets.

    The content shows the format.
    """
    source, report = FileSource(path), Report()
    if source.path.startswith(PREFIX):
        return collect(_of_dataset(source.path), source.path, "irds", report)
    with source.open() as stream:
        numbered = numbered_lines(stream, refuse(source.path))
        lines = ((number, decode(line, source.path, report)) for number, line in numbered)
        rows = _content(lines)
        first = next(rows, None)
        if first is None:
            raise InputError(f"{source.path} holds no judgements; {EXPECTED}.")
        if first[1].lstrip().startswith("{"):
            rest = utf8_lines(read_whole(stream, source.path, len(first[1])), source.path, report)
            form, judgements = "json", _json(first, rest.decode(), source.path)
        elif first[1].lower().split() == BEIR_HEADER:
            form, judgements = "beir", _rows(rows, source.path, 3)
        else:
            form, judgements = "trec", _rows(chain([first], rows), source.path, 4)
        return collect(judgements, source.path, form, report)


def _of_dataset(path: str) -> Iterator[Judgement]:
    """Yield the judgements of a data set of ir_datasets."""
    from sublex.trec.irds import judgements

    for qid, docno, grade in judgements(path):
        yield Judgement(qid, docno, _grade(str(grade), f"{path}: topic {qid}, document {docno}"), 0)


def _content(lines: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Yield the lines that are neither blank nor comments."""
    for number, line in lines:
        if line.strip() and not line.startswith("#"):
            yield number, line


def _rows(lines: Iterable[tuple[int, str]], path: str, columns: int) -> Iterator[Judgement]:
    """Yield the judgements of lines with three or four columns."""
    for number, line in lines:
        cells = line.encode(errors="surrogatepass").split()
        if len(cells) != columns:
            raise InputError(f"{path}:{number}: {counted(len(cells), 'column')} where {columns} should be; {EXPECTED}.")
        qid, docno, grade = (cells[k].decode(errors="surrogatepass") for k in (0, columns - 2, columns - 1))
        yield Judgement(qid, docno, _grade(grade, f"{path}:{number}"), number)


def _grade(text: str, where: str) -> int:
    if not GRADE.fullmatch(text) or not GRADES.min <= int(text) <= GRADES.max:
        raise InputError(f"{where}: the grade {text[:50]!r} is not a whole number.")
    return int(text)


def _json(first: tuple[int, str], rest: str, path: str) -> Iterator[Judgement]:
    """Yield the judgements of a JSON file `{topic: {docno: grade}}`, given as its first numbered line and the rest."""
    text = first[1] + rest
    try:
        # Read objects as pairs, not as dictionaries, so that a repeated name is noticed.
        pairs = json.loads(text, object_pairs_hook=tuple)
    except json.JSONDecodeError as error:
        raise InputError(f"{path}:{error.lineno + first[0] - 1}:{error.colno}: not JSON: {error.msg}.") from None
    except (ValueError, RecursionError):
        raise InputError(f"{path} is not JSON that Sublex can read; {EXPECTED}.") from None
    for qid, judged in pairs:
        if not isinstance(judged, tuple):
            raise InputError(f'{path}: topic {qid} has no object of grades; write {{"{qid}": {{"docno": 1}}}}.')
        for docno, grade in judged:
            if type(grade) is not int:
                raise InputError(f"{path}: topic {qid}: the grade of {docno} is not a whole number.")
            yield Judgement(qid, docno, _grade(str(grade), f"{path}: topic {qid}, document {docno}"), 0)


def collect(judgements: Iterable[Judgement], path: str, form: str, report: Report) -> Qrels:
    """Return judgements as columns; raise InputError for two that contradict each other."""
    qids: dict[str, int] = {}
    docnos: dict[str, int] = {}
    rows = np.fromiter(
        (
            (qids.setdefault(qid, len(qids)), docnos.setdefault(docno, len(docnos)), grade, line)
            for qid, docno, grade, line in judgements
        ),
        np.dtype([("topic", np.int32), ("doc", np.int32), ("grade", np.int32), ("line", np.int64)]),
    )
    rows = rows[np.argsort(rows["topic"], kind="stable")]
    earlier, later = first_repeated(rows["topic"], rows["doc"])
    names, strings = list(qids), Strings.of(docnos)
    for a, b in zip(rows[earlier], rows[later], strict=True):
        if a["grade"] != b["grade"]:
            where = f"{path}:{b['line']}: " if b["line"] else f"{path}: " if path else ""
            before = f" (line {a['line']})" if a["line"] else ""
            raise InputError(
                f"{where}topic {names[b['topic']]} judges {strings[int(b['doc'])]} as {b['grade']}, "
                f"and before{before} as {a['grade']}; keep one of the two."
            )
    if len(later):
        report.note(
            f"{path or 'The judgements'}: {len(later):,} judgements repeat another with the same grade and count once"
        )
        rows = np.delete(rows, later)
    grades, docs = rows["grade"].copy(), rows["doc"].copy()
    return Qrels(names, offsets(rows["topic"], len(names)), docs, grades, strings, path, form, tuple(report.notes))
