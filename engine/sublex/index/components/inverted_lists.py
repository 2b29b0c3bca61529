"""Inverted lists: the stored data about the occurrences of terms.

They are the posting lists of terms, and, if the segment has them, the positions and the frequencies in fields.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from sublex.index.components.fields import FieldsWriter, encode_field
from sublex.index.components.packed_numbers import PackedNumbers, PackedWriter
from sublex.index.components.positions import COMPONENTS, encode_positions
from sublex.index.components.postings import EncodedPostings, PostingsWriter, encode_postings
from sublex.index.format import FolderWriter


class EncodedLists(NamedTuple):
    """The inverted lists of consecutive terms, encoded as they are stored; `fields` has an item for each stored field."""

    postings: EncodedPostings
    positions: PackedNumbers | None
    fields: Sequence[PackedNumbers]


def encode_lists(
    docs: np.ndarray,
    tfs: np.ndarray,
    df: np.ndarray,
    cf: np.ndarray,
    positions: np.ndarray | None,
    fields: Iterable[np.ndarray],
) -> EncodedLists:
    """Encode inverted lists, and return them. Any thread may call this.

    The lists lie end to end in `docs` and `tfs`. Term k has `df[k]` postings and `cf[k]` occurrences. `positions` has
    the positions of all postings, or is None for a segment without positions. `fields` yields, for each stored field,
    the frequencies of all postings in the field.
    """
    return EncodedLists(
        encode_postings(docs, tfs, df),
        None if positions is None else encode_positions(positions, tfs, cf),
        [encode_field(found, df) for found in fields],
    )


class ListsWriter:
    """Writes inverted lists. `fields` is the number of content fields whose frequencies are stored, 0 for none."""

    def __init__(self, folder: FolderWriter, positions: bool, fields: int):
        self._postings = PostingsWriter(folder)
        self._positions = PackedWriter(folder, COMPONENTS) if positions else None
        self._fields = FieldsWriter(folder, fields, positions)

    def add(self, encoded: EncodedLists) -> None:
        """Append the inverted lists of the next terms."""
        self._postings.add(encoded.postings)
        if self._positions and encoded.positions:
            self._positions.add(encoded.positions)
        self._fields.add(encoded.fields)

    def add_documents(self, lengths: Sequence[np.ndarray], begins: Sequence[np.ndarray]) -> None:
        """Append the lengths and places of the fields of the next documents; see `FieldsWriter.add_documents`."""
        self._fields.add_documents(lengths, begins)
