"""Read the formats of topic files: from a file to records with an id and named fields.

The content shows the format. `topics` chooses the fields that make a query; this module does not.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import closing
from typing import Any, NamedTuple

from sublex.contracts.base import Report
from sublex.errors import InputError
from sublex.readers.json_array import elements
from sublex.readers.lines import numbered_lines, refuse
from sublex.readers.sgml import Records, without_markup
from sublex.readers.signatures import BOM, signature
from sublex.readers.source import FileSource, decode
from sublex.readers.tsv import csv_rows
from sublex.tools.strings import id_fault
from sublex.trec.rows import Fault, Listener

# The possible names of the field with a topic's id. If a record has several of them, the first counts.
QID_ALIASES = (
    "qid", "query_id", "query-id", "topic_id", "topic-id", "id", "_id", "number", "num", "identifier", "topic",
)  # fmt: skip
# Each group has several names of the same field. A user may name a field by any name in its group.
ALIASES = (
    ("title", "query", "text", "question", "query_text", "contents"),
    ("desc", "description"),
    ("narr", "narrative"),
)
EXPECTED = "<top> or <topic> elements, JSON lines, qid<TAB>query, qid:query, or CSV whose header names qid and query"
# Labels that follow a tag in TREC's files, such as `Number:`. They do not belong to the topic.
LABELS = {
    name: re.compile(rf"\s*(?:{label})\s*:", re.IGNORECASE)
    for name, label in {
        "num": "Number", "title": "Topic|Title", "desc": "Description", "narr": "Narrative", "dom": "Domain",
        "smry": "Summary", "con": r"Concept\(s\)", "fac": r"Factor\(s\)", "def": r"Definition\(s\)",
        "nat": "Nationality", "time": "Time",
    }.items()
}  # fmt: skip

_TAG = re.compile(r"<(/?)([A-Za-z][\w.-]*)(?:[\s/][^<>]*)?>")
_ATTRIBUTE = re.compile(r"""(?<![\w.:-])([\w.:-]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""")
_COLON = re.compile(r"[^\s:]+\s*:")


class TopicRecord(NamedTuple):
    """A topic as it is in the file: id, fields by name, and the number of its first line."""

    qid: str
    fields: Mapping[str, str]
    line: int


# A generator that yields the records of a file, and the faults of bad records. Closing the generator closes the file.
RecordStream = Generator[TopicRecord | Fault, None, None]


def read_records(source: FileSource, listen: Listener, report: Report) -> tuple[str, list[TopicRecord]]:
    """Return the format of a topic file and its records.

    Report malformed records and repeated ids.

    Malformed records and records with a repeated id are left out. Raise InputError for an empty file, and for an
    unknown format.
    """
    head = source.head().removeprefix(BOM).lstrip()
    if not head and source.path != "-":
        source.open().close()
    form = format_of(head)
    if not form:
        problem = "is empty" if not head else "is no topic file that Sublex knows"
        raise InputError(f"{source.path} {problem}; expected are {EXPECTED}.")
    with closing(FORMATS[form](source, report)) as stream:
        return form, distinct_records(stream, source.path, listen)


def distinct_records(stream: Iterable[TopicRecord | Fault], path: str, listen: Listener) -> list[TopicRecord]:
    """Return the first record of each id. Report the other records, and a file without records."""
    records: dict[str, TopicRecord] = {}
    for record in stream:
        if isinstance(record, Fault):
            listen([record])
        elif fault := id_fault(record.qid):
            listen([_malformed(path, record.line, f"the id {record.qid!r} {fault}; give it another id.")])
        elif record.qid in records:
            before = records[record.qid].line
            refusal = f"{path}:{record.line}: topic {record.qid} is on line {before} already; keep one of the two."
            listen([Fault("topic again", [record.line], refusal, {"qid": record.qid, "line_before": before})])
        else:
            records[record.qid] = record
    if not records:
        listen([Fault("empty", [0], f"{path} holds no topics.")])
    return list(records.values())


def _malformed(path: str, line: int, reason: str, column: int = 0) -> Fault:
    """Return the fault of a record that is not a topic. `line` is the first line of the record."""
    place = f"{path}:{line}:{column}" if column else f"{path}:{line}"
    return Fault("record", [line], f"{place}: {reason}", {"reason": reason})


def format_of(head: bytes) -> str:
    """Return the name of the format that the first bytes show, a key of FORMATS, or an empty string."""
    if head.startswith(b"{"):
        return "jsonl"
    if signature(head) == "json":
        return "json"
    if head.startswith(b"<"):
        tag = re.search(rb"<(top|topic)[\s>]", head, re.IGNORECASE)
        return "" if not tag else "trec" if tag[1].lower() == b"top" else "trecxml"
    first = head.split(b"\n", 1)[0].decode("latin-1")
    if "\t" in first:
        return "tsv"
    if _is_header(first.strip().split(",")):
        return "csv"
    return "colon" if _COLON.match(first) else ""


def _is_header(cells: list[str]) -> bool:
    """Return whether the cells name an id and a field of a topic."""
    names = set(_names(cells))
    return not names.isdisjoint(QID_ALIASES) and any(not names.isdisjoint(group) for group in ALIASES)


def _lines(source: FileSource, report: Report) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not blank, with their numbers."""
    with source.open() as stream:
        for number, line in numbered_lines(stream, refuse(source.path)):
            text = decode(line, source.path, report)
            if text.strip():
                yield number, text.rstrip("\r\n")


def _marked_up(source: FileSource, report: Report, element: str) -> RecordStream:
    """Yield the records of a file in SGML or XML, which need not be well-formed.

    An opening tag begins a field; its closing tag or the next opening tag ends the field.
    """
    with source.open() as stream:
        elements = Records(stream, element, refuse(source.path))
        for tag, body, _ in elements:
            fields = _fields(decode(body, source.path, report))
            attributes = {name.lower(): a or b or c for name, a, b, c in _ATTRIBUTE.findall(decode(tag, "", report))}
            names = attributes if not attributes.keys().isdisjoint(QID_ALIASES) else fields
            name = next((name for name in QID_ALIASES if names.get(name)), "")
            if not name:
                yield _malformed(source.path, elements.line, f'<{element}> has no id; give it <num> or number="…".')
                continue
            qid = without_markup(attributes[name]) if names is attributes else fields[name]
            yield TopicRecord(
                qid, {key: text for key, text in fields.items() if names is attributes or key != name}, elements.line
            )


def _fields(body: str) -> dict[str, str]:
    """Return the elements of a topic by their names in lower case; text outside of elements is under `text`."""
    closed = {tag[2].lower(): tag.start() for tag in _TAG.finditer(body) if tag[1]}
    fields: dict[str, list[str]] = {}
    name, at = "text", 0
    for tag in _TAG.finditer(body):
        if tag[2].lower() != name and closed.get(name, -1) > tag.start():
            continue  # Markup in an element that is closed later.
        fields.setdefault(name, []).append(body[at : tag.start()])
        at = tag.end()
        if not tag[1]:
            fields.setdefault(tag[2].lower(), [])
        name = "text" if tag[1] or tag[0].endswith("/>") else tag[2].lower()
    fields.setdefault(name, []).append(body[at:])
    texts = {name: _one_line(name, "\n".join(parts)) for name, parts in fields.items()}
    return {name: text for name, text in texts.items() if text or name != "text"}


def _one_line(name: str, text: str) -> str:
    """Return a field without label and markup, on one line."""
    if name in LABELS:
        text = LABELS[name].sub("", text, count=1) if LABELS[name].match(text) else text
    return " ".join(without_markup(text).split())


def _jsonl(source: FileSource, report: Report) -> RecordStream:
    return _objects(_lines(source, report), source)


def _json(source: FileSource, report: Report) -> RecordStream:
    with source.open() as stream:
        texts = ((line, decode(element, source.path, report)) for line, element in elements(stream, source.path))
        yield from _objects(texts, source)


def _objects(texts: Iterator[tuple[int, str]], source: FileSource) -> RecordStream:
    """Yield the records of JSON objects. `texts` has the line number and the text of each object."""
    for line, text in texts:
        try:
            record = json.loads(text)
        except json.JSONDecodeError as error:
            yield _malformed(source.path, line, f"not JSON ({error.msg}); write one object per line.", error.colno)
            continue
        except (ValueError, RecursionError):
            yield _malformed(source.path, line, "not JSON that Sublex can read; write one object per line.")
            continue
        if isinstance(record, dict):
            yield _named(record, source.path, line)
        else:
            yield _malformed(source.path, line, "not a JSON object; write one object per line.")


def _named(record: Mapping[str, Any], path: str, line: int) -> TopicRecord | Fault:
    """Return a JSON object as a record with its id and its string fields, or a fault if the object has no usable id."""
    name = next((name for name in QID_ALIASES if name in record), "")
    if not name:
        return _malformed(path, line, f"no id; name it {', '.join(QID_ALIASES[:-1])} or {QID_ALIASES[-1]}.")
    value = record[name]
    qid = str(value) if type(value) is int else value.strip() if isinstance(value, str) else ""
    if not qid:
        return _malformed(path, line, f"the id {name} is not a string or a whole number, or is empty.")
    fields = {key: text.strip() for key, text in record.items() if key != name and isinstance(text, str)}
    return TopicRecord(qid, fields, line)


def _tsv(source: FileSource, report: Report) -> RecordStream:
    names: list[str] = []
    for line, text in _lines(source, report):
        cells = text.split("\t")
        if not names:
            if _is_header(cells):
                names = _names(cells)
                continue
            names = ["qid", "query"]
        yield _row(cells, names, source.path, line)


def _csv(source: FileSource, report: Report) -> RecordStream:
    with source.open() as stream:
        names: list[str] = []
        for line, cells, fault in csv_rows(stream, source.path, report):
            if fault:
                yield _malformed(source.path, line, f"not CSV ({fault}).")
            elif names:
                yield _row(cells, names, source.path, line)
            else:
                names = _names(cells)


def _names(cells: list[str]) -> list[str]:
    return [cell.strip().strip('"').lower() for cell in cells]


def _row(cells: list[str], names: list[str], path: str, line: int) -> TopicRecord | Fault:
    """Return the record of a row of a table, or a fault if the row has another number of cells than there are names."""
    if len(cells) != len(names):
        expected = f"{len(names)} ({', '.join(names)})"
        columns = f"{len(cells)} column{'s' * (len(cells) != 1)}"
        return _malformed(path, line, f"{columns} where {expected} should be.")
    return _named(dict(zip(names, cells, strict=True)), path, line)


def _colon(source: FileSource, report: Report) -> RecordStream:
    for line, text in _lines(source, report):
        if not _COLON.match(text.lstrip()):
            yield _malformed(source.path, line, "no colon after the topic's id; write qid:query.")
            continue
        qid, _, query = text.partition(":")
        yield TopicRecord(qid.strip(), {"query": query.strip()}, line)


FORMATS: dict[str, Callable[[FileSource, Report], RecordStream]] = {
    "trec": lambda source, report: _marked_up(source, report, "top"),
    "trecxml": lambda source, report: _marked_up(source, report, "topic"),
    "json": _json,
    "jsonl": _jsonl,
    "tsv": _tsv,
    "csv": _csv,
    "colon": _colon,
}
