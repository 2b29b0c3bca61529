"""Read JSON lines: one object per line, with an id, a text, an optional title, and other fields to store.

A kernel reads plain well-formed lines into arrays, without a Python object for each line. It marks all other lines as
odd. Python's own `json` then reads the odd lines and decides whether they are malformed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from sublex.contracts.base import Document, Report, Source
from sublex.readers import batch
from sublex.readers.batch import SPARE, Batch, MakeBatch, arena, encode, pack
from sublex.readers.fields import TITLE, FieldNames, to_document
from sublex.readers.lines import count_lines, numbered_lines, utf8_lines, whole_lines
from sublex.readers.signatures import BOM
from sublex.readers.source import decode

# The most fields of a record that the kernel reads. A line with more fields is odd.
FIELDS = 64
# Three rows with a value for each byte. Row 0: whether the byte ends or interrupts a JSON string. Row 1: the character
# that it means after a backslash, or 0. Row 2: its value as a hexadecimal digit, or 255.
_TABLES = np.array(
    [
        [byte < 32 or byte in b'"\\' for byte in range(256)],
        [dict(zip(b'"\\/bfnrtu', b'"\\/\b\f\n\r\tu', strict=True)).get(byte, 0) for byte in range(256)],
        [int(chr(byte), 16) if byte in b"0123456789abcdefABCDEF" else 255 for byte in range(256)],
    ],
    np.uint8,
)


class JsonLines:
    """The reader `jsonl`.

    `id` and `text` are the names of the fields with the id and the text. If one of them is None, the usual names for
    this field are tried. `rename` has new names of fields, as in "year=Publication Year, doi=DOI".
    """

    def __init__(self, id: str | None = None, text: str | None = None, rename: str | None = None):
        self.names = FieldNames.of(id, text, rename)

    def detect(self, path: str, head: bytes) -> bool:
        """Return whether the first character is an opening brace."""
        return head.removeprefix(BOM).lstrip()[:1] == b"{"

    def read(self, source: Source, report: Report) -> Iterator[Document]:
        """Yield the documents one by one, as Python's `json` reads them."""
        with source.open() as stream:
            for number, line in numbered_lines(stream, partial(report.malformed, source.path)):
                report.line = number
                if line.strip():
                    document = document_of(line.removesuffix(b"\n"), source.path, number, report, self.names)
                    if document:
                        yield document

    def batches(self, source: Source, report: Report) -> Iterator[MakeBatch]:
        """Yield a function for each batch, in the order of the documents. Any thread may call these functions."""
        long = Report(report.strict)
        with source.open() as stream:
            for line, data in whole_lines(stream, batch.BATCH_BYTES, partial(long.malformed, source.path)):
                yield partial(make_batch, data, source.path, line, report.strict, self.names)
        if long.problems:
            yield partial(pack, [], long)


def make_batch(data: bytes, path: str, line: int, strict: bool, names: FieldNames) -> Batch:
    """Return the batch of the documents in `data`, which holds whole lines of a file.

    The first has the line number `line`. With `strict`, a malformed line is an error. `names` are the names of the
    fields with a role.

    The kernel reads all lines. If some lines are odd, Python code rewrites them in a form that the kernel reads, and
    leaves out malformed lines. Then the kernel reads all lines again.
    """
    report, counts = Report(strict), Report()
    data = utf8_lines(data, path, report)
    batch, odd = _scan(data, FIELDS, False, counts, names)
    to_rewrite = odd[:, 0]
    if batch.docnos.all() and not names.renamed:
        report.merge(counts)
    else:
        # Python reads all lines if fields have new names, or if a docno has a NUL character, which is malformed.
        to_rewrite = np.arange(count_lines(data) + 1)
    if not len(to_rewrite):
        return replace(batch, report=report)
    lines = data.split(b"\n")
    widest = FIELDS
    for number in to_rewrite:
        if not lines[number].strip():
            lines[number] = b""
            continue
        document = document_of(lines[number], path, line + int(number), report, names)
        lines[number] = _canonical(document, names) if document else b""
        widest = max(widest, len(document.fields) + 3 if document else 0)
    batch, odd = _scan(b"\n".join(lines), widest, True, Report(), names)
    if len(odd):
        raise RuntimeError(f"{path}: a record in canonical form was not understood")
    return replace(batch, report=report)


def _scan(data: bytes, capacity: int, trusted: bool, report: Report, names: FieldNames) -> tuple[Batch, np.ndarray]:
    """Return a batch of the lines that the kernel can read, and the odd lines as rows of (number, start, end).

    `capacity` is the largest number of fields in a record. `trusted` says that the lines need no checks: a first pass
    has checked them, or `_canonical` has written them.
    """
    from sublex.readers import jsonl_kernels

    encoded, name_ends = arena([encode(name) for name in names.all])
    roles = np.array([0] * len(names.ids) + [2] * len(names.texts) + [1])
    buf, lines = np.frombuffer(data, np.uint8), count_lines(data) + 1
    docnos, text, extra = (np.empty(len(buf) + more, np.uint8) for more in (0, lines + SPARE, 2 * lines))
    ends, odd, used = np.empty((lines, 4), np.int64), np.empty((lines, 3), np.int64), np.zeros(len(roles), np.int64)
    scratch = np.empty(len(buf) + 1, np.int64), np.empty((capacity, 5), np.int64), np.empty(6, np.int64)
    written = docnos, text, extra, ends, odd, used
    n, left = jsonl_kernels.scan(buf, _TABLES, encoded, name_ends, roles, trusted, *scratch, *written)
    for k in np.flatnonzero(used):
        report.count_field(("docno", "title", "text")[roles[k]], names.all[k], int(used[k]))
    d, t, e, _ = ends[n - 1].tolist() if n else [0] * 4
    docno_ends, text_ends, extra_ends, titles = np.ascontiguousarray(ends[:n].T)
    parts = docnos[:d].copy(), docno_ends, text[: t + SPARE], text_ends, titles.astype(np.int32)
    return Batch(*parts, extra[:e].copy(), extra_ends, report), odd[:left].copy()


def document_of(line: bytes, path: str, number: int, report: Report, names: FieldNames) -> Document | None:
    """Return the document of one line, with this number in the file.

    If the line is malformed, report it and return None.
    """
    try:
        record = json.loads(decode(line, path, report))
        if not isinstance(record, dict):
            raise ValueError("not a JSON object")
        document = to_document(record, report, names)
        text = document.docno + document.contents
        if not text.isascii() and encode(text).decode() != text:
            report.note(f"{path}: halves of surrogate pairs, which are no characters, were read as U+FFFD")
        return document
    except (ValueError, RecursionError) as error:
        reason = f"not JSON: {error.msg}" if isinstance(error, json.JSONDecodeError) else str(error)
        reason = "nested too deeply" if isinstance(error, RecursionError) else reason
        report.malformed(path, number, reason)
        return None


def _canonical(document: Document, names: FieldNames) -> bytes:
    """Return the document as a JSON object that the kernel can read.

    Docno, title and text come first, and no escape is odd.
    """
    record = {names.ids[0]: document.docno, TITLE: document.title, names.texts[0]: document.text}
    return encode(json.dumps(record | dict(document.fields), ensure_ascii=False))
