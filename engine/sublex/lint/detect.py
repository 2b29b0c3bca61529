"""What a file is, by its content: a run, judgements, topics or a collection."""

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
LAYOUTS = {"six columns": SIX, "no tag": NO_TAG, "no Q0": NO_Q0}
COLUMNS = {"trec": 4, "beir": 3, "beir without a header": 3}
# So many lines are looked at.
LOOKED_AT = 200
# Texts longer than this on average are documents.
LONG = 200

_NOT_A_NUMBER = re.compile(rb"[+-]?(?:nan|inf(?:inity)?)", re.IGNORECASE)
_JSON_QRELS = re.compile(rb'\{\s*"[^"]*"\s*:\s*\{')
_OF_DOCUMENTS = {"docno", "docid", "doc_id", "contents", "body", "passage", "abstract"}
_OF_TOPICS = {*QID_ALIASES, *(name for group in ALIASES for name in group)} - {"id", "_id", TITLE, *TEXT_ALIASES}
_NAMES = {TOPICS: re.compile("quer|topic|question"), COLLECTION: re.compile("doc|corpus|coll|passage")}


class Kind(NamedTuple):
    """What a file is and in which form; the name is empty where nothing tells."""

    name: str
    form: str = ""


def kind_of(source: FileSource, wanted: str = "") -> Kind:
    """What the source is; where `wanted` names a kind, its form."""
    if os.path.isdir(source.path) or wanted == COLLECTION:
        return Kind(COLLECTION)
    head = source.head()
    lines = head.split(b"\n")
    lines = (lines[:-1] if len(head) == HEAD and len(lines) > 1 else lines)[:LOOKED_AT]
    head = head.removeprefix(BOM).lstrip()
    if not wanted and not head.startswith((b"<", b"{")):
        kind = _rows(lines)
        if kind.name:
            return kind
    form = format_of(head)
    if wanted:
        return Kind(wanted, _form(wanted, form, head, lines))
    if head.startswith(b"<"):
        return Kind(COLLECTION) if signature(head) else Kind(TOPICS, form) if form else Kind("")
    if head.startswith(b"{"):
        return _json(source.path, head, lines)
    if signature(head):
        return Kind(COLLECTION)
    return _table(source.path, form, head)


def _form(wanted: str, form: str, head: bytes, lines: Sequence[bytes]) -> str:
    if wanted == TOPICS:
        return form
    found = _rows(lines)
    if wanted == QRELS:
        return "json" if head.startswith(b"{") else found.form if found.name == QRELS else "trec"
    return found.form if found.name == RUN else "six columns"


def _rows(lines: Iterable[bytes]) -> Kind:
    """Run or qrels, if a quarter of the lines look so: many may be bad."""
    votes: Counter[Kind] = Counter()
    for line in lines:
        cells = line.removeprefix(BOM).split()
        if cells and not cells[0].startswith(b"#"):
            if not votes and [cell.decode("latin-1").lower() for cell in cells] == BEIR_HEADER:
                return Kind(QRELS, "beir")
            votes[_row(line, cells)] += 1
    total, _ = votes.total(), votes.pop(Kind(""), 0)
    best = votes.most_common(1)
    return best[0][0] if best and 4 * best[0][1] >= total else Kind("")


def _row(line: bytes, cells: Sequence[bytes]) -> Kind:
    if len(cells) == 5 and (layout := without_one(cells)):
        return Kind(RUN, "no tag" if layout is NO_TAG else "no Q0")
    if len(cells) > 4 and cells[1].upper() == b"Q0":
        return Kind(RUN, "six columns")
    if len(cells) == 6 and (cells[1] == b"0" or (_is_number(cells[3]) and _is_number(cells[4]))):
        return Kind(RUN, "six columns")
    # A single tab separates a topic's id from its words.
    if line.count(b"\t") != 1 and len(cells) in (3, 4) and _is_number(cells[-1]) and b":" not in cells[0]:
        return Kind(QRELS, "trec" if len(cells) == 4 else "beir without a header")
    return Kind("")


def _is_number(cell: bytes) -> bool:
    return bool(NUMBER.fullmatch(cell) or _NOT_A_NUMBER.fullmatch(cell))


def _json(path: str, head: bytes, lines: Sequence[bytes]) -> Kind:
    if _JSON_QRELS.match(head):
        return Kind(QRELS, "json")
    records = [record for line in lines if (record := _record(line))]
    names = set().union(*records) if records else set()
    texts = [value for record in records for value in record.values() if isinstance(value, str)]
    documents = not names.isdisjoint(TEXT_ALIASES) and TITLE in names
    return _either(path, "jsonl", names, texts, documents, max(1, len(records)))


def _record(line: bytes) -> dict[str, Any] | None:
    try:
        record = json.loads(line.removeprefix(BOM))
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def _table(path: str, form: str, head: bytes) -> Kind:
    if form == "colon":
        return Kind(TOPICS, form)
    lines = head.decode("latin-1").split("\n")[:LOOKED_AT]
    names = {cell.strip().strip('"').lower() for cell in lines[0].split("\t" if form == "tsv" else ",")}
    if not form:
        return Kind(COLLECTION if names & {*ID_ALIASES} and names & {*TEXT_ALIASES, TITLE} else "")
    return _either(path, form, names, lines, False, len(lines))


def _either(path: str, form: str, names: set[str], texts: Sequence[str], documents: bool, count: int) -> Kind:
    """Topics or a collection, by the names of the fields, the name of the file or the length of the texts."""
    if documents or names & _OF_DOCUMENTS:
        return Kind(COLLECTION)
    if names & _OF_TOPICS:
        return Kind(TOPICS, form)
    for kind, pattern in _NAMES.items():
        if pattern.search(os.path.basename(path).lower()):
            return Kind(kind, form if kind == TOPICS else "")
    return Kind(COLLECTION) if sum(map(len, texts)) > LONG * count else Kind(TOPICS, form)
