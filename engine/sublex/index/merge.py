"""Merging segments into one: what a build does with its spills, and `sublex merge` with the segments of an index.

Terms stream in order through all segments at once; documents follow one another, the deleted ones left out.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from sublex.index import kernels
from sublex.index.arena import spans
from sublex.index.docnos import write_docnos
from sublex.index.format import FolderWriter, smallest
from sublex.index.inverter import PostingsWriter
from sublex.index.segment import Segment
from sublex.index.texts import compress

TERMS = 1 << 16
POSTINGS = 1 << 20


def merge(segments: list[Segment], folder: FolderWriter, each: Callable[..., Any]) -> dict[str, int]:
    """Write the live documents of the segments, in their order, as one segment; its counts."""
    maps = _document_maps(segments)
    merged = _Merged(segments, maps, folder, each)
    merged.write()
    live = [~segment.dead for segment in segments]
    lengths = np.concatenate([segment.lengths[mask] for segment, mask in zip(segments, live, strict=True)])
    uniques = np.concatenate([segment.uniques[mask] for segment, mask in zip(segments, live, strict=True)])
    folder.put("lengths", smallest(lengths))
    folder.put("uniques", smallest(uniques))
    write_docnos(folder, [live_docnos(segment) for segment in segments])
    if all("document_terms" in segment.folder for segment in segments):
        _merge_document_terms(segments, merged.ranks, live, folder, each)
    if all("texts" in segment.folder for segment in segments):
        _merge_texts(segments, live, folder)
    tokens = int(lengths.sum(dtype=np.int64))
    return {"docs": len(lengths), "tokens": tokens, "terms": merged.terms, "postings": merged.postings}


def live_docnos(segment: Segment) -> tuple[np.ndarray, np.ndarray]:
    """The docnos of the documents that are not deleted: their bytes, and the size of each."""
    live = ~segment.dead
    arena, sizes = segment.docnos.arrays()
    return (arena, sizes) if live.all() else (arena[np.repeat(live, sizes)], sizes[live])


def _document_maps(segments: list[Segment]) -> list[np.ndarray]:
    maps, base = [], 0
    for segment in segments:
        live = ~segment.dead
        maps.append(np.where(live, base + np.cumsum(live) - 1, -1).astype(np.int32))
        base += int(live.sum())
    return maps


class _Merged:
    """The lexicons and postings of several segments on their way into one."""

    def __init__(self, segments: list[Segment], maps: list[np.ndarray], folder: FolderWriter, each: Callable[..., Any]):
        self.segments, self.maps, self.folder, self.each = segments, maps, folder, each
        self.ranks = [np.zeros(len(segment.terms), np.int32) for segment in segments]
        self.terms = self.postings = 0

    def write(self) -> None:
        writer = PostingsWriter(self.folder)
        names, surfaces = _StringsWriter(self.folder, "term"), _StringsWriter(self.folder, "surface")
        all_df, all_cf = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        for encoded, df, cf, terms, best in self.each(self._encode, self._chunks()):
            writer.add(encoded)
            names.add(terms)
            surfaces.add(best)
            all_df.append(df)
            all_cf.append(cf)
        names.finish()
        surfaces.finish()
        writer.finish(np.concatenate(all_df), np.concatenate(all_cf))

    def _chunks(self) -> Iterator[tuple[Any, ...]]:
        """Runs of merged terms: for each segment the range of its terms, and which merged terms they are."""
        streams = [_stream(segment, k) for k, segment in enumerate(self.segments)]
        begins = [0] * len(self.segments)
        ends = [0] * len(self.segments)
        held: list[bytes] = []
        df: list[int] = []
        groups: list[list[tuple[int, int]]] = []
        size = 0
        last = None
        for term, k, ordinal, live in heapq.merge(*streams):
            if term != last:
                if size >= POSTINGS or len(held) >= TERMS:
                    yield self._chunk(begins, ends, held, df, groups)
                    begins, held, df, groups, size = ends.copy(), [], [], [], 0
                held.append(term)
                df.append(0)
                groups.append([])
                last = term
            self.ranks[k][ordinal] = len(held) - 1
            ends[k] = ordinal + 1
            df[-1] += live
            size += live
            groups[-1].append((k, ordinal))
        yield self._chunk(begins, ends, held, df, groups)

    def _chunk(self, begins, ends, held, df, groups) -> tuple[Any, ...]:
        """Number the chunk's terms; one without live documents is dropped, and its rank is never used."""
        counts = np.array(df, np.int64)
        alive = counts > 0
        place = np.cumsum(alive) - 1
        spans = list(zip(begins, ends, strict=True))
        places = []
        for k, (begin, end) in enumerate(spans):
            local = place[self.ranks[k][begin:end]]
            places.append(np.maximum(local, 0))
            self.ranks[k][begin:end] = self.terms + local
        kept = np.flatnonzero(alive)
        self.terms += len(kept)
        self.postings += int(counts.sum())
        return spans, places, counts[kept], [held[t] for t in kept], [groups[t] for t in kept]

    def _encode(self, chunk: tuple[Any, ...]) -> tuple[Any, ...]:
        spans, places, df, terms, groups = chunk
        docs, tfs = np.empty(int(df.sum()), np.int32), np.empty(int(df.sum()), np.int32)
        cursors = np.cumsum(df) - df
        starts = cursors.copy()
        for segment, (begin, end), place, doc_map in zip(self.segments, spans, places, self.maps, strict=True):
            if begin < end and len(df):
                found, counts = segment.postings(begin, end), segment.df[begin:end].astype(np.int64)
                kernels.merge(*found, place, counts, doc_map, cursors, docs, tfs)
        cf = np.add.reduceat(tfs, starts, dtype=np.int64) if len(df) else np.empty(0, np.int64)
        best = [_commonest(self.segments, group) for group in groups]
        surfaces = [b"" if raw == term else raw for raw, term in zip(best, terms, strict=True)]
        return kernels.encode_postings(docs, tfs, df), df, cf, terms, surfaces


def _stream(segment: Segment, k: int) -> Iterator[tuple[bytes, int, int, int]]:
    for begin in range(0, len(segment.terms), TERMS):
        terms = segment.terms.list(begin, min(begin + TERMS, len(segment.terms)))
        for ordinal, (term, live) in enumerate(
            zip(terms, segment.live_df[begin : begin + TERMS].tolist(), strict=True), begin
        ):
            yield term, k, ordinal, live


def _commonest(segments: list[Segment], group: list[tuple[int, int]]) -> bytes:
    """The commonest raw form of one term over segments; a spill knows all its forms, a finished segment its best."""
    votes: Counter[bytes] = Counter()
    for k, ordinal in group:
        for raw, times in segments[k].raw_forms(ordinal):
            votes[raw] += times
    return min(votes.items(), key=lambda item: (-item[1], item[0]))[0] if votes else b""


class _StringsWriter:
    """Streams an arena of strings and keeps their sizes."""

    def __init__(self, folder: FolderWriter, name: str):
        self._arena, self._folder, self._name = folder.stream(f"{name}s", np.uint8), folder, name
        self._sizes = [np.empty(0, np.int64)]

    def add(self, strings: list[bytes]) -> None:
        self._arena.write(np.frombuffer(b"".join(strings), np.uint8))
        self._sizes.append(np.fromiter(map(len, strings), np.int64, len(strings)))

    def finish(self) -> None:
        self._folder.put(f"{self._name}_sizes", smallest(np.concatenate(self._sizes)))


def _merge_document_terms(
    segments: list[Segment],
    ranks: list[np.ndarray],
    live: list[np.ndarray],
    folder: FolderWriter,
    each: Callable[..., Any],
) -> None:
    def recode(job: tuple[int, int, int]) -> tuple[np.ndarray, np.ndarray]:
        k, begin, end = job
        counts, terms, tfs = segments[k].document_terms(begin, end)  # type: ignore[misc]
        keep = live[k][begin:end]
        kept = np.repeat(keep, counts)
        return kernels.encode_lists(ranks[k][terms[kept]], tfs[kept], counts[keep])

    stream, sizes = folder.stream("document_terms", np.uint8), [np.empty(0, np.int64)]
    jobs = [(k, *span) for k, segment in enumerate(segments) for span in spans(segment.uniques, POSTINGS)]
    for data, found in each(recode, jobs):
        stream.write(data)
        sizes.append(found)
    folder.put("document_term_sizes", smallest(np.concatenate(sizes)))


def _merge_texts(segments: list[Segment], live: list[np.ndarray], folder: FolderWriter) -> None:
    """Copy blocks as they are; those with deleted documents are written anew."""
    writer = TextWriter(folder)
    for segment, mask in zip(segments, live, strict=True):
        texts = segment.texts
        assert texts is not None
        doc = 0
        for block, count in enumerate(texts.counts.tolist()):
            keep = mask[doc : doc + count]
            doc += count
            if keep.all():
                frame = texts.frame(block)
                writer.add(frame, [len(frame)], [count])
            elif keep.any():
                found = compress(texts.raw(block).batch(), keep)
                writer.add(np.frombuffer(found.data, np.uint8), found.sizes, found.counts)
    writer.finish()


class TextWriter:
    """Streams blocks of stored documents."""

    def __init__(self, folder: FolderWriter):
        self._stream, self._folder = folder.stream("texts", np.uint8), folder
        self._sizes: list[int] = []
        self._counts: list[int] = []

    def add(self, data: np.ndarray, sizes: list[int], counts: list[int]) -> None:
        self._stream.write(data)
        self._sizes += sizes
        self._counts += counts

    def finish(self) -> None:
        self._folder.put("text_sizes", smallest(np.array(self._sizes, np.int64)))
        self._folder.put("text_counts", smallest(np.array(self._counts, np.int64)))
