"""A segment while it is built: term counts and docnos stay in memory, and stored texts go to the disk at once.

`count_batch` does the expensive work for one batch and may run in any thread; `MemorySegment.add` takes the results in order.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sublex.analysis.tokens import RawTokens
from sublex.building.build_settings import BuildSettings
from sublex.building.columns import BatchColumns, ColumnsCollector, read_columns
from sublex.building.inverter import BatchCounts, Inverter, count_terms
from sublex.building.vocabulary import TokenTerms
from sublex.index.components.docnos import DocnosWriter
from sublex.index.components.texts import CompressedFrames, TextsWriter, compress
from sublex.index.directory import Directory
from sublex.index.entries import SegmentEntry
from sublex.index.format import FolderWriter
from sublex.readers.batch import Batch
from sublex.tools.workers import Workers


class CountedBatch(NamedTuple):
    """A batch with its term counts and compressed texts. `keep` is the mask of the documents that are indexed.

    `numbers` has the numbers of the batch's distinct raw tokens in the segment.
    """

    batch: Batch
    keep: np.ndarray
    numbers: np.ndarray
    counts: BatchCounts
    texts: CompressedFrames | None
    columns: BatchColumns | None


def count_batch(
    batch: Batch,
    tokens: RawTokens,
    field_ends: np.ndarray | None,
    keep: np.ndarray,
    numbers: np.ndarray,
    token_terms: TokenTerms,
    settings: BuildSettings,
) -> CountedBatch:
    """Count the terms of a batch, and compress its documents if texts are stored. Any thread may call this.

    For positions and for fields, `field_ends` says where the raw tokens of each document's content fields end.
    `tokens` to `token_terms` are passed to `inverter.count_terms`.
    """
    store, columns, has_fields = settings.store, settings.columns, bool(settings.fields)
    counts = count_terms(tokens, keep, numbers, token_terms, field_ends, "positions" in store, has_fields)
    texts = compress(batch, keep) if "text" in store else None
    return CountedBatch(batch, keep, numbers, counts, texts, read_columns(batch, keep, columns) if columns else None)


class MemorySegment:
    """A segment that is being built.

    Its folder exists from the start, because stored texts are written to it at once.
    """

    def __init__(self, directory: Directory, settings: BuildSettings):
        store, columns = settings.store, settings.columns
        self.directory, self._store = directory, store
        self._folder = FolderWriter(directory)
        self.inverter = Inverter(settings.analyzer, self._folder, "positions" in store, len(settings.contents))
        self._docnos = DocnosWriter(self._folder)
        self._texts = TextsWriter(self._folder) if "text" in store else None
        self._columns = ColumnsCollector(self._folder, columns) if columns else None

    @property
    def docs(self) -> int:
        """The number of documents added."""
        return self.inverter.docs

    @property
    def nbytes(self) -> int:
        """An upper bound of the memory, in bytes, that is needed to hold the segment and to write it."""
        return self.inverter.nbytes + self._docnos.nbytes + (self._columns.nbytes if self._columns else 0)

    def add(self, counted: CountedBatch) -> list[str]:
        """Add a batch and return the docnos of its documents without terms. Batches must come in order."""
        batch, keep = counted.batch, counted.keep
        kept = np.flatnonzero(keep)
        sizes = np.diff(batch.docno_ends, prepend=0)
        self._docnos.add(batch.docnos[np.repeat(keep, sizes)], sizes[kept])
        self.inverter.add(counted.counts, counted.numbers)
        if self._texts and counted.texts:
            self._texts.add(counted.texts)
        if self._columns and counted.columns:
            self._columns.add(counted.columns)
        return [batch.docno(place) for place in kept[counted.counts.lengths == 0].tolist()]

    def write(self, workers: Workers, spill: bool) -> SegmentEntry:
        """Write everything and return the segment's entry for the manifest.

        With `spill`, write all raw forms of the terms too.
        """
        with workers.in_background(self._docnos.finish):
            totals = self.inverter.write(workers, "terms" in self._store, spill)
        if self._columns:
            self._columns.finish()
        return SegmentEntry(self.directory.name, self.docs, *totals, self._folder.finish())

    def close(self) -> None:
        """Close all files, even if the segment was not written."""
        self._folder.close()
