"""Positions: for each posting the places of its term in its document, ascending.

They are stored only if the index keeps `positions`. The gaps between them are packed as postings are; the kernels encode and
decode. The positions of a term are as many as its occurrences, so its collection frequency says where they end.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from sublex.errors import IndexCorrupt
from sublex.index.components.lexicon import LexiconReader
from sublex.index.components.strings import piece_starts
from sublex.index.format import UNSIGNED, ComponentWriter, Folder, FolderWriter, NumbersWriter
from sublex.index.offsets import starts_of


class EncodedPositions(NamedTuple):
    """The positions of the postings of consecutive terms, encoded as they are stored; `docs/format.md` describes the fields."""

    words: np.ndarray
    widths: np.ndarray
    tails: np.ndarray
    tail_sizes: np.ndarray


def encode_positions(positions: np.ndarray, tfs: np.ndarray, cf: np.ndarray) -> EncodedPositions:
    """Return the positions of posting lists encoded. Any thread may call this.

    `positions` and `tfs` are int32. The posting lists lie end to end: posting i has the next `tfs[i]` values of `positions`,
    which ascend and are not negative, and term k has `cf[k]` of them. The caller has checked this.
    """
    from sublex.index import position_kernels

    return EncodedPositions(*position_kernels.encode_positions(positions, tfs, np.ascontiguousarray(cf, np.int64)))


class PositionsWriter:
    """Writes `positions`, `position_widths`, `position_tails` and `position_tail_sizes`."""

    def __init__(self, folder: FolderWriter):
        # The writers are in the order of the fields of `EncodedPositions`.
        self._writers: tuple[ComponentWriter | NumbersWriter, ...] = (
            folder.stream("positions", np.uint32), folder.stream("position_widths", np.uint8),
            folder.stream("position_tails", np.uint8), folder.collect("position_tail_sizes"),
        )  # fmt: skip

    def add(self, encoded: EncodedPositions) -> None:
        """Append the positions of the next terms, in the order in which `PostingsWriter.add` gets their posting lists."""
        for writer, values in zip(self._writers, encoded, strict=True):
            writer.write(values)


class PositionsReader:
    """Decodes positions. The lexicon gives the numbers of postings and of positions of each term."""

    def __init__(self, folder: Folder, lexicon: LexiconReader):
        self._lexicon = lexicon
        for name, dtype in (("positions", "<u4"), ("position_widths", "|u1"), ("position_tails", "|u1")):
            folder.expect(name, (dtype,))
        folder.expect("position_tail_sizes", UNSIGNED, len(lexicon.terms))
        self._words, self._widths, self._tails, self._tail_sizes = (
            folder[name] for name in ("positions", "position_widths", "position_tails", "position_tail_sizes")
        )

    @cached_property
    def _block_starts(self) -> np.ndarray:
        """The first block of each term."""
        from sublex.index import position_kernels

        blocks = self._lexicon.cf // position_kernels.BLOCK
        # The first comparison keeps the sum from leaving 64 bits.
        if blocks.max(initial=0) > len(self._widths) or blocks.sum(dtype=np.int64) != len(self._widths):
            raise self._widths.damaged("does not fit the collection frequencies")
        return starts_of(blocks)

    @cached_property
    def _word_starts(self) -> np.ndarray:
        """The first word of each block."""
        from sublex.index import position_kernels

        starts = starts_of(position_kernels.LANES * self._widths.all().astype(np.int64))
        if starts[-1] != len(self._words):
            raise self._widths.damaged("does not fit the positions")
        return starts

    @cached_property
    def _tail_starts(self) -> np.ndarray:
        from sublex.index import position_kernels

        # A position takes at least one byte, so damaged frequencies cannot ask for more memory than the data can fill.
        if (self._lexicon.cf % position_kernels.BLOCK > self._tail_sizes.all()).any():
            raise self._tail_sizes.damaged("does not fit the collection frequencies")
        return piece_starts(self._tail_sizes, self._tails)

    def check(self) -> None:
        """Raise IndexCorrupt if the collection frequencies need more data than there are, so they bound memory."""
        _ = self._block_starts, self._tail_starts

    def gather(self, terms: np.ndarray, tfs: np.ndarray) -> np.ndarray:
        """Return the positions (int32) of all postings of the terms `terms`; `tfs` has the frequencies of these postings."""
        from sublex.index import position_kernels

        blocks, block_ends = self._block_starts[terms], self._block_starts[terms + 1]
        words, word_ends = self._word_starts[blocks], self._word_starts[block_ends]
        tails, tail_ends = self._tail_starts[terms], self._tail_starts[terms + 1]
        self._words.touch(words, word_ends)
        self._tails.touch(tails, tail_ends)
        cf, df = self._lexicon.cf[terms].astype(np.int64), self._lexicon.df[terms].astype(np.int64)
        positions = np.empty(int(cf.sum()), np.int32)
        bad = position_kernels.decode_positions(
            self._words.values, self._widths.values, words, blocks, self._tails.values, tails, tail_ends, cf, df, tfs,
            np.empty(position_kernels.BLOCK, np.uint32), positions,
        )  # fmt: skip
        if bad >= 0:
            term = self._lexicon.terms[int(terms[bad])].decode(errors="replace")
            raise IndexCorrupt(f"The positions of {term!r} in {self._words.path} are damaged; rebuild the index.")
        return positions
