"""`LivePostings`: the postings and documents of all segments of an index as a `PostingsSource`, without deleted documents."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sublex.building.merge import live_docnos
from sublex.building.term_merge import count_live_terms, live_postings
from sublex.contracts.foreign import DocumentsBatch, PostingsBatch
from sublex.index.snapshot import Snapshot
from sublex.tools.strings import Strings
from sublex.tools.workers import Workers


class LivePostings:
    """A `PostingsSource` that reads a snapshot. Documents get new numbers without gaps, in the order of the index."""

    def __init__(self, snapshot: Snapshot, workers: Workers):
        self._segments, self._workers = snapshot.segments, workers
        self.name = str(snapshot.path)
        self.docs, self.tokens = snapshot.statistics.docs, snapshot.statistics.tokens

    @property
    def terms(self) -> int:
        """The number of terms in live documents."""
        return count_live_terms(self._segments)

    def postings(self) -> Iterator[PostingsBatch]:
        """Yield the posting lists of all terms in live documents, in ascending order of the terms' bytes."""
        return live_postings(self._segments, self._workers)

    def documents(self) -> Iterator[DocumentsBatch]:
        """Yield the docnos and the lengths of the live documents, segment after segment."""
        for segment in self._segments:
            docnos = Strings.joined(*live_docnos(segment))
            yield DocumentsBatch(docnos, segment.lengths[~segment.dead].astype(np.int64))
