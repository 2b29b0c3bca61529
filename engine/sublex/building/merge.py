"""Merging segments into one: the spills of a build, or segments of an index.

The documents keep their order, and deleted ones are left out. `sublex.building.term_merge` merges lexicons and posting lists; this
module merges everything else.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sublex.building.term_merge import TermMerge, release
from sublex.index.components.columns import ColumnsWriter, joined, without_unused
from sublex.index.components.docnos import DocnosWriter
from sublex.index.components.document_terms import write_document_lists
from sublex.index.components.inverted_lists import ListsWriter
from sublex.index.components.lengths import LengthsWriter
from sublex.index.components.texts import TextsWriter, compress
from sublex.index.directory import Directory
from sublex.index.entries import SegmentEntry
from sublex.index.format import FolderWriter
from sublex.index.offsets import spans
from sublex.index.segment import Segment
from sublex.tools.workers import Workers

# The number of document terms that are decoded and encoded again in one call.
TERMS_PER_CALL = 1 << 18
# The number of frames of texts that are copied before their memory is released.
TEXT_FRAMES = 1 << 9


def merge_segments(segments: list[Segment], directory: Directory, workers: Workers) -> SegmentEntry:
    """Write the live documents of `segments`, in their order, as one segment in the new folder `directory`.

    Return the new segment's entry for the manifest. The new segment has an optional part only if all `segments` have it.
    """
    live = [~segment.dead for segment in segments]
    terms = TermMerge(segments, live, workers)
    with FolderWriter(directory) as folder:
        lists = ListsWriter(folder, terms.has_positions, terms.fields)
        terms.write(folder, lists)
        lengths, docnos = LengthsWriter(folder), DocnosWriter(folder)
        for segment, mask in zip(segments, live, strict=True):
            lengths.add(segment.lengths[mask], segment.uniques[mask])
            if terms.fields:
                lists.add_documents(*segment.documents_in_fields(mask, terms.has_positions))
            docnos.add(*live_docnos(segment))
        docnos.finish()
        if all("document_terms" in segment.folder for segment in segments):
            _merge_document_terms(segments, terms.ranks, live, folder, workers)
        if all("texts" in segment.folder for segment in segments):
            _merge_texts(segments, live, folder)
        if all("columns" in segment.folder for segment in segments):
            _merge_columns(segments, live, folder)
        data = folder.finish()
    # The sum of the lengths may differ from this number, if another engine stated the lengths.
    tokens = sum(segment.entry.live.tokens for segment in segments)
    stated = any(segment.entry.stated for segment in segments)
    docs = sum(segment.live for segment in segments)
    return SegmentEntry(directory.name, docs, tokens, terms.terms, terms.postings, data, stated=stated)


def live_docnos(segment: Segment) -> tuple[np.ndarray, np.ndarray]:
    """Return the docnos of the documents that are not deleted: their bytes end to end, and the size of each."""
    live = ~segment.dead
    data, sizes = segment.docnos.arrays()
    return (data, sizes) if live.all() else (data[np.repeat(live, sizes)], sizes[live])


def _merge_document_terms(
    segments: list[Segment], ranks: list[np.ndarray], live: list[np.ndarray], folder: FolderWriter, workers: Workers
) -> None:
    """Write the terms of all live documents; `ranks` has the new ordinals of the terms of each segment."""
    from sublex.index import posting_kernels

    def recode(part: tuple[int, int, int]) -> tuple[np.ndarray, np.ndarray]:
        k, begin, end = part
        counts, terms, tfs = segments[k].document_terms(begin, end)  # type: ignore[misc]
        keep = live[k][begin:end]
        keep_terms = np.repeat(keep, counts)
        return posting_kernels.encode_lists(ranks[k][terms[keep_terms]], tfs[keep_terms], counts[keep])

    def recoded() -> Iterator[tuple[np.ndarray, np.ndarray]]:
        parts = [(k, *span) for k, segment in enumerate(segments) for span in spans(segment.uniques, TERMS_PER_CALL)]
        for lists in workers.map(recode, parts):
            yield lists
            release(segments, "document_terms")

    write_document_lists(folder, recoded())


def _merge_columns(segments: list[Segment], live: list[np.ndarray], folder: FolderWriter) -> None:
    """Write the columns of the documents that are live."""
    kinds = segments[0].columns
    writer = ColumnsWriter(folder, kinds)
    for segment in segments:
        segment.expect_columns(kinds)
    for name in kinds:
        parts = [segment.column(name).rows(np.flatnonzero(mask)) for segment, mask in zip(segments, live, strict=True)]
        writer.write(name, without_unused(joined(parts)))


def _merge_texts(segments: list[Segment], live: list[np.ndarray], folder: FolderWriter) -> None:
    """Write the stored documents that are live: copy whole frames, and compress frames with deleted documents anew."""
    writer = TextsWriter(folder)
    for segment, mask in zip(segments, live, strict=True):
        texts = segment.texts
        assert texts is not None
        doc = 0
        for frame, count in enumerate(texts.counts.tolist()):
            keep = mask[doc : doc + count]
            doc += count
            if keep.all():
                writer.add(texts.compressed(frame))
            elif keep.any():
                writer.add(compress(texts.raw(frame).batch(), keep))
            if frame % TEXT_FRAMES == 0:
                release([segment], "texts")
