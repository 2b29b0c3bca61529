"""JSON lines: one object a line, with an id, a text, perhaps a title, and fields to keep.

A kernel cuts the well-formed lines; a line it finds odd is read by the standard library, whose word is final.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from sublex.base import Document, Report, Source
from sublex.readers.batch import BATCH_BYTES, Batch, Make, arena, encode
from sublex.readers.fields import TITLE, Names, document
from sublex.readers.signatures import BOM
from sublex.readers.source import decode, utf8_lines, whole_lines

FIELDS = 64
_SPECIAL = np.array([byte < 32 or byte in b'"\\' for byte in range(256)], np.uint8)


class JsonLines:
    """Reads `.jsonl`; field names are taken by alias, or those that are given."""

    def __init__(self, id: str | None = None, text: str | None = None):
        self.names = Names.of(id, text)

    def detect(self, path: str, head: bytes) -> bool:
        return head.removeprefix(BOM).lstrip()[:1] == b"{"

    def read(self, source: Source, report: Report) -> Iterator[Document]:
        """The documents one by one, by the standard library's parser."""
        with source.open() as stream:
            for number, line in enumerate(stream, 1):
                line = line.removeprefix(BOM) if number == 1 else line
                report.line = number
                if line.strip() and (
                    found := _document(line.removesuffix(b"\n"), source.path, number, report, self.names)
                ):
                    yield found

    def batches(self, source: Source, report: Report) -> Iterator[Make]:
        """The same documents as batches to be made by any thread, in this order."""
        with source.open() as stream:
            for line, data in whole_lines(stream, source.path, BATCH_BYTES):
                yield partial(make_batch, data, source.path, line, report.strict, self.names)


def make_batch(data: bytes, path: str, line: int, strict: bool, names: Names) -> Batch:
    """Cut whole lines into a batch; `line` is the number of the first."""
    report = Report(strict)
    data = utf8_lines(data, path, report)
    batch, odd = _scan(data, FIELDS, False, report, names)
    if not len(odd):
        return batch
    lines = data.split(b"\n")
    widest = FIELDS
    for number in odd[:, 0]:
        if not lines[number].strip():
            lines[number] = b""
            continue
        found = _document(lines[number], path, line + int(number), report, names)
        lines[number] = _canonical(found, names) if found else b""
        widest = max(widest, len(found.fields) + 3 if found else 0)
    batch, odd = _scan(b"\n".join(lines), widest, True, Report(), names)
    if len(odd):
        raise RuntimeError(f"{path}: a record in canonical form was not understood")
    return replace(batch, report=report)


def _scan(data: bytes, capacity: int, trusted: bool, report: Report, names: Names) -> tuple[Batch, np.ndarray]:
    from sublex.readers import kernels

    bytes_of, ends = arena([encode(name) for name in names.all])
    buf = np.frombuffer(data, np.uint8)
    arrays = kernels.scan(buf, _SPECIAL, bytes_of, ends, len(names.ids), len(names.texts), capacity, trusted)
    used, odd = arrays[-2:]
    for k in np.flatnonzero(used):
        role = "docno" if k < len(names.ids) else "title" if k == len(used) - 1 else "text"
        report.count_field(role, names.all[k], int(used[k]))
    docnos, docno_ends, text, text_ends, titles, extra, extra_ends = arrays[:-2]
    return Batch(docnos, docno_ends, text, text_ends, titles, extra, extra_ends, report), odd


def _document(line: bytes, path: str, number: int, report: Report, names: Names) -> Document | None:
    """The document of one line, or None when it is malformed."""
    try:
        record = json.loads(decode(line, path, report))
        if not isinstance(record, dict):
            raise ValueError("not a JSON object")
        found = document(record, report, names)
        if not _encodable(found.docno + found.contents):
            report.note(f"{path}: halves of surrogate pairs, which are no characters, were read as U+FFFD")
        return found
    except (ValueError, RecursionError) as error:
        reason = f"not JSON: {error.msg}" if isinstance(error, json.JSONDecodeError) else str(error)
        reason = "nested too deeply" if isinstance(error, RecursionError) else reason
        report.malformed(path, number, reason)
        return None


def _encodable(text: str) -> bool:
    try:
        text.encode()
        return True
    except UnicodeEncodeError:
        return False


def _canonical(found: Document, names: Names) -> bytes:
    """The record in the form the kernel takes: known names first, nothing odd."""
    record = {names.ids[0]: found.docno, TITLE: found.title, names.texts[0]: found.text}
    return encode(json.dumps(record | dict(found.fields), ensure_ascii=False))
