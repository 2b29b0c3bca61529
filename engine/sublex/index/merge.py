"""Merging segments into one: the spills of a build, or segments of an index.

The terms of all segments are read as sorted streams and merged. The documents keep their order, and deleted ones are left out.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple

import numpy as np

from sublex.errors import IndexCorrupt
from sublex.foreign import PostingsBatch
from sublex.index.components.docnos import DocnosWriter
from sublex.index.components.document_terms import DocumentTermsWriter
from sublex.index.components.lengths import LengthsWriter
from sublex.index.components.lexicon import LexiconWriter
from sublex.index.components.postings import EncodedPostings, PostingsWriter, encode_postings
from sublex.index.components.texts import TextsWriter, compress
from sublex.index.format import FolderWriter
from sublex.index.offsets import POSTINGS_PER_CALL, spans
from sublex.index.segment import Segment
from sublex.workers import Workers

# Terms per chunk of the merge, and terms read at a time from a segment's lexicon.
TERMS_PER_CHUNK = 1 << 16
# Blocks of texts that are copied before their memory is released.
TEXT_BLOCKS = 1 << 9


def merge_segments(segments: list[Segment], folder: FolderWriter, workers: Workers) -> dict[str, int]:
    """Write the live documents of segments, in their order, as one segment. Return its totals.

    Parts that are not stored in all of the segments are left out. The caller calls `folder.finish()`.
    """
    live = [~segment.dead for segment in segments]
    terms = _TermMerge(segments, live, workers)
    terms.write(folder)
    lengths = LengthsWriter(folder)
    docnos = DocnosWriter(folder)
    for segment, mask in zip(segments, live, strict=True):
        lengths.add(segment.lengths[mask], segment.uniques[mask])
        docnos.add(*live_docnos(segment))
    lengths.finish()
    docnos.finish()
    if all("document_terms" in segment.folder for segment in segments):
        _merge_document_terms(segments, terms.ranks, live, folder, workers)
    if all("texts" in segment.folder for segment in segments):
        _merge_texts(segments, live, folder)
    # Not the sum of the lengths: another engine may have stated other lengths.
    tokens = sum(
        segment.entry["tokens"] - (segment.entry.get("deleted") or {}).get("tokens", 0) for segment in segments
    )
    stated = {"stated": True} if any(segment.entry.get("stated") for segment in segments) else {}
    return {"docs": lengths.docs, "tokens": tokens, "terms": terms.terms, "postings": terms.postings} | stated


def live_postings(segments: list[Segment], workers: Workers) -> Iterator[PostingsBatch]:
    """Yield the posting lists of all terms over segments, ascending by term; deleted documents are left out and have no number."""
    if len(segments) == 1 and not segments[0].dead.any():
        # Nothing to merge; going through the terms one by one would take half the time.
        (segment,) = segments
        df = segment.df.astype(np.int64)
        return workers.map(
            lambda span: PostingsBatch(segment.terms.list(*span), df[slice(*span)], *segment.postings(*span)),
            segment.spans(POSTINGS_PER_CALL),
        )
    terms = _TermMerge(segments, [~segment.dead for segment in segments], workers)
    return workers.map(terms.merge, terms.chunks())


def live_docnos(segment: Segment) -> tuple[np.ndarray, np.ndarray]:
    """Return the docnos of the documents that are not deleted: their bytes end to end, and the size of each."""
    live = ~segment.dead
    data, sizes = segment.docnos.arrays()
    return (data, sizes) if live.all() else (data[np.repeat(live, sizes)], sizes[live])


def count_live_terms(segments: list[Segment]) -> int:
    """Return how many terms the documents of segments hold that are not deleted."""
    if len(segments) == 1:
        return int(np.count_nonzero(segments[0].live_df))
    streams = [_term_stream(segment, k) for k, segment in enumerate(segments)]
    live = (term for term, _, _, df in heapq.merge(*streams) if df)
    return sum(1 for _ in groupby(live))


class _Chunk(NamedTuple):
    """Consecutive terms of the merged segment.

    `ranges` has, for each source segment, the range of its ordinals that fall into the chunk, and `places` the place in the
    chunk of each of these. `origins` has, for each term of the chunk, the pairs (segment, ordinal) that it comes from.
    """

    ranges: list[tuple[int, int]]
    places: list[np.ndarray]
    df: np.ndarray
    terms: list[bytes]
    origins: list[list[tuple[int, int]]]


class _EncodedChunk(NamedTuple):
    """A chunk in the form in which it is written."""

    postings: EncodedPostings
    terms: list[bytes]
    surfaces: list[bytes]
    df: np.ndarray
    cf: np.ndarray


class _TermMerge:
    """Merges lexicons and postings. Afterwards `ranks[k]` takes the ordinals of segment k to those of the merged segment."""

    def __init__(self, segments: list[Segment], live: list[np.ndarray], workers: Workers):
        self.segments, self.workers = segments, workers
        self.ranks = [np.zeros(len(segment.terms), np.int32) for segment in segments]
        self.terms = self.postings = 0
        self._document_maps = _document_maps(live)

    def write(self, folder: FolderWriter) -> None:
        """Write lexicon and postings, chunk by chunk."""
        postings, lexicon = PostingsWriter(folder), LexiconWriter(folder)
        for chunk in self.workers.map(self._encode, self.chunks()):
            postings.add(chunk.postings)
            lexicon.add(chunk.terms, chunk.surfaces, chunk.df, chunk.cf)
            _release(self.segments, "postings", "tails", "terms")
        postings.finish()
        lexicon.finish()

    def chunks(self) -> Iterator[_Chunk]:
        """Merge the sorted lexicons of the segments and yield them in chunks, cut between terms by the number of postings
        or of terms. Also number the terms in `self.ranks`; terms without live documents are dropped.
        """
        streams = [_term_stream(segment, k) for k, segment in enumerate(self.segments)]
        begins, ends = [0] * len(self.segments), [0] * len(self.segments)
        terms: list[bytes] = []
        df: list[int] = []
        origins: list[list[tuple[int, int]]] = []
        size = 0
        for term, k, ordinal, live_df in heapq.merge(*streams):
            if not terms or term != terms[-1]:
                if size >= POSTINGS_PER_CALL or len(terms) >= TERMS_PER_CHUNK:
                    yield self._finish_chunk(list(zip(begins, ends, strict=True)), df, terms, origins)
                    begins, terms, df, origins, size = ends.copy(), [], [], [], 0
                terms.append(term)
                df.append(0)
                origins.append([])
            self.ranks[k][ordinal] = len(terms) - 1
            ends[k] = ordinal + 1
            df[-1] += live_df
            size += live_df
            origins[-1].append((k, ordinal))
        yield self._finish_chunk(list(zip(begins, ends, strict=True)), df, terms, origins)

    def _finish_chunk(
        self,
        ranges: list[tuple[int, int]],
        all_df: list[int],
        terms: list[bytes],
        origins: list[list[tuple[int, int]]],
    ) -> _Chunk:
        """Number the terms of a chunk. A term without live documents is dropped, and its rank is never used."""
        df = np.array(all_df, np.int64)
        place_of = np.cumsum(df > 0) - 1
        places = []
        for k, (begin, end) in enumerate(ranges):
            local = place_of[self.ranks[k][begin:end]]
            # Terms dropped at the start of the chunk have no place; the kernel finds no live posting for them.
            places.append(np.maximum(local, 0))
            self.ranks[k][begin:end] = self.terms + local
        kept = np.flatnonzero(df > 0)
        self.terms += len(kept)
        self.postings += int(df.sum())
        return _Chunk(ranges, places, df[kept], [terms[t] for t in kept], [origins[t] for t in kept])

    def _encode(self, chunk: _Chunk) -> _EncodedChunk:
        """Merge and encode the postings of a chunk, and find the surfaces of its terms. Any thread may call this."""
        _, df, docs, tfs = self.merge(chunk)
        cf = np.add.reduceat(tfs, np.cumsum(df) - df, dtype=np.int64) if len(df) else np.empty(0, np.int64)
        surfaces = [_surface(self.segments, origin) for origin in chunk.origins]
        return _EncodedChunk(encode_postings(docs, tfs, df), chunk.terms, surfaces, df, cf)

    def merge(self, chunk: _Chunk) -> PostingsBatch:
        """Decode the postings of a chunk from all segments and merge them. Any thread may call this."""
        from sublex.index import kernels

        df = chunk.df
        docs, tfs = np.empty(int(df.sum()), np.int32), np.empty(int(df.sum()), np.int32)
        ends = np.cumsum(df)
        cursors = ends - df
        for segment, (begin, end), places, document_map in zip(
            self.segments, chunk.ranges, chunk.places, self._document_maps, strict=True
        ):
            if begin < end and len(df):
                counts = segment.df[begin:end].astype(np.int64)
                live = *segment.postings(begin, end), places, counts, document_map
                if kernels.merge_postings(*live, cursors, ends, docs, tfs) >= 0:
                    raise _disagreement(segment)
        if (cursors != ends).any():
            raise _disagreement(self.segments[-1])
        return PostingsBatch(chunk.terms, df, docs, tfs)


def _disagreement(segment: Segment) -> IndexCorrupt:
    return IndexCorrupt(f"The tombstones of {segment.path} do not fit its postings; rebuild the index.")


def _document_maps(live: list[np.ndarray]) -> list[np.ndarray]:
    """Return, for each segment, the new numbers of its documents, -1 for deleted ones."""
    maps, base = [], 0
    for mask in live:
        maps.append(np.where(mask, base + np.cumsum(mask) - 1, -1).astype(np.int32))
        base += int(mask.sum())
    return maps


def _term_stream(segment: Segment, k: int) -> Iterator[tuple[bytes, int, int, int]]:
    """Yield (term, k, ordinal, live document frequency) for the terms of segment k, ascending."""
    for begin in range(0, len(segment.terms), TERMS_PER_CHUNK):
        terms = segment.terms.list(begin, min(begin + TERMS_PER_CHUNK, len(segment.terms)))
        live_df = segment.live_df[begin : begin + TERMS_PER_CHUNK].tolist()
        for ordinal, (term, df) in enumerate(zip(terms, live_df, strict=True), begin):
            yield term, k, ordinal, df


def _surface(segments: list[Segment], origins: list[tuple[int, int]]) -> bytes:
    """Return the most frequent raw form of a term over all segments; of equally frequent ones, the smallest.

    A spill knows all raw forms and their counts. For a finished segment its surface counts as often as the term occurs.
    """
    votes: Counter[bytes] = Counter()
    for k, ordinal in origins:
        for raw_form, count in segments[k].lexicon.raw_forms(ordinal):
            votes[raw_form] += count
    return min(votes.items(), key=lambda item: (-item[1], item[0]))[0] if votes else b""


def _merge_document_terms(
    segments: list[Segment], ranks: list[np.ndarray], live: list[np.ndarray], folder: FolderWriter, workers: Workers
) -> None:
    """Write the terms of all live documents with their new ordinals."""

    from sublex.index import kernels

    def recode(job: tuple[int, int, int]) -> tuple[np.ndarray, np.ndarray]:
        k, begin, end = job
        counts, terms, tfs = segments[k].document_terms(begin, end)  # type: ignore[misc]
        keep = live[k][begin:end]
        keep_terms = np.repeat(keep, counts)
        return kernels.encode_lists(ranks[k][terms[keep_terms]], tfs[keep_terms], counts[keep])

    writer = DocumentTermsWriter(folder)
    jobs = [(k, *span) for k, segment in enumerate(segments) for span in spans(segment.uniques, POSTINGS_PER_CALL)]
    for data, sizes in workers.map(recode, jobs):
        writer.add(data, sizes)
        _release(segments, "document_terms")
    writer.finish()


def _merge_texts(segments: list[Segment], live: list[np.ndarray], folder: FolderWriter) -> None:
    """Copy blocks of stored documents; blocks with deleted documents are compressed anew."""
    writer = TextsWriter(folder)
    for segment, mask in zip(segments, live, strict=True):
        texts = segment.texts
        assert texts is not None
        doc = 0
        for block, count in enumerate(texts.counts.tolist()):
            keep = mask[doc : doc + count]
            doc += count
            if keep.all():
                writer.add(texts.frame(block))
            elif keep.any():
                writer.add(compress(texts.raw(block).batch(), keep))
            if block % TEXT_BLOCKS == 0:
                _release([segment], "texts")
    writer.finish()


def _release(segments: list[Segment], *names: str) -> None:
    """Let the system take back the memory of components that have been read; else the files of all spills would fill it."""
    for segment in segments:
        for name in names:
            segment.folder[name].release()
