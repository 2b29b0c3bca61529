"""The nearest documents of each document, by pair of segments: finding them, and the lists that are stored.

The lists of a pair of segments have, for each document of one, its nearest documents of the other. They depend on the
vectors of both segments alone, so they stay as they are until one of the two is merged.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from sublex.contracts.stored import Numbers, Sizes
from sublex.index.directory import Directory
from sublex.index.entries import FolderEntry
from sublex.index.format import FolderWriter
from sublex.index.segment import Segment
from sublex.representations.finding import SketchedSegment, find
from sublex.representations.model_store import StoreReader, StoreWriter
from sublex.representations.sketch import Run, Sketch, VectorSource, units_of

# Neighbours that are stored for each document and pair of segments. More than a query can ask for, since some may be deleted.
STORED = 24
# The most neighbours that a query can ask for.
MOST = 16
# Pairs of segments with at most this number of pairs of documents are compared in full; others by sketches of their vectors.
EXACT = 100_000**2
# Products of vectors that are computed at a time.
AT_ONCE = 1 << 23
# Documents that are compared by a sketch at a time.
PER_BLOCK = 256
# The errors of products in float32: for any vectors, and for each entry.
MARGIN, PER_ENTRY = 1e-6, 1.2e-7
# What a list may hold: the numbers of documents of the other segment, or -1, and their cosines.
NO_NEIGHBOUR = -1
COSINES = Numbers((None, STORED), "f4", 0, 1)


class NeighbourLists(NamedTuple):
    """The nearest documents of another segment for each document of a segment, nearest first, with their cosines.

    A list that is too short ends with the number -1 and the cosine 0.
    """

    docs: np.ndarray
    cosines: np.ndarray

    @classmethod
    def empty(cls, docs: int) -> NeighbourLists:
        """Return lists without neighbours for a number of documents."""
        return cls(np.full((docs, STORED), NO_NEIGHBOUR, np.int32), np.zeros((docs, STORED), np.float32))

    @classmethod
    def stacked(cls, parts: list[NeighbourLists]) -> NeighbourLists:
        """Return the lists of several blocks of documents as one."""
        return cls(*(np.concatenate(each) for each in zip(*parts, strict=True))) if parts else cls.empty(0)


class UnitVectors(NamedTuple):
    """The vectors of a segment's documents, scaled to norm 1 as float32, and what tells the documents apart.

    `ranks` has the place of each docno in the order of their bytes. The vector of a deleted document is 0.
    """

    units: np.ndarray
    ranks: np.ndarray

    @classmethod
    def of(cls, source: VectorSource, run: Run = map) -> UnitVectors:
        """Return the vectors of the documents of a segment."""
        segment = source.segment
        blocks = run(lambda block: units_of(source.vectors(block))[0].astype(np.float32), source.inputs.blocks(segment))
        units = np.ascontiguousarray(np.concatenate(list(blocks)))
        units[segment.dead] = 0
        ranks = np.empty(segment.docs, np.int32)
        ranks[segment.docno_order] = np.arange(segment.docs, dtype=np.int32)
        return cls(units, ranks)


def nearest(some: np.ndarray, others: UnitVectors, first: int = -1, run: Run = map) -> Iterator[NeighbourLists]:
    """Yield the lists of the vectors `some` among the vectors of a segment, in blocks.

    If `first` is not negative, the vectors `some` are those of the same segment from document `first` on; no document is
    its own neighbour.
    """
    from sublex.representations import neighbour_kernels

    units, margin = others.units, MARGIN + PER_ENTRY * some.shape[1]
    step = max(1, AT_ONCE // max(1, len(units)))

    def block(begin: int) -> NeighbourLists:
        rows = np.ascontiguousarray(some[begin : begin + step])
        lists = NeighbourLists.empty(len(rows))
        place = first + begin if first >= 0 else -1
        neighbour_kernels.nearest(rows @ units.T, rows, units, others.ranks, place, margin, *lists)
        return lists

    yield from run(block, range(0, len(some), step))


def likely_nearest(
    some: np.ndarray, others: UnitVectors, sketch: Sketch, first: int = -1, run: Run = map
) -> Iterator[NeighbourLists]:
    """Yield the lists of the vectors `some` among the vectors of a large segment. The sketch finds nearly all of the nearest."""
    units = others.units
    segment = SketchedSegment(0, np.asarray(~units.any(axis=1)), sketch)

    def found(vector: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        query = vector.astype(np.float64)
        return find([segment], query, lambda docs: units[docs] @ query, STORED + 1, False, "cosine")

    def block(begin: int) -> NeighbourLists:
        vectors = some[begin : begin + PER_BLOCK]
        lists = NeighbourLists.empty(len(vectors))
        for row, vector in enumerate(vectors):
            if not vector.any() or (best := found(vector)) is None:
                continue
            docs, cosines = best[0], np.minimum(best[1], 1).astype(np.float32)
            kept = (docs != (first + begin + row if first >= 0 else -1)) & (cosines > 0)
            docs, cosines = docs[kept], cosines[kept]
            order = np.lexsort((others.ranks[docs], -cosines))[:STORED]
            lists.docs[row, : len(order)], lists.cosines[row, : len(order)] = docs[order], cosines[order]
        return lists

    yield from run(block, range(0, len(some), PER_BLOCK))


def names_of(one: str, other: str) -> tuple[str, str]:
    """Return the names under which the lists of a segment's documents among those of another are stored."""
    return f"docs_{one}_{other}", f"cosines_{one}_{other}"


def write_lists(directory: Directory, lists: dict[tuple[str, str], NeighbourLists]) -> FolderEntry:
    """Write lists, by the names of both segments, to a folder; return the manifest's entry for it."""
    directory.remove()
    with FolderWriter(directory) as folder:
        store = StoreWriter(folder)
        for pair, own in lists.items():
            for name, values in zip(names_of(*pair), own, strict=True):
                store.put(name, values)
        return store.finish()


def read_lists(directory: Directory, entry: FolderEntry, one: Segment, other: Segment) -> NeighbourLists | None:
    """Return the lists of the documents of a segment among those of another; None if the folder has none.

    Raise `IndexCorrupt` unless they fit both segments.
    """
    store = StoreReader(directory, entry)
    docs, cosines = names_of(one.name, other.name)
    if docs not in store:
        return None
    shape = (one.docs, STORED)
    numbers = Numbers(shape, "i4", NO_NEIGHBOUR, other.docs - 1)
    sizes = Sizes()
    return NeighbourLists(
        store.checked(docs, numbers, sizes), store.checked(cosines, COSINES._replace(shape=shape), sizes)
    )
