"""Make `Qrels` and `Run` of judgements and runs from Python code, which may be files, dictionaries, DataFrames or records."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, repeat
from typing import Any, NamedTuple

import numpy as np

from sublex.contracts.base import LARGEST_SCORE, Report
from sublex.errors import InputError
from sublex.forms.frames import frame_records, is_frame
from sublex.tools.arguments import shown
from sublex.tools.messages import near_names
from sublex.tools.strings import Strings
from sublex.trec.columns import first_repeated
from sublex.trec.ids import id_text
from sublex.trec.qrels import Qrels
from sublex.trec.qrels_reader import GRADES, Judgements, collect, read_qrels
from sublex.trec.rows import refuse
from sublex.trec.run_reader import read_run
from sublex.trec.runs import Run, ranked
from sublex.trec.topic_formats import QID_ALIASES

# Names of columns in PyTerrier, ir_measures, ir_datasets, ranx and others. The first name that a record has is used.
QIDS = (*QID_ALIASES, "q_id")
DOCNOS = ("docno", "doc_id", "docid", "document_id", "corpus-id", "corpus_id", "pid", "did")
GRADE_NAMES = ("label", "relevance", "grade", "rel", "score")
SCORE_NAMES = ("score", "similarity", "sim")


class TableKind(NamedTuple):
    """The words for messages and the names of columns, for judgements or for runs."""

    name: str
    names: tuple[str, ...]
    expected: str


QRELS = TableKind(
    "judgements", GRADE_NAMES,
    "give a qrels file, a dictionary {qid: {docno: grade}}, or a DataFrame with qid, docno and label",
)  # fmt: skip
RUN = TableKind(
    "run", SCORE_NAMES,
    "give a run file, a dictionary {qid: {docno: score}}, or a DataFrame with qid, docno and score",
)  # fmt: skip


class GivenColumns(NamedTuple):
    """The topic ids, docnos and numbers of judgements or hits, row by row, as the user gave them.

    They are not checked yet.
    """

    qids: list[Any]
    docnos: list[Any]
    numbers: list[Any]


def qrels_of(given: Any, contradictions: str = "error") -> Qrels:
    """Return judgements as `Qrels`.

    Raise InputError for a value that cannot be judgements.

    `contradictions`, one of CONTRADICTIONS, is the rule for a document with several different grades for one topic.
    """
    if isinstance(given, Qrels):
        return given
    if isinstance(given, (str, os.PathLike)):
        return read_qrels(given, contradictions)
    columns = _columns(given, QRELS)
    topics, qids = _numbered(columns.qids, "topic")
    docs, docnos = _numbered(columns.docnos, "document")
    names = [qids[topic] for topic in topics.tolist()]
    grades = [whole_grade(grade, f"Topic {qid}") for grade, qid in zip(columns.numbers, names, strict=True)]
    judgements = Judgements(names, [docnos[doc] for doc in docs.tolist()], grades)
    qrels, _ = collect([judgements], "", "", refuse, Report(), contradictions)
    if not len(qrels):
        raise InputError(f"There are no judgements; {QRELS.expected}.")
    return qrels


def run_of(given: Any, tag: str = "run") -> Run:
    """Return hits as a `Run`. Raise InputError for a value that cannot be a run. A run without a tag gets `tag`."""
    if isinstance(given, Run):
        return given
    if isinstance(given, (str, os.PathLike)):
        return read_run(given)
    columns = _columns(given, RUN)
    # A topic of a dictionary may have no hits.
    topics, qids = _numbered(columns.qids, "topic", given if isinstance(given, Mapping) else ())
    docs, docnos = _numbered(columns.docnos, "document")
    scores = _scores(columns)
    _, later = first_repeated(topics, docs)
    if len(later):
        row = later[0]
        raise InputError(f"Topic {qids[topics[row]]} has {docnos[docs[row]]} twice; keep one of the two.")
    return ranked(qids, topics, docs, scores, Strings.of(docnos), tag=tag)


def _columns(given: Any, kind: TableKind) -> GivenColumns:
    """Return the columns of a DataFrame, of an object that can make one, of a dictionary by topic, or of records."""
    if is_frame(given):
        return _of_records(list(frame_records(given)), kind)
    if isinstance(given, Mapping) or hasattr(given, "to_dict"):
        columns = GivenColumns([], [], [])
        for qid, numbers in (given if isinstance(given, Mapping) else given.to_dict()).items():
            if not isinstance(numbers, Mapping):
                raise InputError(f"Topic {qid} of the {kind.name} has {shown(numbers)}; {kind.expected}.")
            columns.qids.extend(repeat(qid, len(numbers)))
            columns.docnos.extend(numbers)
            columns.numbers.extend(numbers.values())
        return columns
    if isinstance(given, Iterable) and not isinstance(given, (bytes, bytearray)):
        return _of_records(list(given), kind)
    raise InputError(f"The {kind.name} cannot be {shown(given)}; {kind.expected}.")


def _of_records(items: list[Any], kind: TableKind) -> GivenColumns:
    """Return the columns of dictionaries or named tuples.

    The names of their fields may be those of any library in the table above.
    """
    columns = GivenColumns([], [], [])
    for item in items:
        record = item._asdict() if hasattr(item, "_asdict") else item
        if not isinstance(record, Mapping):
            raise InputError(f"The {kind.name} cannot hold {shown(item)}; {kind.expected}.")
        for column, names in zip(columns, (QIDS, DOCNOS, kind.names), strict=True):
            column.append(record[_known(record, names, kind)])
    return columns


def _known(record: Mapping[str, Any], names: Sequence[str], kind: TableKind) -> str:
    """Return the first of `names` that the record has; raise InputError if the record has none of them."""
    for name in names:
        if name in record:
            return name
    there = near_names(names[0], map(str, record)) or "nothing"
    raise InputError(f"A row of the {kind.name} has no {names[0]}, only {there}; {kind.expected}.")


def _numbered(values: list[Any], kind: str, before: Iterable[Any] = ()) -> tuple[np.ndarray, list[str]]:
    """Return a number for each id, and the distinct ids as texts in the order of their numbers.

    The ids in `before` get the first numbers.
    """
    numbers: dict[str, int] = {}
    try:
        places = {
            value: numbers.setdefault(id_text(value, kind), len(numbers))
            for value in dict.fromkeys(chain(before, values))
        }
    except TypeError:
        raise InputError(f"Some {kind} id is a list or the like; make all ids texts.") from None
    return np.fromiter(map(places.__getitem__, values), np.int32, len(values)), list(numbers)


def whole_grade(grade: Any, of: str) -> int:
    """Return a grade as a whole number. Raise InputError for another value; `of` is what has the grade."""
    whole = isinstance(grade, (int, np.integer)) or (isinstance(grade, float) and grade.is_integer())
    if not whole or not GRADES.min <= grade <= GRADES.max:
        raise InputError(f"{of} has the grade {shown(grade)}, which is not a whole number; correct it.")
    return int(grade)


def _scores(columns: GivenColumns) -> np.ndarray:
    """Return the scores as float32; raise InputError for a score that is not a number, not finite or too large."""
    for qid, score in zip(columns.qids, columns.numbers, strict=True):
        if not isinstance(score, (int, float, np.number)) or not abs(score) <= LARGEST_SCORE:  # type: ignore[operator]
            raise InputError(f"Topic {qid} has the score {shown(score)}, not a finite float32 number; correct it.")
    return np.array(columns.numbers, np.float64).astype(np.float32)
