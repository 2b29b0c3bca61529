"""Positions: for each posting the places of its term in its document, ascending.

They are stored only if the index keeps `positions`. The gaps between them are stored as packed numbers, which kernels
encode and decode. A term has one position for each occurrence, so its collection frequency is the number of its
positions.
"""

from __future__ import annotations

import numpy as np

from sublex.errors import IndexCorrupt
from sublex.index.components.lexicon import LexiconReader
from sublex.index.components.packed_numbers import PackedNumbers, PackedReader
from sublex.index.format import ComponentFolder

# The components, in the order of the attributes of `PackedNumbers`.
COMPONENTS = ("positions", "position_widths", "position_tails", "position_tail_sizes")


def encode_positions(positions: np.ndarray, tfs: np.ndarray, cf: np.ndarray) -> PackedNumbers:
    """Encode the positions of posting lists, and return them. Any thread may call this.

    `positions` and `tfs` are int32. The posting lists lie end to end: posting i has the next `tfs[i]` values of `positions`,
    which ascend and are not negative. Term k has `cf[k]` positions. The caller has checked all this.
    """
    from sublex.index import position_kernels

    return PackedNumbers(*position_kernels.encode_positions(positions, tfs, np.ascontiguousarray(cf, np.int64)))


class PositionsReader(PackedReader):
    """Decodes positions. The lexicon says how many postings and how many positions each term has."""

    counted, numbers = "collection frequencies", "positions"

    def __init__(self, folder: ComponentFolder, lexicon: LexiconReader):
        super().__init__(folder, COMPONENTS, lexicon, lexicon.cf)

    def check(self) -> None:
        """Raise IndexCorrupt if the collection frequencies need more data than the components have.

        After this check, a caller can safely reserve memory for this number of positions.
        """
        _ = self._block_starts, self._tail_starts

    def gather(self, terms: np.ndarray, tfs: np.ndarray) -> np.ndarray:
        """Return the positions (int32) of all postings of `terms`. `tfs` has the frequencies of these postings."""
        from sublex.index import packed_kernels, position_kernels

        packed = self._find(terms)
        cf, df = self._lexicon.cf[terms].astype(np.int64), self._lexicon.df[terms].astype(np.int64)
        positions = np.empty(int(cf.sum()), np.int32)
        bad = position_kernels.decode_positions(
            *packed, cf, df, tfs, np.empty(packed_kernels.BLOCK, np.uint32), positions
        )
        if bad >= 0:
            name = self._name(int(terms[bad]))
            raise IndexCorrupt(f"The positions of {name} in {self._words.path} are damaged; rebuild the index.")
        return positions
