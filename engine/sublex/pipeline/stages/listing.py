"""The listing stage: all documents with the score 0, in descending order of docno, which is the order of equal scores.

It comes before filters that have no stage before them. It also answers queries that name values of columns but no
words.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from sublex.contracts.base import Explanation
from sublex.index.snapshot import Snapshot
from sublex.language.expression import Expression
from sublex.pipeline.stages.mask import first_passing
from sublex.pipeline.stages.stage import Scoring, State
from sublex.retrieval.hits import Hits


class Everything(Expression):
    """The expression of the listing stage. Users cannot write it."""

    def __str__(self) -> str:
        return "all documents"


class Listing:
    """The live documents of a snapshot in descending order of docno."""

    def __init__(self, snapshot: Snapshot):
        self.snapshot = snapshot

    @cached_property
    def docs(self) -> np.ndarray:
        """The numbers of the documents."""
        is_live = np.zeros(int(self.snapshot.bases[-1]), bool)
        is_live[self.snapshot.corpus.docs] = True
        docs = self.snapshot.docs_by_docno[::-1]
        return docs[is_live[docs]]

    def start(self, state: State) -> Scoring:
        """Return the listing of the documents that pass the masks of a state."""
        return ListScoring(self, state)


class ListScoring(Scoring):
    """The listing of all documents that pass the masks of one `State`. By default `find` returns all of them."""

    def __init__(self, listing: Listing, state: State):
        self.listing, self.state = listing, state

    def find(self, k: int | None = None) -> Hits:
        docs, masks = self.listing.docs, self.state.binding
        most = len(docs) if k is None else k
        found = docs[first_passing(masks, docs, most)] if masks else docs[:most]
        return Hits(self.listing.snapshot, found, np.zeros(len(found), np.float32))

    def scores(self, docs: np.ndarray) -> np.ndarray:
        return np.zeros(len(docs), np.float32)

    def explain(self, doc: int) -> Explanation:
        return Explanation(0.0, "documents are listed without scores")
