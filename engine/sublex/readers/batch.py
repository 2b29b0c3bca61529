"""`Batch`: documents laid end to end in arrays, the form in which readers pass documents to the index builder.

Only the size of the input decides where a batch ends. So the same input gives the same batches for any number of
workers.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from sublex.contracts.base import Document, Report
from sublex.errors import InputError
from sublex.tools.strings import NUL_FAULT

# Bytes of input per batch.
BATCH_BYTES = 4 << 20
# Bytes that follow the contents of a batch, because the tokenizer reads ahead.
SPARE = 16


@dataclass(frozen=True, slots=True)
class Batch:
    """Documents as UTF-8 bytes: docno k is `docnos[docno_ends[k - 1] : docno_ends[k]]`.

    In the same way, `text` holds the contents of documents (title, newline, text), and `extra` the other fields of a
    document as a JSON object, or nothing. `titles` has the number of bytes of each title in the contents. `report` has
    the problems and notes of the reader about these documents.
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


# A function that parses and packs one batch. Readers make these functions in the order of the documents. Any thread may
# call them.
MakeBatch = Callable[[], Batch]


def encode(text: str) -> bytes:
    """Return the text in UTF-8; halves of surrogate pairs, which UTF-8 cannot hold, become U+FFFD."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


def arena(parts: list[bytes]) -> tuple[np.ndarray, np.ndarray]:
    """Return the parts end to end as one array, and where each part ends."""
    ends = np.cumsum(np.fromiter(map(len, parts), np.int64, len(parts)), dtype=np.int64)
    return np.frombuffer(b"".join(parts), np.uint8), ends


def pack(documents: list[Document], report: Report) -> Batch:
    """Return the documents as a batch."""
    docnos = arena([encode(d.docno) for d in documents])
    text = arena([*(encode(d.contents) for d in documents), bytes(SPARE)])
    titles = np.fromiter((len(encode(d.title)) for d in documents), np.int32, len(documents))
    extra = arena([encode(_fields(d)) for d in documents])
    return Batch(*docnos, text[0], text[1][:-1], titles, *extra, report)


def _fields(document: Document) -> str:
    """Return the `fields` of a document as a JSON object, or an empty string if there are none."""
    try:
        return json.dumps(dict(document.fields), ensure_ascii=False, default=_of_numpy) if document.fields else ""
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(
            f"Document {document.docno} has a field that JSON cannot hold ({error}); make it text."
        ) from None


def _of_numpy(value: Any) -> Any:
    """Return a number or an array of NumPy within a field as Python has it; raise TypeError for any other value."""
    if isinstance(value, (np.generic, np.ndarray)) and value.dtype.kind in "biufOU":
        return value.tolist()
    raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")


def with_sound_ids(documents: Iterable[Document], path: str, report: Report) -> Iterator[Document]:
    """Yield the documents of a source, and report those with a NUL character in their docno as malformed."""
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
