"""What a search finds: documents and scores as columns, best first; docnos are looked up when they are asked for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from sublex.errors import IndexProblem
from sublex.index.snapshot import Snapshot


class Hit(NamedTuple):
    """One document found."""

    rank: int
    docno: str
    score: float
    doc: int


class Hits:
    """Documents, best first, with their scores."""

    def __init__(self, index: Snapshot, docs: np.ndarray, scores: np.ndarray):
        self.index, self.docs, self.scores = index, docs, scores
        self._generation = index.generation

    def __len__(self) -> int:
        return len(self.docs)

    def __getitem__(self, k: int) -> Hit:
        doc = int(self.docs[k])
        return Hit(range(1, len(self) + 1)[k], self._docno(doc), float(self.scores[k]), doc)

    def _docno(self, doc: int) -> str:
        if self.index.generation != self._generation:
            raise IndexProblem(f"{self.index.path} has changed since these hits were found; search again.")
        return self.index.docno(doc)

    def __iter__(self) -> Iterator[Hit]:
        return (self[k] for k in range(len(self)))

    def __repr__(self) -> str:
        return f"<{len(self):,} hits>"

    @property
    def docnos(self) -> list[str]:
        """The docnos, best first."""
        return [self._docno(doc) for doc in self.docs.tolist()]

    @classmethod
    def ranked(cls, index: Snapshot, docs: np.ndarray, scores: np.ndarray) -> Hits:
        """Documents in the order of their scores, rounded to float32, and of their docnos where these are equal."""
        rounded = scores.astype(np.float32) + np.float32(0)  # There is no -0 here.
        order = np.lexsort((index.docno_ranks[docs], rounded))[::-1]
        return cls(index, docs[order], rounded[order])

    @classmethod
    def none(cls, index: Snapshot) -> Hits:
        """Nothing found."""
        return cls(index, np.empty(0, np.int32), np.empty(0, np.float32))

    def first(self, k: int) -> Hits:
        """The best k."""
        return Hits(self.index, self.docs[:k], self.scores[:k])
