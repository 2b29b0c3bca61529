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
from sublex.readers.fields import ID_ALIASES, TEXT_ALIASES, TITLE, document
from sublex.readers.signatures import BOM
from sublex.readers.source import decode, utf8_lines, whole_lines

NAMES = (*ID_ALIASES, *TEXT_ALIASES, TITLE)
FIELDS = 64
_SPECIAL = np.array([byte < 32 or byte in b'"\\' for byte in range(256)], np.uint8)


class JsonLines:
    """Reads `.jsonl`; field names are taken by alias."""

    def detect(self, path: str, head: bytes) -> bool:
        return head.removeprefix(BOM).lstrip()[:1] == b"{"

    def read(self, source: Source, report: Report) -> Iterator[Document]:
        """The documents one by one, by the standard library's parser."""
        with source.open() as stream:
            for number, line in enumerate(stream, 1):
                line = line.removeprefix(BOM) if number == 1 else line
                if line.strip() and (found := _document(line.removesuffix(b"\n"), source.path, number, report)):
                    yield found

    def batches(self, source: Source, report: Report) -> Iterator[Make]:
        """The same documents as batches to be made by any thread, in this order."""
        with source.open() as stream:
            for line, data in whole_lines(stream, source.path, BATCH_BYTES):
                yield partial(make_batch, data, source.path, line, report.strict)


def make_batch(data: bytes, path: str, line: int, strict: bool) -> Batch:
    """Cut whole lines into a batch; `line` is the number of the first."""
    report = Report(strict)
    data = utf8_lines(data, path, report)
    batch, odd = _scan(data, FIELDS, False, report)
    if not len(odd):
        return batch
    lines = data.split(b"\n")
    widest = FIELDS
    for number in odd[:, 0]:
        if not lines[number].strip():
            lines[number] = b""
            continue
        found = _document(lines[number], path, line + int(number), report)
        lines[number] = _canonical(found) if found else b""
        widest = max(widest, len(found.fields) + 3 if found else 0)
    batch, odd = _scan(b"\n".join(lines), widest, True, Report())
    if len(odd):
        raise RuntimeError(f"{path}: a record in canonical form was not understood")
    return replace(batch, report=report)


def _scan(data: bytes, capacity: int, trusted: bool, report: Report) -> tuple[Batch, np.ndarray]:
    from sublex.readers import kernels

    names, ends = arena([name.encode() for name in NAMES])
    buf = np.frombuffer(data, np.uint8)
    arrays = kernels.scan(buf, _SPECIAL, names, ends, len(ID_ALIASES), len(TEXT_ALIASES), capacity, trusted)
    used, odd = arrays[-2:]
    for k in np.flatnonzero(used):
        role = "docno" if k < len(ID_ALIASES) else "title" if NAMES[k] == TITLE else "text"
        report.used(role, NAMES[k], int(used[k]))
    docnos, docno_ends, text, text_ends, titles, extra, extra_ends = arrays[:-2]
    return Batch(docnos, docno_ends, text, text_ends, titles, extra, extra_ends, report), odd


def _document(line: bytes, path: str, number: int, report: Report) -> Document | None:
    """The document of one line, or None when it is malformed."""
    try:
        record = json.loads(decode(line, path, report))
        if not isinstance(record, dict):
            raise ValueError("not a JSON object")
        return document(record, report)
    except (ValueError, RecursionError) as error:
        reason = f"not JSON: {error.msg}" if isinstance(error, json.JSONDecodeError) else str(error)
        report.malformed(path, number, reason)
        return None


def _canonical(found: Document) -> bytes:
    """The record in the form the kernel takes: known names first, nothing odd."""
    record = {ID_ALIASES[0]: found.docno, TITLE: found.title, TEXT_ALIASES[0]: found.text}
    return encode(json.dumps(record | dict(found.fields), ensure_ascii=False))
