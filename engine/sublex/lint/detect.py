"""Detect the kind of a file from its content: a run, judgements, topics or a collection."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from sublex.readers.fields import ID_ALIASES, TEXT_ALIASES, TITLE
from sublex.readers.signatures import BOM, signature
from sublex.readers.source import HEAD, FileSource
from sublex.trec.qrels import BEIR_HEADER
from sublex.trec.run_reader import NO_Q0, NO_TAG, NUMBER, SIX, without_one
from sublex.trec.topic_formats import ALIASES, QID_ALIASES, format_of

RUN, QRELS, TOPICS, COLLECTION = "run", "qrels", "topics", "collection"
KINDS = (COLLECTION, TOPICS, QRELS, RUN)
# The layout of each form of a run.
LAYOUTS = {"six columns": SIX, "no tag": NO_TAG, "no Q0": NO_Q0}
# Columns of each form of judgements.
COLUMNS = {"trec": 4, "beir": 3, "beir without a header": 3}
# Lines read to detect the kind.
LINES_READ = 200
# Characters; texts that are longer on average are documents, not queries.
LONG_TEXT = 200

_NOT_A_NUMBER = re.compile(rb"[+-]?(?:nan|inf(?:inity)?)", re.IGNORECASE)
_JSON_QRELS = re.compile(rb'\{\s*"[^"]*"\s*:\s*\{')
_OF_DOCUMENTS = {"docno", "docid", "doc_id", "contents", "body", "passage", "abstract"}
_OF_TOPICS = {*QID_ALIASES, *(name for group in ALIASES for name in group)} - {"id", "_id", TITLE, *TEXT_ALIASES}
_NAMES = {TOPICS: re.compile("quer|topic|question"), COLLECTION: re.compile("doc|corpus|coll|passage")}


class Kind(NamedTuple):
    """The kind of a file and its form, such as "run" and "six columns"; the name is empty if the kind is unknown."""

    name: str
    form: str = ""


def detect_kind(source: FileSource, wanted: str = "") -> Kind:
    """Return the kind and form of a file or folder; with `wanted` the kind is known, and only the form is detected."""
    if os.path.isdir(source.path) or wanted == COLLECTION:
        return Kind(COLLECTION)
    head = source.head()
    lines = head.split(b"\n")
    lines = (lines[:-1] if len(head) == HEAD and len(lines) > 1 else lines)[:LINES_READ]
    head = head.removeprefix(BOM).lstrip()
    if not wanted and not head.startswith((b"<", b"{")):
        kind = _kind_of_columns(lines)
        if kind.name:
            return kind
    form = format_of(head)
    if wanted:
        return Kind(wanted, _form_of(wanted, form, head, lines))
    if head.startswith(b"<"):
        return Kind(COLLECTION) if signature(head) else Kind(TOPICS, form) if form else Kind("")
    if head.startswith(b"{"):
        return _kind_of_json(source.path, head, lines)
    if signature(head):
        return Kind(COLLECTION)
    return _kind_of_table(source.path, form, head)


def _form_of(wanted: str, form: str, head: bytes, lines: Sequence[bytes]) -> str:
    if wanted == TOPICS:
        return form
    kind = _kind_of_columns(lines)
    if wanted == QRELS:
        return "json" if head.startswith(b"{") else kind.form if kind.name == QRELS else "trec"
    return kind.form if kind.name == RUN else "six columns"


def _kind_of_columns(lines: Iterable[bytes]) -> Kind:
    """Return run or qrels if at least a quarter of the lines look like one; the others may be faulty."""
    votes: Counter[Kind] = Counter()
    for line in lines:
        cells = line.removeprefix(BOM).split()
        if cells and not cells[0].startswith(b"#"):
            if not votes and [cell.decode("latin-1").lower() for cell in cells] == BEIR_HEADER:
                return Kind(QRELS, "beir")
            votes[_kind_of_line(line, cells)] += 1
    total, _ = votes.total(), votes.pop(Kind(""), 0)
    best = votes.most_common(1)
    return best[0][0] if best and 4 * best[0][1] >= total else Kind("")


def _kind_of_line(line: bytes, cells: Sequence[bytes]) -> Kind:
    if len(cells) == 5 and (layout := without_one(cells)):
        return Kind(RUN, "no tag" if layout is NO_TAG else "no Q0")
    if len(cells) > 4 and cells[1].upper() == b"Q0":
        return Kind(RUN, "six columns")
    if len(cells) == 6 and (cells[1] == b"0" or (_is_number(cells[3]) and _is_number(cells[4]))):
        return Kind(RUN, "six columns")
    # A line with a single tab is a topic's id and its query.
    if line.count(b"\t") != 1 and len(cells) in (3, 4) and _is_number(cells[-1]) and b":" not in cells[0]:
        return Kind(QRELS, "trec" if len(cells) == 4 else "beir without a header")
    return Kind("")


def _is_number(cell: bytes) -> bool:
    return bool(NUMBER.fullmatch(cell) or _NOT_A_NUMBER.fullmatch(cell))


def _kind_of_json(path: str, head: bytes, lines: Sequence[bytes]) -> Kind:
    if _JSON_QRELS.match(head):
        return Kind(QRELS, "json")
    records = [record for line in lines if (record := _record(line))]
    names = set().union(*records) if records else set()
    texts = [value for record in records for value in record.values() if isinstance(value, str)]
    documents = not names.isdisjoint(TEXT_ALIASES) and TITLE in names
    return _topics_or_collection(path, "jsonl", names, texts, documents, max(1, len(records)))


def _record(line: bytes) -> dict[str, Any] | None:
    try:
        record = json.loads(line.removeprefix(BOM))
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def _kind_of_table(path: str, form: str, head: bytes) -> Kind:
    if form == "colon":
        return Kind(TOPICS, form)
    lines = head.decode("latin-1").split("\n")[:LINES_READ]
    names = {cell.strip().strip('"').lower() for cell in lines[0].split("\t" if form == "tsv" else ",")}
    if not form:
        return Kind(COLLECTION if names & {*ID_ALIASES} and names & {*TEXT_ALIASES, TITLE} else "")
    return _topics_or_collection(path, form, names, lines, False, len(lines))


def _topics_or_collection(
    path: str, form: str, names: set[str], texts: Sequence[str], documents: bool, count: int
) -> Kind:
    """Tell topics from a collection by the names of the fields, the name of the file, or the length of the texts."""
    if documents or names & _OF_DOCUMENTS:
        return Kind(COLLECTION)
    if names & _OF_TOPICS:
        return Kind(TOPICS, form)
    for kind, pattern in _NAMES.items():
        if pattern.search(os.path.basename(path).lower()):
            return Kind(kind, form if kind == TOPICS else "")
    return Kind(COLLECTION) if sum(map(len, texts)) > LONG_TEXT * count else Kind(TOPICS, form)
