"""Check topics alone: empty queries, fields that some topics lack, doubtful ids."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sublex.lint.check_ids import check_ids
from sublex.lint.findings import ERROR, NOTE, Finding, show_id
from sublex.lint.located import Ids
from sublex.tools.strings import Strings
from sublex.trec.topic_formats import ALIASES, TopicRecord


def check_topics(topics: Sequence[TopicRecord], path: str) -> tuple[list[Finding], Ids]:
    """Return the findings about the topics of a file, and their ids."""
    lines = np.array([record.line for record in topics], np.int64)
    ids = Ids(Strings.of(record.qid for record in topics), path, lines)
    return [*_fields(path, topics), *(check_ids(ids, "topic id") if len(lines) else ())], ids


def _fields(path: str, topics: Sequence[TopicRecord]) -> list[Finding]:
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
