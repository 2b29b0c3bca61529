"""Deletions: find documents by their docnos in the segments of an index, and write the tombstones that mark them as deleted."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from sublex.errors import InputError
from sublex.index.components.tombstones import write_tombstones
from sublex.index.entries import SegmentEntry
from sublex.index.format import FolderWriter
from sublex.index.offsets import POSTINGS_PER_CALL
from sublex.index.segment import Segment


def delete_documents(segments: list[Segment], docnos: Iterable[str], generation: int) -> tuple[SegmentEntry, ...]:
    """Delete the documents with these docnos: write tombstones for `generation`. Return the entries of all segments.

    Raise `InputError` if no live document has one of the docnos.
    """
    doomed: list[list[int]] = [[] for _ in segments]
    for docno in dict.fromkeys(docnos):
        places = [(k, doc) for k, segment in enumerate(segments) if (doc := segment.find_docno(docno)) is not None]
        if not places:
            raise InputError(f"No document {docno or repr(docno)} in the index, so nothing was deleted.")
        doomed[places[0][0]].append(places[0][1])
    return tuple(
        with_tombstones(segment, np.union1d(np.flatnonzero(segment.dead), docs), generation) if docs else segment.entry
        for segment, docs in zip(segments, doomed, strict=True)
    )


def with_tombstones(segment: Segment, docs: np.ndarray, generation: int) -> SegmentEntry:
    """Write the tombstones of a segment for a generation, and return the segment's new entry in the manifest.

    `docs` are all deleted documents of the segment, both those that were deleted before and those that are deleted now.
    """
    dead = np.zeros(segment.docs, np.bool_)
    dead[docs] = True
    df, cf = frequencies_in(segment, dead)
    with FolderWriter(segment.directory / f"deleted-{generation}") as folder:
        return segment.entry._replace(deleted=write_tombstones(folder, dead, df, cf))


def frequencies_in(segment: Segment, docs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the document frequency and the collection frequency of each term within the documents of the mask `docs`."""
    from sublex.building import merge_kernels

    df, cf = np.zeros(len(segment.terms), np.int64), np.zeros(len(segment.terms), np.int64)
    for begin, end in segment.spans(POSTINGS_PER_CALL):
        counts = segment.df[begin:end].astype(np.int64)
        merge_kernels.count_dead(*segment.postings(begin, end), counts, docs, df[begin:end], cf[begin:end])
    return df, cf
