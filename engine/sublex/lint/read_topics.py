"""A topic file record by record: what is wrong with it, and the topics that are left."""

from __future__ import annotations

from contextlib import closing

import numpy as np

from sublex.base import Report
from sublex.lint.check_ids import check_ids
from sublex.lint.findings import ERROR, NOTE, Finding, Ids, counted, finding, sentence, shown
from sublex.readers.source import FileSource
from sublex.strings import Strings
from sublex.trec.topic_formats import ALIASES, Malformed, Record, records


def lint_topics(source: FileSource) -> tuple[str, list[Finding], Ids]:
    """What the file holds, what is wrong with it, and the ids of its topics."""
    report, topics, wrong = Report(), dict[str, Record](), list[Malformed]()
    again: list[tuple[Record, int]] = []
    _, stream = records(source, report)
    with closing(stream):
        for record in stream:
            if isinstance(record, Malformed):
                wrong.append(record)
            elif record.qid in topics:
                again.append((record, topics[record.qid].line))
            else:
                topics[record.qid] = record
    found = [
        *_malformed(source.path, wrong),
        *_repeated(source.path, again),
        *_fields(source.path, list(topics.values())),
        *_notes(source.path, report),
    ]
    lines = np.array([record.line for record in topics.values()], np.int64)
    ids = Ids(Strings.of(topics), source.path, lines)
    if len(lines):
        found += check_ids(ids, "topic id")
    return counted(len(topics), "topic"), found, ids


def _malformed(path: str, wrong: list[Malformed]) -> list[Finding]:
    if not wrong:
        return []
    text = f"The record cannot be read, and Sublex refuses the file: {wrong[0].reason}"
    return [finding(path, [fault.line for fault in wrong], "record", ERROR, text)]


def _repeated(path: str, again: list[tuple[Record, int]]) -> list[Finding]:
    if not again:
        return []
    (record, before), lines = again[0], [record.line for record, _ in again]
    text = f"Topic {shown(record.qid)} is there already on line {before}: Sublex refuses the file; keep one."
    return [finding(path, lines, "duplicate", ERROR, text)]


def _fields(path: str, topics: list[Record]) -> list[Finding]:
    """Queries that are empty, and fields that a few topics lack."""
    names = list(dict.fromkeys(name for record in topics for name in record.fields))
    query = next((name for name in ALIASES[0] if name in names), "")
    if topics and not query:
        text = f"No topic has a title or query, only {', '.join(names) or 'ids'}: name the fields to search for by --fields."
        return [finding(path, [topics[0].line], "field", ERROR, text)]
    found = []
    empty = [record for record in topics if not record.fields.get(query)]
    if empty:
        text = f"Topic {shown(empty[0].qid)} has no {query}: its query is empty, finds nothing and counts 0 if it is judged."
        found.append(finding(path, [record.line for record in empty], "empty", ERROR, text))
    for name in names:
        lacking = [record for record in topics if name not in record.fields]
        # A field of the few is not missed by the many.
        if name != query and 0 < 2 * len(lacking) < len(topics):
            text = f"Topic {shown(lacking[0].qid)} has no {name}, which others have: with --fields {name} its query is shorter."
            found.append(finding(path, [record.line for record in lacking], "field", NOTE, text))
    return found


def _notes(path: str, report: Report) -> list[Finding]:
    return [
        finding(path, [0], "encoding", NOTE, sentence(note.removeprefix(f"{path}: ")), times)
        for note, times in report.notes.items()
    ]
