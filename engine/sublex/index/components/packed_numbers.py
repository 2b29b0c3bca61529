"""Packed numbers: for each term a list of numbers, such as the gaps between its positions, in four components.

Every 128 numbers of a term form a bit-packed block. The rest, the term's tail, is in a byte code. Kernels encode and
decode the numbers; `docs/format.md` describes the components.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from sublex.index.components.lexicon import LexiconReader
from sublex.index.components.strings import piece_starts
from sublex.index.format import UNSIGNED, ComponentFolder, ComponentWriter, FolderWriter, NumbersWriter
from sublex.index.offsets import starts_of


class PackedNumbers(NamedTuple):
    """The numbers of consecutive terms, encoded as they are stored."""

    words: np.ndarray
    widths: np.ndarray
    tails: np.ndarray
    tail_sizes: np.ndarray


class PackedWriter:
    """Writes four components, whose names are in the order of the attributes of `PackedNumbers`."""

    def __init__(self, folder: FolderWriter, names: Sequence[str]):
        words, widths, tails, tail_sizes = names
        self._writers: tuple[ComponentWriter | NumbersWriter, ...] = (
            folder.stream(words, np.uint32), folder.stream(widths, np.uint8), folder.stream(tails, np.uint8),
            folder.collect(tail_sizes),
        )  # fmt: skip

    def add(self, packed: PackedNumbers) -> None:
        """Append the numbers of the next terms."""
        for writer, values in zip(self._writers, packed, strict=True):
            writer.write(values)


class PackedReader:
    """Finds the numbers of terms in the four components that `PackedWriter` wrote. Term k has `counts[k]` numbers.

    Subclasses decode the numbers. `counted` and `numbers` are the words for the counts and the numbers in messages.
    """

    counted, numbers = "", ""
    # Whether a tail is empty if all its numbers are 0.
    leaves_out_zeros = False

    def __init__(self, folder: ComponentFolder, names: Sequence[str], lexicon: LexiconReader, counts: np.ndarray):
        self._lexicon, self._counts = lexicon, counts
        for name, dtype in zip(names, ("<u4", "|u1", "|u1"), strict=False):
            folder.expect(name, (dtype,))
        folder.expect(names[3], UNSIGNED, len(lexicon.terms))
        self._words, self._widths, self._tails, self._tail_sizes = (folder[name] for name in names)

    @cached_property
    def _block_starts(self) -> np.ndarray:
        """The number of the first block of each term."""
        from sublex.index.posting_kernels import BLOCK

        blocks = self._counts // BLOCK
        # The first comparison makes sure that the sum fits into 64 bits.
        if blocks.max(initial=0) > len(self._widths) or blocks.sum(dtype=np.int64) != len(self._widths):
            raise self._widths.damaged(f"does not fit the {self.counted}")
        return starts_of(blocks)

    @cached_property
    def _word_starts(self) -> np.ndarray:
        """The place of the first packed word of each block."""
        from sublex.index.posting_kernels import LANES

        starts = starts_of(LANES * self._widths.all().astype(np.int64))
        if starts[-1] != len(self._words):
            raise self._widths.damaged(f"does not fit the {self.numbers}")
        return starts

    @cached_property
    def _tail_starts(self) -> np.ndarray:
        from sublex.index.posting_kernels import BLOCK

        # A number takes at least one byte. After this check, damaged counts cannot ask for more memory than the data fill.
        if not self.leaves_out_zeros and (self._counts % BLOCK > self._tail_sizes.all()).any():
            raise self._tail_sizes.damaged(f"does not fit the {self.counted}")
        return piece_starts(self._tail_sizes, self._tails)

    def _find(self, terms: np.ndarray) -> tuple[np.ndarray, ...]:
        """Verify the checksums of the numbers of terms.

        Return the first seven arguments of the kernels that decode them.
        """
        blocks, block_ends = self._block_starts[terms], self._block_starts[terms + 1]
        words, word_ends = self._word_starts[blocks], self._word_starts[block_ends]
        tails, tail_ends = self._tail_starts[terms], self._tail_starts[terms + 1]
        self._words.touch(words, word_ends)
        self._tails.touch(tails, tail_ends)
        return self._words.values, self._widths.values, words, blocks, self._tails.values, tails, tail_ends

    def _name(self, term: int) -> str:
        """Return the term with this ordinal, in the form for messages."""
        return repr(self._lexicon.terms[term].decode(errors="replace"))
