"""Batches: documents laid end to end in arrays, which is how they travel from a reader to the index.

A batch is cut by the bytes of its input alone, so that the same input makes the same batches for any number of workers.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from sublex.base import Document, Report
from sublex.errors import InputError

BATCH_BYTES = 4 << 20
# The tokenizer reads ahead, so contents carry so many bytes more.
SPARE = 16


@dataclass(frozen=True, slots=True)
class Batch:
    """Documents as arenas: docno i is docnos[docno_ends[i-1]:docno_ends[i]], and so for the contents and the other fields."""

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
        """A document's docno."""
        return self.docnos[self.docno_ends[k - 1] if k else 0 : self.docno_ends[k]].tobytes().decode()


Make = Callable[[], Batch]


def encode(text: str) -> bytes:
    """UTF-8; halves of surrogate pairs, which no file can hold, become the replacement character."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


def arena(parts: list[bytes]) -> tuple[np.ndarray, np.ndarray]:
    """The parts end to end, and where each ends."""
    ends = np.cumsum(np.fromiter(map(len, parts), np.int64, len(parts)), dtype=np.int64)
    return np.frombuffer(b"".join(parts), np.uint8), ends


def pack(documents: list[Document], report: Report) -> Batch:
    """Lay documents end to end."""
    docnos = arena([encode(d.docno) for d in documents])
    text = arena([*(encode(d.contents) for d in documents), bytes(SPARE)])
    titles = np.fromiter((len(encode(d.title)) for d in documents), np.int32, len(documents))
    extra = arena([encode(_fields(d)) for d in documents])
    return Batch(*docnos, text[0], text[1][:-1], titles, *extra, report)


def _fields(document: Document) -> str:
    """The other fields as they are stored."""
    try:
        return json.dumps(dict(document.fields), ensure_ascii=False) if document.fields else ""
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(
            f"Document {document.docno} has a field that JSON cannot hold ({error}); make it text."
        ) from None


def batches(documents: Iterable[Document], report: Report) -> Iterator[Make]:
    """Cut a stream of documents into batches; what the reader reported on the way goes with the batch it belongs to."""
    held: list[Document] = []
    size = 0
    for document in documents:
        held.append(document)
        size += len(document.text) + len(document.title) + 64
        if size >= BATCH_BYTES:
            yield _made(held, report)
            held, size = [], 0
    yield _made(held, report)


def _made(documents: list[Document], report: Report) -> Make:
    taken = Report(report.strict)
    taken.merge(report)
    report.problems, report.notes, report.fields = [], {}, {}
    return lambda: pack(documents, taken)
