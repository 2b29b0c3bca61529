"""The graph of a smoother on a snapshot: the nearest documents of any document, over all segments.

Lists are stored for each pair of segments. A reader merges them and leaves out deleted documents. So a graph that grew
with its index has the same neighbours as a newly fitted graph.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from sublex.errors import IndexCorrupt, IndexProblem, PluginError
from sublex.index.directory import Directory
from sublex.index.manifest import REPRESENTATIONS
from sublex.index.snapshot import Snapshot
from sublex.language.plugins import Component
from sublex.representations.identity import Namer
from sublex.representations.loaded import LoadedModel, LoadedRepresentation
from sublex.representations.neighbours import MOST, NO_NEIGHBOUR, NeighbourLists, read_lists
from sublex.representations.sketch import VectorSource
from sublex.representations.sparse_neighbours import DocumentVectors, nearest_of, vectors_of
from sublex.representations.stored_models import advising_refit, not_fitted
from sublex.tools.messages import Message, Step, counted


class LoadedGraph(LoadedModel):
    """The graph of a smoother, such as `near`, on a snapshot. `over` is the representation whose vectors it compares.

    `uncovered` counts the live documents of segments without lists; they have no neighbours. If the number is not 0, an
    error is raised unless `allow_uncovered` is set.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        component: Component,
        namer: Namer,
        over: LoadedRepresentation,
        allow_uncovered: bool = False,
    ):
        super().__init__(snapshot, component, namer)
        self.over = over
        if not 1 <= self.model.k <= MOST:
            raise PluginError(f"{self.name} asks for {self.model.k} near documents; the engine gives 1 to {MOST}.")
        known = self._entry.rows.get(self._identity.rows)
        if known is None:
            raise IndexProblem(not_fitted(snapshot.path, component, snapshot.fitted))
        self._segments, self._stored = tuple(snapshot.segments), known.segments
        self.uncovered = sum(segment.live for segment in self._segments if segment.name not in self._stored)
        if self.uncovered and not allow_uncovered:
            problem = f"{self.name} does not cover {counted(self.uncovered, 'document')} of {snapshot.path}"
            raise IndexProblem(Message(problem, "; run: ", Step("fit", snapshot.path, component, update=True)))
        self._bases = self.view.bases.tolist()
        self._dead = np.concatenate([segment.dead for segment in self._segments])
        self._read: dict[tuple[int, int], NeighbourLists] = {}
        self._vectors: dict[int, DocumentVectors] = {}

    def _coverage(self) -> dict[str, Any]:
        sizes = (sum(own.data.components.values()) for own in self._stored.values())
        return {"documents": sum(segment.live for segment in self._segments), "bytes of the lists": sum(sizes)}

    def neighbours(self, docs: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the numbers of the k nearest documents of each document, nearest first, and their cosines.

        Neighbours with equal cosines are ordered by docno. A row with too few neighbours ends with -1 and the cosine 0.
        """
        found = np.full((len(docs), k), NO_NEIGHBOUR, np.int64)
        cosines = np.zeros((len(docs), k), np.float32)
        places = np.searchsorted(self._bases[1:-1], docs, side="right")
        for number in np.unique(places).tolist():
            if self._segments[number].name in self._stored:
                chosen = np.flatnonzero(places == number)
                found[chosen], cosines[chosen] = self._of_segment(number, docs[chosen] - self._bases[number], k)
        return found, cosines

    def nearest(self, docs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return as many neighbours of each document as the smoother asks for, with their cosines; see `neighbours`."""
        return self.neighbours(docs, self.model.k)

    def _of_segment(self, number: int, local: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the k nearest documents of some documents of segment `number`, as `neighbours` does.

        `local` has the numbers of the documents within the segment.
        """
        parts = [
            self._among(number, other, local, k)
            for other, segment in enumerate(self._segments)
            if segment.name in self._stored
        ]
        docs, cosines = (np.concatenate(part, axis=1) for part in zip(*parts, strict=True))
        if len(parts) == 1 and (cosines[:, 1:] <= cosines[:, :-1]).all():
            # A stored list is in this order already, unless a document in it was deleted.
            docs, cosines = docs[:, :k], cosines[:, :k]
            return np.where(cosines > 0, docs, NO_NEIGHBOUR), cosines
        ranks = self.snapshot.docno_ranks[docs]
        order = np.lexsort((ranks, -cosines), axis=1)[:, :k]
        docs, cosines = np.take_along_axis(docs, order, 1), np.take_along_axis(cosines, order, 1)
        return np.where(cosines > 0, docs, NO_NEIGHBOUR), cosines

    def _among(self, number: int, other: int, local: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the neighbours in segment `other` of some documents in segment `number`, and their cosines.

        The neighbours are given by their numbers in the index. `local` has the numbers of the documents within the
        segment. A place without a live neighbour has the cosine 0. If fewer than k documents of a full list are live,
        the list is computed anew.
        """
        lists = self._lists(number, other)
        docs, cosines = np.array(lists.docs[local], np.int64), np.array(lists.cosines[local])
        is_there = (docs != NO_NEIGHBOUR) & (cosines > 0)
        docs = np.where(is_there, docs + self._bases[other], 0)
        live = is_there & ~self._dead[docs]
        short = np.flatnonzero((live.sum(axis=1) < k) & is_there.all(axis=1))
        cosines[~live] = 0
        for row in short.tolist():
            place = int(local[row])
            vector = self._vectors_of(number).units[place : place + 1]
            (anew,) = nearest_of(vector, self._vectors_of(other), place if number == other else -1)
            docs[row], cosines[row] = np.maximum(anew.docs[0], 0) + self._bases[other], anew.cosines[0]
        return docs, cosines

    def _vectors_of(self, number: int) -> DocumentVectors:
        """Return the vectors of the live documents of a segment, which are computed on first use."""
        if number not in self._vectors:
            source = VectorSource(self.over.model, self.over.inputs, self._segments[number], self.over.name)
            self._vectors[number] = vectors_of(source)
        return self._vectors[number]

    def _lists(self, number: int, other: int) -> NeighbourLists:
        """Return the lists of one segment's documents with neighbours in another segment. They are read on first use."""
        if (number, other) not in self._read:
            self._read[number, other] = self._read_lists(number, other)
        return self._read[number, other]

    def _read_lists(self, number: int, other: int) -> NeighbourLists:
        one, two = self._segments[number], self._segments[other]
        with advising_refit(self.snapshot.path, self._entry.expression):
            for segment in (one, two):
                found = read_lists(self._place / segment.name, self._stored[segment.name].data, one, two)
                if found is not None:
                    return found
            raise IndexCorrupt(
                f"{self._place.path} has no neighbours of segment {one.name} in {two.name}; fit it again."
            )

    @cached_property
    def _place(self) -> Directory:
        """The folder of the lists."""
        return Directory(self.snapshot.path) / REPRESENTATIONS / self._identity.model / self._identity.rows
