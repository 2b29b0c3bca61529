"""Posting lists: for each term the documents that hold it, ascending, and the term's frequency in each of them.

Every 128 postings of a term form a bit-packed block; the rest of the list, its tail, is in a byte code. Kernels encode
and decode.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from sublex.errors import IndexCorrupt
from sublex.index.components.lexicon import LexiconReader
from sublex.index.components.strings import piece_starts
from sublex.index.format import UNSIGNED, ComponentFolder, ComponentWriter, FolderWriter, NumbersWriter
from sublex.index.offsets import starts_of


class EncodedPostings(NamedTuple):
    """The posting lists of consecutive terms, encoded as they are stored; `docs/format.md` describes the fields."""

    words: np.ndarray
    block_lasts: np.ndarray
    block_widths: np.ndarray
    tails: np.ndarray
    tail_sizes: np.ndarray


def encode_postings(docs: np.ndarray, tfs: np.ndarray, df: np.ndarray) -> EncodedPostings:
    """Encode posting lists, and return them. Any thread may call this.

    The lists lie end to end in `docs` and `tfs`, and list k has `df[k]` postings.
    """
    from sublex.index import posting_kernels

    return EncodedPostings(*posting_kernels.encode_postings(docs, tfs, np.ascontiguousarray(df)))


class PostingsWriter:
    """Writes `postings`, `block_lasts`, `block_widths`, `tails` and `tail_sizes`."""

    def __init__(self, folder: FolderWriter):
        # The writers are in the order of the fields of `EncodedPostings`.
        self._writers: tuple[ComponentWriter | NumbersWriter, ...] = (
            folder.stream("postings", np.uint32), folder.stream("block_lasts", np.int32),
            folder.stream("block_widths", np.uint8), folder.stream("tails", np.uint8), folder.collect("tail_sizes"),
        )  # fmt: skip

    def add(self, encoded: EncodedPostings) -> None:
        """Append the posting lists of the next terms."""
        for writer, values in zip(self._writers, encoded, strict=True):
            writer.write(values)


class PostingsReader:
    """Decodes posting lists. The lexicon gives their lengths; `docs` is the number of documents in the segment."""

    def __init__(self, folder: ComponentFolder, lexicon: LexiconReader, docs: int):
        self._lexicon, self._docs = lexicon, docs
        for name, dtype in (("postings", "<u4"), ("block_lasts", "<i4"), ("block_widths", "|u1"), ("tails", "|u1")):
            folder.expect(name, (dtype,))
        folder.expect("block_widths", ("|u1",), 2 * len(folder["block_lasts"]))
        folder.expect("tail_sizes", UNSIGNED, len(lexicon.terms))
        self._words, self._lasts, self._widths = folder["postings"], folder["block_lasts"], folder["block_widths"]
        self._tails, self._tail_sizes, self._df_path = folder["tails"], folder["tail_sizes"], folder["df"].path

    @cached_property
    def _block_starts(self) -> np.ndarray:
        """The number of the first block of each term."""
        from sublex.index import posting_kernels

        starts = starts_of(self._lexicon.df // posting_kernels.BLOCK)
        if starts[-1] != len(self._lasts):
            raise IndexCorrupt(f"{self._df_path} does not fit the postings; rebuild the index.")
        return starts

    @cached_property
    def _word_starts(self) -> np.ndarray:
        """The place of the first packed word of each block."""
        from sublex.index import posting_kernels

        widths = self._widths.all().reshape(-1, 2)
        starts = starts_of(posting_kernels.LANES * widths.sum(axis=1, dtype=np.int64))
        if starts[-1] != len(self._words):
            raise IndexCorrupt(f"{self._widths.path} does not fit the postings; rebuild the index.")
        return starts

    @cached_property
    def _tail_starts(self) -> np.ndarray:
        from sublex.index import posting_kernels

        # A posting takes at least one byte. After this check, damaged frequencies cannot ask for more memory than the data fill.
        if (self._lexicon.df % posting_kernels.BLOCK > self._tail_sizes.all()).any():
            raise IndexCorrupt(f"{self._tail_sizes.path} does not fit {self._df_path}; rebuild the index.")
        return piece_starts(self._tail_sizes, self._tails)

    def range(self, begin: int, end: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the documents and frequencies of the terms from `begin` up to `end`, one list after the other."""
        self._verify(np.array([begin]), np.array([end]))
        return self._decode(np.arange(begin, end))

    def gather(self, terms: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the documents and frequencies of the terms `terms`, one posting list after the other."""
        self._verify(terms, terms + 1)
        return self._decode(terms)

    def _verify(self, begins: np.ndarray, ends: np.ndarray) -> None:
        """Verify the checksums of all data from which ranges of terms are decoded."""
        firsts, lasts = self._block_starts[begins], self._block_starts[ends]
        self._words.touch(self._word_starts[firsts], self._word_starts[lasts])
        self._lasts.touch(firsts, lasts)
        self._tails.touch(self._tail_starts[begins], self._tail_starts[ends])

    def _decode(self, terms: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        from sublex.index import posting_kernels

        blocks, tails = self._block_starts[terms], self._tail_starts[terms]
        df = self._lexicon.df[terms].astype(np.int64)
        docs, tfs = np.empty(int(df.sum()), np.int32), np.empty(int(df.sum()), np.int32)
        bad = posting_kernels.decode_terms(
            self._words.values, self._lasts.values, self._widths.values, self._word_starts[blocks], blocks,
            self._tails.values, tails, self._tail_starts[terms + 1], df, self._docs,
            np.empty(posting_kernels.BLOCK, np.uint32), np.empty(posting_kernels.BLOCK, np.uint32), docs, tfs,
        )  # fmt: skip
        if bad >= 0:
            term = self._lexicon.terms[int(terms[bad])].decode(errors="replace")
            raise IndexCorrupt(f"The postings of {term!r} in {self._words.path} are damaged; rebuild the index.")
        if len(tfs) and tfs.min() < 1:
            raise IndexCorrupt(f"{self._words.path} has a frequency that is no frequency; rebuild the index.")
        return docs, tfs
