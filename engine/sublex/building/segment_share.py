"""A share of a segment: a segment object with only some of the documents.

The others look deleted; nothing is written.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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


def shares(segments: Sequence[Segment], number: int) -> Iterator[list[SegmentShare]]:
    """Yield shares of the live documents of segments: `number` ranges of nearly equal size, in the order of the documents."""
    docs = sum(segment.live for segment in segments)
    ends = [docs * (k + 1) // number for k in range(number)]
    for begin, end in zip([0, *ends], ends, strict=False):
        yield list(_range(segments, begin, end))


def _range(segments: Sequence[Segment], begin: int, end: int) -> Iterator[SegmentShare]:
    """Yield the shares of segments that together have the live documents from number `begin` up to `end`."""
    first = 0
    for segment in segments:
        places = first + np.cumsum(~segment.dead) - 1
        first += segment.live
        keep = ~segment.dead & (begin <= places) & (places < end)
        if keep.any():
            yield SegmentShare(segment, keep)
