"""`CiffFile`: a CIFF file as a source of postings. Everything that the file states is checked before it is used."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import BinaryIO

import numpy as np

from sublex.contracts.base import Report
from sublex.contracts.foreign import DocumentsBatch, PostingsBatch
from sublex.errors import InputError
from sublex.other_engines.ciff.header import VERSION, CiffHeader, decoded, read_varint
from sublex.other_engines.ciff.messages import Messages, MessageSpan
from sublex.readers.source import FileSource
from sublex.tools.strings import Strings

# The largest header, in bytes.
LONGEST_HEADER = 1 << 20
# The shortest record of a document, in bytes: its length, and a docno of one byte with the number and the length of
# this field.
LEAST_DOCUMENT = 4


class CiffFile:
    """A CIFF file, plain or compressed, as a `PostingsSource`. The file is read once, from its beginning to its end.

    `header` has the numbers that the file states. `report` has notes about parts that the file leaves out, and about
    wrong collection frequencies. This class checks gaps and frequencies, and `postings_check` checks the rest.
    """

    def __init__(self, path: str | os.PathLike[str]):
        self.name = os.fspath(path)
        self.report = Report()
        source = FileSource(path)
        self._stream = source.open()
        try:
            self.header = _read_header(self._stream, self.name)
            # Memory for all documents is allocated before the documents are read, so their number is checked first.
            if self.header.num_docs * LEAST_DOCUMENT > source.most_bytes():
                raise InputError(
                    f"{self.name} is damaged: it claims {self.header.num_docs:,} documents, and is too small for them."
                )
        except BaseException:
            self.close()
            raise
        self._messages = Messages(self._stream, self.name)
        self.docs = self.header.num_docs
        self.tokens = self._tokens()

    def close(self) -> None:
        """Close the file."""
        self._stream.close()

    def __enter__(self) -> CiffFile:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _tokens(self) -> int | None:
        """Return the number of tokens that the header states for the documents of the file, or None."""
        header = self.header
        if header.num_docs < header.total_docs:
            note = f"The file has {header.num_docs:,} of the {header.total_docs:,} documents of its collection"
            self.report.note(f"{note}; all statistics are those of these documents")
            return None
        if header.num_postings_lists < header.total_postings_lists:
            self.report.note(
                f"The file has the posting lists of {header.num_postings_lists:,} of {header.total_postings_lists:,} terms"
            )
        return header.total_terms_in_collection or None

    def postings(self) -> Iterator[PostingsBatch]:
        """Yield the posting lists of all terms, in the order of the file."""
        for part in self._messages.parts(self.header.num_postings_lists, "posting list"):
            yield self._lists(part)

    def _lists(self, part: MessageSpan) -> PostingsBatch:
        from sublex.other_engines.ciff import ciff_kernels

        count = len(part.starts)
        room = int(part.ends[-1] - part.starts[0]) // ciff_kernels.LEAST_POSTING + 1
        terms, df = np.empty(3 * count, np.int64), np.empty(count, np.int64)
        docs, tfs = np.empty(room, np.int32), np.empty(room, np.int32)
        size, bad, fault, number = ciff_kernels.decode_lists(part.data, part.starts, part.ends, terms, df, docs, tfs)
        view = part.data.data
        begins, ends, cf = terms.reshape(-1, 3).T
        names = [bytes(view[begin:end]) for begin, end in zip(begins.tolist(), ends.tolist(), strict=True)]
        if bad >= 0:
            held = int(df[bad])
            why = {
                ciff_kernels.COUNT: f"claims {number:,} postings, but has {held:,}",
                ciff_kernels.FREQUENCY: f"has the frequency {number:,}",
                ciff_kernels.NUMBER: f"has the gap {number:,} between two documents",
            }.get(fault, "has damaged fields")
            raise InputError(f"{self.name} is damaged: posting list {part.first + bad + 1:,} {why}.")
        docs, tfs = docs[:size], tfs[:size]
        differing = int((np.add.reduceat(np.append(tfs, 0), np.cumsum(df) - df, dtype=np.int64) != cf)[df > 0].sum())
        if differing:
            note = "A collection frequency in the file is not the sum of the frequencies; the sum was taken"
            self.report.note(note, differing)
        return PostingsBatch(names, df, docs, tfs)

    def documents(self) -> Iterator[DocumentsBatch]:
        """Yield the docnos and lengths of all documents, in the order of their numbers."""
        expected, seen = 0, np.empty(0, np.bool_)
        late: list[tuple[np.ndarray, Strings, np.ndarray]] = []
        for part in self._messages.parts(self.docs, "document"):
            numbers, docnos, lengths = self._records(part)
            if not late and np.array_equal(numbers, np.arange(expected, expected + len(numbers))):
                yield DocumentsBatch(docnos, lengths)
                expected += len(numbers)
                continue
            if not late:
                seen = np.zeros(self.docs, np.bool_)
                seen[:expected] = True
            self._mark(numbers, seen)
            late.append((numbers, docnos, lengths))
        if not self._messages.is_at_end():
            raise InputError(f"{self.name} goes on after its last document; it is damaged.")
        if late:
            yield _in_order(late)

    def _mark(self, numbers: np.ndarray, seen: np.ndarray) -> None:
        """Set `seen` to true for the documents with these numbers.

        Raise `InputError` for a number that is out of range, or that two documents have.
        """
        beyond = numbers[numbers >= self.docs]
        if len(beyond):
            raise InputError(
                f"{self.name} is damaged: a document has the number {beyond[0]:,}, and the last is {self.docs - 1:,}."
            )
        repeated = numbers[seen[numbers]]
        seen[numbers] = True
        ascending = np.sort(numbers)
        repeated = np.concatenate([repeated, ascending[1:][ascending[1:] == ascending[:-1]]])
        if len(repeated):
            raise InputError(f"{self.name} is damaged: two documents have the number {repeated[0]:,}.")

    def _records(self, part: MessageSpan) -> tuple[np.ndarray, Strings, np.ndarray]:
        """Return the numbers, docnos and lengths of some documents."""
        from sublex.other_engines.ciff import ciff_kernels

        count, room = len(part.starts), int(part.ends[-1] - part.starts[0])
        docs, lengths, sizes = np.empty(count, np.int64), np.empty(count, np.int64), np.empty(count, np.int64)
        docnos = np.empty(room, np.uint8)
        size, bad, fault, number = ciff_kernels.decode_documents(
            part.data, part.starts, part.ends, docs, lengths, docnos, sizes
        )
        if bad >= 0:
            why = f"has the number {number:,}" if fault == ciff_kernels.NUMBER else "has damaged fields"
            raise InputError(f"{self.name} is damaged: document {part.first + bad + 1:,} {why}.")
        if not sizes.all():
            raise InputError(f"{self.name}: document {part.first + int(np.argmin(sizes)) + 1:,} has no docno.")
        return docs, Strings.joined(docnos[:size], sizes), lengths


def _in_order(parts: list[tuple[np.ndarray, Strings, np.ndarray]]) -> DocumentsBatch:
    """Return the documents of `parts` in the order of their numbers. A part has numbers, docnos and lengths."""
    order = np.argsort(np.concatenate([numbers for numbers, _, _ in parts]))
    sizes = np.concatenate([docnos.sizes for _, docnos, _ in parts])
    docnos = Strings.joined(np.concatenate([docnos.arena for _, docnos, _ in parts]), sizes)
    return DocumentsBatch(docnos.take(order), np.concatenate([lengths for _, _, lengths in parts])[order])


def _read_header(stream: BinaryIO, path: str) -> CiffHeader:
    """Read the header. Raise `InputError` if the stream does not begin with a header that Sublex understands."""
    prefix = b""
    while len(prefix) < 5 and not (prefix and prefix[-1] < 128) and (byte := stream.read(1)):
        prefix += byte
    try:
        size, _ = read_varint(prefix, 0)
        message = stream.read(size) if size <= LONGEST_HEADER else b""
        if not message or len(message) < size:
            raise ValueError("no message")
        header = decoded(message)
    except ValueError:
        raise InputError(f"{path} is not a CIFF file: it does not begin with the header of one.") from None
    if header.version != VERSION:
        raise InputError(f"{path} is CIFF of version {header.version}, and Sublex reads version {VERSION}.")
    bad = [name for name, value in zip(header._fields[1:6], header[1:6], strict=True) if value < 0]
    if bad:
        raise InputError(f"{path} is damaged: its header has a negative {bad[0]}.")
    return header
