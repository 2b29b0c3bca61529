"""Read the posting lists of a Whoosh index in bulk: whole blocks of postings, and arrays of many terms at once."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
from whoosh.codec.whoosh3 import W3LeafMatcher, W3TermInfo, W3TermsReader

from sublex.errors import InputError

# The number of postings in a batch.
POSTINGS = 1 << 20


class JoinedLists(NamedTuple):
    """Posting lists end to end.

    `terms` are the terms, and `df` has the number of postings of each term. `docs` and `weights` have the document
    (numbered as in Whoosh) and the weight of each posting. `counts` has the number of positions of each posting, and
    `positions` these positions end to end. Both are None if no positions were asked for.
    """

    terms: list[bytes]
    df: np.ndarray
    docs: np.ndarray
    weights: np.ndarray
    counts: np.ndarray | None
    positions: np.ndarray | None


class _ReadBlocks:
    """The blocks of postings that were read, as Whoosh stores them.

    A block has the differences of document numbers, and a weight for each posting, or one for all. It also has a value
    for each posting, in which `decode` finds the positions. If `decode` is None, values are not read.
    """

    def __init__(self, decode: Callable[[bytes], list[int]] | None) -> None:
        self._decode = decode
        self.terms: list[bytes] = []
        self.df: list[int] = []
        self.deltas: list[int] = []
        self.weights: list[float] = []
        self.sizes: list[int] = []
        self.bases: list[int] = []
        self.counts: list[int] = []
        self.positions: list[int] = []

    def add(self, deltas: Sequence[int], weights: Any, values: Any, base: int) -> None:
        """Add a block of postings to the last term. `base` is the number of documents in the segments before the
        block's segment.
        """
        self.deltas += deltas
        self.weights += weights if isinstance(weights, tuple) else [1.0 if weights is None else weights] * len(deltas)
        self.sizes.append(len(deltas))
        self.bases.append(base)
        self.df[-1] += len(deltas)
        if self._decode:
            for _, value in zip(deltas, values, strict=True):
                positions = self._decode(value)
                self.counts.append(len(positions))
                self.positions += positions

    def lists(self) -> JoinedLists:
        """Return the posting lists that all blocks together hold."""
        deltas, sizes = np.array(self.deltas, np.int64), np.array(self.sizes, np.int64)
        sums = np.cumsum(deltas)
        starts = np.cumsum(sizes) - sizes
        before = sums[starts] - deltas[starts] - np.array(self.bases, np.int64)
        return JoinedLists(
            self.terms, np.array(self.df, np.int64), sums - np.repeat(before, sizes), np.array(self.weights, np.float64),
            np.array(self.counts, np.int64) if self._decode else None,
            np.array(self.positions, np.int64) if self._decode else None,
        )  # fmt: skip


def posting_lists(
    leaves: Sequence[tuple[Any, int]], field: str, form: Any, with_positions: bool = False
) -> Iterator[JoinedLists]:
    """Yield the posting lists of a field over all segments, in ascending order of the terms' bytes.

    `leaves` has the reader of each segment with the number of documents before it, and `form` is Whoosh's format of the
    field's postings.
    """
    streams = [_terms(leaf, number, field) for number, (leaf, _) in enumerate(leaves)]
    decode = form.decoder("positions") if with_positions else None
    collected = _ReadBlocks(decode)
    for term, places in groupby(heapq.merge(*streams, key=itemgetter(0, 1)), itemgetter(0)):
        collected.terms.append(term)
        collected.df.append(0)
        for _, number, info in places:
            leaf, base = leaves[number]
            for deltas, weights, values in _blocks(leaf, info, form):
                collected.add(deltas, weights, values, base)
        if len(collected.deltas) >= POSTINGS:
            yield collected.lists()
            collected = _ReadBlocks(decode)
    if collected.terms:
        yield collected.lists()


def _terms(leaf: Any, number: int, field: str) -> Iterator[tuple[bytes, int, W3TermInfo]]:
    """Yield the terms of a field in one segment, in ascending order. With each term come the segment's `number` and the
    place of the term's postings.
    """
    reader = leaf._terms
    if not isinstance(reader, W3TermsReader):
        raise InputError(
            "The Whoosh index was written by an older Whoosh; let this Whoosh optimise it, then attach it."
        )
    for (name, term), info in reader.items_from(field, b""):
        if name != field:
            return
        yield term, number, info


def _blocks(leaf: Any, info: W3TermInfo, form: Any) -> Iterator[tuple[Sequence[int], Any, Any]]:
    """Yield the blocks of a posting list: differences of document numbers, of which the first is from 0, weights, and
    values.
    """
    if info.is_inlined():
        docs, weights, values = info.inlined_postings()
        yield [doc - before for doc, before in zip(docs, (0, *docs), strict=False)], tuple(weights), values
        return
    # The matcher reads a whole block. One call for each posting would take ten times as long.
    matcher = W3LeafMatcher(leaf._terms._postfile, *info.extent(), form)
    while True:
        matcher._read_data()
        yield matcher._data
        if matcher._lastblock:
            return
        matcher._goto(matcher._nextoffset)
