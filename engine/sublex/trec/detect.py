"""Detect the kind of a file from its content: a run, judgements, topics or a collection."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from sublex.readers.fields import ID_ALIASES, TEXT_ALIASES, TITLE
from sublex.readers.signatures import BOM, signature
from sublex.readers.source import HEAD, FileSource
from sublex.trec.kinds import COLLECTION, QRELS, RUN, TOPICS
from sublex.trec.qrels_reader import form_of, is_judgement
from sublex.trec.rows import LINES_READ, is_number
from sublex.trec.run_reader import line_layout
from sublex.trec.topic_formats import ALIASES, QID_ALIASES, format_of

# The largest mean number of characters of queries. Texts that are longer on average are documents.
LONG_TEXT = 200

_JSON_QRELS = re.compile(rb'\{\s*"[^"]*"\s*:\s*\{')
_OF_DOCUMENTS = {"docno", "docid", "doc_id", "contents", "body", "passage", "abstract"}
_OF_TOPICS = {*QID_ALIASES, *(name for group in ALIASES for name in group)} - {"id", "_id", TITLE, *TEXT_ALIASES}
_NAMES = {TOPICS: re.compile("quer|topic|question"), COLLECTION: re.compile("doc|corpus|coll|passage")}


def detect_kind(source: FileSource) -> str:
    """Return the kind of a file or folder, one of KINDS, or an empty string for anything else."""
    if os.path.isdir(source.path):
        return COLLECTION
    head = source.head()
    # The last line may be cut.
    head = head[: head.rfind(b"\n") + 1] or head if len(head) == HEAD else head
    head = head.removeprefix(BOM).lstrip()
    lines = head.split(b"\n")[:LINES_READ]
    if not head.startswith((b"<", b"{")) and (kind := _kind_of_columns(lines)):
        return kind
    if head.startswith(b"{"):
        return _kind_of_json(source.path, head, lines)
    if signature(head):
        return COLLECTION
    form = format_of(head)
    if head.startswith(b"<"):
        return TOPICS if form else ""
    return _kind_of_table(source.path, form, head)


def _kind_of_columns(lines: Sequence[bytes]) -> str:
    """Return "run" or "qrels" if at least a quarter of the lines look like this kind. The other lines may be faulty."""
    kinds: Counter[str] = Counter()
    for line in lines:
        cells = line.split()
        if cells and not cells[0].startswith(b"#"):
            if not kinds and form_of([cells]) == "beir":
                return QRELS
            kinds[_kind_of_line(line, cells)] += 1
    best = max((RUN, QRELS), key=kinds.__getitem__)
    return best if kinds[best] and 4 * kinds[best] >= kinds.total() else ""


def _kind_of_line(line: bytes, cells: Sequence[bytes]) -> str:
    if len(cells) == 5 and line_layout(cells):
        return RUN
    if len(cells) > 4 and cells[1].upper() == b"Q0":
        return RUN
    if len(cells) == 6 and (cells[1] == b"0" or (is_number(cells[3]) and is_number(cells[4]))):
        return RUN
    # A line with a single tab is a topic's id and its query.
    return QRELS if line.count(b"\t") != 1 and is_judgement(cells) and b":" not in cells[0] else ""


def _kind_of_json(path: str, head: bytes, lines: Sequence[bytes]) -> str:
    if _JSON_QRELS.match(head):
        return QRELS
    records = [record for line in lines if (record := _record(line))]
    names = set().union(*records) if records else set()
    texts = [value for record in records for value in record.values() if isinstance(value, str)]
    documents = not names.isdisjoint(TEXT_ALIASES) and TITLE in names
    return _topics_or_collection(path, names, texts, documents, max(1, len(records)))


def _record(line: bytes) -> dict[str, Any] | None:
    try:
        record = json.loads(line.removeprefix(BOM))
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def _kind_of_table(path: str, form: str, head: bytes) -> str:
    if form == "colon":
        return TOPICS
    lines = head.decode("latin-1").split("\n")[:LINES_READ]
    names = {cell.strip().strip('"').lower() for cell in lines[0].split("\t" if form == "tsv" else ",")}
    if not form:
        return COLLECTION if names & {*ID_ALIASES} and names & {*TEXT_ALIASES, TITLE} else ""
    return _topics_or_collection(path, names, lines, False, len(lines))


def _topics_or_collection(path: str, names: set[str], texts: Sequence[str], documents: bool, count: int) -> str:
    """Tell topics from a collection by the names of the fields, the name of the file, or the mean length of the texts.

    `documents` says that the fields are those of documents. `count` is the number of records from which the texts come.
    """
    if documents or names & _OF_DOCUMENTS:
        return COLLECTION
    if names & _OF_TOPICS:
        return TOPICS
    for kind, pattern in _NAMES.items():
        if pattern.search(os.path.basename(path).lower()):
            return kind
    return COLLECTION if sum(map(len, texts)) > LONG_TEXT * count else TOPICS
