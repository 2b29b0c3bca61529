"""Write a segment with its documents in another order. Terms and their statistics stay as they are."""

from __future__ import annotations

import numpy as np

from sublex.building.reorder.bisection import similar_order
from sublex.contracts.base import Report
from sublex.index.components.columns import ColumnsWriter
from sublex.index.components.docnos import DocnosWriter
from sublex.index.components.document_terms import write_document_lists
from sublex.index.components.fields import stored_fields
from sublex.index.components.inverted_lists import EncodedLists, ListsWriter, encode_lists
from sublex.index.components.lengths import LengthsWriter
from sublex.index.components.texts import CompressedFrames, TextsReader, TextsWriter, compress
from sublex.index.directory import Directory
from sublex.index.entries import SegmentEntry
from sublex.index.format import FolderWriter
from sublex.index.offsets import POSTINGS_PER_CALL, spans, starts_of
from sublex.index.segment import Segment
from sublex.readers.batch import Batch
from sublex.tools.strings import read_only
from sublex.tools.workers import Workers

# The components of a lexicon, which do not depend on the order of documents.
LEXICON = ("terms", "term_sizes", "surfaces", "surface_sizes", "df", "cf")
# In bytes: the texts in memory may always take at least LEAST_TEXTS, and one call compresses about TEXTS_PER_CALL.
LEAST_TEXTS, TEXTS_PER_CALL = 64 << 20, 4 << 20


def reorder_segment(segment: Segment, directory: Directory, workers: Workers) -> tuple[SegmentEntry, np.ndarray]:
    """Write a segment without deleted documents to `directory`, with similar documents next to each other.

    Return the entry of the new segment in the manifest, and the order, which has each new document's number in the old segment.
    """
    order = similar_order(segment, workers)
    with FolderWriter(directory) as folder:
        for name in LEXICON:
            folder.put(name, segment.folder[name].all())
        _write_lists(segment, order, folder, workers)
        LengthsWriter(folder).add(segment.lengths[order], segment.uniques[order])
        data, sizes = segment.docnos.arrays()
        docnos = DocnosWriter(folder)
        docnos.add(_pieces(data, starts_of(sizes)[order], sizes[order]), sizes[order])
        docnos.finish()
        if "document_terms" in segment.folder:
            _write_document_terms(segment, order, folder, workers)
        if "texts" in segment.folder:
            _write_texts(segment, order, folder, workers)
        if "columns" in segment.folder:
            columns = ColumnsWriter(folder, segment.columns)
            for name in segment.columns:
                columns.write(name, segment.column(name).rows(order))
        return segment.entry._replace(name=directory.name, data=folder.finish()), order


def _write_lists(segment: Segment, order: np.ndarray, folder: FolderWriter, workers: Workers) -> None:
    """Write the inverted lists and the lengths of fields; the document `order[d]` of the segment gets the number d."""
    numbers = np.empty(segment.docs, np.int64)
    numbers[order] = np.arange(segment.docs)

    def renumber(span: tuple[int, int]) -> EncodedLists:
        docs, tfs = segment.postings(*span)
        df = segment.df[slice(*span)].astype(np.int64)
        keys = (np.repeat(np.arange(len(df)), df) << 32) | numbers[docs]
        places = np.argsort(keys)
        sizes, positions = tfs[places], None
        if segment.has_positions:
            positions = segment.positions(*span, tfs)
            # The places in `positions` of all positions to write. The positions of a posting stand side by side.
            positions = positions[
                np.repeat(starts_of(tfs)[places] - starts_of(sizes)[:-1], sizes) + np.arange(len(positions))
            ]
        fields = (segment.fields_reader.gather(field, np.arange(*span), tfs)[places] for field in stored)
        return encode_lists(keys[places].astype(np.int32), sizes, df, segment.cf[slice(*span)], positions, fields)

    stored = stored_fields(segment.content_fields)
    writer = ListsWriter(folder, segment.has_positions, segment.content_fields)
    for encoded in workers.map(renumber, segment.spans(POSTINGS_PER_CALL)):
        writer.add(encoded)
    writer.add_documents(*segment.documents_in_fields(order, segment.has_positions))


def _write_document_terms(segment: Segment, order: np.ndarray, folder: FolderWriter, workers: Workers) -> None:
    """Write the terms of each document, in the new order of the documents."""
    from sublex.index.posting_kernels import encode_lists

    def gather(span: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
        counts, terms, tfs = segment.terms_of(order[slice(*span)])
        return encode_lists(terms, tfs, counts)

    write_document_lists(folder, workers.map(gather, spans(segment.uniques[order], POSTINGS_PER_CALL)))


def _write_texts(segment: Segment, order: np.ndarray, folder: FolderWriter, workers: Workers) -> None:
    """Write the stored documents in the new order.

    The stored frames are read in several passes. Each pass keeps in memory the documents that come next in the new
    order. Their texts take at most `LEAST_TEXTS` bytes, or the memory that the search for the order took if that is more.
    """
    texts = segment.texts
    assert texts is not None
    frames = range(len(texts.counts))
    sizes = np.concatenate([np.empty((0, 3), np.int64), *workers.map(lambda frame: texts.raw(frame).sizes, frames)])
    writer = TextsWriter(folder)
    limit = max(LEAST_TEXTS, 4 * segment.entry.postings)
    for begin, end in spans(sizes[order, 1] + sizes[order, 2], limit):
        documents = _Documents(texts, sizes, order[begin:end])
        list(workers.map(documents.take_from, frames))
        for compressed in workers.map(documents.compress, documents.spans()):
            writer.add(compressed)


class _Documents:
    """The stored documents `docs` of a segment, in memory and in this order.

    `sizes` has a row for each document of the segment: the bytes of its title, its contents and its other fields.
    """

    def __init__(self, texts: TextsReader, sizes: np.ndarray, docs: np.ndarray):
        self._texts, self._sizes = texts, sizes[docs]
        self._firsts = starts_of(texts.counts)
        self._text_starts, self._extra_starts = starts_of(self._sizes[:, 1]), starts_of(self._sizes[:, 2])
        self._text = np.empty(self._text_starts[-1], np.uint8)
        self._extra = np.empty(self._extra_starts[-1], np.uint8)
        self._places = np.full(len(sizes), -1, np.int64)
        self._places[docs] = np.arange(len(docs))

    def take_from(self, frame: int) -> None:
        """Copy into memory the documents of a stored frame that are among `docs`. Any thread may call this."""
        from sublex.building.reorder.bisection_kernels import move

        places = self._places[self._firsts[frame] : self._firsts[frame + 1]]
        wanted = np.flatnonzero(places >= 0)
        if len(wanted):
            raw, places = self._texts.raw(frame), places[wanted]
            for data, column, out, starts in (
                (raw.text, 1, self._text, self._text_starts), (raw.extra, 2, self._extra, self._extra_starts),
            ):  # fmt: skip
                begins = starts_of(raw.sizes[:, column])[wanted]
                move(data, begins, self._sizes[places, column], out, starts[places])

    def spans(self) -> list[tuple[int, int]]:
        """Return ranges (begin, end) of the documents; each call of `compress` takes one range."""
        return spans(self._sizes[:, 1] + self._sizes[:, 2], TEXTS_PER_CALL)

    def compress(self, span: tuple[int, int]) -> CompressedFrames:
        """Compress a range of documents. Any thread may call this."""
        begin, end = span
        first_text, first_extra = self._text_starts[begin], self._extra_starts[begin]
        titles = self._sizes[begin:end, 0]
        batch = Batch(
            np.empty(0, np.uint8), np.empty(0, np.int64),
            self._text[first_text : self._text_starts[end]], self._text_starts[begin + 1 : end + 1] - first_text, titles,
            self._extra[first_extra : self._extra_starts[end]], self._extra_starts[begin + 1 : end + 1] - first_extra,
            Report(),
        )  # fmt: skip
        return compress(batch, np.ones(end - begin, np.bool_))


def _pieces(data: np.ndarray, begins: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return the pieces `data[begins[k]:begins[k] + sizes[k]]`, joined end to end."""
    from sublex.building.reorder.bisection_kernels import move

    out = np.empty(int(sizes.sum()), np.uint8)
    move(read_only(data), begins, sizes, out, starts_of(sizes)[:-1])
    return out
