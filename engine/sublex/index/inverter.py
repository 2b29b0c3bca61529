"""A run: the part of a build that is held in memory, until it is written as a segment.

It numbers raw tokens and terms by first appearance, collects the parts that batches become, and inverts them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from sublex.analysis.interner import Interner
from sublex.analysis.tokens import RawTokens, terms_of
from sublex.analysis.words import split_terms
from sublex.base import Analyzer
from sublex.index import kernels
from sublex.index.arena import spans
from sublex.index.format import FolderWriter, smallest
from sublex.workers import Workers

SPAN = 1 << 20
# What one more raw token costs beside its bytes: its entry in the table of terms, its strings, its rows.
TOKEN_BYTES = 200


class Part(NamedTuple):
    """A batch's documents as terms with frequencies, in order of documents; `met` counts its raw tokens."""

    terms: np.ndarray
    tfs: np.ndarray
    ends: np.ndarray
    lengths: np.ndarray
    met: np.ndarray


class Inverter:
    """Documents on their way to a segment."""

    def __init__(self, analyzer: Analyzer):
        self.analyzer = analyzer
        self.raw = Interner()
        self._met = np.zeros(1 << 12, np.int64)
        self._term_ids: dict[str, int] = {}
        self._flat = np.empty(0, np.int32)
        self._ends = np.empty(0, np.int64)
        self.parts: list[Part] = []
        self.docs = 0
        self._bytes = 0

    @property
    def nbytes(self) -> int:
        """What the run will need at most: its parts twice (inverting copies them), and its vocabulary."""
        return 2 * self._bytes + self.raw.nbytes + TOKEN_BYTES * self.raw.size

    def number(self, text: np.ndarray, found: RawTokens) -> np.ndarray:
        """The run's numbers of a batch's distinct raw tokens; the analyzer is asked for those not met before."""
        known = self.raw.size
        numbers = self.raw.add_described(text, found.starts, found.keys, found.hashes)
        if self.raw.size > known:
            fresh = self.raw.lines(known)[:-1].decode().split("\n")
            ids = self._term_ids
            terms = terms_of(self.analyzer, fresh)
            flat = [ids.setdefault(term, len(ids)) for term in split_terms("\n".join(filter(None, terms)))]
            counts = np.fromiter((term.count("\n") + 1 if term else 0 for term in terms), np.int64, len(terms))
            first = int(self._ends[-1]) if len(self._ends) else 0
            self._flat = np.concatenate([self._flat, np.array(flat, np.int32)])
            self._ends = np.concatenate([self._ends, first + np.cumsum(counts)])
        return numbers

    def counter(self, found: RawTokens, keep: np.ndarray, numbers: np.ndarray) -> Callable[[], Part]:
        """The work that makes a batch's part, for any thread: it sees the vocabulary as it is now."""
        ends, flat, size = self._ends, self._flat, len(self._term_ids)
        return lambda: Part(
            *kernels.count(found.numbers, found.ends, keep, numbers, ends, flat, np.zeros(size, np.int32))
        )

    def add(self, part: Part, numbers: np.ndarray) -> None:
        """Take a part in; parts come in the order of their documents."""
        if self.raw.size > len(self._met):
            self._met = np.concatenate([self._met, np.zeros(max(self.raw.size, len(self._met)), np.int64)])
        self._met[numbers] += part.met
        self.parts.append(part._replace(met=np.empty(0, np.int64)))
        self.docs += len(part.ends)
        self._bytes += part.terms.nbytes + part.tfs.nbytes + part.ends.nbytes + part.lengths.nbytes

    def write(self, folder: FolderWriter, workers: Workers, document_terms: bool, keep_raw: bool) -> dict[str, int]:
        """Write lexicon, postings, lengths and, if wanted, document terms."""
        each, groups = workers.map, _groups(self.parts)
        tallies = list(each(self._tally, groups))
        total = np.sum(tallies, axis=0) if tallies else np.zeros((2, len(self._term_ids)), np.int64)
        names, order, ranks = self._ranked(total[0] > 0)
        df, cf = total[:, order]
        with workers.beside(lambda: self._write_lexicon(folder, ranks, names, keep_raw)):
            docs, tfs, places = self._invert(ranks, df, groups, [counts[0, order] for counts in tallies], each)
            write_postings(folder, df, cf, docs, tfs, each)
            lengths = np.concatenate([part.lengths for part in self.parts] or [np.empty(0, np.int64)])
            uniques = np.concatenate([np.diff(part.ends, prepend=0) for part in self.parts] or [np.empty(0, np.int64)])
            folder.put("lengths", smallest(lengths))
            folder.put("uniques", smallest(uniques))
            if document_terms:
                _write_document_terms(folder, docs, tfs, places, uniques, each)
        return {"docs": self.docs, "tokens": int(lengths.sum()), "terms": len(names), "postings": len(docs)}

    def _tally(self, group: _Group) -> np.ndarray:
        """Document and collection frequencies of all terms in a group."""
        counts = np.zeros((2, len(self._term_ids)), np.int64)
        for part in group.parts:
            kernels.tally(part.terms, part.tfs, counts[0], counts[1])
        return counts

    def _ranked(self, used: np.ndarray) -> tuple[list[str], np.ndarray, np.ndarray]:
        """The terms of documents that were kept, ascending; their numbers in the run; the way back."""
        names = sorted(name for name, number in self._term_ids.items() if used[number])
        order = np.fromiter(map(self._term_ids.__getitem__, names), np.int64, len(names))
        ranks = np.zeros(len(self._term_ids), np.int32)
        ranks[order] = np.arange(len(names))
        return names, order, ranks

    def _invert(
        self,
        ranks: np.ndarray,
        df: np.ndarray,
        groups: list[_Group],
        counts: list[np.ndarray],
        each: Callable[..., Any],
    ) -> tuple[Any, ...]:
        """(docs, tfs, places): postings in order of terms, then documents; where those of each group begin and end."""
        docs, tfs = np.empty(int(df.sum()), np.int32), np.empty(int(df.sum()), np.int32)
        begins = [np.cumsum(df) - df]
        for found in counts:
            begins.append(begins[-1] + found)

        def scatter(job: tuple[_Group, np.ndarray]) -> None:
            group, begin = job
            cursors, first = begin.copy(), group.first
            for part in group.parts:
                kernels.scatter(part.terms, part.tfs, part.ends, first, ranks, cursors, docs, tfs)
                first += len(part.ends)

        list(each(scatter, list(zip(groups, begins, strict=False))))
        return docs, tfs, list(zip(groups, begins, begins[1:], strict=False))

    def _write_lexicon(self, folder: FolderWriter, ranks: np.ndarray, names: list[str], keep_raw: bool) -> None:
        """The terms, the commonest raw token of each, and for a spill all of them with their counts."""
        put_strings(folder, "term", [name.encode() for name in names])
        met = self._met[: self.raw.size]
        single = np.flatnonzero((np.diff(self._ends, prepend=0) == 1) & (met > 0))
        terms, met = ranks[self._flat[self._ends[single] - 1]], met[single]
        order = np.lexsort((-met, terms))
        terms, met, single = terms[order], met[order], single[order]
        raws = self.raw.lines().split(b"\n")
        first = np.diff(terms, prepend=-1) > 0
        best = [b""] * len(names)
        for term, raw in zip(terms[first].tolist(), single[first].tolist(), strict=True):
            best[term] = raws[raw]
        leader = np.maximum.accumulate(np.where(first, np.arange(len(met)), 0))
        for k in np.flatnonzero(~first & (met == met[leader])).tolist():
            best[terms[k]] = min(best[terms[k]], raws[single[k]])
        put_surfaces(folder, best, names)
        if keep_raw:
            put_strings(folder, "raw", [raws[k] for k in single.tolist()])
            folder.put("raw_counts", met.astype(np.uint64))
            folder.put("raw_terms", terms.astype(np.uint32))


class _Group(NamedTuple):
    """Parts that follow one another, and the number of their first document."""

    first: int
    docs: int
    parts: list[Part]


def _groups(parts: list[Part], most: int = 16) -> list[_Group]:
    """The parts in a few groups; how many does not matter to the result."""
    groups, first = [], 0
    step = -(-len(parts) // most) or 1
    for k in range(0, len(parts), step):
        docs = sum(len(part.ends) for part in parts[k : k + step])
        groups.append(_Group(first, docs, parts[k : k + step]))
        first += docs
    return groups


def put_strings(folder: FolderWriter, name: str, strings: list[bytes]) -> None:
    """An arena of strings, and their sizes."""
    folder.put(f"{name}s", np.frombuffer(b"".join(strings), np.uint8))
    folder.put(f"{name}_sizes", smallest(np.fromiter(map(len, strings), np.int64, len(strings))))


def put_surfaces(folder: FolderWriter, best: list[bytes], names: list[str]) -> None:
    """The commonest raw forms; a term that is its own is left empty."""
    put_strings(
        folder, "surface", [b"" if raw == name.encode() else raw for raw, name in zip(best, names, strict=True)]
    )


class PostingsWriter:
    """Streams postings in order of terms to their components."""

    def __init__(self, folder: FolderWriter):
        self._words, self._tails = folder.stream("postings", np.uint32), folder.stream("tails", np.uint8)
        self._lasts, self._widths = folder.stream("block_lasts", np.int32), folder.stream("block_widths", np.uint8)
        self._folder, self._sizes = folder, [np.empty(0, np.int64)]

    def add(self, encoded: tuple[np.ndarray, ...]) -> None:
        """Append what `encode_postings` made."""
        words, lasts, widths, tails, sizes = encoded
        self._words.write(words)
        self._lasts.write(lasts)
        self._widths.write(widths)
        self._tails.write(tails)
        self._sizes.append(sizes)

    def finish(self, df: np.ndarray, cf: np.ndarray) -> None:
        """Write what is known at the end."""
        self._folder.put("tail_sizes", smallest(np.concatenate(self._sizes)))
        self._folder.put("df", smallest(df))
        self._folder.put("cf", smallest(cf))


def write_postings(
    folder: FolderWriter, df: np.ndarray, cf: np.ndarray, docs: np.ndarray, tfs: np.ndarray, each: Callable[..., Any]
) -> None:
    """Encode postings span by span."""
    ends = np.cumsum(df)

    def encode(span: tuple[int, int]) -> tuple[np.ndarray, ...]:
        begin, end = (int(ends[k - 1]) if k else 0 for k in span)
        return kernels.encode_postings(docs[begin:end], tfs[begin:end], df[span[0] : span[1]])

    writer = PostingsWriter(folder)
    for encoded in each(encode, spans(df, SPAN)):
        writer.add(encoded)
    writer.finish(df, cf)


def _write_document_terms(
    folder: FolderWriter,
    docs: np.ndarray,
    tfs: np.ndarray,
    places: list[Any],
    uniques: np.ndarray,
    each: Callable[..., Any],
) -> None:
    """Turn the postings back into documents, terms ascending, and write their lists."""

    def encode(job: tuple[_Group, np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        group, begins, ends = job
        return kernels.document_lists(
            docs, tfs, begins, ends, group.first, uniques[group.first : group.first + group.docs]
        )

    stream, sizes = folder.stream("document_terms", np.uint8), [np.empty(0, np.int64)]
    for data, found in each(encode, places):
        stream.write(data)
        sizes.append(found)
    folder.put("document_term_sizes", smallest(np.concatenate(sizes)))
