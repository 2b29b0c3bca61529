"""Merging the terms of several segments: their lexicons, and their posting lists without deleted documents.

The lexicons are read a window at a time. A window has the next terms, in ascending order, of all segments, and ends at the
same term in each segment. A hash table numbers the terms of a window. Threads merge its posting lists, a range of terms at
a time. So memory does not grow with the postings; only the new ordinals of all terms stay in memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from sublex.analysis.interner import Interner
from sublex.contracts.foreign import PostingsBatch
from sublex.errors import IndexCorrupt
from sublex.index.components.fields import stored_fields
from sublex.index.components.inverted_lists import EncodedLists, ListsWriter, encode_lists
from sublex.index.components.lexicon import LexiconWriter
from sublex.index.format import FolderWriter
from sublex.index.offsets import POSTINGS_PER_CALL, spans, starts_of
from sublex.index.segment import Segment
from sublex.tools.strings import Strings
from sublex.tools.workers import Workers

# The largest number of terms of a window, which the segments share equally; and the least number of terms for a segment.
WINDOW_TERMS, LEAST_TERMS = 1 << 18, 1 << 10
# Terms are merged in ranges that have about this number of postings. Each thread merges one range after another.
RANGE_POSTINGS = 1 << 18


class TermRange(NamedTuple):
    """The terms of a window from place `begin` up to place `end`. `df` has the number of live documents of each term.

    `ordinals` has, for each segment, the range of ordinals of these terms in that segment. `places` has, for each
    segment, the place of each of these ordinals among the terms.
    """

    begin: int
    end: int
    df: np.ndarray
    ordinals: list[tuple[int, int]]
    places: list[np.ndarray]


class Window:
    """Terms from a range of ordinals of each segment, merged into one ascending list.

    Terms without a live document are left out.

    `df` has the number of live documents of each term. `places[k]` has, for each ordinal of segment k in the window,
    the place of the term in the list. A term that is left out has the place of the term before it, or -1 at the
    beginning; none of its postings is live.
    """

    def __init__(self, segments: list[Segment], ordinals: list[tuple[int, int]]):
        self._segments, self._ordinals = segments, ordinals
        table, numbers = _numbered([s.terms.part(*span) for s, span in zip(segments, ordinals, strict=True)])
        self._terms = table.numbered()
        self._order = self._terms.ascending(np.arange(table.size))
        place_of = np.empty(table.size, np.int64)
        place_of[self._order] = np.arange(table.size)
        cuts = np.cumsum([end - begin for begin, end in ordinals])[:-1]
        self._all_places = np.split(place_of[numbers], cuts)
        df = np.zeros(table.size, np.int64)
        for segment, (begin, end), places in zip(segments, ordinals, self._all_places, strict=True):
            if (places[1:] <= places[:-1]).any():
                raise _not_ascending(segment)
            df[places] += segment.live_df[begin:end]
        self._live = df > 0
        self.df = df[self._live]
        place_of_live = np.cumsum(self._live) - 1
        self.places = [place_of_live[places] for places in self._all_places]

    def terms(self, begin: int = 0, end: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return the bytes of a range of terms, end to end, and the size of each term. By default return all terms."""
        return self._terms.copies(self._order[self._live][begin:end])

    def surfaces(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the bytes of the surfaces of all terms, end to end, and the size of each surface.

        The surface of a term is its most frequent raw form. If several forms are equally frequent, it is the form whose
        bytes come first. A surface that is equal to its term is returned as an empty string. The counts of forms come from
        `LexiconReader.raw_forms`.
        """
        from sublex.building import inversion_kernels

        forms = [s.lexicon.raw_forms(*span) for s, span in zip(self._segments, self._ordinals, strict=True)]
        table, numbers = _numbered([raw_forms for raw_forms, _, _ in forms])
        places = np.concatenate([p[terms] for p, (_, _, terms) in zip(self._all_places, forms, strict=True)])
        # The distinct pairs of a term and one of its raw forms, with the sum of the counts of each pair.
        pairs, place_of = np.unique(places * max(1, table.size) + numbers, return_inverse=True)
        counts = np.zeros(len(pairs), np.int64)
        np.add.at(counts, place_of, np.concatenate([counts for _, counts, _ in forms]))
        places, numbers = np.divmod(pairs, max(1, table.size))
        raws, terms = table.numbered(), self._terms
        chosen = np.full(len(self._order), -1, np.int64)
        inversion_kernels.choose_surfaces(
            numbers, places.astype(np.int32), counts, raws.ends, raws.arena, self._order, terms.ends, terms.arena, chosen
        )  # fmt: skip
        return raws.copies(chosen[self._live])

    def ranges(self) -> Iterator[TermRange]:
        """Yield the terms in ranges of about `RANGE_POSTINGS` postings."""
        for begin, end in spans(self.df, RANGE_POSTINGS):
            ordinals, inside = [], []
            for (first, _), places in zip(self._ordinals, self.places, strict=True):
                # Left-out terms at the beginning of the window have the place -1, so they are in no range.
                low, high = np.searchsorted(places, [begin, end]).tolist()
                ordinals.append((first + low, first + high))
                inside.append(places[low:high] - begin)
            yield TermRange(begin, end, self.df[begin:end], ordinals, inside)


class TermMerge:
    """Merges lexicons and posting lists. `live` has a mask of the live documents of each segment.

    After `windows` has yielded all windows, `ranks[k]` has, for each ordinal of segment k, the ordinal in the merged
    segment, and `terms` and `postings` are the totals of the merged segment.
    """

    def __init__(self, segments: list[Segment], live: list[np.ndarray], workers: Workers):
        self.segments, self.workers = segments, workers
        self.ranks = [np.zeros(len(segment.terms), np.int32) for segment in segments]
        self.terms = self.postings = 0
        self._document_maps = _document_maps(live)
        self.has_positions = all(segment.has_positions for segment in segments)
        # The number of content fields, 0 if the segments store no fields. It is the same for all segments of an index.
        self.fields = min((segment.content_fields for segment in segments), default=0)

    def windows(self) -> Iterator[Window]:
        """Yield all terms in ascending order, a window at a time, and number them in `ranks`."""
        begins = [0] * len(self.segments)
        while (ends := self._ends(begins)) != begins:
            ordinals = list(zip(begins, ends, strict=True))
            window = Window(self.segments, ordinals)
            for ranks, (begin, end), places in zip(self.ranks, ordinals, window.places, strict=True):
                ranks[begin:end] = self.terms + places
            self.terms += len(window.df)
            self.postings += int(window.df.sum())
            yield window
            begins = ends

    def _ends(self, begins: list[int]) -> list[int]:
        """Return, for each segment, the ordinal at which the window that begins at `begins` ends.

        The window ends at the same term in all segments.
        """
        step = max(LEAST_TERMS, WINDOW_TERMS // len(self.segments))
        places = list(zip(self.segments, begins, strict=True))
        lasts = [s.terms[begin + step - 1] for s, begin in places if begin + step < len(s.terms)]
        if not lasts:
            return [len(segment.terms) for segment in self.segments]
        last, ends = min(lasts), []
        for segment, begin in places:
            end = segment.terms.bisect(last)
            end += end < len(segment.terms) and segment.terms[end] == last
            if not begin <= end <= begin + step:
                raise _not_ascending(segment)
            ends.append(end)
        return ends

    def write(self, folder: FolderWriter, lists: ListsWriter) -> None:
        """Write the merged lexicon, and by `lists` the merged posting lists."""
        lexicon = LexiconWriter(folder)
        for window in self.windows():
            frequencies = [np.empty(0, np.int64)]
            for encoded, cf in self.workers.map(self._encode, window.ranges()):
                lists.add(encoded)
                frequencies.append(cf)
                release(self.segments, "postings", "tails", "positions", "position_tails")
            lexicon.add(window.terms(), window.surfaces(), window.df, np.concatenate(frequencies))
            release(self.segments)

    def lists(self) -> Iterator[PostingsBatch]:
        """Yield the merged posting lists of all terms, ascending by term."""
        for window in self.windows():
            yield from self.workers.map(partial(self._batch, window), window.ranges())

    def _batch(self, window: Window, part: TermRange) -> PostingsBatch:
        docs, tfs, *_ = self._merge(part)
        return PostingsBatch(Strings.joined(*window.terms(part.begin, part.end)).tobytes(), part.df, docs, tfs)

    def _encode(self, part: TermRange) -> tuple[EncodedLists, np.ndarray]:
        """Return the merged and encoded inverted lists of the terms of `part`, and the occurrences of each term.

        Any thread may call this.
        """
        counts = self._position_counts(part) if self.has_positions else None
        docs, tfs, positions, fields = self._merge(part, counts, stored_fields(self.fields))
        cf = np.add.reduceat(tfs, starts_of(part.df)[:-1], dtype=np.int64)
        return encode_lists(docs, tfs, part.df, cf, positions, fields), cf

    def _position_counts(self, part: TermRange) -> np.ndarray:
        """Return the number of positions of each term of `part` in live documents, as the lexicons and tombstones say.

        Raise IndexCorrupt if a number is larger than the number of positions that the segments store. So the caller can
        safely reserve memory for the positions.
        """
        counts = np.zeros(len(part.df), np.int64)
        for segment, (begin, end), places in zip(self.segments, part.ordinals, part.places, strict=True):
            if begin < end:
                segment.check_positions()
                np.add.at(counts, places, segment.live_cf[begin:end].astype(np.int64))
        return counts

    def _merge(
        self, part: TermRange, position_counts: np.ndarray | None = None, fields: Sequence[int] = ()
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray | None, list[np.ndarray]]:
        """Return the documents and frequencies of the merged posting lists of `part`. Any thread may call this.

        With `position_counts`, the number of positions of each term, the third item is the positions; otherwise it is
        None. The fourth item has the frequencies in each of `fields`.
        """
        from sublex.building import merge_kernels

        starts = starts_of(part.df)
        docs, tfs = np.empty(int(starts[-1]), np.int32), np.empty(int(starts[-1]), np.int32)
        cursors, ends = starts[:-1].copy(), starts[1:]
        places = starts_of(np.zeros(0, np.int64) if position_counts is None else position_counts)
        position_cursors, position_ends = places[:-1].copy(), places[1:]
        positions = None if position_counts is None else np.empty(int(places[-1]), np.int32)
        found_fields, scratch = [np.empty_like(tfs) for _ in fields], np.empty_like(docs if len(fields) else docs[:0])
        for segment, span, lists in self._lists(part):
            for field, out in zip(fields, found_fields, strict=True):
                found = segment.fields_reader.gather(field, np.arange(*span), lists[1])
                if merge_kernels.merge_postings(lists[0], found, *lists[2:], cursors.copy(), ends, scratch, out) >= 0:
                    raise _disagreement(segment)
            if merge_kernels.merge_postings(*lists, cursors, ends, docs, tfs) >= 0:
                raise _disagreement(segment)
            if positions is not None:
                found = segment.positions(*span, lists[1])
                if merge_kernels.merge_positions(found, *lists, position_cursors, position_ends, positions) >= 0:
                    raise _disagreement(segment)
        if (cursors != ends).any() or (position_cursors != position_ends).any():
            raise _disagreement(self.segments[-1])
        return docs, tfs, positions, found_fields

    def _lists(self, part: TermRange) -> Iterator[tuple[Segment, tuple[int, int], tuple[np.ndarray, ...]]]:
        """Yield each segment that has terms of `part`, the range of their ordinals, and their posting lists.

        The posting lists are the arguments `docs`, `tfs`, `ranks`, `counts` and `doc_map` of `merge_kernels.merge_postings`.
        """
        for segment, (begin, end), places, document_map in zip(
            self.segments, part.ordinals, part.places, self._document_maps, strict=True
        ):
            if begin < end:
                counts = segment.df[begin:end].astype(np.int64)
                yield segment, (begin, end), (*segment.postings(begin, end), places, counts, document_map)


def live_postings(segments: list[Segment], workers: Workers) -> Iterator[PostingsBatch]:
    """Yield the posting lists of all terms of segments, ascending by term.

    Deleted documents are left out, and the other documents are numbered without gaps.
    """
    if len(segments) == 1 and not segments[0].dead.any():
        (segment,) = segments
        df = segment.df.astype(np.int64)
        return workers.map(
            lambda span: PostingsBatch(segment.terms.list(*span), df[slice(*span)], *segment.postings(*span)),
            segment.spans(POSTINGS_PER_CALL),
        )
    return TermMerge(segments, [~segment.dead for segment in segments], workers).lists()


def count_live_terms(segments: list[Segment]) -> int:
    """Return the number of terms in the live documents of segments."""
    if len(segments) == 1:
        return int(np.count_nonzero(segments[0].live_df))
    # Only the lexicons are merged, so neither documents nor threads are needed.
    merge = TermMerge(segments, [], Workers(1))
    return sum(len(window.df) for window in merge.windows())


def release(segments: list[Segment], *names: str) -> None:
    """Let the system take back the memory of the components `names` that have been read; by default, of all components.

    Without this call, the mapped files of all spills would fill the memory.
    """
    for segment in segments:
        for name, component in segment.folder:
            if not names or name in names:
                component.release()


def _not_ascending(segment: Segment) -> IndexCorrupt:
    """Return the error for a segment whose terms are not in ascending order."""
    return IndexCorrupt(f"The terms of {segment.path} do not ascend; rebuild the index.")


def _disagreement(segment: Segment) -> IndexCorrupt:
    return IndexCorrupt(f"The tombstones of {segment.path} do not fit its postings; rebuild the index.")


def _document_maps(live: list[np.ndarray]) -> list[np.ndarray]:
    """Return, for each segment, the new numbers of its documents, -1 for deleted ones."""
    maps, base = [], 0
    for mask in live:
        maps.append(np.where(mask, base + np.cumsum(mask) - 1, -1).astype(np.int32))
        base += int(mask.sum())
    return maps


def _numbered(parts: list[Strings]) -> tuple[Interner, np.ndarray]:
    """Number the distinct strings of several parts.

    Return them as a table, and the number of each string, part after part.
    """
    offsets = starts_of(np.array([len(strings.arena) for strings in parts]))[:-1]
    starts = np.concatenate([offset + strings.starts for offset, strings in zip(offsets, parts, strict=True)])
    table = Interner()
    sizes = np.concatenate([strings.sizes for strings in parts])
    return table, table.add(np.concatenate([strings.arena for strings in parts]), starts, sizes)
