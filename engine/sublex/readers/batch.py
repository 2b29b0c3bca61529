"""`Batch`: documents end to end in arrays.

Readers pass documents to the index builder in this form.

The end of a batch depends only on the size of the input. So any number of workers makes the same batches.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

import numpy as np

from sublex.contracts.base import Document, Report
from sublex.contracts.fields import contents_of, other_texts
from sublex.errors import InputError
from sublex.tools.arguments import shown
from sublex.tools.strings import NUL_FAULT

# Bytes of input per batch.
BATCH_BYTES = 4 << 20
# Bytes that follow the contents of a batch, because the tokenizer reads ahead.
SPARE = 16


@dataclass(frozen=True, slots=True)
class Batch:
    """Documents as UTF-8 bytes: docno k is `docnos[docno_ends[k - 1] : docno_ends[k]]`.

    In the same way, `text` holds the contents of documents (title, newline, text). `extra` holds the other fields of
    each document as a JSON object, or nothing. `titles` has the number of bytes of each title in the contents. `report`
    has the problems and notes of the reader about these documents.
    """

    docnos: np.ndarray
    docno_ends: np.ndarray
    text: np.ndarray
    text_ends: np.ndarray
    titles: np.ndarray
    extra: np.ndarray
    extra_ends: np.ndarray
    report: Report

    def __len__(self) -> int:
        return len(self.docno_ends)

    def docno(self, k: int) -> str:
        """Return the docno of document k of the batch."""
        return self.docnos[self.docno_ends[k - 1] if k else 0 : self.docno_ends[k]].tobytes().decode()


# A function that parses and packs one batch. Readers make these functions in the order of the documents; any thread may
# call them.
MakeBatch = Callable[[], Batch]


def encode(text: str) -> bytes:
    """Return the text in UTF-8; halves of surrogate pairs, which UTF-8 cannot hold, become U+FFFD."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


def arena(parts: list[bytes]) -> tuple[np.ndarray, np.ndarray]:
    """Return the parts end to end in one array, and the end of each part."""
    ends = np.cumsum(np.fromiter(map(len, parts), np.int64, len(parts)), dtype=np.int64)
    return np.frombuffer(b"".join(parts), np.uint8), ends


def pack(documents: list[Document], report: Report) -> Batch:
    """Return the documents as a batch."""
    docnos = arena([encode(d.docno) for d in documents])
    text = arena([*(encode(contents_of(d.title, d.text)) for d in documents), bytes(SPARE)])
    titles = np.fromiter((len(encode(d.title)) for d in documents), np.int32, len(documents))
    extra = arena([encode(_fields(d)) for d in documents])
    return Batch(*docnos, text[0], text[1][:-1], titles, *extra, report)


def content_parts(batch: Batch, others: Sequence[str]) -> tuple[Batch, np.ndarray]:
    """Return a batch whose contents include the fields `others`, and a matrix with the ends of each document's parts.

    The matrix has a row for each document, and columns for its title, its text and each of `others`. Ends are counted
    in bytes from the beginning of `text`. A newline or an empty line separates two parts.
    """
    sizes = np.zeros((len(batch), 2 + len(others)), np.int64)
    sizes[:, 0] = batch.titles
    sizes[:, 1] = np.diff(batch.text_ends, prepend=0) - batch.titles
    if others:
        texts: list[bytes] = []
        begin = first = 0
        for k, (end, last) in enumerate(zip(batch.text_ends.tolist(), batch.extra_ends.tolist(), strict=True)):
            fields = json.loads(batch.extra[first:last].tobytes()) if first < last else {}
            added = [encode(text) for text in other_texts(fields, others)]
            texts += [batch.text[begin:end].tobytes(), *added]
            sizes[k, 2:] = list(map(len, added))
            begin, first = end, last
        data = np.frombuffer(b"".join([*texts, bytes(SPARE)]), np.uint8)
        batch = replace(batch, text=data, text_ends=np.cumsum(sizes.sum(axis=1)))
    return batch, np.cumsum(sizes.ravel()).reshape(sizes.shape)


def _fields(document: Document) -> str:
    """Return the `fields` of a document as a JSON object, or an empty string if there are none."""
    try:
        return _json(dict(document.fields)) if document.fields else ""
    except (TypeError, ValueError, RecursionError):
        name, value = next((name, value) for name, value in document.fields.items() if not _is_json({name: value}))
        raise InputError(
            f"Document {document.docno} has a field that JSON cannot hold: {name} is {shown(value)}; make it text."
        ) from None


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=_for_json)


def _is_json(value: Any) -> bool:
    try:
        _json(value)
    except (TypeError, ValueError, RecursionError):
        return False
    return True


def _for_json(value: Any) -> Any:
    """Convert a value within a field to a type that JSON has.

    Raise TypeError for a value without such a type.

    Numbers and arrays of NumPy become Python's. Dates and times of Python, NumPy and pandas become texts in ISO 8601, and
    NaT becomes None.
    """
    if isinstance(value, (np.generic, np.ndarray)) and value.dtype.kind in "biufOU":
        return value.tolist()
    if isinstance(value, np.ndarray) and value.dtype.kind == "M":
        return list(value)
    if isinstance(value, (date, np.datetime64)):
        if value != value:
            return None
        text = value.isoformat() if isinstance(value, date) else str(value)
        # NumPy may write superfluous digits, as in 1851-10-18T00:00:00.000000000.
        return text.rstrip("0").rstrip(".") if "." in text and isinstance(value, np.datetime64) else text
    raise TypeError(f"JSON cannot hold a value of type {type(value).__name__}.")


def with_sound_ids(documents: Iterable[Document], path: str, report: Report) -> Iterator[Document]:
    """Yield the documents of a source. Report documents with a NUL character in their docno as malformed."""
    for document in documents:
        if "\0" in document.docno:
            report.malformed(path, report.line, f"the docno {document.docno!r} {NUL_FAULT}")
        else:
            yield document


def batches(documents: Iterable[Document], report: Report) -> Iterator[MakeBatch]:
    """Cut a stream of documents into batches, and yield for each batch a function that packs it.

    Each batch takes the contents of `report` and empties it. So a batch carries the problems and notes about its own
    documents.
    """
    collected: list[Document] = []
    size = 0
    for document in documents:
        collected.append(document)
        size += len(document.text) + len(document.title) + 64
        if size >= BATCH_BYTES:
            yield _packer(collected, report)
            collected, size = [], 0
    yield _packer(collected, report)


def _packer(documents: list[Document], report: Report) -> MakeBatch:
    """Return a function that packs the documents. Move the contents of the report to their batch."""
    batch_report = Report(report.strict)
    batch_report.merge(report)
    report.problems, report.notes, report.fields = [], {}, {}
    return lambda: pack(documents, batch_report)
