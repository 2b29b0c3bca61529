"""Inversion: turns batches of documents with terms into terms with documents, in memory.

`count_terms` inverts one batch and may run in any thread. Its posting lists are in the order of the terms' bytes. They
are in the byte code, which takes about 1.5 bytes per posting. `Inverter.write` joins the lists of all batches, a range
of terms at a time. The rank of a term is its place in the order of the bytes of all terms of the segment.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from sublex.analysis.tokens import TITLE_GAP, RawTokens
from sublex.building.vocabulary import TokenTerms, TokenVocabulary
from sublex.contracts.base import Analyzer
from sublex.index.components.document_terms import write_document_lists
from sublex.index.components.fields import stored_fields
from sublex.index.components.inverted_lists import EncodedLists, ListsWriter, encode_lists
from sublex.index.components.lengths import LengthsWriter
from sublex.index.format import FolderWriter
from sublex.index.offsets import spans, starts_of
from sublex.tools.workers import Workers

# Consecutive batches form a group as soon as their posting lists have this number of bytes. A kernel joins the lists of a
# group in one call.
GROUP_BYTES = 8 << 20
# One call joins and encodes a range of terms. A range has at least LEAST_POSTINGS postings. Larger inputs are divided into
# RANGES ranges for each worker.
LEAST_POSTINGS, RANGES = 1 << 18, 32
# The bytes of memory that a range takes for each posting, for each position, and for each posting's frequency in a field.
# `nbytes` counts four ranges of the least size for the workers.
POSTING_BYTES, POSITION_BYTES, FIELD_BYTES = 16, 12, 16


class FieldCounts(NamedTuple):
    """The posting lists of a batch in one field: a list for each list of the `BatchCounts`, in the same order.

    List k takes `sizes[k]` bytes of `data`, and has `df[k]` documents. `lengths` has, for each document, the number of
    terms in the field.
    """

    sizes: np.ndarray
    data: np.ndarray
    df: np.ndarray
    lengths: np.ndarray


class BatchCounts(NamedTuple):
    """The posting lists of a batch, with the counts of its tokens and documents.

    The list of the term `terms[k]` takes `sizes[k]` bytes of `data`; the lists are in the order of the terms' bytes. Documents
    are counted from 0 within the batch. `df` and `cf` are the frequencies of the terms within the batch. `lengths` has
    the number of terms of each document, and `uniques` the number of distinct terms. `token_counts` has the number of
    occurrences of each distinct raw token of the batch. `positions` has the positions end to end: `cf[k]` positions for list
    k, and `position_size` bytes for each position; it is None if the index stores no positions. `fields` has the posting
    lists of each stored field. If there are positions, `begins` has an array for each field but the title: the position at
    which the field begins in each document.
    """

    terms: np.ndarray
    sizes: np.ndarray
    data: np.ndarray
    lengths: np.ndarray
    uniques: np.ndarray
    df: np.ndarray
    cf: np.ndarray
    token_counts: np.ndarray
    positions: np.ndarray | None = None
    position_size: int = 0
    fields: tuple[FieldCounts, ...] = ()
    begins: tuple[np.ndarray, ...] = ()

    @property
    def nbytes(self) -> int:
        """The bytes that the inverter keeps until the segment is written."""
        kept = (self.terms, self.sizes, self.data, self.lengths, self.uniques)
        more = 0 if self.positions is None else self.positions.nbytes + 4 * len(self.cf)
        fields = sum(array.nbytes for field in self.fields for array in (field.sizes, field.data, field.lengths))
        return sum(array.nbytes for array in (*kept, *self.begins)) + fields + more


def count_terms(
    tokens: RawTokens,
    keep: np.ndarray,
    numbers: np.ndarray,
    token_terms: TokenTerms,
    field_ends: np.ndarray | None = None,
    has_positions: bool = False,
    has_fields: bool = False,
) -> BatchCounts:
    """Count and invert the terms of the documents that the mask `keep` selects. Any thread may call this.

    `numbers` has the numbers of the batch's distinct raw tokens in the segment; `token_terms` must have the terms of
    all these tokens. For positions and for fields, `field_ends` says where the raw tokens of each document's content fields
    end: it has a row for each document.
    """
    from sublex.building import inversion_kernels

    ends, flat, terms = token_terms
    places = np.zeros(terms.size, np.int32)
    met, entries, tfs, doc_ends, lengths, records, cf, token_counts, begins, numbered = inversion_kernels.count_terms(
        tokens.numbers, tokens.ends, keep, numbers, ends, flat, places
    )
    # Terms that occur only in documents that were left out have no list.
    ordered = terms.ascending(met[records[1:, inversion_kernels.DF] > 0]).astype(np.int32)
    order = places[ordered]
    data = inversion_kernels.invert_batch(entries, tfs, doc_ends, records, order)
    sizes, df = records[order, inversion_kernels.BYTES], records[order, inversion_kernels.DF]
    uniques = np.diff(doc_ends, prepend=0).astype(np.int32)
    counts = BatchCounts(ordered, sizes, data, lengths, uniques, df, cf[order], token_counts)
    if field_ends is not None and has_fields:
        counts = counts._replace(fields=_count_fields(tokens, field_ends, keep, numbers, token_terms, order))
    if field_ends is not None and has_positions:
        cursors = np.zeros(len(records), np.int64)
        cursors[order] = starts_of(cf[order])[:-1]
        positions, size, places = inversion_kernels.invert_positions(
            tokens.numbers, field_ends.ravel(), keep, begins, numbered, cursors, TITLE_GAP
        )
        counts = counts._replace(positions=positions, position_size=size)
        if has_fields:
            counts = counts._replace(begins=tuple(places.reshape(len(lengths), field_ends.shape[1] - 1).T.copy()))
    return counts


def _count_fields(
    tokens: RawTokens,
    field_ends: np.ndarray,
    keep: np.ndarray,
    numbers: np.ndarray,
    token_terms: TokenTerms,
    order: np.ndarray,
) -> tuple[FieldCounts, ...]:
    """Return the posting lists of each stored field. `order` has the numbers of the terms in the batch, in the order of the lists.

    A field is counted like a whole document. The distinct raw tokens of the batch decide the numbers of the terms, so the
    numbers are the same for a field and for whole documents.
    """
    from sublex.building import inversion_kernels

    ends, flat, terms = token_terms
    sizes = np.diff(field_ends.ravel(), prepend=0)
    field_of = np.repeat(np.arange(len(sizes)) % field_ends.shape[1], sizes)
    found = []
    for field in stored_fields(field_ends.shape[1]):
        token_ends = np.cumsum(sizes.reshape(field_ends.shape)[:, field])
        _, entries, tfs, doc_ends, lengths, records, *_ = inversion_kernels.count_terms(
            tokens.numbers[field_of == field], token_ends, keep, numbers, ends, flat, np.zeros(terms.size, np.int32)
        )
        data = inversion_kernels.invert_batch(entries, tfs, doc_ends, records, order)
        found.append(
            FieldCounts(records[order, inversion_kernels.BYTES], data, records[order, inversion_kernels.DF], lengths)
        )
    return tuple(found)


class _GroupPositions(NamedTuple):
    """The positions of the posting lists of a group.

    `counts` has the number of positions of each list. The positions of batch b begin at `data[starts[b]]`, and each
    takes `sizes[b]` bytes.
    """

    counts: np.ndarray
    data: np.ndarray
    starts: np.ndarray
    sizes: np.ndarray

    @classmethod
    def of(cls, batches: list[BatchCounts]) -> _GroupPositions:
        """Return the positions of `batches`, end to end."""
        parts = [batch.positions for batch in batches if batch.positions is not None]
        sizes = np.array([batch.position_size for batch in batches], np.int64)
        starts = starts_of(np.array([len(part) for part in parts], np.int64))[:-1]
        counts = np.concatenate([batch.cf.astype(np.int32) for batch in batches])
        return cls(counts, np.concatenate(parts), starts, sizes)


class _FieldLists(NamedTuple):
    """The posting lists of a group in one field: the size of each list, all lists end to end, and where each batch begins."""

    sizes: np.ndarray
    data: np.ndarray
    starts: np.ndarray

    @classmethod
    def of(cls, parts: Iterable[FieldCounts]) -> _FieldLists:
        """Return the lists of the batches' `parts`, end to end."""
        parts = list(parts)
        starts = starts_of(np.array([len(part.data) for part in parts], np.int64))[:-1]
        # The kernels that decode read up to three bytes ahead.
        data = np.concatenate([*(part.data for part in parts), np.zeros(3, np.uint8)])
        return cls(np.concatenate([part.sizes for part in parts]), data, starts)


class _Group(NamedTuple):
    """The posting lists of consecutive batches, in the form of `BatchCounts`, joined end to end.

    The lists of batch b begin at the place `list_starts[b]`, and their data at `data_starts[b]`. Its documents are
    numbered from `first_docs[b]` on.
    """

    terms: np.ndarray
    sizes: np.ndarray
    data: np.ndarray
    list_starts: np.ndarray
    data_starts: np.ndarray
    first_docs: np.ndarray
    positions: _GroupPositions | None
    fields: tuple[_FieldLists, ...]

    @classmethod
    def of(cls, batches: list[BatchCounts], first_doc: int) -> _Group:
        """Return the lists of `batches` as a group; the first document of the batches has the number `first_doc`."""
        parts = [(batch.terms, batch.sizes, batch.data, batch.lengths) for batch in batches]
        starts = [starts_of(np.array([len(part[k]) for part in parts], np.int64)) for k in range(4)]
        terms, sizes = (np.concatenate([part[k] for part in parts]) for k in range(2))
        # The kernels that decode read up to three bytes ahead.
        data = np.concatenate([*(batch.data for batch in batches), np.zeros(3, np.uint8)])
        positions = None if batches[0].positions is None else _GroupPositions.of(batches)
        fields = tuple(map(_FieldLists.of, zip(*(batch.fields for batch in batches), strict=True)))
        return cls(terms, sizes, data, starts[0], starts[2], first_doc + starts[3][:-1], positions, fields)

    def lists(self) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Yield (terms, sizes, data) for each batch.

        `data` begins with the lists of the batch; the lists of later batches may follow.
        """
        for begin, end, start in zip(self.list_starts, self.list_starts[1:], self.data_starts, strict=False):
            yield self.terms[begin:end], self.sizes[begin:end], self.data[start:]

    def cuts(
        self, ranks: np.ndarray, bounds: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, tuple[np.ndarray, ...]]:
        """Find where ranges of terms begin in each batch. Return three matrices, and a further matrix for each field.

        `ranks` has the rank of each term, and `bounds` the ranks at which ranges begin. Each matrix has a row for each
        bound and a column for each batch. The first matrix has the number of the batch's first list whose term has at
        least this rank. The second has the place where the data of this list begins, and the third the place where its
        positions begin, if there are any. The matrix of a field has the place where the data of this list begin in the
        field.
        """
        lists, data, positions, *fields = (
            np.zeros((len(bounds), len(self.first_docs)), np.int64) for _ in range(3 + len(self.fields))
        )
        for b, (begin, end) in enumerate(zip(self.list_starts[:-1], self.list_starts[1:], strict=True)):
            cuts = np.searchsorted(ranks[self.terms[begin:end]], bounds)
            lists[:, b] = begin + cuts
            data[:, b] = self.data_starts[b] + starts_of(self.sizes[begin:end])[cuts]
            if self.positions:
                _, _, starts, sizes = self.positions
                positions[:, b] = starts[b] + sizes[b] * starts_of(self.positions.counts[begin:end])[cuts]
            for places, field in zip(fields, self.fields, strict=True):
                places[:, b] = field.starts[b] + starts_of(field.sizes[begin:end])[cuts]
        return lists, data, positions, tuple(fields)


class Inverter:
    """The inverted index of a segment while it is in memory, and the writer of its components in `folder`.

    `fields` is the number of content fields whose frequencies are stored; 0 for an index without fields.
    """

    def __init__(self, analyzer: Analyzer, folder: FolderWriter, positions: bool = False, fields: int = 0):
        self.vocabulary = TokenVocabulary(analyzer)
        self.docs = 0
        self._folder, self._lengths, self._has_positions = folder, LengthsWriter(folder), positions
        # An array for each batch: the number of distinct terms of each document.
        self._uniques: list[np.ndarray] = []
        self._groups: list[_Group] = []
        self._ungrouped: list[BatchCounts] = []
        self._fields, self._stored = fields, stored_fields(fields)
        # For each batch: the lengths of the stored fields of each document, and the places of fields.
        self._in_fields: list[tuple[list[np.ndarray], tuple[np.ndarray, ...]]] = []
        # For each term its document frequency, its collection frequency, and its document frequency in each stored field.
        self._frequencies = np.zeros((2 + len(self._stored), 1 << 12), np.int64)
        self._batch_bytes = self._ungrouped_bytes = self._postings = self._positions = 0

    @property
    def nbytes(self) -> int:
        """An upper bound of the memory, in bytes, that is needed to hold the inverted index and to write it."""
        # The share of the postings that is decoded at a time.
        part = min(1, 4 * LEAST_POSTINGS / max(1, self._postings)) + 1 / RANGES
        posting_bytes = POSTING_BYTES + FIELD_BYTES * len(self._stored)
        writing = int(part * (posting_bytes * self._postings + POSITION_BYTES * self._positions))
        return self._batch_bytes + writing + self._frequencies.nbytes + self.vocabulary.nbytes

    def add(self, counts: BatchCounts, numbers: np.ndarray) -> None:
        """Add the counts of a batch. Batches must come in the order of their documents.

        `numbers` has the numbers of the batch's distinct raw tokens in the segment.
        """
        self.vocabulary.count(numbers, counts.token_counts)
        if self.vocabulary.size > self._frequencies.shape[1]:
            frequencies = np.zeros((len(self._frequencies), 2 * self.vocabulary.size), np.int64)
            frequencies[:, : self._frequencies.shape[1]] = self._frequencies
            self._frequencies = frequencies
        self._frequencies[0, counts.terms] += counts.df
        self._frequencies[1, counts.terms] += counts.cf
        for df, field in zip(self._frequencies[2:], counts.fields, strict=True):
            df[counts.terms] += field.df
        self._postings += int(counts.df.sum(dtype=np.int64))
        self._positions += int(counts.cf.sum()) * self._has_positions
        self.docs += len(counts.lengths)
        self._lengths.add(counts.lengths, counts.uniques)
        self._in_fields.append(([field.lengths for field in counts.fields], counts.begins))
        self._uniques.append(counts.uniques)
        self._batch_bytes += counts.nbytes
        self._ungrouped.append(counts)
        self._ungrouped_bytes += counts.data.nbytes
        if self._ungrouped_bytes >= GROUP_BYTES:
            self._group()

    def _group(self) -> None:
        """Join the newest batches into a group. The group copies their many small arrays, which are then freed."""
        if self._ungrouped:
            first = self.docs - sum(len(batch.lengths) for batch in self._ungrouped)
            self._groups.append(_Group.of(self._ungrouped, first))
            self._ungrouped, self._ungrouped_bytes = [], 0

    def write(self, workers: Workers, document_terms: bool, spill: bool) -> tuple[int, int, int]:
        """Write the lexicon and the postings. Return the numbers of tokens, of terms and of postings.

        With `document_terms`, write the terms of each document too. With `spill`, write all raw forms of the terms too.
        """
        self._group()
        frequencies = self._frequencies[:, : self.vocabulary.size]
        numbers = self.vocabulary.ascending(np.flatnonzero(frequencies[0]))
        df, cf, *field_dfs = frequencies[:, numbers]
        ranks = self.vocabulary.ranks(numbers)
        with workers.in_background(lambda: self.vocabulary.write(self._folder, numbers, df, cf, spill)):
            if document_terms:
                self._write_document_terms(ranks, workers)
            self._write_postings(ranks, df, cf, field_dfs, workers)
        return int(cf.sum()), len(df), self._postings

    def _write_document_terms(self, ranks: np.ndarray, workers: Workers) -> None:
        """Write the terms of each document, ascending by rank; they are computed from the batches' posting lists."""
        from sublex.building import inversion_kernels

        def encode(
            batch: tuple[np.ndarray, tuple[np.ndarray, np.ndarray, np.ndarray]],
        ) -> tuple[np.ndarray, np.ndarray]:
            uniques, (terms, sizes, data) = batch
            return inversion_kernels.document_lists(terms, sizes, data, ranks, uniques.astype(np.int64))

        lists = chain.from_iterable(group.lists() for group in self._groups)
        write_document_lists(self._folder, workers.map(encode, zip(self._uniques, lists, strict=True)))

    def _write_postings(
        self, ranks: np.ndarray, df: np.ndarray, cf: np.ndarray, field_dfs: Sequence[np.ndarray], workers: Workers
    ) -> None:
        """Write one posting list for each term, joined from all batches, with positions and fields if the batches have them.

        `field_dfs` has, for each stored field, the document frequency of each term in the field.
        """
        from sublex.building import inversion_kernels

        ranges = spans(df, max(LEAST_POSTINGS, self._postings // (RANGES * workers.number)))
        bounds = np.array([begin for begin, _ in ranges] + [len(df)], np.int64)
        cuts = list(workers.map(lambda group: group.cuts(ranks, bounds), self._groups))

        def encode(k: int) -> EncodedLists:
            begin, end = bounds[k : k + 2]
            parts = [
                (group.sizes, group.data, data[k]) for group, (_, data, *_) in zip(self._groups, cuts, strict=True)
            ]
            docs, tfs = join(k, df[begin:end], parts)
            positions = join_positions(k, cf[begin:end]) if self._has_positions else None
            fields = (spread(k, number, docs) for number in range(len(self._stored)))
            return encode_lists(docs, tfs, df[begin:end], cf[begin:end], positions, fields)

        def join(k: int, df: np.ndarray, parts: Sequence[tuple[np.ndarray, ...]]) -> tuple[np.ndarray, np.ndarray]:
            starts = starts_of(df)
            docs, tfs = np.empty(starts[-1], np.int32), np.empty(starts[-1], np.int32)
            cursors = starts[:-1].copy()
            for group, (lists, *_), (sizes, data, places) in zip(self._groups, cuts, parts, strict=True):
                inversion_kernels.join_lists(
                    group.terms, sizes, data, lists[k], lists[k + 1], places, group.first_docs,
                    ranks, bounds[k], cursors, docs, tfs,
                )  # fmt: skip
            return docs, tfs

        def spread(k: int, number: int, docs: np.ndarray) -> np.ndarray:
            begin, end = bounds[k : k + 2]
            parts = [
                (*group.fields[number][:2], fields[number][k])
                for group, (*_, fields) in zip(self._groups, cuts, strict=True)
            ]
            # The document frequencies are slices of columns of tables, and the kernel takes contiguous arrays.
            whole_df, field_df = map(np.ascontiguousarray, (df[begin:end], field_dfs[number][begin:end]))
            found = np.empty(len(docs), np.int32)
            inversion_kernels.spread(docs, whole_df, *join(k, field_df, parts), field_df, found)
            return found

        def join_positions(k: int, counts: np.ndarray) -> np.ndarray:
            starts = starts_of(counts)
            joined, cursors = np.empty(starts[-1], np.int32), starts[:-1].copy()
            for group, (lists, _, places, _) in zip(self._groups, cuts, strict=True):
                assert group.positions is not None
                inversion_kernels.join_positions(
                    group.terms, group.positions.counts, group.positions.data, group.positions.sizes,
                    lists[k], lists[k + 1], places[k], ranks, bounds[k], cursors, joined,
                )  # fmt: skip
            return joined

        writer = ListsWriter(self._folder, self._has_positions, self._fields)
        for encoded in workers.map(encode, range(len(ranges))):
            writer.add(encoded)
        for lengths, begins in self._in_fields:
            writer.add_documents(lengths, begins)
