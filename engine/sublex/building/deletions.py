"""Deletions: find documents by their docnos in the segments of an index, and write the tombstones that mark them as deleted."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from sublex.errors import InputError
from sublex.index.components.tombstones import write_tombstones
from sublex.index.format import FolderWriter
from sublex.index.manifest import Manifest
from sublex.index.offsets import POSTINGS_PER_CALL
from sublex.index.segment import Segment


def delete_documents(segments: list[Segment], docnos: Iterable[str], new: Manifest) -> None:
    """Mark the documents with these docnos as deleted: write tombstones, and record these files in the manifest `new`."""
    doomed: list[list[int]] = [[] for _ in segments]
    for docno in dict.fromkeys(docnos):
        places = [(k, doc) for k, segment in enumerate(segments) if (doc := segment.find_docno(docno)) is not None]
        if not places:
            raise InputError(f"No document {docno or repr(docno)} in the index, so nothing was deleted.")
        doomed[places[0][0]].append(places[0][1])
    for k, (segment, docs) in enumerate(zip(segments, doomed, strict=True)):
        if docs:
            dead = np.union1d(np.flatnonzero(segment.dead), docs)
            new["segments"][k] = dict(segment.entry) | {"deleted": put_tombstones(segment, dead, new["generation"])}


def put_tombstones(segment: Segment, docs: np.ndarray, generation: int) -> dict[str, Any]:
    """Write the tombstones of a generation for `docs`, which are all deleted documents of a segment. Return their manifest entry."""
    from sublex.building import merge_kernels

    dead = np.zeros(segment.docs, np.bool_)
    dead[docs] = True
    df, cf = np.zeros(len(segment.terms), np.int64), np.zeros(len(segment.terms), np.int64)
    for begin, end in segment.spans(POSTINGS_PER_CALL):
        counts = segment.df[begin:end].astype(np.int64)
        merge_kernels.count_dead(*segment.postings(begin, end), counts, dead, df[begin:end], cf[begin:end])
    with FolderWriter(segment.directory / f"deleted-{generation}") as folder:
        return write_tombstones(folder, dead, df, cf)
