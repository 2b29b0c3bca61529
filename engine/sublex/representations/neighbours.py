"""Find the nearest documents of each document, for each pair of segments, and store them as lists.

For each document of one segment, the lists of a pair of segments have its nearest documents in the other. They depend
only on the vectors of both segments, so they are valid until one of these is merged.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from sublex.contracts.stored import Numbers, Sizes
from sublex.index.directory import Directory
from sublex.index.entries import FolderEntry
from sublex.index.format import FolderWriter
from sublex.index.segment import Segment
from sublex.representations.clusters import Clusters, grouped, nearest_centres
from sublex.representations.model_store import StoreReader, StoreWriter
from sublex.representations.sketch import Run, VectorSource, units_of

# The number of neighbours stored for each document and pair of segments. It is more than a query can ask for, because
# some neighbours may be deleted later.
STORED = 24
# A query can ask for at most this number of neighbours.
MOST = 16
# In a pair of segments with at most this number of pairs of documents, all pairs are compared. Larger ones are
# compared by clusters.
EXACT = 100_000**2
# The number of products of vectors that are computed at a time.
AT_ONCE = 1 << 23
# The number of vectors whose nearest documents are looked for in clusters at a time.
PER_BLOCK = 8192
# The largest errors of products in float32: a constant part, and a part for each entry of the vectors.
MARGIN, PER_ENTRY = 1e-6, 1.2e-7
# The declarations of lists: numbers of documents of the other segment, or -1, and cosines.
NO_NEIGHBOUR = -1
COSINES = Numbers((None, STORED), "f4", 0, 1)


class NeighbourLists(NamedTuple):
    """For each document of a segment, the nearest documents of another segment, nearest first, with their cosines.

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
    """The vectors of a segment's documents, scaled to norm 1 as float32, and the order of the documents' docnos.

    `ranks` has the place of each docno in the order of their bytes. The vector of a deleted document is 0.
    """

    units: np.ndarray
    ranks: np.ndarray

    @classmethod
    def of(cls, source: VectorSource, run: Run = map) -> UnitVectors:
        """Return the vectors of the documents of a segment."""
        blocks = run(lambda block: unit_rows(source.rows(block)), source.inputs.blocks(source.segment))
        return cls.of_blocks(list(blocks), source.segment)

    @classmethod
    def of_blocks(cls, blocks: list[np.ndarray], segment: Segment) -> UnitVectors:
        """Return the vectors of the documents of a segment, given in blocks of vectors of norm 1 or 0."""
        units = np.ascontiguousarray(np.concatenate(blocks))
        units[segment.dead] = 0
        return cls(units, ranks_of(segment))

    @property
    def nbytes(self) -> int:
        """The bytes of the vectors."""
        return self.units.nbytes


def unit_rows(rows: Any) -> np.ndarray:
    """Return rows, dense or sparse, as dense vectors of norm 1 or 0, float32."""
    dense = rows.toarray() if hasattr(rows, "indptr") else rows
    return units_of(np.asarray(dense, np.float64))[0].astype(np.float32)


def ranks_of(segment: Segment) -> np.ndarray:
    """Return the place of each document's docno in the order of their bytes, int32."""
    ranks = np.empty(segment.docs, np.int32)
    ranks[segment.docno_order] = np.arange(segment.docs, dtype=np.int32)
    return ranks


def nearest(some: np.ndarray, others: UnitVectors, first: int = -1, run: Run = map) -> Iterator[NeighbourLists]:
    """Yield, in blocks, the nearest documents of each of the vectors `some` among the documents of a segment.

    `others` has the vectors of that segment. If `first` is not negative, `some` are vectors of the same segment, from
    document `first` on; no document is its own neighbour.
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


def in_order(blocks: Iterable[NeighbourLists]) -> Iterator[tuple[slice, NeighbourLists]]:
    """Yield (places, block) for consecutive blocks of lists; `places` is the slice that a block takes in all lists."""
    place = 0
    for lists in blocks:
        yield slice(place, place := place + len(lists.docs)), lists


def likely_nearest(
    some: np.ndarray, others: UnitVectors, clusters: Clusters, first: int = -1, run: Run = map
) -> Iterator[tuple[np.ndarray, NeighbourLists]]:
    """Yield, in blocks, the likely nearest documents of the vectors `some` among the documents of a large segment.

    Each item is (places, lists): the places of vectors in `some`, and their lists. The nearest documents of a vector
    are looked for in the clusters nearest to it, so a few of them may be missing. A vector that is 0 is not among the
    results, and has no neighbours. `others` and `first` are as in `nearest`.
    """
    from sublex.representations import neighbour_kernels

    there = np.flatnonzero(some.any(axis=1)) if len(clusters.centres) else np.empty(0, np.int64)
    # Vectors of one cluster stand together, because they look into the same clusters.
    there = there[np.argsort(nearest_centres(some[there], clusters.centres, run), kind="stable")]
    margin = MARGIN + PER_ENTRY * some.shape[1]

    def block(begin: int) -> tuple[np.ndarray, NeighbourLists]:
        rows = there[begin : begin + PER_BLOCK]
        vectors, own = some[rows], np.int64(first) + rows if first >= 0 else np.full(len(rows), -1)
        lists, probes = NeighbourLists.empty(len(rows)), clusters.probes(vectors)
        places = np.repeat(np.arange(len(rows)), probes.shape[1])
        for number, looking in enumerate(grouped(places, probes.ravel(), len(clusters.members))):
            if len(looking):
                members = clusters.members[number]
                estimates = vectors[looking] @ others.units[members].T
                neighbour_kernels.merge(
                    estimates, looking, members, own, vectors, others.units, others.ranks, margin, *lists
                )
        return rows, lists

    yield from run(block, range(0, len(there), PER_BLOCK))


def names_of(one: str, other: str) -> tuple[str, str]:
    """Return the names under which the lists of a pair of segments are stored."""
    return f"docs_{one}_{other}", f"cosines_{one}_{other}"


def write_lists(directory: Directory, lists: dict[tuple[str, str], NeighbourLists]) -> FolderEntry:
    """Write lists to a folder, by the names of both segments. Return the manifest's entry for the folder."""
    directory.remove()
    with FolderWriter(directory) as folder:
        store = StoreWriter(folder)
        for pair, own in lists.items():
            for name, values in zip(names_of(*pair), own, strict=True):
                store.put(name, values)
        return store.finish()


def read_lists(directory: Directory, entry: FolderEntry, one: Segment, other: Segment) -> NeighbourLists | None:
    """Return the lists of a pair of segments, or None if the folder does not have them.

    Raise `IndexCorrupt` if the lists do not fit both segments.
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
