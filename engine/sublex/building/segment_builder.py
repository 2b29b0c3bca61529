"""Building a segment from batches of documents, within a limit of memory.

When the memory is full, the documents read so far are written as a spill, which is a complete segment. At the end the
spills are merged. The resulting bytes depend on the documents alone, never on the number of workers or on the memory.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from sublex.analysis.tokens import RawTokens, reads_latex, tokenize
from sublex.building.build_settings import BuildSettings
from sublex.building.build_summary import BuildSummary
from sublex.building.columns import ColumnCounts
from sublex.building.duplicates import Duplicates
from sublex.building.journal import BuildJournal, read_journal, write_journal
from sublex.building.memory_segment import CountedBatch, MemorySegment, count_batch
from sublex.building.merge import merge_segments
from sublex.index.directory import Directory
from sublex.index.entries import SegmentEntry
from sublex.index.segment import Segment
from sublex.readers.batch import Batch, MakeBatch, content_parts
from sublex.tools.files import allow_many_files
from sublex.tools.workers import Workers

# The folder of the finished segment within the folder of the build.
SEGMENT = "segment"
# A function that is called with the number of documents indexed so far, and once more when all documents are read.
Progress = Callable[[int], None]
_SPACE = re.compile(r"\s")


class SegmentBuilder:
    """Builds one segment in `folder`, which holds the unfinished files.

    `known` yields the docnos that are already in the index, as pairs of arrays: the bytes of docnos end to end, and the
    size of each docno.
    """

    def __init__(self, folder: Directory, settings: BuildSettings, known: Iterable[tuple[np.ndarray, np.ndarray]] = ()):
        self.folder, self.settings = folder, settings
        self.summary = BuildSummary()
        self.duplicates = Duplicates(settings.duplicates, known)
        self.columns = ColumnCounts(settings.columns)
        self._spills: list[SegmentEntry] = []
        self._batches = self._docs = 0

    def run(self, batch_makers: Iterable[MakeBatch], progress: Progress, sources: Any = None) -> SegmentEntry:
        """Index all batches. Return the segment's entry for the manifest; its files are in `folder / SEGMENT`.

        `sources` identifies the input for a later `resume`. It is None if the input cannot be read a second time.
        """
        with Workers(self.settings.workers) as workers:
            # The call below frees the last segment when it returns. The merge of the spills can then use all the
            # memory.
            entry = self._index_batches(batch_makers, progress, workers, sources)
            if entry is None:
                _give_back_memory()
                entry = self._merge_spills(workers)
            return entry

    def _index_batches(
        self, batch_makers: Iterable[MakeBatch], progress: Progress, workers: Workers, sources: Any
    ) -> SegmentEntry | None:
        """Index all batches.

        Return the segment's entry for the manifest, or None if there are spills, which the caller must merge.
        """
        count = partial(count_batch, settings=self.settings)
        segment = self._start_segment()
        try:
            counting = workers.queue()
            # `map` makes and tokenizes batches in the threads, ahead of this loop.
            make = partial(_make_and_tokenize, latex=reads_latex(self.settings.analyzer), fields=self.settings.located)
            for batch, tokens, field_ends in workers.map(make, islice(batch_makers, self._batches, None)):
                keep = self._select(batch)
                numbers = segment.inverter.vocabulary.number(batch.text, tokens)
                token_terms = segment.inverter.vocabulary.token_terms()
                counting.submit(count, batch, tokens, field_ends, keep, numbers, token_terms)
                self._batches += 1
                self._collect(counting.ready(), segment, progress)
                if segment.docs and segment.nbytes >= self._memory_for_segment():
                    self._collect(counting.rest(), segment, progress)
                    self._spill(segment, workers, sources)
                    segment = self._start_segment()
                    _give_back_memory()
            self._collect(counting.rest(), segment, progress)
            self.columns.refuse_two_types()
            self.duplicates.forget()
            progress(self._docs)
            if not self._spills:
                return self._finish(segment, workers)
            if segment.docs:
                self._spill(segment, workers, sources)
            return None
        finally:
            segment.close()

    def _start_segment(self) -> MemorySegment:
        return MemorySegment(self.folder / f"spill-{len(self._spills):04}", self.settings)

    def _memory_for_segment(self) -> int:
        """Return the bytes that the segment in memory may take.

        The table of docnos grows until all documents are read, and takes memory from the segment. The segment always
        keeps a quarter of the memory.
        """
        return max(self.settings.memory - self.duplicates.nbytes, self.settings.memory // 4)

    def _select(self, batch: Batch) -> np.ndarray:
        """Return the mask of the documents of a batch to index, and note unusual documents in the summary."""
        self.summary.add_report(batch.report)
        keep, repeated = self.duplicates.select(batch)
        self.summary.duplicate += repeated
        if len(batch.docnos) and (batch.docnos.min() <= 32 or batch.docnos.max() >= 128):
            self.summary.white_space += [d for d in map(batch.docno, range(len(batch))) if _SPACE.search(d)]
        self.summary.read += len(batch)
        return keep

    def _collect(self, counted_batches: Iterator[CountedBatch], segment: MemorySegment, progress: Progress) -> None:
        """Add counted batches to the segment, and call `progress` after each."""
        for counted in counted_batches:
            self.summary.empty += segment.add(counted)
            if counted.columns:
                self.columns.add(counted.columns)
            self._docs += int(counted.keep.sum())
            progress(self._docs)

    def _spill(self, segment: MemorySegment, workers: Workers, sources: Any) -> None:
        """Write the segment as a spill, and the journal."""
        # A journal does not record faulty values of columns, so a build that has some ends here.
        self.columns.refuse_two_types()
        _give_back_memory()
        self._spills.append(segment.write(workers, spill=True))
        outcome = self.summary.outcome()
        write_journal(self.folder, BuildJournal(sources, self._batches, self._docs, self._spills, outcome))

    def _finish(self, segment: MemorySegment, workers: Workers) -> SegmentEntry:
        """Write the segment as the result of the build."""
        # A small build stays within its memory anyway, and is faster if it uses freed memory again.
        if segment.nbytes >= self.settings.memory // 2:
            _give_back_memory()
        entry = segment.write(workers, spill=False)
        segment.directory.move(self.folder / SEGMENT)
        return entry._replace(name=SEGMENT)

    def _merge_spills(self, workers: Workers) -> SegmentEntry:
        """Merge all spills into the result of the build."""
        allow_many_files()
        spills = [Segment(self.folder / spill.name, spill) for spill in self._spills]
        return merge_segments(spills, self.folder / SEGMENT, workers)

    def resume(self, sources: Any) -> None:
        """Take over the spills of the interrupted build in `folder`.

        `run` then skips the batches that these spills contain.

        Raises `InputError` if the sources or settings have changed. Without a journal the build starts from the beginning.
        """
        if found := read_journal(self.folder, sources):
            journal, self.summary = found
            self._batches, self._docs, self._spills = journal.batches, journal.docs, journal.spills
        for spill in self._spills:
            segment = Segment(self.folder / spill.name, spill)
            self.duplicates.add_known(*segment.docnos.arrays())
            self.columns.add_known(segment)
        finished = {spill.name for spill in self._spills}
        for folder in self.folder.folders():
            if folder.name not in finished:
                folder.remove()


def _give_back_memory() -> None:
    """Give freed memory back to the system.

    GNU's C library keeps freed memory for the next request; other C libraries have no such function.
    """
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)


def _make_and_tokenize(
    make: MakeBatch, latex: bool, fields: tuple[str, ...]
) -> tuple[Batch, RawTokens, np.ndarray | None]:
    """Make a batch and cut its texts into raw tokens.

    If `fields` names content fields, the contents of the batch include all these fields, with a newline between them,
    so that no raw token crosses the end of a field. The third result then says where the raw tokens of each field end
    in each document; otherwise it is None.
    """
    batch = make()
    if not fields:
        return batch, tokenize(batch.text, batch.text_ends, latex), None
    batch, ends = content_parts(batch, fields[2:])
    tokens = tokenize(batch.text, ends.ravel(), latex)
    field_ends = tokens.ends.reshape(ends.shape)
    return batch, tokens._replace(ends=field_ends[:, -1].copy()), field_ends
