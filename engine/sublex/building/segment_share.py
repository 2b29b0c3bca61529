"""A share of a segment: a segment object with only some of the documents.

The others look deleted; nothing is written.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from sublex.building.deletions import frequencies_in
from sublex.index.entries import DeletedEntry, FolderEntry
from sublex.index.segment import Segment


class SegmentShare(Segment):
    """A segment with only the documents of the mask `keep`. These documents must be live."""

    def __init__(self, segment: Segment, keep: np.ndarray):
        super().__init__(segment.directory, segment.entry)
        self.fields = segment.fields
        self._gone, self._keep = frequencies_in(segment, ~keep), keep
        # Another engine may have stated lengths that differ from the sums of frequencies.
        tokens = segment.entry.tokens - int(segment.lengths[keep].sum(dtype=np.int64))
        gone = DeletedEntry("", int((~keep).sum()), tokens, int(self._gone[0].sum()), FolderEntry({}, ""))
        self.entry = segment.entry._replace(deleted=gone)

    @cached_property
    def dead(self) -> np.ndarray:
        return ~self._keep

    @property
    def live(self) -> int:
        return int(self._keep.sum())

    @cached_property
    def live_df(self) -> np.ndarray:
        return self.df.astype(np.int64) - self._gone[0]

    @cached_property
    def live_cf(self) -> np.ndarray:
        return self.cf.astype(np.int64) - self._gone[1]
