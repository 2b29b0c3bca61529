"""Read a topic file past every mistake: findings about its records, and the ids of the topics that are left."""

from __future__ import annotations

from contextlib import closing

import numpy as np

from sublex.contracts.base import Report
from sublex.lint.check_ids import check_ids
from sublex.lint.findings import ERROR, NOTE, Finding, as_sentence, show_id
from sublex.lint.located import Ids
from sublex.readers.source import FileSource
from sublex.tools.messages import counted
from sublex.tools.strings import Strings
from sublex.trec.topic_formats import ALIASES, Malformed, Record, records


def lint_topics(source: FileSource) -> tuple[str, list[Finding], Ids]:
    """Read and check a topic file; return what it holds in words, the findings about it, and the ids of its topics."""
    report, topics, malformed = Report(), dict[str, Record](), list[Malformed]()
    repeated: list[tuple[Record, int]] = []
    _, stream = records(source, report)
    with closing(stream):
        for record in stream:
            if isinstance(record, Malformed):
                malformed.append(record)
            elif record.qid in topics:
                repeated.append((record, topics[record.qid].line))
            else:
                topics[record.qid] = record
    findings = [
        *_malformed(source.path, malformed),
        *_repeated(source.path, repeated),
        *_fields(source.path, list(topics.values())),
        *_notes(source.path, report),
    ]
    lines = np.array([record.line for record in topics.values()], np.int64)
    ids = Ids(Strings.of(topics), source.path, lines)
    if len(lines):
        findings += check_ids(ids, "topic id")
    return counted(len(topics), "topic"), findings, ids


def _malformed(path: str, malformed: list[Malformed]) -> list[Finding]:
    if not malformed:
        return []
    text = f"The record cannot be read, so Sublex refuses the file: {malformed[0].reason}"
    return [Finding.at(path, [fault.line for fault in malformed], "record", ERROR, text)]


def _repeated(path: str, repeated: list[tuple[Record, int]]) -> list[Finding]:
    """Return a finding about topic ids that come again; each record has the line of the first record with its id."""
    if not repeated:
        return []
    (record, before), lines = repeated[0], [record.line for record, _ in repeated]
    text = f"Topic {show_id(record.qid)} is already on line {before}: Sublex refuses the file; keep one."
    return [Finding.at(path, lines, "duplicate", ERROR, text)]


def _fields(path: str, topics: list[Record]) -> list[Finding]:
    """Return findings about empty queries, and about fields that most topics have and some lack."""
    names = list(dict.fromkeys(name for record in topics for name in record.fields))
    query = next((name for name in ALIASES[0] if name in names), "")
    if topics and not query:
        text = f"No topic has a title or query, only {', '.join(names) or 'ids'}; name the fields to search for with --fields."
        return [Finding.at(path, [topics[0].line], "field", ERROR, text)]
    findings = []
    empty = [record for record in topics if not record.fields.get(query)]
    if empty:
        text = f"Topic {show_id(empty[0].qid)} has no {query}: its query is empty, finds nothing and counts as 0 if it is judged."
        findings.append(Finding.at(path, [record.line for record in empty], "empty", ERROR, text))
    for name in names:
        lacking = [record for record in topics if name not in record.fields]
        if name != query and 0 < 2 * len(lacking) < len(topics):
            text = f"Topic {show_id(lacking[0].qid)} has no {name}, which most topics have: with --fields {name} its query is shorter."
            findings.append(Finding.at(path, [record.line for record in lacking], "field", NOTE, text))
    return findings


def _notes(path: str, report: Report) -> list[Finding]:
    """Return the notes of the reader, which are about encoding, as findings."""
    return [
        Finding.at(path, [0], "encoding", NOTE, as_sentence(note.removeprefix(f"{path}: ")), times)
        for note, times in report.notes.items()
    ]
