"""`JoinedFields`: several fields of an index of another engine as one source of postings.

The frequency of a term in a document is the sum of its frequencies in the fields.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from sublex.analysis.tokens import TITLE_GAP
from sublex.contracts.fields import content_fields, field_names
from sublex.contracts.foreign import DocumentsBatch, PostingsBatch
from sublex.errors import InputError
from sublex.index.offsets import starts_of
from sublex.other_engines.postings_check import ReceivedPostings, brings_positions


class _OneField:
    """One field of a foreign index as a source of postings."""

    def __init__(self, index: Any, field: str):
        self.docs, self.has_positions = index.docs, brings_positions(index)
        self.name = f"{getattr(index, 'name', 'The other index')} (field {field})"
        self._index, self._field = index, field

    def postings(self) -> Iterator[PostingsBatch]:
        yield from self._index.field_postings(self._field)

    def documents(self) -> Iterator[DocumentsBatch]:
        raise NotImplementedError("A field has no documents of its own.")


class _Lists:
    """The posting lists of one field, in ascending order of their terms. `take` returns the next lists."""

    def __init__(self, index: Any, field: str):
        self.received = ReceivedPostings(_OneField(index, field))
        self._batches = self.received.batches(lambda terms: None)
        self.next: PostingsBatch | None = None
        self._read()

    def _read(self) -> None:
        self.next = next(self._batches, None)
        if not self.received.ascends:
            raise InputError(f"{self.received.name} has terms that do not ascend, so it cannot be joined with another.")

    def take(self, last: bytes) -> PostingsBatch:
        """Take the posting lists of all terms up to `last` from the next batch."""
        assert self.next is not None
        terms, df, docs, tfs, positions, _ = batch = self.next
        cut = bisect_right(terms, last)
        if cut == len(terms):
            self._read()
            return batch
        end = int(df[:cut].sum())
        place = int(tfs[:end].sum(dtype=np.int64))
        before, after = (None, None) if positions is None else (positions[:place], positions[place:])
        self.next = PostingsBatch(terms[cut:], df[cut:], docs[end:], tfs[end:], after)
        return PostingsBatch(terms[:cut], df[:cut], docs[:end], tfs[:end], before)


class JoinedFields:
    """A `PostingsSource` of the fields `fields` of a foreign index.

    The index yields the postings of each by `field_postings`. The length of a document is the sum of its frequencies.
    With positions, the fields of a document follow one another in the order of its contents, with a gap of `TITLE_GAP`
    after the last word of a field. The fields are then read twice.
    """

    def __init__(self, index: Any, fields: Sequence[str]):
        self._index = index
        self.fields = field_names(fields)
        self.docs, self.has_positions = index.docs, brings_positions(index)
        self.name: str = getattr(index, "name", "The other index")
        self._in_order = [field for field in content_fields(self.fields) if field in self.fields]
        self._lengths = np.zeros(0, np.int64)
        self._begins: dict[str, np.ndarray] = {}

    def postings(self) -> Iterator[PostingsBatch]:
        """Yield the posting lists of all terms of the fields, in ascending order of the terms."""
        if self.has_positions:
            self._begins = self._find_begins()
        lists = {field: _Lists(self._index, field) for field in self._in_order}
        while any(field.next for field in lists.values()):
            last = min(field.next.terms[-1] for field in lists.values() if field.next)
            yield self._joined({name: field.take(last) for name, field in lists.items() if field.next})
        self._lengths = sum((field.received.sums for field in lists.values()), np.zeros(self.docs, np.int64))

    def _find_begins(self) -> dict[str, np.ndarray]:
        """Return the position of the begin of each field in each document: `TITLE_GAP` after the previous word."""
        ends, begins = np.zeros(self.docs, np.int64), {}
        for field in self._in_order:
            begins[field] = np.where(ends > 0, ends + TITLE_GAP, 0)
            if field == self._in_order[-1]:
                break
            sizes = np.zeros(self.docs, np.int64)
            for batch in ReceivedPostings(_OneField(self._index, field)).batches(lambda terms: None):
                assert batch.positions is not None
                last = batch.positions[np.cumsum(batch.tfs, dtype=np.int64) - 1].astype(np.int64)
                np.maximum.at(sizes, batch.docs, last + 1)
            ends = np.where(sizes > 0, begins[field] + sizes, ends)
        return begins

    def _joined(self, parts: dict[str, PostingsBatch]) -> PostingsBatch:
        """Join the posting lists of several fields. The order of `parts` is the order of positions."""
        terms = sorted({term for part in parts.values() for term in part.terms})
        ranks = {term: rank for rank, term in enumerate(terms)}
        # A key for each posting, which ascends with its term and its document.
        keys = np.concatenate([
            np.repeat(np.array([ranks[term] for term in part.terms], np.int64), part.df) * self.docs + part.docs
            for part in parts.values()
        ])  # fmt: skip
        found, places = np.unique(keys, return_inverse=True)
        tfs = {field: np.zeros(len(found), np.int64) for field in self.fields}
        begin = 0
        for field, part in parts.items():
            tfs[field][places[begin : begin + len(part.docs)]] = part.tfs
            begin += len(part.docs)
        positions = self._positions(parts, keys) if self.has_positions else None
        df = np.bincount(found // self.docs, minlength=len(terms))
        whole = sum(tfs.values(), np.zeros(len(found), np.int64))
        return PostingsBatch(terms, df, found % self.docs, whole, positions, list(tfs.values()))

    def _positions(self, parts: dict[str, PostingsBatch], keys: np.ndarray) -> np.ndarray:
        """Return the positions of joined postings. Those of the first field come first in each posting.

        `keys` has a number for each posting of `parts`, which ascends with its term and its document.
        """
        counts = np.concatenate([part.tfs for part in parts.values()]).astype(np.int64)
        moved = [
            part.positions + np.repeat(self._begins[field][part.docs], part.tfs)  # type: ignore[operator]
            for field, part in parts.items()
        ]
        order = np.argsort(keys, kind="stable")
        begins, counts = (np.cumsum(counts) - counts)[order], counts[order]
        return np.concatenate(moved)[np.repeat(begins - starts_of(counts)[:-1], counts) + np.arange(int(counts.sum()))]

    def documents(self) -> Iterator[DocumentsBatch]:
        """Yield the docnos and lengths of all documents, and with positions the places where their fields begin."""
        first = 0
        for batch in self._index.documents():
            end = first + len(batch.docnos)
            begins = [self._begins[field][first:end] for field in self.fields] if self.has_positions else []
            yield DocumentsBatch(batch.docnos, self._lengths[first:end], begins)
            first = end
